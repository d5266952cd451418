"""Configurations as the stack exports them: every text once, and all of them back."""

from hypothesis import given
from hypothesis import strategies as st

from components.config_history import key, merged, pack, unpack
from components.names import LAYER_NAMESPACE, NODES_NAMESPACE

NAMES = st.text("abc/", min_size=1, max_size=5)
HISTORIES = st.dictionaries(
    NAMES, st.lists(st.dictionaries(NAMES, st.text(max_size=5), max_size=3), max_size=2)
)


@given(history=HISTORIES)
def test_what_is_packed_comes_back_and_no_text_is_there_twice(
    history: dict[str, list[dict[str, str]]],
) -> None:
    packed = pack(history)
    assert unpack(packed) == history
    texts = [text for found in history.values() for version in found for text in version.values()]
    assert sorted(packed["texts"].values()) == sorted(set(texts))


def test_before_the_first_deployment_there_is_none() -> None:
    assert unpack({}) == {}


def test_the_layers_go_by_their_name_and_a_tenants_by_its_namespace_too() -> None:
    assert key(LAYER_NAMESPACE, "loki") == "loki"
    assert key(NODES_NAMESPACE, "alloy") == "alloy"
    assert key("shop", "shared-observability-grafana") == "shop/shared-observability-grafana"


def test_the_histories_of_layer_and_tenants_are_one() -> None:
    assert merged([{"a": [{"f": "1"}]}, {}, {"b": []}]) == {"a": [{"f": "1"}], "b": []}
