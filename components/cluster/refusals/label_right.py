"""Whoever deploys without the right that the guard of the tenants' labels asks for. Pure."""

from collections.abc import Iterator

from components import names
from components.cluster.live import Live
from components.settings.mistakes import Mistake


def mistakes(live: Live) -> Iterator[Mistake]:
    """The right that is missing, where a guard would ask for it."""
    if not live.may_label:
        yield Mistake(
            "layer.admission",
            "is deny, and whoever deploys may not set the labels by which a namespace belongs to a tenant, so the "
            "guard of these labels would refuse them",
            "Apply docs/deployer.yaml anew, as an administrator: its rule for `tenants` of the API group "
            f"{names.LABEL_RIGHT_GROUP} gives that right",
        )
