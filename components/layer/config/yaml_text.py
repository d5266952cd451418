"""How configurations are written as YAML."""

from typing import Any

import yaml
from typing_extensions import override


class _Dumper(yaml.SafeDumper):
    """Writes what occurs twice twice: anchors and aliases hide from a reader what a job has."""

    @override
    def ignore_aliases(self, data: Any) -> bool:
        return True


def to_yaml(value: Any) -> str:
    """YAML as a person would write it: keys in their given order, each text on one line."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, width=1000, allow_unicode=True))
