"""A tenant's own pods that are not ready: told as ours, although they live in the tenant's namespace and quota."""

from diagnosis.findings import findings
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.diagnosis.test_findings import event, healthy, item, snapshot

SETTINGS = parsed(INCIDENT)
GRAFANA = "shared-observability-grafana"


def test_a_tenants_own_grafana_that_is_not_there_or_not_ready_is_told_as_ours() -> None:
    kept = [o for o in healthy() if (o["kind"], o["metadata"]["namespace"]) != ("Deployment", "shop")]
    (found,) = findings(SETTINGS, snapshot(kept))
    assert (found.subject, found.reason, found.tenant) == (
        f"Deployment shop/{GRAFANA}",
        "it does not exist",
        False,
    )

    kept = [o for o in healthy() if (o["kind"], o["metadata"]["namespace"]) != ("Pod", "shop")]
    (found,) = findings(SETTINGS, snapshot(kept))
    assert (found.subject, found.reason) == (f"Deployment shop/{GRAFANA}", "no pod")


def test_a_tenants_own_grafana_for_which_its_quota_has_no_room_is_the_tenants_matter_and_told_once() -> None:
    """A team at its quota must not make every deployment of the environment one that failed."""
    short = item("ReplicaSet", "shop", f"{GRAFANA}-5b8d9", GRAFANA, status={"replicas": 0})
    short["spec"]["replicas"] = 1
    full = 'pods "x" is forbidden: exceeded quota: shared-observability-pods, requested: pods=1, used: pods=9'
    kept = [o for o in healthy() if (o["kind"], o["metadata"]["namespace"]) != ("Pod", "shop")]
    (found,) = findings(SETTINGS, snapshot([*kept, short], (event(short, full),)))
    assert (found.subject, found.reason, found.tenant) == (f"Deployment shop/{GRAFANA}", full, True)
    assert "kubectl get resourcequota -n shop" in found.remedy


def test_what_somebody_elses_quota_or_a_policy_refuses_is_told_as_ours() -> None:
    short = item("ReplicaSet", "shop", f"{GRAFANA}-5b8d9", GRAFANA, status={"replicas": 0})
    short["spec"]["replicas"] = 1
    kept = [o for o in healthy() if (o["kind"], o["metadata"]["namespace"]) != ("Pod", "shop")]
    for message in (
        'pods "x" is forbidden: exceeded quota: theirs',
        'pods "x" is forbidden: violates PodSecurity',
    ):
        (found,) = findings(SETTINGS, snapshot([*kept, short], (event(short, message),)))
        assert (found.reason, found.tenant) == (message, False)


def test_tenants_without_pods_of_their_own_need_none() -> None:
    raw = changed(INCIDENT, *((f"tenants.{name}.dashboards", False) for name in INCIDENT["tenants"]))
    kept = [o for o in healthy() if o["metadata"]["namespace"].startswith("observability")]
    assert findings(parsed(raw), snapshot(kept)) == []
