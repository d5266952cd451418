"""Questions about a recorded environment that several tests ask."""

from tests.unit.components.environments import Environment, Object


def in_use(recorded: Environment) -> list[Object]:
    """All objects but the configurations that no pod mounts: those of the last deployment, kept for a rollback."""
    mounted = {
        (workload.namespace, volume["configMap"]["name"])
        for workload in recorded.objects
        for volume in (workload.pod or {}).get("volumes", [])
        if "configMap" in volume
    }
    return [o for o in recorded.objects if o.kind != "ConfigMap" or (o.namespace, o.name) in mounted]


def waits_for(recorded: Environment, found: Object) -> set[str]:
    """URNs of all that is there before an object: what it depends on, and what its components do.

    A child is registered after its parent, whose registration waits for what the parent depends on.
    """
    registered = recorded.recorder.registered
    waited: set[str] = set()
    asked = [found.registered.urn]
    while asked:
        one = registered.get(asked.pop())
        if one is not None:
            parent = {one.parent} & registered.keys()
            new = ({*one.dependencies} | parent) - waited
            waited |= new
            asked += new
    return waited
