"""The guarded cluster of this folder."""

from tests.cluster.admission.guarded import guarded

__all__ = ["guarded"]
