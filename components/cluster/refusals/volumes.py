"""The stores' volumes, which keep what they were made with. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from components import names
from components.cluster import storage_classes
from components.cluster.live import Live
from components.quantities import mebibytes
from components.settings.mistakes import Mistake
from components.settings.model import FilesystemStore, LogStore, MetricsStore, S3Store, Settings


def volumes(settings: Settings) -> dict[str, tuple[str, str]]:
    """Size and setting of each volume, by the name of its claim."""
    layer, found = settings.layer, {}
    if isinstance(layer.metrics, MetricsStore):
        found[names.PROMETHEUS] = (layer.metrics.storage, "layer.metrics.storage")
    if isinstance(layer.logs, LogStore) and isinstance(layer.logs.store, FilesystemStore | S3Store):
        found[names.LOKI] = (layer.logs.store.size, "layer.logs.store.size")
    return found


def mistakes(settings: Settings, live: Live | None, outputs: Mapping[str, Any]) -> Iterator[Mistake]:
    """Sizes below what the volumes have, where the cluster's own claims count more than what was deployed last; and
    another class.
    """
    before = {**(outputs.get("volumes") or {}), **(live.claims if live else {})}
    for claim, (size, path) in volumes(settings).items():
        if claim in before and mebibytes(size) < mebibytes(before[claim]):
            yield Mistake(
                path,
                f"is {size}, but the volume has {before[claim]}, and a volume can grow but never shrink",
                f"Write {before[claim]} or more",
            )
    if live is not None:
        yield from _moved(settings, live)


def _moved(settings: Settings, live: Live) -> Iterator[Mistake]:
    """Volumes of another class than is wanted: the engine would delete the claim, and the data, to make it anew."""
    ours = storage_classes.of_ours(settings)
    wanted = settings.layer.storage_class or (ours.name if ours else None)
    moved = [claim for claim in volumes(settings) if live.bound_claims.get(claim, wanted) != wanted]
    if wanted and moved:
        had = ", ".join(sorted({live.bound_claims[claim] or "no class" for claim in moved}))
        yield Mistake(
            storage_classes.PATH,
            f"would be '{wanted}', but the volumes of {' and '.join(sorted(moved))} have {had}, and a volume keeps its "
            "class: it would be deleted with what is in it",
            f"Keep {had}. To move without the data: back it up, `layer.protection: off`, turn the store off, make up, "
            "and turn it on with the new class",
        )
