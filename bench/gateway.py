"""What the gateway costs: `python -m bench.gateway`.

One real Prometheus and prom-label-proxy, asked directly (bare) and through gateways with 1, 50, 500 and 5,000 tenants,
in many short rounds in which all take turns. Two figures:

- CPU per request of nginx, beside that of the bare path in the same round: it is counted by the kernel for each
  process, so other work on the machine changes it little. This is what is judged.
- Requests per second through the gateway by those of the bare path, the median of the rounds: told, not judged, and
  worth nothing on a busy machine.
"""

import argparse
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.measuring import others
from components.layer import credentials
from components.layer.config.gateway import NAMESPACE_HEADER
from tests.services.gateway import samples, stack
from tests.services.gateway.service import Client
from tests.services.prometheus_server import basic
from tests.support.environments import INCIDENT, KEY

TENANTS = (1, 50, 500, 5_000)
CONNECTIONS = 2
PATH = f"/api/v1/query?query=secret&time={samples.LAST}"

MOST_OF_BARE = 0.10
"""Share of the bare path's CPU that nginx may take."""
FLAT = 1.3
"""Most and least CPU per request, by number of tenants."""
BUSY_LOAD = 1.5
"""Runnable processes of others for each core, above which rates tell nothing."""


@dataclass(frozen=True)
class Turn:
    """Some requests to one target."""

    requests: int
    seconds: float
    nginx: float  # CPU seconds
    label_proxy: float
    prometheus: float


@dataclass(frozen=True)
class Row:
    """What one number of tenants costs."""

    tenants: int
    nginx_us: float
    share_of_bare: float
    rate_by_bare: float
    rate_quartiles: tuple[float, float]


@dataclass(frozen=True)
class Result:
    """All of it."""

    rounds: int
    requests: int
    bare_us: Mapping[str, float]
    rows: Sequence[Row]
    load_before: float
    load_of_others: float
    noisy: bool

    def mistakes(self) -> list[str]:
        """What is worse than it may be."""
        found = [
            f"{row.tenants} tenants: nginx takes {row.share_of_bare:.0%} of bare CPU, over {MOST_OF_BARE:.0%}"
            for row in self.rows
            if row.share_of_bare > MOST_OF_BARE
        ]
        costs = [row.nginx_us for row in self.rows]
        if max(costs) > FLAT * min(costs):
            found.append(f"nginx is not flat: {min(costs):.0f} to {max(costs):.0f} us for a request")
        return found

    def text(self) -> str:
        """A table for people."""
        bare = ", ".join(f"{name} {cost:.0f} us" for name, cost in self.bare_us.items())
        lines = [
            f"{self.rounds} rounds of {self.requests} requests to each target; CPU of a bare request: {bare}",
            f"{'tenants':>8}  {'nginx us':>8}  {'of bare':>8}  {'rate/bare':>9}  (middle half)",
        ]
        lines += [
            f"{row.tenants:>8}  {row.nginx_us:>8.0f}  {row.share_of_bare:>8.1%}  {row.rate_by_bare:>9.2f}  "
            f"({row.rate_quartiles[0]:.2f} to {row.rate_quartiles[1]:.2f})"
            for row in self.rows
        ]
        if self.noisy:
            lines.append(
                f"NOISY: {self.load_of_others:.1f} other processes wanted to run for each core. Rates tell nothing, "
                "and the CPU figures are higher than on an idle machine."
            )
        return "\n".join([*lines, *self.mistakes()])


def cpu_seconds(pids: Iterable[int]) -> float:
    """CPU time of processes and their children so far, to the nanosecond."""
    total = 0
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
            children = (task / "children").read_text().split()
            total += round(cpu_seconds(map(int, children)) * 1e9)
    return total / 1e9


def started(argument: str) -> int:
    """The process of ours that was started with this argument."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    (pid,) = (int(child) for child in children if argument in Path(f"/proc/{child}/cmdline").read_text())
    return pid


@dataclass(frozen=True)
class Target:
    """Where requests go, and what stands in them."""

    port: int
    request: bytes
    nginx: tuple[int, ...]

    def turn(self, requests: int, label_proxy: int, prometheus: int) -> Turn:
        """Send them over a few kept connections."""
        pids = (self.nginx, (label_proxy,), (prometheus,))
        before = [cpu_seconds(group) for group in pids]
        began, ends = time.monotonic(), threading.Event()
        clients = [
            Client(self.port, self.request, ends, pause=0, most=requests // CONNECTIONS)
            for _ in range(CONNECTIONS)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join(60)
        ends.set()
        seconds = time.monotonic() - began
        if failures := [failure for client in clients for failure in client.failures]:
            raise SystemExit(f"{len(failures)} requests failed: {failures[0]}")
        nginx, proxy, server = (cpu_seconds(group) - start for group, start in zip(pids, before, strict=True))
        return Turn(sum(client.answered for client in clients), seconds, nginx, proxy, server)


def targets(using: ExitStack, stores: stack.Stores, sizes: Sequence[int]) -> dict[int, Target]:
    """The bare path as 0, and a gateway for each number of tenants; `shop`, which has data, asks them all."""
    head = f"GET {PATH} HTTP/1.1\r\nHost: a\r\n"
    bare = (
        f"{head}{NAMESPACE_HEADER}: shop\r\n{basic('layer', credentials.layer_token(KEY, 'metrics'))}\r\n\r\n"
    )
    found = {0: Target(int(stores.label_proxy.rpartition(":")[2]), bare.encode(), ())}
    for size in sizes:
        tenants: dict[str, Any] = {"shop": INCIDENT["tenants"]["shop"]}
        tenants |= {f"tenant-{at}": {"pods": 5} for at in range(size - 1)}
        gateway = stack.start_gateway(using, stack.settings_with(("tenants", tenants)), stores)
        found[size] = Target(gateway.port, f"{head}{stack.bearer('shop')}\r\n\r\n".encode(), (gateway.pid,))
    return found


def measure(rounds: int, requests: int, sizes: Sequence[int], seconds: float) -> Result:
    """Rounds until there are enough, or until the time is over."""
    load_before, end = os.getloadavg()[0], time.monotonic() + seconds
    turns: dict[int, list[Turn]] = {size: [] for size in (0, *sizes)}
    loads = []
    with ExitStack() as using:
        stores = stack.start_stores(using, samples.WORLDS[0])
        pids = (
            started(f"-insecure-listen-address={stores.label_proxy}"),
            started(f"address={stores.prometheus}"),
        )
        found = targets(using, stores, sizes)
        for target in found.values():
            target.turn(requests, *pids)  # connections, caches and the password's hash
        for at in range(rounds):
            order = [*found][at % len(found) :] + [*found][: at % len(found)]
            for size in order:
                turns[size].append(found[size].turn(requests, *pids))
            loads.append(others())
            if time.monotonic() > end:
                break
    return result(turns, requests, load_before, statistics.median(loads))


def result(turns: Mapping[int, Sequence[Turn]], requests: int, load_before: float, load: float) -> Result:
    """Medians over the rounds; shares and rates are of turns of the same round."""
    bare = turns[0]
    rows = []
    for size, own in turns.items():
        if not size:
            continue
        shares = [
            (turn.nginx / turn.requests) / ((base.label_proxy + base.prometheus) / base.requests)
            for turn, base in zip(own, bare, strict=True)
        ]
        rates = [
            (turn.requests / turn.seconds) / (base.requests / base.seconds)
            for turn, base in zip(own, bare, strict=True)
        ]
        low, middle, high = statistics.quantiles(rates, n=4) if len(rates) > 1 else rates * 3
        cost = statistics.median(turn.nginx / turn.requests * 1e6 for turn in own)
        rows.append(Row(size, cost, statistics.median(shares), middle, (low, high)))
    return Result(
        rounds=len(bare),
        requests=requests,
        bare_us={
            "prom-label-proxy": statistics.median(turn.label_proxy / turn.requests * 1e6 for turn in bare),
            "Prometheus": statistics.median(turn.prometheus / turn.requests * 1e6 for turn in bare),
        },
        rows=rows,
        load_before=load_before,
        load_of_others=load,
        noisy=load > BUSY_LOAD or load_before > BUSY_LOAD * (os.cpu_count() or 1),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints a table, writes JSON; fails if the gateway costs more than it may."""
    parser = argparse.ArgumentParser(prog="python -m bench.gateway", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--requests", type=int, default=400, help="to each target in each round")
    parser.add_argument("--seconds", type=float, default=120, help="no new round after that")
    parser.add_argument("--tenants", type=int, nargs="+", default=list(TENANTS))
    parser.add_argument("--json", type=Path, default=Path("build/bench/gateway.json"))
    given = parser.parse_args(arguments)
    measured = measure(given.rounds, given.requests, given.tenants, given.seconds)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps({**asdict(measured), "mistakes": measured.mistakes()}, indent=1) + "\n")
    sys.stdout.write(f"{measured.text()}\n")
    return 1 if measured.mistakes() else 0


if __name__ == "__main__":
    sys.exit(main())
