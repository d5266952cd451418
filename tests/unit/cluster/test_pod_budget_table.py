"""The pod budget as text: the table of a preview and the refusal."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from components.cluster.pod_budget_table import refusal, table
from components.cluster.pod_remedies import remedies
from components.settings.base import GROUP_NAME
from tests.support.environments import INCIDENT, changed
from tests.unit.cluster.environments import AGENTS, FEW, LAYER, environment, environments, settings_of, solved

INCIDENT_TABLE = """\
Pod budget of cluster dev: 443 pods for 650 slots, all fit

group    type        nodes  max-pods  slots  system  agents  left
web      t3.large        5        35    175      25      10   140
workers  r5a.xlarge      9        58    522      45      18   459
batch    r5a.xlarge      1        58     58       5       2    51
all                     15              755      75      30   650

runs on       pods  who
web, workers   440  shop 120, search 100, billing 80, mail 80, wiki 60
workers          3  layer 3

agents         30 of 755 slots, 4.0 %
per-app shape  an exporter and a log agent of each app on each node: 2 x 15 nodes x 5 apps = 150
one more app   adds 0 agents, and 30 in the per-app shape; up to 156 pods of its own fit on web,
               workers"""

INCIDENT_REFUSAL = """\
The pods of cluster dev do not fit: 1023 need a slot on web, workers, which have 599; 424 would stay
Pending.

need 1023  shop 700 pods, search 100 pods, billing 80 pods, mail 80 pods, wiki 60 pods, layer 3 pods
have 599   web: 5 nodes x (35 max-pods - 5 system - 2 agents) = 140
           workers: 9 nodes x (58 max-pods - 5 system - 2 agents) = 459

Remedies, the cheapest first; with each alone everything fits:
  fewer pods         tenants.shop.pods: 700 -> 276 (51 slots free)
  prefix delegation  cluster.nodeGroups.workers.podAddresses: secondary -> prefix (max-pods of
                     workers 58 -> 110; 95 slots free)
                     (only new nodes get it; their subnets need free blocks of 16 addresses (/28))
  larger type        cluster.nodeGroups.workers.instanceTypes: [r5a.xlarge] -> [r5a.4xlarge]
                     (max-pods of workers 58 -> 110; 95 slots free)
                     (replaces the nodes)
  more nodes         cluster.nodeGroups.web.nodes: 5 -> 21 (web: 21 x 28 = 588; 75 slots free)
                     or cluster.nodeGroups.workers.nodes: 9 -> 18 (workers: 18 x 51 = 918; 86 slots
                     free)"""


def texts(raw: dict[str, Any]) -> tuple[str, str]:
    """Table and refusal (empty if all fits)."""
    found = solved(raw)
    return table(found), "" if found.fits else refusal(found, remedies(settings_of(raw), AGENTS, LAYER))


def test_the_incidents_table() -> None:
    assert table(solved(INCIDENT)) == INCIDENT_TABLE


def test_the_incidents_refusal() -> None:
    assert texts(changed(INCIDENT, ("tenants.shop.pods", 700)))[1] == INCIDENT_REFUSAL


def test_an_autoscaled_group_shows_its_bounds_and_what_the_fewest_nodes_give() -> None:
    groups = {"web": {"instanceTypes": ["t3.large"], "nodes": {"min": 1, "max": 3}}}
    text = table(solved(environment(groups, {"shop": {"pods": 60}})))
    assert re.search(r"^web +t3\.large +1-3 ", text, re.MULTILINE)
    assert "on 1 node 28 of 63 pods fit: 35 stay Pending until nodes are added" in text
    assert "on 1 node 28 of 28 pods fit: all" in table(solved(environment(groups, {"shop": {"pods": 25}})))
    assert "fewest nodes" not in table(solved(INCIDENT))


def test_notes_and_exhausted_addresses_are_said() -> None:
    groups = {"web": {"instanceTypes": ["t3.large"], "maxPods": 110, "podAddresses": "secondary", "nodes": 1}}
    text = table(solved(environment(groups, {})))
    assert "33 addresses per node run out before 110 slots" in text
    pool = {"kind": "nodePool", "instanceTypes": ["t3.large"], "podAddresses": "prefix", "nodes": 1}
    assert "Karpenter does not count prefixes" in table(solved(environment({"web": pool}, {})))


def test_a_group_too_small_for_the_agents_is_refused_with_the_numbers() -> None:
    text = texts(environment({"web": {"maxPods": 50, "nodes": 1}, "tiny": {"maxPods": 6, "nodes": 1}}, {}))[1]
    assert "do not fit on group tiny: a node has 6 slots" in text
    assert "5 pods with 2 agents are 1 too many" in " ".join(text.split())
    assert "No change of one kind is enough" in text


def test_many_tenants_are_summed_up_in_the_table_and_all_named_in_the_refusal() -> None:
    raw = environment(
        {"web": {"maxPods": 107, "nodes": 1}}, {f"team-{i:03}": {"pods": 1} for i in range(200)}
    )
    shown, refused = texts(raw)
    assert len(shown.splitlines()) < 20
    assert "193 more 195" in shown
    assert all(f"team-{i:03} 1 pod" in refused for i in range(200))


def test_there_is_no_colour_and_no_thousands_separator() -> None:
    assert "1234000" in table(solved(environment({"web": {"maxPods": 1234, "nodes": 1000}}, {})))
    shown, refused = texts(environment({"web": {"maxPods": 250, "nodes": 100}}, {"shop": {"pods": 99_999}}))
    assert "25000" in shown
    assert "100002" in refused
    assert not re.search(r"\d[,'_  ]\d{3}", shown + refused)
    assert "\x1b" not in shown + refused


@given(environments())
@FEW
def test_every_number_of_the_budget_is_in_its_row(raw: dict[str, Any]) -> None:
    found = solved(raw)
    rows = {line.split()[0]: line.split() for line in table(found).split("\n\n")[1].splitlines()[1:]}
    for group in found.groups:
        nodes = group.nodes_max
        assert rows[group.name][-5:] == [
            str(group.max_pods),
            str(group.slots),
            str(group.system * nodes),
            str(group.agents * nodes),
            str(group.left),
        ]
    assert rows["all"][-1] == str(found.left)


@given(environments())
@FEW
def test_a_refusal_names_each_tenant_of_the_binding_set_with_its_pods(raw: dict[str, Any]) -> None:
    binding = solved(raw).binding
    if binding is None:
        return
    text = " ".join(texts(raw)[1].split())
    assert f"{binding.need} need a slot" in text
    assert f"have {binding.have}" in text
    for demand in binding.demands:
        assert not demand.tenant or f"{demand.name} {demand.pods} pod" in text
    for name in binding.groups:
        assert name in text


odd_groups = st.from_regex(GROUP_NAME, fullmatch=True).filter(str.isascii)
odd_tenants = st.from_regex(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True).filter(
    lambda name: not name.startswith("kube-") and name not in ("default", "layer", "platform")
)
odd_types = st.text(min_size=1, max_size=120)


@given(
    st.lists(odd_groups, min_size=1, max_size=4, unique=True),
    st.lists(odd_tenants, max_size=4, unique=True),
    odd_types,
    st.integers(1, 2000),
    st.integers(1, 5000),
    st.integers(2, 100_000),
)
@FEW
def test_text_is_at_most_100_columns_of_ascii_whatever_the_names(
    groups: list[str], tenants: list[str], odd: str, max_pods: int, nodes: int, pods: int
) -> None:
    group = {"instanceTypes": [odd, "t3.large"], "maxPods": max_pods, "nodes": {"min": 0, "max": nodes}}
    tenant = {"pods": pods, "runsOn": groups[:2]}
    raw = environment(dict.fromkeys(groups, group), dict.fromkeys(tenants, tenant))
    for text in texts(raw):
        assert text.isascii()
        assert max(map(len, text.splitlines()), default=0) <= 100
        assert not any(line.endswith(" ") for line in text.splitlines())


def test_a_long_name_is_continued_below_and_never_cut() -> None:
    name = "a" * 31 + "-" + "b" * 31
    shown = table(solved(environment({name: {"maxPods": 50, "nodes": 1}}, {})))
    assert name in shown
    two = {
        name: {
            "instanceTypes": ["u7in-32tb.224xlarge", "x2iedn.metal", "t3.large"],
            "maxPods": 50,
            "nodes": 5000,
        }
    }
    lines = table(solved(environment(two, {}))).split("\n\n")[1].splitlines()
    assert name in "".join(line.split()[0] for line in lines[1:-1] if line[0] != " ")
