"""What benches say of their figures: bounds that are missed, and the page that is written from results."""

from pathlib import Path
from typing import Any

import pytest

from bench import bare, engine, per_app_shape, prometheus, report
from bench.__main__ import BENCHES, main
from bench.measuring import RESULTS, Writes
from commands.environments import ROOT

MACHINE = {"cores": 2, "load_before": 0.1, "load_after": 1.0, "noisy": False}
SHARED = per_app_shape.Row("shared", 15, 5, 755, 30, 30 / 755, 9, 2.6, 6.0, 0, 0, 42.0)
PER_APP = per_app_shape.Row("per app", 15, 5, 755, 150, 150 / 755, 20, 11.6, 26.9, 122, 115, None)


def row(tenants: int, step: str, cpu: float) -> engine.Row:
    return engine.Row("files", tenants, step, 9, cpu, cpu, 1, 1, 1)


def rows(tenants: int, more: float) -> list[engine.Row]:
    steps = {"up, no change": 5.0, "up, no change, again": 4.0, "up, one tenant more": 4.0 + more}
    return [row(tenants, step, cpu) for step, cpu in steps.items()]


def ratio(value: float) -> engine.Ratio:
    return engine.Ratio(50, "preview from empty", 9, (value, 1.0), (value, 1.0), value, 1.0)


def test_a_pending_pod_or_an_agent_too_many_of_the_shared_layer_is_a_miss() -> None:
    assert per_app_shape.mistakes([PER_APP, SHARED]) == []
    pending = per_app_shape.Row(**{**vars(SHARED), "pending": 1})
    assert per_app_shape.mistakes([pending]) == ["shared, 15 nodes: 1 pods are Pending"]
    more = per_app_shape.Row(**{**vars(SHARED), "agents": 31})
    assert per_app_shape.mistakes([more]) == ["shared, 15 nodes: 31 agents, not 2 on each node"]


@pytest.mark.parametrize(("size", "apps"), per_app_shape.SIZES)
def test_the_cluster_of_the_per_app_shape_has_the_nodes_and_apps_that_it_says(size: int, apps: int) -> None:
    settings = per_app_shape.settings_of(size, apps)
    groups = settings["cluster"]["nodeGroups"].values()
    assert (sum(group["nodes"] for group in groups), len(settings["tenants"])) == (size, apps)
    agents = [o for o in per_app_shape.per_app_shape(apps) if o["kind"] == "DaemonSet"]
    assert len(agents) == 2 * apps
    assert per_app_shape.app_pods(settings) > size


def test_a_preview_above_its_bound_and_a_tenant_that_costs_more_with_many_are_misses() -> None:
    assert engine.mistakes([*rows(5, 2.0), *rows(200, 5.0)], [ratio(engine.MOST_OF_BARE)]) == []
    (found,) = engine.mistakes([], [ratio(1.26)])
    assert "1.26 times" in found
    (found,) = engine.mistakes([*rows(5, 2.0), *rows(200, 5.1)], [])
    assert "5.1 s of CPU at 200 tenants, where `up` without a change takes 4.0 s: 1.27 times" in found


def test_memory_is_a_line_through_the_sizes() -> None:
    few = prometheus.Row(15, 1, 100_000, 1, 1.0, 1, 300, 0)
    many = prometheus.Row(60, 1, 300_000, 1, 1.0, 1, 700, 0)
    found = prometheus.slope([few, many])
    assert found == {"mib_per_100k_series": 200, "base_mib": 100, "series_at_limit": 1_490_000}


def test_state_writes_are_counted_for_one_file_only(tmp_path: Path) -> None:
    writes = Writes(tmp_path / "sim.json")
    for name in ("sim.json", "other.json", "sim.json"):
        (tmp_path / f"{name}.new").write_text("x")
        (tmp_path / f"{name}.new").rename(tmp_path / name)
    assert writes.count() == 2


def test_the_bare_program_has_the_objects_without_the_engines_marks(tmp_path: Path) -> None:
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": '"v"'}
    resources: list[dict[str, Any]] = [
        {"type": "pulumi:pulumi:Stack", "urn": "urn:pulumi:a::b::pulumi:pulumi:Stack::c"},
        {
            "type": "kubernetes:core/v1:Secret",
            "urn": "urn:pulumi:a::b::x$kubernetes:core/v1:Secret::own",
            "inputs": {"stringData": {"k": secret}, "__defaults": []},
        },
    ]
    assert bare.write(tmp_path, {"deployment": {"resources": resources}}) == 1
    written = (tmp_path / "objects.json").read_text()
    assert '"name": "own", "inputs": {"stringData": {"k": "v"}}' in written
    compile((tmp_path / "__main__.py").read_text(), "bare", "exec")


def test_the_page_has_a_place_for_every_bench_and_is_filled_with_what_is_there() -> None:
    text = report.DOC.read_text(encoding="utf-8")
    assert set(report.PARTS) == set(BENCHES)
    for name in report.PARTS:
        assert f"<!-- generated: {name} -->\n" in text
    shape = {"rows": [vars(PER_APP), vars(SHARED)], "machine": MACHINE, "mistakes": ["one"]}
    filled = report.filled(text, {"per_app_shape": shape})
    assert "| per app | 15 x 5 | 150 | 19.9% |" in filled
    assert "- **Missed:** one" in filled
    assert report.filled(filled, {"per_app_shape": shape}) == filled
    assert report.filled(text, {}) == text


def test_equal_results_give_equal_pictures(tmp_path: Path) -> None:
    shape = {"rows": [vars(PER_APP), vars(SHARED)]}
    texts = []
    for _ in range(2):
        report.draw_per_app_shape(shape, tmp_path / "agents.svg")
        texts.append((tmp_path / "agents.svg").read_text())
    assert texts[0] == texts[1]
    assert "<dc:date>" not in texts[0]


def test_a_bench_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["speed"])
    assert ended.value.code == 2
    assert "no such bench: speed; there are per_app_shape" in capsys.readouterr().err


def test_results_are_where_git_does_not_look() -> None:
    assert RESULTS == ROOT / "build" / "bench"
    assert "build/" in (ROOT / ".gitignore").read_text().splitlines()
