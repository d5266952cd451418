"""A gateway key that everybody knows, on a cluster that others reach. Pure."""

from collections.abc import Iterator
from hashlib import sha256

from components.cluster.kubectl import is_loopback
from components.cluster.live import Live
from components.settings.checks import make_key
from components.settings.mistakes import Mistake
from components.settings.model import RenderTarget, Settings

PUBLIC_KEYS = frozenset(
    {
        "70149ca371b0ada917894d4fb7923b08866320ed2ee27f4357886753100f634e",
        "a96a2b03681dc1c2f9fc0502934901faec26761c7bfe57737dc033ed072c717a",
        "8e3f241f25ee2c45d134b538b142676208ca05fe231893336346dfeb33bbdff4",
    }
)
"""SHA-256 of the keys in this repository's stack files: whoever reads the repository can decrypt them."""


def mistakes(settings: Settings, live: Live | None) -> Iterator[Mistake]:
    """A public key for another target than rendered files and an API server on this machine.

    Args:
        settings: the environment.
        live: its cluster; None when objects are rendered, and where EKS is yet to make it.
    """
    known = sha256(settings.gateway_key.get_secret_value().encode()).hexdigest() in PUBLIC_KEYS
    local = isinstance(settings.cluster.target, RenderTarget) or (live and is_loopback(live.server))
    if known and not local:
        yield Mistake(
            "gatewayKey",
            "is that of an environment in this repository, which everybody can decrypt, and so are all tokens that "
            "derive from it; the target is a real cluster",
            make_key(),
        )
