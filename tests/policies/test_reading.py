"""From the SDK's properties to plain data, and fields that never raise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi_policy import proxy
from pulumi_policy.proxy import unknown_checking_proxy
from pulumi_policy.secret import Secret

from components.quantities import parse
from policies.props import SECRET_SIGNATURE, SENTINELS, SIGNATURE_KEY, plain
from policies.selectors import selector_matches
from policies.values import UNKNOWN, Field, all_of, any_of, contains, join, negate

TEXT = st.text(alphabet="abc.*/-", max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


def test_the_sentinels_are_the_sdks() -> None:
    names = [name for name in dir(proxy) if name.startswith("UNKNOWN_") and name.endswith("_VALUE")]
    assert {getattr(proxy, name) for name in names} == SENTINELS
    assert len(SENTINELS) == 7


@given(JSON)
def test_what_the_sdk_wraps_comes_out_as_it_was(value: object) -> None:
    wrapped = unknown_checking_proxy({"value": value})
    assert plain(wrapped) == {"value": value}
    assert plain(value) == value


@given(JSON, st.sampled_from(sorted(SENTINELS)))
def test_unknown_values_are_marked_and_nothing_raises(value: object, sentinel: str) -> None:
    wrapped = unknown_checking_proxy({"known": value, "list": [sentinel, value], "deep": {"one": sentinel}})
    assert plain(wrapped) == {"known": value, "list": [UNKNOWN, value], "deep": {"one": UNKNOWN}}


def test_secrets_of_a_state_that_nobody_can_read_are_unknown() -> None:
    assert plain({SIGNATURE_KEY: SECRET_SIGNATURE, "ciphertext": "AAA"}) is UNKNOWN
    assert plain({"a": "[secret]"}) == {"a": UNKNOWN}
    assert plain({SIGNATURE_KEY: SECRET_SIGNATURE, "value": {"b": 1}}) == {"b": 1}
    assert plain(Secret) != UNKNOWN


def test_missing_and_null_are_the_same_and_unknown_is_neither() -> None:
    field = Field({"null": None, "unknown": UNKNOWN, "empty": {}, "zero": 0})
    assert field["null"].absent
    assert field["missing"].absent
    assert field.at("missing", "below").absent
    assert not field["unknown"].absent
    assert field.at("unknown", "below").unknown
    assert field["empty"].empty
    assert not field["zero"].empty
    assert not field["unknown"].empty


def test_numbers_are_numbers_whichever_way_they_came() -> None:
    assert Field(3).number == Field(3.0).number == 3
    assert Field(True).number is None
    assert Field("3").number is None


@pytest.mark.parametrize(
    ("path", "key", "expected"),
    [
        ("", "spec", "spec"),
        ("spec", "template", "spec.template"),
        ("metadata.labels", "a.b/c", 'metadata.labels["a.b/c"]'),
        ("", "4", "4"),
    ],
)
def test_a_path_reads_like_kubectls(path: str, key: str, expected: str) -> None:
    assert join(path, key) == expected


@given(JSON, TEXT)
def test_no_field_raises_whatever_its_shape(value: object, key: str) -> None:
    field = Field(plain(value))
    for found in (field[key], *field.items(), *(member for _, member in field.members())):
        assert isinstance(found.absent and found.empty and found.unknown and found.has_unknown, bool)
        _ = (found.text, found.number, found.true, found.texts(), contains(found, key))
    assert selector_matches(field, Field({key: key})) in (True, False, None)


TRUTHS = st.lists(st.sampled_from([True, False, None]))


@given(TRUTHS)
def test_three_values_follow_kleene(truths: list[bool | None]) -> None:
    assert any_of(truths) is (True if True in truths else None if None in truths else False)
    assert all_of(truths) is negate(any_of([negate(truth) for truth in truths]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1Gi", 2**30),
        ("1.5Ki", 1536),
        ("1k", 1000),
        ("100m", 0.1),
        ("1e3", 1000),
        ("1E", 10**18),
        ("12", 12),
        ("", None),
        ("1GiB", None),
        ("x", None),
        ("1..2", None),
    ],
)
def test_quantities_are_kubernetess(text: str, expected: float | None) -> None:
    amount = parse(text)
    assert (None if amount is None else float(amount)) == expected
