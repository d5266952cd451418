"""Whose an object is.

A tenant is known by
    the pack's settings           `pack-settings.tenants`, or `stackTenant` for a whole stack
    the program's settings        the stack's own configuration `shared-observability:tenants`
    the namespace's label         `shared-observability/tenant`, on Namespace objects that the pack gets to see
    the stack's tag               `shared-observability:tenant`: everything in the stack is that tenant's
    the parent component          type `shared-observability:tenant:TenantStack`: everything below it is a tenant's
The layer's namespaces are nobody's, unless a tenant's stack or component puts something there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from components.names import TENANT_LABEL
from policies.config import PackSettings, Tenant
from policies.manifest import Manifest, Origin
from policies.values import Field, Truth

STACK_TAG = "shared-observability:tenant"
DEFAULT_NAMESPACE = "default"
COMPONENT = "shared-observability:tenant:TenantStack"


@dataclass(frozen=True)
class Owner:
    """Whose an object is.

    Attributes:
        tenant: the tenant's name; empty if it is none's, or if its name is not known.
        known: True: a tenant's; False: none's; None: its namespace is not known yet.
        whole_stack: the stack or component is the tenant's, so even cluster-wide objects are.
    """

    tenant: str
    known: Truth
    whole_stack: bool = False

    @property
    def label(self) -> str:
        """For messages: `tenant shop`."""
        return f"tenant {self.tenant}" if self.tenant else "a tenant"


NOBODY = Owner("", False)


@dataclass
class Tenancy:
    """Who the tenants are, as far as it is known by now.

    Attributes:
        settings: the pack's.
        declared: tenants of the program's settings.
        stack_tag: value of the stack's tag.
    """

    settings: PackSettings = field(default_factory=PackSettings)
    declared: Mapping[str, Tenant] = field(default_factory=dict)
    stack_tag: str = ""
    _namespaces: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Starts with the stated namespaces."""
        for name, tenant in self.tenants():
            namespaces = (name,) if tenant.namespaces is None else tenant.namespaces
            self._namespaces.update(dict.fromkeys(namespaces, name))

    def tenants(self) -> Iterable[tuple[str, Tenant]]:
        """The stated tenants: the program's, then the pack's."""
        return {**self.declared, **self.settings.tenants}.items()

    def learn(self, manifest: Manifest) -> None:
        """Takes note of a namespace's label."""
        name = manifest.root.at("metadata", "name").text
        tenant = manifest.labels[TENANT_LABEL].text
        if manifest.kind == "Namespace" and not manifest.group and name and tenant:
            self._namespaces[name] = tenant

    @property
    def any_known(self) -> bool:
        """Whether there is any tenant as far as is known."""
        return bool(self._namespaces or self._whole_stack() or dict(self.tenants()))

    def namespaces_of(self, tenant: str) -> set[str]:
        """The tenant's namespaces."""
        return {namespace for namespace, name in self._namespaces.items() if name == tenant}

    def of_namespace(self, namespace: str) -> str | None:
        """The tenant of a namespace, if it has one."""
        return None if namespace in self.settings.layer_namespaces else self._namespaces.get(namespace)

    def of_group(self, group: str) -> str | None:
        """The tenant of an RBAC group of people."""
        return next((name for name, tenant in self.tenants() if group in tenant.groups), None)

    def of_user(self, user: str) -> str | None:
        """The tenant of an RBAC user."""
        return next((name for name, tenant in self.tenants() if user in tenant.users), None)

    def owner(self, manifest: Manifest, target: Field | None = None) -> Owner:
        """Whose the object is; `target` is where it deploys to, if that is not its own namespace."""
        if whole := self._whole_stack():
            return Owner(whole, True, whole_stack=True)
        namespace = manifest.namespace if target is None else target
        if _is_namespace(manifest):
            namespace = manifest.root.at("metadata", "name")
        tenant = self.of_namespace(namespace.text or "")
        if COMPONENT in manifest.ancestors or manifest.token == COMPONENT:
            return Owner(tenant or _component_name(manifest), True, whole_stack=True)
        if tenant is not None:
            return Owner(tenant, True)
        open_yet = namespace.unknown or _stands_for_unknown(manifest, namespace)
        # A file without a namespace goes where whoever applies it says: most charts are rendered so.
        open_yet = open_yet or (manifest.origin is Origin.FILE and namespace.empty and manifest.namespaced)
        return Owner("", None) if open_yet else NOBODY

    def _whole_stack(self) -> str:
        return self.settings.stack_tenant or self.stack_tag


def _stands_for_unknown(manifest: Manifest, namespace: Field) -> bool:
    """At preview the provider writes `default` in place of a namespace that is not known yet."""
    preview = manifest.origin is Origin.PREVIEW and manifest.literal is False
    return preview and namespace.text == DEFAULT_NAMESPACE


def _is_namespace(manifest: Manifest) -> bool:
    return manifest.kind == "Namespace" and not manifest.group


def _component_name(manifest: Manifest) -> str:
    """The component's own name, where the URN of the parent tells it."""
    urn = manifest.urn if manifest.token == COMPONENT else manifest.parent
    is_component = urn.split("::")[2:3] and urn.split("::")[2].split("$")[-1] == COMPONENT
    return urn.rpartition("::")[2] if is_component else ""
