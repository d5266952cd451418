"""What every component is given: the settings, the owner, and how secrets and earlier configurations are treated."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from components.objects import Owner
from components.settings.model import Settings


@dataclass(frozen=True)
class Context:
    """Plain values that all components of one environment share.

    Attributes:
        settings: the environment.
        owner: the stack, whose label every object carries.
        renders: objects become files, so secrets are placeholders.
        config_history: per configuration, the texts deployed last, newest first.
    """

    settings: Settings
    owner: Owner
    renders: bool
    config_history: Mapping[str, list[dict[str, str]]] = field(default_factory=dict)
