"""What every component is given: the settings, the owner, and how secrets and earlier configurations are treated."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi

from components.objects import Owner
from components.settings.model import Settings
from components.versions import IMAGES


@dataclass(frozen=True)
class Context:
    """Plain values that all components of one environment share.

    Attributes:
        settings: the environment.
        owner: the stack, whose label every object carries.
        renders: objects become files, so secrets are placeholders.
        config_history: per configuration, the texts deployed last, newest first.
        storage_class: of the layer's volumes where the settings name none; None: the cluster's default.
        account_annotations: on Loki's service account.
    """

    settings: Settings
    owner: Owner
    renders: bool
    config_history: Mapping[str, list[dict[str, str]]] = field(default_factory=dict)
    storage_class: str | None = None
    account_annotations: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)

    def image(self, name: str) -> str:
        """An image of ours, from the environment's own registry if it has one."""
        registry = self.settings.layer.image_registry
        return f"{registry}/{IMAGES[name]}" if registry else IMAGES[name]
