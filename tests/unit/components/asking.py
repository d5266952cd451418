"""Questions about a recorded environment that several tests ask."""

from tests.unit.components.environments import Environment, Object


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
