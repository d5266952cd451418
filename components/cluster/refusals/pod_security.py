"""Which Pod Security level a tenant's namespace gets, and where that would harm somebody. Pure."""

from collections.abc import Iterator

from components import names
from components.cluster.live import Live, LiveNamespace, is_stricter
from components.settings.mistakes import Mistake
from components.settings.model import Settings
from components.settings.tenant import namespaces_of


def levels(settings: Settings, live: Live | None) -> Iterator[tuple[str, str]]:
    """Where a level is set: wherever nobody else has set one. Theirs stays theirs, also when we leave."""
    for name, tenant in settings.tenants.items():
        for namespace in namespaces_of(name, tenant):
            found = live.namespaces.get(namespace) if live else None
            if tenant.pod_security != "keep" and not (found and is_theirs(found)):
                yield namespace, tenant.pod_security


def is_theirs(found: LiveNamespace) -> bool:
    """Whether somebody else has set the level."""
    return names.POD_SECURITY_LABEL in found.foreign_labels


def mistakes(settings: Settings, live: Live) -> Iterator[Mistake]:
    """A weaker level of somebody else, and running pods that the level would not admit.

    To raise their level would make the label ours: it would go with the tenant, and the namespace enforce nothing.
    """
    for name, tenant in settings.tenants.items():
        path, wanted = f"tenants.{name}.podSecurity", tenant.pod_security
        for namespace in namespaces_of(name, tenant):
            found = live.namespaces.get(namespace)
            if found is None or wanted == "keep":
                continue
            if is_theirs(found) and is_stricter(wanted, found.level):
                yield _weaker(path, namespace, wanted, found.level)
            elif found.unfit_pods:
                pods = "; ".join(found.unfit_pods)
                yield Mistake(
                    path,
                    f"would not admit pods that run in namespace '{namespace}' now: {pods}",
                    "Mend the pods, or write `podSecurity: baseline` or `keep`",
                )


def _weaker(path: str, namespace: str, wanted: str, level: str) -> Mistake:
    theirs = f"`podSecurity: {level}`" if level == "baseline" else "`podSecurity: keep`"
    raised = f"kubectl label namespace {namespace} {names.POD_SECURITY_LABEL}={wanted} --overwrite"
    return Mistake(
        path,
        f"is {wanted}, but somebody else made namespace '{namespace}' enforce {level}: raised by us, it would enforce "
        "nothing once the tenant is removed",
        f"Write {theirs} (theirs stays), or have them raise it: {raised}",
    )
