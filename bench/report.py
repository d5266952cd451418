"""docs/benchmarks.md from the results in build/bench: `python -m bench.report`.

Each part of the page between its two markers is written anew if its results are there, and left as it is if not; the
pictures likewise. Equal results give equal files, to the byte.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.measuring import RESULTS, say
from commands.environments import ROOT

DOC = ROOT / "docs" / "benchmarks.md"
PICTURES = ROOT / "docs" / "img"
Results = Mapping[str, Any]
Cell = str | int | float
# No date and no random ids, so that only other results give another file.
mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "shared-observability", "svg.fonttype": "none", "font.size": 9})


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A Markdown table; all but the first column to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: Cell) -> str:
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.1f}" if isinstance(cell, float) else cell


def machine(found: Results) -> str:
    """How busy it was, and what was missed."""
    state = found.get("machine")
    if state is None:  # benches with a form of their own
        noisy = "; **noisy**" if found.get("noisy") else ""
        told = f"Load average {found['load_before']:.1f} before{noisy}."
    else:
        noisy = "; **noisy**: wall times tell little" if state["noisy"] else ""
        told = f"{state['cores']} cores, load average {state['load_before']} before{noisy}."
    missed = [f"- **Missed:** {mistake}" for mistake in found["mistakes"]]
    return "\n".join([told, *(["", *missed] if missed else [])])


def per_app_shape(found: Results) -> str:
    """Agents and the rest, by shape."""
    rows = [
        (
            row["shape"], f"{row['nodes']} x {row['apps']}", row["agents"], f"{row['share']:.1%}", row["others"],
            row["cpu"], row["memory_gib"], row["pending"], row["pending_agents"],
            "never" if row["seconds"] is None else f"{row['seconds']:.0f} s",
        )
        for row in found["rows"]
    ]  # fmt: skip
    head = ("shape", "nodes x apps", "agents", "of all slots", "other pods", "cores requested", "GiB requested",
            "pods Pending", "agents Pending", "all agents run after")  # fmt: skip
    return table(head, rows)


def engine(found: Results) -> str:
    """Commands on a simulated cluster, and previews beside the bare program."""
    rows = [
        (
            row["step"], row["where"], row["tenants"], row["objects"], row["wall"], row["cpu"], int(row["peak_mib"]),
            int(row["state_kib"]), row["writes"],
        )
        for row in found["rows"]
        if row["step"] != "up, no change, again"
    ]  # fmt: skip
    head = (
        "command",
        "target",
        "tenants",
        "objects after it",
        "seconds",
        "CPU s",
        "peak MiB",
        "state KiB",
        "state writes",
    )
    ratios = [
        (
            r["step"],
            r["tenants"],
            r["objects"],
            r["cpu"][0],
            r["cpu"][1],
            f"{r['ratio']:.2f}",
            f"{r['spread']:.2f}",
        )
        for r in found["ratios"]
    ]
    more = "; ".join(
        f"{where}: {', '.join(f'{cpu:.1f} s at {tenants}' for tenants, cpu in costs.items())}"
        for where, costs in found["one_more_cpu"].items()
        if costs
    )
    return "\n\n".join(
        [
            table(head, rows),
            f"CPU of one tenant more, less that of an `up` without a change: {more}.",
            table(("rendered", "tenants", "objects", "CPU s", "bare CPU s", "ratio", "spread"), ratios),
        ]
    )


def prometheus(found: Results) -> str:
    """What one server takes."""
    rows = [
        (
            f"{row['nodes']} nodes", row["targets"], row["series"], int(row["samples_per_second"]),
            f"{row['cpu_per_million']:.2f}", int(row["core_full_at"]), int(row["memory_mib"]),
        )
        for row in found["rows"]
    ]  # fmt: skip
    head = (
        "cluster",
        "targets",
        "series",
        "samples/s",
        "CPU s per million samples",
        "samples/s of a full core",
        "MiB",
    )
    memory = found["memory"]
    told = (
        f"100,000 series more take **{memory['mib_per_100k_series']} MiB**; the pod's limit of 3 GiB is then reached "
        f"at about {memory['series_at_limit']:,.0f} series."
    )
    return f"{table(head, rows)}\n\n{told}"


def gateway(found: Results) -> str:
    """CPU of nginx beside the bare path."""
    rows = [
        (f"{row['tenants']:,} tenants", f"{row['nginx_us']:.0f}", f"{row['share_of_bare']:.1%}",
         f"{row['rate_by_bare']:.2f}")
        for row in found["rows"]
    ]  # fmt: skip
    return table(
        ("gateway with", "nginx us per request", "of the bare path's CPU", "requests/s by bare"), rows
    )


def generated_reads(found: Results) -> str:
    """How many there were."""
    return f"{found['cases']:,} reads in {found['seconds']:.0f} s."


def policy_pack(found: Results) -> str:
    """Preview with and without the pack."""
    rows = [
        (f"{row['tenants']:,} tenants", f"{row['seconds_without']:.2f}", f"{row['seconds_with']:.2f}",
         f"{row['ratio_wall']:.2f}", f"{row['ratio_cpu']:.2f}")
        for row in found["rows"]
    ]  # fmt: skip
    return table(("preview with", "s without the pack", "s with it", "ratio", "ratio of CPU"), rows)


PARTS = {
    "per_app_shape": per_app_shape,
    "engine": engine,
    "prometheus": prometheus,
    "gateway": gateway,
    "generated_reads": generated_reads,
    "policy_pack": policy_pack,
}


def _image(name: str) -> str:
    if name not in PICTURES_OF:
        return ""
    _, file, alt, width = PICTURES_OF[name]
    return f'<img src="img/{file}" alt="{alt}" width="{width}">'


def filled(text: str, results: Mapping[str, Results]) -> str:
    """The page with the parts whose results are there."""
    for name, part in PARTS.items():
        before, marker, rest = text.partition(f"<!-- generated: {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        if name in results and end:
            parts = (_image(name), part(results[name]), machine(results[name]))
            joined = "\n\n".join(filter(None, parts))
            text = f"{before}{marker}{joined}\n{end}{after}"
    return text


# --- pictures ---------------------------------------------------------------------------------------------------------


def _picture(axes: int) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(4.2 * axes, 3), layout="constrained")
    found = figure.subplots(1, axes, squeeze=False)[0]
    for one in found:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(axis="y", linewidth=0.4, alpha=0.6)
    return figure, list(found)


def _write(figure: Figure, file: Path) -> None:
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    # The back end leaves spaces at the ends of lines.
    file.write_text("\n".join(line.rstrip() for line in file.read_text().splitlines()) + "\n")


def draw_per_app_shape(found: Results, file: Path) -> None:
    """Agents and Pending pods, by size of cluster."""
    figure, (agents, pending) = _picture(2)
    shapes = list(dict.fromkeys(row["shape"] for row in found["rows"]))
    sizes = list(dict.fromkeys((row["nodes"], row["apps"]) for row in found["rows"]))
    for at, shape in enumerate(shapes):
        rows = [row for row in found["rows"] if row["shape"] == shape]
        places = [sizes.index((row["nodes"], row["apps"])) + 0.27 * (at - 1) for row in rows]
        for axes, key in ((agents, "agents"), (pending, "pending")):
            bars = axes.bar(places, [row[key] for row in rows], width=0.25, label=shape)
            axes.bar_label(bars, fontsize=7)
    for axes, title in ((agents, "agent pods"), (pending, "pods Pending on full nodes")):
        axes.set_title(title)
        axes.set_xticks(range(len(sizes)), [f"{nodes} nodes,\n{apps} apps" for nodes, apps in sizes])
    agents.legend(frameon=False, fontsize=8)
    _write(figure, file)


def draw_engine(found: Results, file: Path) -> None:
    """CPU by tenants: commands, and previews beside the bare program."""
    figure, (commands, previews) = _picture(2)
    for step in dict.fromkeys(row["step"] for row in found["rows"]):
        if step != "up, no change, again":
            rows = [row for row in found["rows"] if row["step"] == step and row["where"] == "files"]
            commands.plot([r["tenants"] for r in rows], [r["cpu"] for r in rows], marker="o", label=step)
    for step in dict.fromkeys(r["step"] for r in found["ratios"]):
        rows = [r for r in found["ratios"] if r["step"] == step]
        for at, (label, style) in enumerate(((step, "-"), (f"{step}, bare", "--"))):
            previews.plot(
                [r["tenants"] for r in rows], [r["cpu"][at] for r in rows], style, marker="o", label=label
            )
    for axes, title in ((commands, "CPU seconds, rendered"), (previews, "CPU seconds, beside bare")):
        axes.set_title(title)
        axes.set_xlabel("tenants")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, fontsize=7)
    _write(figure, file)


def draw_prometheus(found: Results, file: Path) -> None:
    """Memory by series, with the pod's limit."""
    figure, (memory,) = _picture(1)
    line, rows = found["memory"], found["rows"]
    end = line["series_at_limit"]
    memory.plot(
        [0, end / 1000],
        [line["base_mib"], line["base_mib"] + line["mib_per_100k_series"] * end / 100_000],
        "--",
        label="line through them",
    )
    memory.plot([r["series"] / 1000 for r in rows], [r["memory_mib"] for r in rows], "o", label="measured")
    memory.axhline(3072, color="tab:red", linewidth=1, label="limit of the pod")
    memory.set(title="Prometheus: memory by series", xlabel="thousand series", ylabel="MiB", ylim=(0, None))
    memory.legend(frameon=False, fontsize=8)
    _write(figure, file)


# By bench: what it draws, in which file, what the picture shows, and how wide the page shows it.
PICTURES_OF = {
    "per_app_shape": (draw_per_app_shape, "bench-agents.svg", "Agent pods and Pending pods, by shape", 760),
    "engine": (draw_engine, "bench-engine.svg", "CPU seconds by number of tenants", 760),
    "prometheus": (draw_prometheus, "bench-prometheus.svg", "Memory of Prometheus by series", 380),
}


def main() -> int:
    """Writes what there are results for."""
    results = {
        name: json.loads(file.read_text()) for name in PARTS if (file := RESULTS / f"{name}.json").is_file()
    }
    DOC.write_text(filled(DOC.read_text(encoding="utf-8"), results), encoding="utf-8")
    for name, (draw, picture, *_) in PICTURES_OF.items():
        if name in results:
            draw(results[name], PICTURES / picture)
    say(f"{DOC.relative_to(ROOT)}: written from {', '.join(sorted(results))}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
