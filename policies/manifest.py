"""One object to be judged, wherever it came from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from policies.kinds import needs_namespace
from policies.values import MISSING, Field

# Resources of the Kubernetes provider that are no objects: charts, files and folders.
MAKERS = ("helm.sh/", "yaml:", "yaml/", "kustomize:", "kustomize/")
PATCH_SUFFIX = "Patch"
LIST_SUFFIX = "List"


class Origin(StrEnum):
    """Where an object was found: how sure its data is depends on it."""

    PREVIEW = "preview"
    UPDATE = "update"
    STATE = "state"
    FILE = "file"
    CLUSTER = "cluster"


@dataclass(frozen=True)
class Manifest:
    """An object with what is known about it.

    Attributes:
        root: the object itself; for resources of other providers, their inputs.
        source: for people: a file, a URN or a cluster's name.
        origin: preview, update, state, file or cluster.
        token: Pulumi's type, `kubernetes:apps/v1:DaemonSet`; empty outside Pulumi.
        urn: Pulumi's name; empty outside Pulumi.
        parent: the URN of the parent resource.
        outputs: what the provider answered, where that says more than the inputs (Helm releases).
        literal: whether `metadata` depends on no other resource; None if that is not known.
        judged: False for objects that only explain others (read, or known from elsewhere).
    """

    root: Field
    source: str
    origin: Origin
    token: str = ""
    urn: str = ""
    parent: str = ""
    outputs: Field = MISSING
    literal: bool | None = None
    judged: bool = True

    @cached_property
    def api_version(self) -> str:
        """`apps/v1`; for resources of other providers the part of the type before the last colon."""
        return self.root["apiVersion"].text or self._from_token(1).removeprefix("core/")

    @cached_property
    def group(self) -> str:
        """`apps`; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @cached_property
    def kind(self) -> str:
        """`DaemonSet`, for its Patch too."""
        return self.root["kind"].text or self._from_token(2).removesuffix(PATCH_SUFFIX)

    @cached_property
    def patch(self) -> bool:
        """Whether it changes parts of an object that is declared elsewhere."""
        return self.is_kubernetes_token and self.token.endswith(PATCH_SUFFIX)

    @cached_property
    def is_kubernetes_token(self) -> bool:
        """Whether Pulumi's type is one of the Kubernetes provider's."""
        return self.token.startswith("kubernetes:")

    @cached_property
    def name(self) -> str:
        """The object's name, else Pulumi's."""
        return self.root.at("metadata", "name").text or self.urn.rpartition("::")[2]

    @cached_property
    def namespace(self) -> Field:
        """The namespace: a text, unknown, or missing."""
        return self.root.at("metadata", "namespace")

    @cached_property
    def namespaced(self) -> bool:
        """Whether it surely lands in a namespace."""
        return needs_namespace(self.group, self.kind)

    @cached_property
    def labels(self) -> Field:
        """The object's labels."""
        return self.root.at("metadata", "labels")

    @cached_property
    def annotations(self) -> Field:
        """The object's annotations."""
        return self.root.at("metadata", "annotations")

    @cached_property
    def ancestors(self) -> tuple[str, ...]:
        """Types of the parents, from the outside in: a URN holds them."""
        types = self.urn.split("::")[2:3]
        return tuple(types[0].split("$")[:-1]) if types else ()

    @cached_property
    def blank(self) -> bool:
        """Whether there is nothing to judge.

        With `--target` the engine hands over resources that it will not create, without their inputs.
        """
        made_from = self.token.removeprefix("kubernetes:").startswith(MAKERS)
        return self.is_kubernetes_token and self.root["kind"].empty and not made_from

    def label(self) -> str:
        """For messages: `DaemonSet shop/alloy`."""
        namespace = self.namespace.text
        return f"{self.kind or self.token} {namespace + '/' if namespace else ''}{self.name or '(no name)'}"

    def expanded(self) -> Iterator["Manifest"]:
        """The objects inside, if it is a list (of lists); else itself.

        An item of a `DaemonSetList` needs no kind and version of its own: kubectl takes those of the list.
        """
        items = self.root["items"]
        if not (self.kind.endswith(LIST_SUFFIX) and isinstance(items.value, list)):
            yield self
            return
        told = {"apiVersion": self.api_version, "kind": self.kind.removesuffix(LIST_SUFFIX)}
        for item in items.items():
            bare = isinstance(item.value, dict) and item["kind"].absent and item["apiVersion"].absent
            root = replace(item, value={**item.value, **told}) if bare and told["kind"] else item
            yield from replace(self, root=root, token="").expanded()

    def _from_token(self, part: int) -> str:
        parts = self.token.split(":")
        return parts[part] if self.is_kubernetes_token and len(parts) == 3 else ""
