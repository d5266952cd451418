"""The one provider: what it is told, whatever the shell that runs the engine has in its environment."""

import inspect
import re
from typing import Any

import pulumi_kubernetes
import pytest

from tests.unit.components.environments import VARIANTS, Environment, empty_cluster, environment

PROVIDER = "pulumi:providers:kubernetes"
# Every variable that the SDK would fill an argument from, read from its own text; some are numbers.
SOURCES = "".join(
    inspect.getsource(module) for module in (pulumi_kubernetes.provider, pulumi_kubernetes._inputs)
)
AMBIENT = {name: kind for kind, name in re.findall(r"get_env(_bool|_int|_float)?\('(\w+)'\)", SOURCES)}


def provider(recorded: Environment) -> dict[str, Any]:
    """What the provider is registered with."""
    (found,) = (r for r in recorded.recorder.registered.values() if r.type == PROVIDER)
    return found.inputs


def test_the_sdk_reads_at_least_the_variables_that_are_known_to_break_a_render() -> None:
    assert {"KUBECONFIG", "PULUMI_K8S_ENABLE_SERVER_SIDE_APPLY", "PULUMI_K8S_DELETE_UNREACHABLE"} <= set(
        AMBIENT
    )


@pytest.mark.parametrize("value", ["true", "false"])
@pytest.mark.parametrize("variant", ["rendered", "on a cluster"])
def test_no_variable_of_the_shell_reaches_the_provider(
    variant: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = VARIANTS[variant]
    expected = provider(environment(raw))
    for variable, kind in AMBIENT.items():
        monkeypatch.setenv(variable, "7" if kind in ("_int", "_float") else value)
    assert provider(environment(raw, live=empty_cluster(raw))) == expected


def test_a_render_is_told_a_folder_and_no_cluster() -> None:
    found = provider(environment(VARIANTS["rendered"]))
    assert found["renderYamlToDirectory"] == "rendered/dev"
    assert found["kubeconfig"] == ""
    assert not {"context", "clusterIdentifier", "kubeClientSettings"} & set(found)


def test_a_cluster_is_told_by_file_context_and_identity() -> None:
    found = provider(environment(VARIANTS["on a cluster"]))
    assert (found["kubeconfig"], found["context"]) == ("/dev/null", "test")
    assert found["clusterIdentifier"] == "uid-of-kube-system"
    assert "renderYamlToDirectory" not in found


def test_what_is_reread_at_run_time_is_changed_in_place_by_both(recorded: Environment) -> None:
    found = provider(recorded)
    assert found["enableConfigMapMutable"] == found["enableSecretMutable"] == "true"
