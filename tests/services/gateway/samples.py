"""Samples of several owners, each carrying its owner in labels and in value, as blocks that a real Prometheus serves.

Two worlds have the same samples of `shop` and `mail` (two namespaces), and differ in everything else: other values,
metrics, labels and numbers of series. So whatever `shop` or `mail` is told must be the same in both.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.services.running import check, tool

# A fixed time, so that answers and found examples can be repeated.
LAST = 1_767_225_600  # 2026-01-01T00:00:00Z
STEP = 30
POINTS = 120  # an hour
METRICS = ("requests_total", "memory_bytes", "secret")


@dataclass(frozen=True)
class Owner:
    """Whose samples, in which namespace ("" for the nodes'), which word they carry, and from where values count."""

    name: str
    namespace: str
    word: str
    base: int
    metrics: tuple[str, ...] = METRICS
    pods: int = 2


SHOP = Owner("shop", "shop", "shopword", 1_111_000)
MAIL_IN = Owner("mail", "mail-in", "mailinword", 2_221_000)
MAIL_OUT = Owner("mail", "mail-out", "mailoutword", 2_222_000)
OWN = (SHOP, MAIL_IN, MAIL_OUT)
WORLDS: tuple[tuple[Owner, ...], ...] = (
    (
        *OWN,
        Owner("billing", "billing", "billwordone", 987_654_321, (*METRICS, "only_here")),
        Owner("nodes", "", "nodewordone", 8_765_432_100),
    ),
    (
        *OWN,
        Owner("billing", "billing", "billwordtwo", 456_789_123, (*METRICS[1:], "other"), pods=5),
        Owner("evil", "shop-2", "evilwordtwo", 345_678_912),
    ),
)  # fmt: skip


def foreign(tenant: str) -> set[str]:
    """Words that no answer to this tenant may hold."""
    return {owner.word for world in WORLDS for owner in world if owner.name != tenant}


def open_metrics(owners: tuple[Owner, ...]) -> str:
    """All samples as OpenMetrics text; the series of one metric together, as the format wants."""
    metrics = sorted({metric for owner in owners for metric in owner.metrics})
    lines = [line for metric in metrics for owner in owners for line in _series(metric, owner)]
    return "\n".join([*lines, "# EOF", ""])


def _series(metric: str, owner: Owner) -> Iterator[str]:
    if metric not in owner.metrics:
        return
    for pod in range(owner.pods):
        labels = {"owner": owner.name, "word": owner.word, "pod": f"{owner.name}-{pod}", "quantile": "0.5"}
        labels |= {"namespace": owner.namespace} if owner.namespace else {"node": f"n{pod}"}
        written = ",".join(f'{name}="{value}"' for name, value in labels.items())
        for point in range(POINTS):
            value = owner.base + pod * 100 + (point * 10 if metric == "requests_total" else point % 7)
            yield f"{metric}{{{written}}} {value} {LAST - (POINTS - 1 - point) * STEP}"


def write_blocks(owners: tuple[Owner, ...], here: Path, data: Path) -> None:
    """Blocks in Prometheus' data folder, made by its own tool."""
    text = here / "samples.txt"
    text.write_text(open_metrics(owners))
    check(tool("promtool"), "tsdb", "create-blocks-from", "openmetrics", "--quiet", str(text), str(data))
    subprocess.run(["chmod", "-R", "a+rwX", str(data)], check=True)


def rules(owners: tuple[Owner, ...]) -> str:
    """An alert that fires and a recording rule for each owner; a rule without namespace is nobody's to see."""

    def of(owner: Owner) -> list[dict[str, object]]:
        labels = {"namespace": owner.namespace} if owner.namespace else {}
        text = {"expr": f"vector({owner.base})", "labels": {**labels, "word": owner.word}}
        return [
            {"alert": f"Alert{owner.word}", **text},
            {"record": f"recorded:{owner.word}", "expr": f"vector({owner.base})", "labels": text["labels"]},
        ]

    groups = [{"name": owner.word, "interval": "200ms", "rules": of(owner)} for owner in owners]
    return yaml.safe_dump({"groups": groups})
