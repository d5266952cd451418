"""What the engine tells a policy pack about the operation and its resources (`policies.calls` listens to it)."""

import io
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict

from components.names import PREFIX
from components.settings.model import NodeGroup
from policies.config import Model, Tenant, parse
from policies.manifest import Origin
from policies.targets import Targets
from policies.tenancy import STACK_TAG


@dataclass(frozen=True)
class Told:
    """A resource, as the engine tells it.

    Attributes:
        token: its type.
        parent: URN of its parent; empty if it has none.
        properties: converts them to plain data; not before somebody asks.
        depends: whether its `metadata` follows from another resource of the stack; told with the whole stack only.
    """

    urn: str
    token: str
    parent: str
    properties: Callable[[], Any]
    depends: bool = False


class Call(threading.local):
    """The engine's call that this thread answers.

    Attributes:
        resources: what it is about; None between calls, and where nobody listens to them.
    """

    resources: Sequence[Told] | None = None


@dataclass
class Operation:
    """One preview, update or analysis of a state.

    Attributes:
        preview: whether values can be unknown.
        declared_groups: the program's node groups.
        declared_tenants: the program's tenants.
        stack_tenant: value of the stack's tag.
        targets: the resources that it is about.
        number: which one of this process it is: a preview and its update may share one.
        call: the engine's call that is being answered.
    """

    preview: bool = False
    declared_groups: Mapping[str, NodeGroup] = field(default_factory=dict)
    declared_tenants: Mapping[str, Tenant] = field(default_factory=dict)
    stack_tenant: str = ""
    targets: Targets = field(default_factory=Targets)
    number: int = 0
    call: Call = field(default_factory=Call)

    @property
    def origin(self) -> Origin:
        """Where its objects come from."""
        return Origin.PREVIEW if self.preview else Origin.UPDATE


def hear(operation: Operation, request: Any) -> None:
    """Takes what the pack needs; the rest of the configuration, secrets among it, is not kept.

    Raises:
        ConfigError: the program's node groups are not what its settings allow.
    """
    operation.number += 1
    operation.preview = bool(request.dry_run)
    operation.stack_tenant = dict(request.tags).get(STACK_TAG, "")
    config = dict(request.config)
    operation.declared_groups = node_groups(config.get(f"{PREFIX}:cluster", ""))
    operation.declared_tenants = tenants(config.get(f"{PREFIX}:tenants", ""))


class ProgramCluster(Model):
    """The part of the program's setting `cluster` that the pack uses."""

    model_config = ConfigDict(extra="ignore")

    node_groups: Mapping[str, NodeGroup] = {}


def node_groups(text: str) -> Mapping[str, NodeGroup]:
    """The node groups in the JSON of the setting `cluster`; none if there is no such setting.

    Raises:
        ConfigError: they are not what the program's settings allow.
    """
    found: ProgramCluster = parse(ProgramCluster, _object(text), f"{PREFIX}:cluster")
    return found.node_groups


def tenants(text: str) -> Mapping[str, Tenant]:
    """Names and namespaces in the JSON of the setting `tenants`; whatever else it says is not the pack's business."""
    found = {}
    for name, raw in _object(text).items():
        stated = raw.get("namespaces") if isinstance(raw, Mapping) else None
        single = raw.get("namespace") if isinstance(raw, Mapping) else None
        names = list(stated) if isinstance(stated, Mapping | list) else []
        if not names and isinstance(single, str) and single not in ("adopt", "create"):
            names = [single]
        found[str(name)] = Tenant(namespaces=tuple(str(namespace) for namespace in names) or (str(name),))
    return found


def unbuffer_stdout() -> None:
    """Makes the pack's first line, its port, arrive at once.

    `PolicyPack` writes it to `sys.stdout.buffer` and never flushes, so that a preview hangs for ever where the host
    starts Python without `-u` and PYTHONUNBUFFERED is not set.
    """
    raw = os.fdopen(os.dup(1), "wb", buffering=0)
    sys.stdout = io.TextIOWrapper(raw, write_through=True)


def _object(text: str) -> Mapping[str, Any]:
    try:
        raw = json.loads(text or "{}")
    except ValueError:
        return {}
    return raw if isinstance(raw, dict) else {}
