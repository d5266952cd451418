"""Which taints keep a pod without a toleration off a node."""

HARD_EFFECTS = ("NoSchedule", "NoExecute")


def is_hard(effect: object) -> bool:
    """Whether a taint of this effect does; PreferNoSchedule only makes the scheduler prefer another node."""
    return effect in HARD_EFFECTS
