"""Keys of namespaces' labels as Alloy's and Prometheus' discovery reads them: different keys can become one."""

import re

from components.names import LOGS_LABEL, METRICS_LABEL, TENANT_LABEL

DISCOVERED = (TENANT_LABEL, LOGS_LABEL, METRICS_LABEL)
"""Our labels by which discovery decides whose a namespace is and what is collected there."""


def discovered(key: str) -> str:
    """The key as a part of a discovery label's name: every character but letters, digits and `_` becomes `_`.

    Source: Prometheus, `util/strutil`, `SanitizeLabelName`; Alloy uses the same discovery.
    """
    return re.sub(r"[^a-zA-Z0-9_]", "_", key)


_OURS = {discovered(key): key for key in DISCOVERED}


def mistaken_for(key: str) -> str:
    """The label of ours that discovery takes this one for; empty if it is none, or ours itself."""
    ours = _OURS.get(discovered(key), "")
    return "" if key == ours else ours
