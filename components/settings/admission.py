"""Guards in the cluster: what the API server does with what the rules refuse, and what it lets pass all the same."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from components.settings.base import DnsLabel, Model, off, shape

OBJECT_NAME = r"^[a-z0-9]([-a-z0-9.]{0,140}[a-z0-9])?$"
ROLE_NAME = r"^[A-Za-z0-9]([-A-Za-z0-9:._]{0,251}[A-Za-z0-9])?$"
Rule = Literal[
    "daemonset-placement",
    "daemonset-tolerations",
    "tenant-daemonset",
    "tenant-host-access",
    "tenant-priority",
    "workload-tolerations",
]


class Exemption(Model):
    """One object that a rule lets pass in the cluster."""

    rule: Rule = Field(description="name of the rule")
    namespace: DnsLabel = Field(description="the object's namespace")
    name: Annotated[str, Field(pattern=OBJECT_NAME)] = Field(description="the object's exact name")
    reason: str = Field(min_length=10, max_length=500, description="why this is right, for the next reader")


class Admission(Model):
    """What the API server does with what the rules refuse (docs/guards.md)."""

    action: Literal["deny", "warn"] = Field(
        default="warn", description="refuse the request, or let it pass with a warning"
    )
    exemptions: tuple[Exemption, ...] = Field(
        default=(), description="objects that a rule lets pass: rule, namespace, name, reason"
    )
    trusted_roles: tuple[Annotated[str, Field(pattern=ROLE_NAME)], ...] = Field(
        default=(),
        description="ClusterRoles that were looked into, so that tenants' accounts may be bound to them cluster-wide",
    )


AdmissionSetting = Annotated[
    Annotated[Annotated[Literal["deny", "warn", "off"], BeforeValidator(off)], Tag("<scalar>")]
    | Annotated[Admission, Tag("<mapping>")],
    Discriminator(shape),
]


def stated(setting: AdmissionSetting) -> Admission | None:
    """The setting as a mapping, whichever way it is written; None for off."""
    if isinstance(setting, Admission):
        return setting
    return None if setting == "off" else Admission(action=setting)
