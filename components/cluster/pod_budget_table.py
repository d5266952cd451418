"""The pod budget as text, at most 100 columns wide, without colour: the table of a preview, and the refusal."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from textwrap import wrap

from components.cluster.pod_budget import PER_APP_AGENTS, Binding, Demand, GroupBudget, PodBudget
from components.cluster.remedies.problem import Change, Remedy, Value

WIDTH = 100
GAP = "  "
NARROWEST = 12  # of a column of names
SOLID = "\N{NO-BREAK SPACE}"
NAMED = 8  # tenants that a line of the table names; a refusal names all

HEAD = ("group", "type", "nodes", "max-pods", "slots", "system", "agents", "left")
Row = Sequence[str]


def table(budget: PodBudget) -> str:
    """Groups with their slots, who needs how many of them, and what the agents take."""
    verdict = "all fit" if budget.fits else "they do not fit"
    title = f"Pod budget of cluster {budget.cluster}: {budget.need} pods for {budget.left} slots, {verdict}"
    blocks = [
        _wrapped(title, WIDTH),
        _grid([HEAD, *map(_group_row, budget.groups), _total_row(budget)], names=2),
        _grid([("runs on", "pods", "who"), *_demand_rows(budget)], names=1, last_is_text=True),
        _labelled(_remarks(budget)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def refusal(budget: PodBudget, remedies: Iterable[Remedy]) -> str:
    """Why the pods do not fit, and each change that would make them fit, with its numbers."""
    blocks = [*_reasons(budget), list(_remedy_lines(list(remedies)))]
    return "\n\n".join("\n".join(block) for block in blocks if block)


# --- the table -------------------------------------------------------------------------------------------------------


def _group_row(group: GroupBudget) -> Row:
    nodes = group.nodes_max
    return (
        group.name,
        _types(group),
        f"{nodes}" if group.nodes_min == nodes else f"{group.nodes_min}-{nodes}",
        f"{group.max_pods}",
        f"{group.slots}",
        f"{group.system * nodes}",
        f"{group.agents * nodes}",
        f"{group.left}",
    )


def _total_row(budget: PodBudget) -> Row:
    groups = budget.groups
    return (
        "all",
        "",
        f"{budget.nodes}" if budget.nodes_min == budget.nodes else f"{budget.nodes_min}-{budget.nodes}",
        "",
        f"{budget.slots}",
        f"{sum(group.system * group.nodes_max for group in groups)}",
        f"{sum(group.agents * group.nodes_max for group in groups)}",
        f"{budget.left}",
    )


def _types(group: GroupBudget) -> str:
    return ", ".join(map(_printable, group.instance_types)) or "-"


def _printable(name: str) -> str:
    """A type as written; with a stated maxPods it can be any text, so what is not plain ASCII is escaped."""
    return name.encode("unicode_escape").decode("ascii")


def _demand_rows(budget: PodBudget) -> Iterator[Row]:
    demands = sorted((d for d in budget.demands if d.pods), key=lambda demand: demand.groups)
    for groups, members in groupby(demands, key=lambda demand: demand.groups):
        pods = _who(list(members))
        named, rest = pods[:NAMED], pods[NAMED:]
        others = [f"{len(rest)} more {sum(number for _, number in rest)}"] if rest else []
        who = ", ".join(_solid(text) for text in [*(f"{name} {number}" for name, number in named), *others])
        yield _groups(groups), f"{sum(number for _, number in pods)}", who


def _who(demands: Sequence[Demand]) -> list[tuple[str, int]]:
    """The tenants, those with most pods first, then the layer as one."""
    tenants = sorted(
        ((d.name, d.pods) for d in demands if d.tenant and d.pods), key=lambda item: (-item[1], item[0])
    )
    layer = sum(demand.pods for demand in demands if not demand.tenant)
    return [*tenants, ("layer", layer)] if layer else tenants


def _groups(names: Iterable[str]) -> str:
    return ", ".join(names) or "no group"


def _remarks(budget: PodBudget) -> Iterator[tuple[str, str]]:
    per_app = budget.nodes * PER_APP_AGENTS
    yield "agents", f"{budget.agent_pods} of {budget.slots} slots, {budget.agents_share * 100:.1f} %"
    shape = f"{PER_APP_AGENTS} x {_count(budget.nodes, 'node')} x {_count(budget.apps, 'app')} = {budget.per_app_shape}"
    yield "per-app shape", f"an exporter and a log agent of each app on each node: {shape}"
    room = (
        f"; up to {budget.room} pods of its own fit on {_groups(budget.default_groups)}"
        if budget.fits
        else ""
    )
    yield "one more app", f"adds 0 agents, and {per_app} in the per-app shape{room}"
    if budget.nodes_min < budget.nodes:
        waiting = budget.need - budget.at_min.placed
        rest = f"{waiting} stay Pending until nodes are added" if waiting else "all"
        yield (
            "fewest nodes",
            f"on {_count(budget.nodes_min, 'node')} {budget.at_min.placed} of {budget.need} pods fit: {rest}",
        )
    for group in budget.groups:
        for note in group.slots_per_node.notes:
            yield f"note on {group.name}", note
        if group.limited_by_addresses and not group.short:
            slots = group.slots_per_node
            yield (
                f"note on {group.name}",
                f"{slots.addresses} addresses per node run out before {slots.max_pods} slots",
            )


# --- the refusal -----------------------------------------------------------------------------------------------------


def _reasons(budget: PodBudget) -> Iterator[list[str]]:
    for group in budget.overfull:
        limits = group.slots_per_node
        has = f"{limits.addresses} addresses" if group.limited_by_addresses else f"{limits.max_pods} slots"
        system, agents = _count(group.system, "pod"), _count(group.agents, "agent")
        yield _wrapped(
            f"The node agents do not fit on group {group.name}: a node has {has}, and the cluster's own "
            f"{system} with {agents} are {group.short} too many.",
            WIDTH,
        )
    if budget.binding is not None:
        yield from _binding(budget, budget.binding)


def _binding(budget: PodBudget, binding: Binding) -> Iterator[list[str]]:
    have = "which has" if len(binding.groups) == 1 else "which have"
    where = (
        f"on {_groups(binding.groups)}, {have} {binding.have}" if binding.groups else "and may use no group"
    )
    waiting = f"{binding.need - binding.have} would stay Pending"
    text = f"The pods of cluster {budget.cluster} do not fit: {binding.need} need a slot {where}; {waiting}."
    yield _wrapped(text, WIDTH)
    who = ", ".join(_solid(f"{name} {_count(pods, 'pod')}") for name, pods in _who(binding.demands))
    groups = [_have(group) for group in budget.groups if group.name in binding.groups]
    yield _labelled([(f"need {binding.need}", who), (f"have {binding.have}", "\n".join(groups) or "-")])


def _have(group: GroupBudget) -> str:
    each = f"({group.max_pods} max-pods - {group.system} system - {group.agents} agents)"
    if group.limited_by_addresses:
        each = f"{group.per_node} (of {group.slots_per_node.addresses} addresses per node)"
    return f"{group.name}: {_count(group.nodes_max, 'node')} x {each} = {group.left}"


def _remedy_lines(remedies: Sequence[Remedy]) -> Iterator[str]:
    if not remedies:
        yield "No change of one kind is enough; combine more nodes, larger types and fewer pods."
        return
    yield "Remedies, the cheapest first; with each alone everything fits:"
    rows = []
    for kind, members in groupby(remedies, key=lambda remedy: remedy.kind):
        same = list(members)
        texts = [f"{'or ' if i else ''}{_remedy(remedy)}" for i, remedy in enumerate(same)]
        notes = dict.fromkeys(f"({remedy.note})" for remedy in same if remedy.note)
        rows.append((f"  {kind}", "\n".join([*texts, *notes])))
    yield from _labelled(rows)


def _remedy(remedy: Remedy) -> str:
    numbers = "; ".join(part for part in (remedy.effect, f"{_count(remedy.free, 'slot')} free") if part)
    return f"{', '.join(map(_change, remedy.changes))} ({numbers})"


def _change(change: Change) -> str:
    return f"{'.'.join(change.path)}: " + _solid(f"{_value(change.old)} -> {_value(change.new)}")


def _value(value: Value) -> str:
    return f"[{', '.join(map(_printable, value))}]" if isinstance(value, tuple) else f"{value}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# --- columns ---------------------------------------------------------------------------------------------------------


def _grid(rows: Sequence[Row], *, names: int, last_is_text: bool = False) -> list[str]:
    """Rows as columns: the first `names` to the left, numbers to the right; what is too long goes on below.

    Args:
        rows: the head and the rows.
        names: how many columns from the left hold names.
        last_is_text: the last column holds text too, and takes what width is left.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    flexible = [*range(names), *([len(widths) - 1] if last_is_text else [])]
    for column in reversed(flexible):
        others = sum(widths) - widths[column] + len(GAP) * (len(widths) - 1)
        widths[column] = min(widths[column], max(WIDTH - others, NARROWEST))
    return [line for row in rows for line in _row(row, widths, flexible)]


def _row(row: Row, widths: Sequence[int], flexible: Sequence[int]) -> Iterator[str]:
    cells = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
    for i in range(max(map(len, cells))):
        texts = [cell[i] if i < len(cell) else "" for cell in cells]
        padded = (
            f"{text:<{widths[j]}}" if j in flexible else f"{text:>{widths[j]}}"
            for j, text in enumerate(texts)
        )
        yield GAP.join(padded).rstrip()


def _labelled(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Labels to the left, texts beside them; a line break in a text is kept."""
    return _grid(list(rows), names=1, last_is_text=True)


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width`; names are not broken at hyphens, and only if they are wider than a line."""
    lines = [
        line
        for part in text.split("\n")
        for line in wrap(part, width, break_on_hyphens=False, subsequent_indent=_indent(part))
    ]
    return [line.replace(SOLID, " ") for line in lines] or [""]


def _indent(text: str) -> str:
    """The spaces that a text begins with."""
    return " " * (len(text) - len(text.lstrip(" ")))


def _solid(text: str) -> str:
    """A text that is not broken at its spaces if it fits into a line."""
    return text.replace(" ", SOLID)
