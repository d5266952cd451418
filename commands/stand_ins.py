"""Renders without secrets: what is encrypted in a stack file is replaced by known values, the same in every render.

A rendered folder holds placeholders where secrets are, and keyed digests of some of them. With known values two renders
can be compared without a passphrase, a KMS key or credentials, so in a pull request of a fork too.
"""

import sys
from collections.abc import Iterator

import yaml

# What says how the secrets of a stack file are encrypted; it would ask for the key.
ENCRYPTION = frozenset({"encryptionsalt", "encryptedkey", "secretsprovider"})
# Long enough for a gateway key (components/settings/checks.py), and known to everybody: nothing is deployed with it.
VALUE = "5" * 64


def without_secrets(text: str) -> tuple[str, list[str]]:
    """Takes the secrets out of a stack file's text; everything else stays as it is written.

    Args:
        text: a stack file whose secrets are top-level keys, or mappings of nothing but secrets.

    Returns:
        The text without them, and where each was, as `pulumi config set --path` takes it.
    """
    document = yaml.compose(text)
    if not isinstance(document, yaml.MappingNode):
        return text, []
    document.value = [(key, value) for key, value in document.value if key.value not in ENCRYPTION]
    config = next((value for key, value in document.value if key.value == "config"), None)
    if not isinstance(config, yaml.MappingNode):
        return text, []
    found = {key.value: list(_secrets(key.value, value)) for key, value in config.value}
    config.value = [(key, value) for key, value in config.value if not found[key.value]]
    written = str(yaml.serialize(document, width=sys.maxsize, allow_unicode=True))
    return written, [path for paths in found.values() for path in paths]


def _secrets(path: str, value: yaml.Node) -> Iterator[str]:
    if not isinstance(value, yaml.MappingNode) or not value.value:
        return
    if [key.value for key, _ in value.value] == ["secure"]:
        yield path
        return
    inner = [list(_secrets(f'{path}["{key.value}"]', member)) for key, member in value.value]
    if all(inner):
        yield from (one for each in inner for one in each)
