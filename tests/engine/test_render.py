"""What the real engine renders: the whole environment, nothing else, and nothing again when nothing has changed."""

import re

import pytest
import yaml

from components import names
from tests.engine.conftest import JOURNEY_SECONDS, Journey, Step
from tests.support.engine import Manifest, config_maps

pytestmark = pytest.mark.timeout(JOURNEY_SECONDS)

WORKLOADS = ("Deployment", "DaemonSet")
TENANT_NAMESPACES = {"shop", "billing", "search-api", "search-index", "mobile", "reports"}


def count(output: str, what: str) -> int:
    """A number of the summary's: `84 unchanged`, `+ 84 created`."""
    found = re.search(rf"(\d+) {what}", output.rpartition("Resources:")[2])
    return int(found[1]) if found else 0


def of_kind(step: Step, *kinds: str) -> dict[str, Manifest]:
    """The rendered objects of some kinds."""
    return {name: manifest for name, manifest in step.manifests.items() if manifest["kind"] in kinds}


def test_a_preview_shows_what_will_be_and_writes_nothing(journey: Journey) -> None:
    assert not journey.rendered_by_preview
    assert count(journey.preview, "to create") == count(journey["deployed"].output, "created") > 50
    assert "web" in journey.preview
    assert "t3.large" in journey.preview  # the pod budget's table


def test_a_deployment_renders_every_kubernetes_object_once(journey: Journey) -> None:
    step = journey["deployed"]
    objects = [r for r in step.resources if r["type"].startswith("kubernetes:")]
    assert len(step.files) == len(step.manifests) == len(objects)
    assert set(of_kind(step, "DaemonSet")) == {
        f"DaemonSet {names.NODES_NAMESPACE}/{name}" for name in (names.ALLOY, names.NODE_EXPORTER)
    }
    namespaces = {m["metadata"]["name"] for m in of_kind(step, "Namespace").values()}
    assert namespaces == {names.LAYER_NAMESPACE, names.NODES_NAMESPACE, *TENANT_NAMESPACES}


def test_a_second_deployment_changes_nothing_whatever_the_shells_environment_says(journey: Journey) -> None:
    """It ran with KUBECONFIG and all the provider's variables set: a render takes none of them."""
    step = journey["unchanged"]
    assert count(step.output, "unchanged") == count(journey["deployed"].output, "created")
    assert not re.search(r"[+~-] ?\d+ (created|updated|deleted|replaced)", step.output)
    assert step.files == journey["deployed"].files


def test_every_rendered_pod_selects_linux_and_no_tolerates_all_is_there(journey: Journey) -> None:
    workloads = of_kind(journey["deployed"], *WORKLOADS)
    assert workloads
    for name, manifest in workloads.items():
        pod = manifest["spec"]["template"]["spec"]
        assert pod["nodeSelector"] == {"kubernetes.io/os": "linux"}, name
        assert all(t["key"] and t["operator"] == "Equal" for t in pod.get("tolerations", [])), name


def test_every_object_is_labelled_and_named_as_stated(journey: Journey) -> None:
    for name, manifest in journey["deployed"].manifests.items():
        assert manifest["metadata"]["labels"][names.OWNER_LABEL] == "dev", name
        assert "pulumi.com/autonamed" not in str(manifest), name


def test_every_object_is_made_by_the_one_provider_of_the_target(journey: Journey) -> None:
    resources = journey["deployed"].resources
    providers = [r for r in resources if r["type"] == "pulumi:providers:kubernetes"]
    assert [p["urn"].rpartition("::")[2] for p in providers] == ["target-provider"]
    reference = f"{providers[0]['urn']}::{providers[0]['id']}"
    assert {r["provider"] for r in resources if r["type"].startswith("kubernetes:")} == {reference}


@pytest.mark.parametrize("step", ["deployed", "configuration b", "back to a", "configuration c"])
def test_every_configuration_that_a_pod_mounts_is_there(journey: Journey, step: str) -> None:
    there = {m["metadata"]["name"] for m in of_kind(journey[step], "ConfigMap").values()}
    for name, manifest in of_kind(journey[step], *WORKLOADS).items():
        assert set(config_maps(manifest)) <= there, name


def alloys(step: Step) -> set[str]:
    """The versions of the node agents' configuration that are declared."""
    config = {m["metadata"]["name"] for m in of_kind(step, "ConfigMap").values()}
    return {name for name in config if re.fullmatch(r"alloy-[0-9a-f]{10}", name)}


def live(step: Step) -> str:
    """The version that the node agents mount."""
    (name,) = config_maps(step.manifests[f"DaemonSet {names.NODES_NAMESPACE}/{names.ALLOY}"])
    return name


def test_a_changed_configuration_is_a_new_object_and_the_one_before_is_kept_for_a_rollback(
    journey: Journey,
) -> None:
    a, b, back, c = (
        journey[name]
        for name in (
            "search renamed, one of its namespaces moved",
            "configuration b",
            "back to a",
            "configuration c",
        )
    )
    assert alloys(a) == {live(a)}
    assert alloys(b) == {live(a), live(b)}
    assert live(back) == live(a)
    assert alloys(back) == {live(a), live(b)}
    assert alloys(c) == {live(c), live(a)}
    assert len({live(a), live(b), live(c)}) == 3


def test_the_text_of_a_kept_configuration_is_as_it_was(journey: Journey) -> None:
    a, b = journey["search renamed, one of its namespaces moved"], journey["configuration b"]
    name = f"ConfigMap {names.NODES_NAMESPACE}/{live(a)}"
    assert b.manifests[name] == a.manifests[name]


def test_an_exporter_of_others_takes_ours_away_and_a_rollback_brings_it_back(journey: Journey) -> None:
    ours = f"DaemonSet {names.NODES_NAMESPACE}/{names.NODE_EXPORTER}"
    assert ours in journey["billing removed"].manifests
    assert not [name for name in journey["configuration b"].manifests if names.NODE_EXPORTER in name]
    assert ours in journey["back to a"].manifests


def test_a_signal_that_is_turned_off_leaves_nothing_behind(journey: Journey) -> None:
    step = journey["logs off"]
    assert not [name for name in step.manifests if names.ALLOY in name or names.LOKI in name]
    assert f"Deployment {names.LAYER_NAMESPACE}/{names.PROMETHEUS}" in step.manifests
    (mounted,) = config_maps(step.manifests[f"Deployment {names.LAYER_NAMESPACE}/{names.PROMETHEUS}"])
    (text,) = step.manifests[f"ConfigMap {names.LAYER_NAMESPACE}/{mounted}"]["data"].values()
    jobs = {job["job_name"] for job in yaml.safe_load(text)["scrape_configs"]}
    assert "kubelet" in jobs
    assert not {names.ALLOY, names.LOKI} & jobs


def test_destroying_leaves_no_file_and_no_resource(journey: Journey) -> None:
    assert journey.destroyed.files == {}
    assert [r for r in journey.destroyed.resources if r["type"] != "pulumi:pulumi:Stack"] == []
