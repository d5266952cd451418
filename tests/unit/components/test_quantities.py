"""Sizes in the settings and of live objects, compared by their units."""

import pytest

from components.quantities import mebibytes


def test_sizes_are_compared_by_their_units() -> None:
    assert mebibytes("1Ti") > mebibytes("1023Gi") > mebibytes("1047551Mi") > mebibytes("1Gi") == 1024


@pytest.mark.parametrize(
    ("size", "mib"), [("50G", 47683), ("52428800Ki", 51200), ("1073741824", 1024), ("1.5Gi", 1536)]
)
def test_a_claim_that_others_made_may_have_any_unit(size: str, mib: int) -> None:
    assert mebibytes(size) == mib


@pytest.mark.parametrize("text", ["", "Gi", "50GB", "lots", "1.2.3Gi"])
def test_what_is_no_size_is_none(text: str) -> None:
    assert mebibytes(text) == 0
