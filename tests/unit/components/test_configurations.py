"""How a changed configuration arrives: a new object for what rolls, the same one for what is reread at run time."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from components import names
from components.layer.versioned_config import KEPT, content_hash, versions
from tests.support.environments import INCIDENT, changed
from tests.unit.components.environments import VARIANTS, Environment, Object, containers, environment

# Loki rereads it every few seconds. All else that is mounted rolls its pod by its name.
RELOADED = {"loki-overrides"}
HASHED = re.compile(r"(?P<name>[a-z-]+)-(?P<hash>[0-9a-f]{10})")


def mounted(recorded: Environment, key: str, field: str) -> Iterator[tuple[Object, str]]:
    """(workload, object) for each volume of one kind, and each whole object that becomes environment variables."""
    for workload in recorded.objects:
        for volume in (workload.pod or {}).get("volumes", []):
            if key in volume:
                yield workload, volume[key][field]
            for source in volume.get("projected", {}).get("sources", []):
                if key in source:
                    yield workload, source[key]["name"]
        for container in containers(workload.pod or {"containers": []}):
            for source in container.get("envFrom", []):
                if f"{key}Ref" in source:
                    yield workload, source[f"{key}Ref"]["name"]


def test_every_configuration_is_immutable_and_named_after_its_content_but_those_reread_at_run_time(
    recorded: Environment,
) -> None:
    for found in recorded.of("ConfigMap"):
        if found.name in RELOADED:
            assert "immutable" not in found.inputs, str(found)
            continue
        match = HASHED.fullmatch(found.name)
        assert match, str(found)
        assert match["hash"] == content_hash(found.inputs["data"]), str(found)
        assert found.inputs["immutable"] is True, str(found)


def test_the_logical_name_of_an_object_that_rolls_carries_its_hash_too(recorded: Environment) -> None:
    """With a stable one the engine deletes the live object after a failed rollout and a rollback."""
    for found in recorded.of("ConfigMap"):
        if found.name not in RELOADED:
            assert found.registered.name == f"{found.namespace}-{found.name}"


def test_no_configuration_is_there_that_no_pod_reads_but_what_a_grafana_of_others_needs(
    recorded: Environment,
) -> None:
    config_maps = {(w.namespace, name) for w, name in mounted(recorded, "configMap", "name")}
    assert config_maps == {(o.namespace, o.name) for o in recorded.of("ConfigMap")}
    secrets = {(w.namespace, name) for w, name in mounted(recorded, "secret", "secretName")}
    made = {(o.namespace, o.name) for o in recorded.of("Secret", "ExternalSecret")}
    assert {name for _, name in made - secrets} <= {names.READ_SECRET}
    assert secrets <= made


def test_a_pod_starts_after_every_object_that_it_mounts(recorded: Environment) -> None:
    for workload in recorded.objects:
        needs = [v["configMap"]["name"] for v in (workload.pod or {}).get("volumes", []) if "configMap" in v]
        before = "\n".join(workload.registered.dependencies)
        for name in needs:
            (config_map,) = (
                o for o in recorded.of("ConfigMap") if (o.namespace, o.name) == (workload.namespace, name)
            )
            component = config_map.registered.parent
            assert config_map.registered.urn in before or component in before, (
                f"{workload} does not wait for {name}"
            )


CHANGED = changed(INCIDENT, ("cluster.name", "production"), ("layer.logs", {"retention": "9d"}))


def texts(recorded: Environment) -> dict[str, Object]:
    """The layer's configurations that roll pods, by object name."""
    layer = (names.LAYER_NAMESPACE, names.NODES_NAMESPACE)
    return {o.name: o for o in recorded.of("ConfigMap") if o.name not in RELOADED and o.namespace in layer}


def test_a_changed_configuration_is_a_new_object_and_the_one_deployed_before_stays_declared() -> None:
    before = environment(INCIDENT)
    after = environment(CHANGED, outputs=before.outputs)
    assert set(texts(before)) < set(texts(after))
    new = set(texts(after)) - set(texts(before))
    assert {match["name"] for name in new if (match := HASHED.fullmatch(name))} == {
        "alloy",
        "prometheus",
        "loki",
    }
    live = {name for _, name in mounted(after, "configMap", "name")}
    assert new <= live
    assert {match["name"] for n in texts(before) if n in live and (match := HASHED.fullmatch(n))} == {
        "loki-sidecar",
        "gateway",
        "gateway-tenants",
    }
    for name, kept in texts(before).items():
        assert texts(after)[name].inputs == kept.inputs


def test_an_unchanged_environment_registers_the_same_again() -> None:
    for raw in (INCIDENT, VARIANTS["on a cluster"]):
        before = environment(raw)
        after = environment(raw, outputs=before.outputs)
        assert {u: r.inputs for u, r in after.recorder.registered.items()} == {
            u: r.inputs for u, r in before.recorder.registered.items()
        }
        assert after.outputs == before.outputs


def test_only_the_last_two_versions_stay_and_a_rollback_declares_the_first_one_anew() -> None:
    a, b, c = INCIDENT, CHANGED, changed(INCIDENT, ("cluster.name", "third"))
    first = environment(a)
    second = environment(b, outputs=first.outputs)
    back = environment(a, outputs=second.outputs)
    third = environment(c, outputs=back.outputs)

    def alloys(recorded: Environment) -> list[str]:
        return [name for name in texts(recorded) if name.startswith("alloy-")]

    (name_a,) = alloys(first)
    (name_b,) = set(alloys(second)) - {name_a}
    (name_c,) = set(alloys(third)) - {name_a}
    assert set(alloys(back)) == {name_a, name_b}
    assert set(alloys(third)) == {name_a, name_c}
    assert [name for w, name in mounted(back, "configMap", "name") if w.name == names.ALLOY] == [name_a]


TEXTS = st.sampled_from("abcde").map(lambda text: {"file": text})


@given(current=TEXTS, deployed=st.lists(TEXTS, max_size=5))
def test_the_current_version_comes_first_then_the_newest_other_one(
    current: Mapping[str, str], deployed: list[Mapping[str, str]]
) -> None:
    kept = versions(current, deployed)
    others = [version for version in deployed if version != current]
    assert kept == [current, *others[:1]]
    assert len(kept) <= KEPT
    assert versions(current, kept) == kept  # no change: the same again


@given(deployments=st.lists(st.tuples(TEXTS, st.booleans()), min_size=1, max_size=12))
def test_whatever_fails_and_is_rolled_back_the_text_that_pods_run_with_is_never_deleted(
    deployments: list[tuple[dict[str, str], bool]],
) -> None:
    """The engine as measured: it creates first, deletes only after a rollout that succeeded, exports in any case."""
    there: set[str] = set()
    history: list[dict[str, Any]] = []
    running = ""
    for current, succeeds in deployments:
        history = versions(current, history)
        declared = {content_hash(version) for version in history}
        there |= declared
        if succeeds:
            running, there = content_hash(current), declared
        assert content_hash(current) in there
        assert not running or running in there
