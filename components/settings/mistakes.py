"""A user's mistake, and how it is told: path as written in the stack file, what is wrong, what to do next."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from typing_extensions import override

from components.settings import base, dashboards, eks

THIS_ENVIRONMENT = "<environment>"
"""In a remedy's command: replaced by the environment whose settings they are."""


@dataclass(frozen=True, order=True)
class Mistake:
    """One mistake.

    Attributes:
        path: the setting, as written in the stack file (`cluster.nodeGroups.web.instanceTypes[0]`).
        problem: what is wrong, and why it matters where that is not plain; never a value that could be secret.
        remedy: what is allowed, or what to do; a command where there is one.
    """

    path: str
    problem: str
    remedy: str

    @override
    def __str__(self) -> str:
        """What a person reads."""
        return f"{self.path}: {self.problem}. {self.remedy}"


class SettingsError(Exception):
    """All mistakes of one environment's settings, in the order of their paths."""

    def __init__(self, mistakes: Iterable[Mistake], stack: str = "") -> None:
        self.mistakes = tuple(sorted(set(mistakes)))
        self.stack = stack
        super().__init__(self._text())

    def _text(self) -> str:
        count = len(self.mistakes)
        where = f"Pulumi.{self.stack}.yaml" if self.stack else "the stack's settings"
        head = f"{count} mistake{'s' if count != 1 else ''} in {where}; nothing was deployed."
        tail = f"Every setting: docs/settings.md. Then: make preview ENV={self.stack or 'dev'}"
        told = [f"  {mistake}".replace(THIS_ENVIRONMENT, self.stack or "dev") for mistake in self.mistakes]
        return "\n".join([head, *told, tail])


def dotted(location: Sequence[str | int]) -> str:
    """`("a", "b", 0)` as `a.b[0]`; a key with a dot or a slash is quoted, as `pulumi config set --path` wants it."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part and all(c.isalnum() or c in "-_" for c in part):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def closest(word: str, allowed: Iterable[str]) -> str:
    """` Closest: a, b.` for a misspelt word, or nothing."""
    found = get_close_matches(word, list(allowed), n=3, cutoff=0.6)
    return f"closest: {', '.join(found)}" if found else ""


_PATTERNS = {
    r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$": (
        "is not a DNS label (RFC 1123)",
        "Use up to 63 lower-case letters, digits and '-', with a letter or digit at both ends",
    ),
    base.OBJECT_NAME: (
        "is not the name of an object (a DNS subdomain)",
        "Use lower-case letters, digits, '-' and '.', with a letter or digit at both ends of each part",
    ),
    r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$": (
        "is not the name of a node group",
        "Use up to 63 letters, digits, '-' and '_', with a letter or digit first",
    ),
    r"^[1-9][0-9]*(h|d|w|y)$": (
        "is not a duration",
        "Write a whole number and h, d, w or y: 24h, 7d, 2w, 1y",
    ),
    r"^[1-9][0-9]*(s|m)$": (
        "is not a duration",
        "Write a whole number and s or m: 30s, 1m",
    ),
    r"^[1-9][0-9]*(Mi|Gi|Ti)$": (
        "is not a size",
        "Write a whole number and Mi, Gi or Ti: 50Gi",
    ),
}

_PATTERNS |= {
    dashboards.HOST: (
        "is not a host name",
        "Write one with a domain, in lower case: shop.grafana.example.com",
    ),
    dashboards.HTTPS_URL: (
        "is not an https address",
        "Write https://HOST/PATH, without blanks, quotes, '#', ';' or '$': it becomes a line of grafana.ini",
    ),
    dashboards.CLIENT_ID: (
        "has characters that a line of grafana.ini cannot hold",
        "Use letters, digits and any of ._~:/@+-",
    ),
    dashboards.PROVIDER_NAME: ("is not a plain name", "Use up to 63 letters, digits, blanks and any of ._-"),
    dashboards.GROUPS_PATH: ("is not a path", "Write names with dots between them: groups, or realm.groups"),
    base.IMAGE_REGISTRY: (
        "is not a registry",
        "Write host and path without https://: registry.example.com/mirror",
    ),
}

_PATTERNS |= {
    eks.ACCOUNT: ("is not an AWS account", "Write its 12 digits as a text: '123456789012'"),
    eks.ADD_ON_VERSION: ("is not a version of an EKS add-on", "Write it as EKS does: v1.20.4-eksbuild.1"),
    eks.AMI_TYPE: (
        "is not an AMI type for these groups",
        "Use one of EKS's for Linux: AL2023_x86_64_STANDARD, AL2023_ARM_64_STANDARD, BOTTLEROCKET_x86_64, ...",
    ),
    eks.BUCKET: (
        "is not the name of a bucket",
        "Use 3 to 63 lower-case letters, digits, '.' and '-', with a letter or digit at both ends",
    ),
    eks.CIDR: ("is not a range of IPv4 addresses", "Write 203.0.113.0/24"),
    eks.CLUSTER_NAME: (
        "is not a name of an EKS cluster",
        "Use up to 100 letters, digits, '-' and '_', with a letter or digit first",
    ),
    eks.KEY_ARN: (
        "is not the ARN of a KMS key",
        "Write arn:aws:kms:REGION:ACCOUNT:key/ID; an alias does not do",
    ),
    eks.KUBERNETES_VERSION: ("is not a minor version of Kubernetes", "Write it as a text: '1.35'"),
    eks.PRINCIPAL: (
        "is not the ARN of an IAM role or user",
        "Write arn:aws:iam::ACCOUNT:role/NAME; that of a session (assumed-role) does not do",
    ),
    eks.REGION: ("is not an AWS region", "Write eu-central-1"),
    eks.SUBNET: ("is not the id of a subnet", "Write subnet-0123456789abcdef0"),
}

_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false (or on, off)",
    "tuple_type": "a list: [a, b]",
    "mapping_type": "a mapping: {key: value}",
    "dict_type": "a mapping: {key: value}",
    "model_type": "a mapping: {key: value}",
    "model_attributes_type": "a mapping: {key: value}",
}
_OTHER = {
    "missing": ("is missing", "Add it"),
    **{kind: ("has the wrong type", f"Write {wanted}") for kind, wanted in _TYPES.items()},
}


def from_pydantic(error: Mapping[str, Any], allowed_keys: Sequence[str]) -> Mistake:
    """Turns one of pydantic's errors into a mistake.

    Args:
        error: an item of `ValidationError.errors(include_input=False)`.
        allowed_keys: keys that are allowed where an unknown one was found.
    """
    location = [p for p in error["loc"] if not (isinstance(p, str) and (p.startswith("<") or p == "[key]"))]
    key = str(location[-1]) if location else ""
    problem, remedy = _told(str(error["type"]), error.get("ctx", {}), key, allowed_keys)
    return Mistake(dotted(location), problem or str(error["msg"]).lower(), remedy)


def _told(kind: str, context: Mapping[str, Any], key: str, allowed_keys: Sequence[str]) -> tuple[str, str]:
    """Problem and remedy of one type of pydantic's errors."""
    match kind:
        case "extra_forbidden":
            near = closest(key, allowed_keys)
            return (
                "is not a setting",
                f"Allowed here: {', '.join(allowed_keys)}{f' ({near})' if near else ''}",
            )
        case "literal_error":
            return "has a value that is not allowed", f"Allowed: {context['expected'].replace(chr(39), '')}"
        case "string_pattern_mismatch":
            return _PATTERNS.get(context["pattern"], ("is malformed", f"It must match {context['pattern']}"))
        case "too_short" | "string_too_short":
            return "is too short", f"At least {context['min_length']} needed"
        case "greater_than_equal" | "less_than_equal":
            bound = f"at least {context['ge']}" if "ge" in context else f"at most {context['le']}"
            return "is out of range", f"It must be {bound}"
    return _OTHER.get(kind, ("", "See docs/settings.md"))
