"""All guards."""

from collections.abc import Sequence

from policies.admission import bindings, labels, workloads
from policies.admission.guard import Guard


def guards(trusted_roles: Sequence[str] = ()) -> tuple[Guard, ...]:
    """Every guard, in the order in which they are documented.

    Args:
        trusted_roles: names of ClusterRoles that tenants' accounts may be bound to.
    """
    return (
        workloads.of_tenants(),
        workloads.of_others(),
        bindings.of_cluster_roles(trusted_roles),
        labels.of_namespaces(),
    )
