"""How messages say what they have in common. Pure."""

from collections.abc import Sequence


def listed(names: Sequence[str], shown: int) -> str:
    """The first names, and how many more there are: `a, b and 3 more`.

    Args:
        names: all of them, in the order in which they are to be read.
        shown: how many are written out.
    """
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
