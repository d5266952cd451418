"""Where a gateway key that everybody can decrypt is refused."""

from dataclasses import replace
from hashlib import sha256

import pytest

from components.cluster.kubectl import is_loopback
from components.cluster.live import Live
from components.cluster.refusals import public_key
from tests.support.environments import INCIDENT, KEY, changed, parsed
from tests.unit.components.environments import STACK, empty_cluster, environment

EKS = {"kind": "eks", "region": "eu-central-1", "account": "111122223333", "existing": "prod"}
KUBECONFIG = {"kind": "kubeconfig", "path": "/dev/null", "context": "c"}
RENDER = {"kind": "render", "directory": "rendered"}
HERE, THERE = Live("uid", server="https://127.0.0.1:6443"), Live("uid", server="https://10.0.0.1:6443")


@pytest.mark.parametrize(
    ("target", "live", "refused"),
    [
        (RENDER, None, False),
        (KUBECONFIG, HERE, False),
        (KUBECONFIG, THERE, True),
        (KUBECONFIG, Live("uid"), True),
        (EKS, THERE, True),
        (EKS, None, True),
    ],
    ids=["rendered", "here", "there", "nobody knows where", "on EKS", "on EKS, yet to be made"],
)
def test_a_public_key_is_good_for_files_and_for_this_machine(
    target: dict[str, object], live: Live | None, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = parsed(changed(INCIDENT, ("cluster.target", target)))
    assert list(public_key.mistakes(settings, live)) == [], "a key of one's own is good for every target"
    monkeypatch.setattr(public_key, "PUBLIC_KEYS", {sha256(KEY.encode()).hexdigest()})
    found = list(public_key.mistakes(settings, live))
    assert [one.path for one in found] == ["gatewayKey"] * refused
    assert all(KEY not in str(one) and "openssl rand -hex 32" in str(one) for one in found)


def test_a_preview_shows_all_the_rest_and_says_that_up_will_refuse_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(public_key, "PUBLIC_KEYS", {sha256(KEY.encode()).hexdigest()})
    raw = changed(INCIDENT, ("cluster.target", KUBECONFIG))
    there = replace(empty_cluster(raw), server=THERE.server)
    found = environment(raw, live=there, preview=True)
    assert found.of("DaemonSet")
    (told,) = [line for line in found.recorder.warnings if "gatewayKey" in line]
    assert told.startswith("`up` will refuse this: gatewayKey: ")
    assert f"make pulumi ENV={STACK} " in told
    with pytest.raises(SystemExit):
        environment(raw, live=there)
    assert environment(raw, live=replace(there, server=HERE.server)).of("DaemonSet")


@pytest.mark.parametrize(
    ("server", "local"),
    [
        ("https://127.0.0.1:6443", True),
        ("https://127.9.9.9", True),
        ("https://[::1]:6443", True),
        ("https://localhost:6443", True),
        ("https://localhost.example.com", False),
        ("https://127.example.com", False),
        ("https://192.168.49.2:8443", False),
        ("https://[", False),
        ("", False),
    ],
)
def test_this_machine_is_known_by_its_loopback_addresses(server: str, local: bool) -> None:
    assert is_loopback(server) == local
