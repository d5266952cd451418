"""What any Grafana needs to read a tenant's data, in a Secret of the tenant's home namespace."""

from collections.abc import Sequence

import pulumi

from components.context import Context
from components.grafana import sources
from components.grafana.sources import Source
from components.layer.secrets import declare_secret
from components.names import READ_SECRET

TOKEN, DATA_SOURCES = "token", "datasources.yaml"
URLS = {"prometheus": "metrics-url", "loki": "logs-url"}


def values(found: Sequence[Source], *, tenant: str, token: str, scrape_interval: str) -> dict[str, str]:
    """The Secret's texts: token and addresses, and both once more as a file for Grafana's provisioning.

    In a Grafana with several tenants' sources each has a name of its own.
    """
    named = [Source(f"{s.name} of {tenant}", sources.uid(f"{tenant}-{s.uid}"), s.kind) for s in found]
    return {
        TOKEN: token,
        **{URLS[source.kind]: sources.URL for source in found},
        DATA_SOURCES: sources.for_others(named, scrape_interval, token),
    }


def declare_registration(
    namespace: str,
    texts: dict[str, str],
    *,
    context: Context,
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource],
) -> pulumi.Resource:
    """The Secret with the tenant's read token: for a central Grafana, or for one of the team's making.

    Args:
        namespace: where it is.
        texts: as `values` gives them.
        context: of the environment.
        parent: the tenant's stack.
        depends_on: what has to be there before.
    """
    return declare_secret(
        READ_SECRET, texts, namespace=namespace, context=context, parent=parent, depends_on=depends_on
    )
