"""The benchmark runs, and knows a gateway that costs too much."""

import json
from pathlib import Path

import pytest

from bench import gateway
from bench.gateway import Result, Row, Turn


def row(tenants: int, nginx_us: float, share: float) -> Row:
    return Row(tenants, nginx_us, share, 0.9, (0.8, 1.0))


def of(*rows: Row, noisy: bool = False) -> Result:
    return Result(5, 100, {"prom-label-proxy": 300, "Prometheus": 700}, rows, 0.5, 0.5, noisy)


def test_a_short_run_gives_a_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "result" / "gateway.json"
    gateway.main(["--rounds", "2", "--requests", "40", "--tenants", "1", "20", "--json", str(file)])
    found = json.loads(file.read_text())
    assert [at["tenants"] for at in found["rows"]] == [1, 20]
    assert all(10 < at["nginx_us"] < 5_000 for at in found["rows"])
    assert found["rounds"] == 2
    assert "of bare" in capsys.readouterr().out


def test_a_costly_gateway_is_a_mistake_and_so_is_one_that_grows_with_tenants() -> None:
    assert of(row(1, 90, 0.08), row(50, 100, 0.09)).mistakes() == []
    assert "over 10%" in of(row(1, 130, 0.13)).mistakes()[0]
    assert "not flat: 80 to 200" in of(row(1, 80, 0.05), row(5000, 200, 0.09)).mistakes()[0]


def test_a_noisy_machine_is_said() -> None:
    assert "NOISY" in of(row(1, 90, 0.08), noisy=True).text()
    assert "NOISY" not in of(row(1, 90, 0.08)).text()


def test_shares_are_of_turns_of_the_same_round() -> None:
    bare = [Turn(100, 1.0, 0.0, 0.03, 0.07), Turn(100, 2.0, 0.0, 0.06, 0.14)]
    own = [Turn(100, 1.0, 0.008, 0.03, 0.07), Turn(100, 4.0, 0.016, 0.06, 0.14)]
    found = gateway.result({0: bare, 50: own}, 100, 0.1, 0.1)
    assert found.rows[0].share_of_bare == pytest.approx(0.08)
    assert found.rows[0].nginx_us == pytest.approx(120)
    assert found.rows[0].rate_by_bare == pytest.approx(0.75)
    assert not found.noisy
    assert gateway.result({0: bare, 50: own}, 100, 0.1, 9.0).noisy
