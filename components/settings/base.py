"""What every part of the settings' tree is made of: the frozen model, and the types of names, sizes and durations."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field
from pydantic.alias_generators import to_camel

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
GROUP_NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$"
DURATION = r"^[1-9][0-9]*(h|d|w|y)$"
SIZE = r"^[1-9][0-9]*(Mi|Gi|Ti)$"
QUALIFIED_NAME = r"^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
_PART = "[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?"
IMAGE_REGISTRY = rf"^{_PART}(:[0-9]{{1,5}})?(/{_PART})*$"
OBJECT_NAME = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$"
LABEL_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"


class Model(BaseModel):
    """What every part of the tree has in common."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        hide_input_in_errors=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


def off(value: Any) -> Any:
    """YAML 1.2 leaves `off` a string and YAML 1.1 makes it false: both mean off."""
    return "off" if value is False else value


def switch(value: Any) -> Any:
    """`on` and `off` are accepted beside true and false."""
    return {"on": True, "off": False}.get(value, value) if isinstance(value, str) else value


def shape(value: Any) -> str:
    """Which branch of a `scalar or mapping` setting was meant."""
    return "<mapping>" if isinstance(value, Mapping | BaseModel) else "<scalar>"


def kind(*kinds: str) -> Discriminator:
    """Tells mappings apart by their key `kind`; an unknown kind is judged (and refused) by the first branch."""

    def tag(value: Any) -> str:
        kind = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
        return f"<{kind}>" if kind in kinds else f"<{kinds[0]}>"

    return Discriminator(tag)


Switch = Annotated[bool, BeforeValidator(switch)]
DnsLabel = Annotated[str, Field(pattern=DNS_LABEL)]
ObjectName = Annotated[str, Field(pattern=OBJECT_NAME, max_length=253)]
"""A DNS subdomain, as most objects' names are: `gp3.encrypted`."""
GroupName = Annotated[str, Field(pattern=GROUP_NAME)]
Duration = Annotated[str, Field(pattern=DURATION)]
Size = Annotated[str, Field(pattern=SIZE)]
LabelKey = Annotated[str, Field(pattern=QUALIFIED_NAME)]
LabelValue = Annotated[str, Field(pattern=LABEL_VALUE)]
