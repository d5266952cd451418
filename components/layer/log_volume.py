"""Whether one tenant alone can fill Loki's volume before its lines expire: said at each preview, and not refused.

Loki deletes by age only. A volume that is full by FULL makes it refuse everybody's lines until some expire.
"""

from collections.abc import Iterator

import pulumi

from components.layer.config.loki import FULL
from components.quantities import mebibytes
from components.settings.model import FilesystemStore, LogStore, Settings
from components.settings.raw import HOURS
from components.settings.tenant import LogLimits

# Bytes of lines in a byte of a chunk: 5 to 10 with snappy (Grafana Loki, "Configuration best practices"), 1 where lines
# are compressed or encrypted already.
COMPRESSION = 5
SECONDS_PER_DAY = 24 * 60 * 60


def days_until_full(size: str, rate_mb: float) -> float:
    """Days in which lines at this rate fill a volume: size x 0.9 x 5 / (rate x 86,400)."""
    return mebibytes(size) * FULL * COMPRESSION / (rate_mb * SECONDS_PER_DAY)


def warnings(settings: Settings) -> list[str]:
    """One line for each tenant whose rate, kept up, fills the volume sooner than its lines expire."""
    logs = settings.layer.logs
    if not isinstance(logs, LogStore) or not isinstance(logs.store, FilesystemStore):
        return []
    size = logs.store.size
    return [
        _warning(path, limits.log_rate_mb, size, _days(retention))
        for path, limits, retention in _writers(settings, logs)
        if days_until_full(size, limits.log_rate_mb) < _days(retention)
    ]


def _warning(path: str, rate_mb: float, size: str, kept: float) -> str:
    full = days_until_full(size, rate_mb)
    return (
        f"{path}.logRateMB: kept up, {rate_mb:g} MB/s fill Loki's volume of {size} in {full:.1f} days, and lines are "
        f"kept for {kept:g} days; a full volume takes no tenant's lines (docs/tenants.md, Limits of logs). Write at "
        f"most {_floor(rate_mb * full / kept)}, shorten the retention, enlarge layer.logs.store.size, or use a bucket"
    )


def _writers(settings: Settings, logs: LogStore) -> Iterator[tuple[str, LogLimits, str]]:
    """Path of the limits, the limits and the retention of each tenant, and of what has none."""
    yield "layer.logs.limits", logs.limits, logs.retention
    for name, tenant in settings.tenants.items():
        if tenant.logs != "off":
            yield f"tenants.{name}.limits", tenant.limits, tenant.retention or logs.retention


def _days(duration: str) -> float:
    return int(duration[:-1]) * HOURS[duration[-1]] / HOURS["d"]


def _floor(rate: float) -> str:
    """Two decimals, rounded down."""
    return f"{int(rate * 100) / 100:g}"


def say(settings: Settings) -> None:
    """Shows them."""
    for line in warnings(settings):
        pulumi.log.warn(line)
