"""Clients of the identity provider: each tenant's, what the provider is, and the secrets, which are a key of their own.

Reads plain data, as `checks.py` does.
"""

from collections.abc import Iterator

from components.settings.mistakes import THIS_ENVIRONMENT, Mistake
from components.settings.raw import Raw, mapping


def set_secret(client: str) -> str:
    """The command that stores a client's secret encrypted: typed in, and handed over by a pipe."""
    stored = (
        f"""make pulumi ENV={THIS_ENVIRONMENT} ARGS="config set --secret --path 'oauth[\\"{client}\\"]'\""""
    )
    return f"""read -rs S && printf %s "$S" | {stored}"""


def clients(tenants: Raw) -> Iterator[tuple[str, str]]:
    """(path, client ID) of each tenant that names one."""
    for name, tenant in tenants.items():
        client = mapping(mapping(mapping(tenant).get("dashboards")).get("oauth")).get("clientId")
        if isinstance(client, str):
            yield f"tenants.{name}.dashboards.oauth", client


def mistakes(tenants: Raw, layer: Raw, secrets: Raw) -> Iterator[Mistake]:
    """A client without a provider or without a secret."""
    for path, client in clients(tenants):
        if not layer.get("oauth"):
            yield Mistake(
                path,
                "names a client, but no identity provider is known",
                "Add layer.oauth with authUrl, tokenUrl and apiUrl",
            )
        if client not in secrets:
            yield Mistake(
                f"{path}.clientId",
                f"is '{client}', and the secret of this client is not known",
                f"Set it: {set_secret(client)}",
            )
