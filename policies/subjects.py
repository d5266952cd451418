"""Which subjects of a binding are a tenant's: service accounts in four spellings, and people that the settings name."""

from collections.abc import Iterator
from dataclasses import dataclass

from policies.manifest import Manifest
from policies.tenancy import Owner, Tenancy
from policies.values import Field, Truth

ACCOUNT_PREFIX = "system:serviceaccount:"
ACCOUNTS_PREFIX = "system:serviceaccounts:"
# Whoever they are, every tenant's service accounts are among them, or anyone at all.
EVERYONE = frozenset(
    {"system:serviceaccounts", "system:authenticated", "system:unauthenticated", "system:anonymous"}
)
ACCOUNT_PARTS = 4  # system, serviceaccount, namespace, name


@dataclass(frozen=True)
class TenantSubject:
    """A subject that is a tenant's, or could be.

    Attributes:
        field: where.
        label: for messages.
        certain: True, or None if it is not known yet.
        tenant: whose; empty for a subject that holds all tenants.
        everyone: whether it holds all tenants.
        by_stack: known only by the stack that the binding is in, not by what it says.
    """

    field: Field
    label: str
    certain: Truth
    tenant: str = ""
    everyone: bool = False
    by_stack: bool = False


def tenant_subjects(binding: Manifest, tenancy: Tenancy, owner: Owner) -> Iterator[TenantSubject]:
    """The subjects of a binding that are, or could be, a tenant's."""
    subjects = binding.root["subjects"]
    if subjects.unknown and tenancy.any_known:
        yield TenantSubject(subjects, "subjects that are not known yet", None)
    for subject in subjects.items():
        found = _subject(subject, tenancy)
        if found is not None:
            yield found
        elif owner.known and owner.whole_stack:
            label = f"a subject that the stack of {owner.label} binds"
            yield TenantSubject(subject, label, True, owner.tenant, by_stack=True)


def _subject(subject: Field, tenancy: Tenancy) -> TenantSubject | None:
    kind, name = subject["kind"], subject["name"]
    if subject.unknown or kind.unknown or (kind.text != "ServiceAccount" and name.unknown):
        return TenantSubject(subject, "a subject that is not known yet", None) if tenancy.any_known else None
    if kind.text == "ServiceAccount":
        return _account(subject, subject["namespace"], tenancy)
    return _named(subject, name.text or "", tenancy, is_group=kind.text == "Group")


def _named(subject: Field, name: str, tenancy: Tenancy, *, is_group: bool) -> TenantSubject | None:
    """Groups and users, which can be service accounts by another spelling."""
    if name in EVERYONE:
        return TenantSubject(
            subject, f"{name}, which every tenant's accounts belong to,", True, everyone=True
        )
    if is_group and name.startswith(ACCOUNTS_PREFIX):
        return _account(subject, Field(name.removeprefix(ACCOUNTS_PREFIX)), tenancy)
    parts = name.split(":")
    if not is_group and name.startswith(ACCOUNT_PREFIX) and len(parts) == ACCOUNT_PARTS:
        return _account(subject, Field(parts[2]), tenancy)
    return _person(subject, tenancy.of_group(name) if is_group else tenancy.of_user(name))


def _account(subject: Field, namespace: Field, tenancy: Tenancy) -> TenantSubject | None:
    if namespace.unknown:
        label = "a service account whose namespace is not known yet"
        return TenantSubject(subject, label, None) if tenancy.any_known else None
    tenant = tenancy.of_namespace(namespace.text or "")
    return None if tenant is None else TenantSubject(subject, f"tenant {tenant}'s account", True, tenant)


def _person(subject: Field, tenant: str | None) -> TenantSubject | None:
    return None if tenant is None else TenantSubject(subject, f"tenant {tenant}'s people", True, tenant)
