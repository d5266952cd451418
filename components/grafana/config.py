"""What a Grafana reads at its start: grafana.ini, data sources and dashboards, as texts of one ConfigMap. Pure.

Keys checked against Grafana's configuration reference (setup-grafana/configure-grafana) and conf/defaults.ini. Nothing
secret is in them: Grafana takes GF_<SECTION>_<KEY> from its environment, above this file.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from components.grafana import dashboards, sources
from components.grafana.sources import Source
from components.layer.config.yaml_text import to_yaml
from components.settings.dashboards import Dashboards, OAuth, OAuthClient

# What the pod mounts, writes and listens on.
FOLDER = "/etc/grafana-shared"
DATA_FOLDER = "/var/lib/grafana"
PORT = 3000
HEALTH_PATH = "/api/health"
INI, DATA_SOURCES, PROVIDERS = "grafana.ini", "datasources.yaml", "dashboards.yaml"
# The image's own variables, which count above grafana.ini: where everything is.
ENVIRONMENT = {
    "GF_PATHS_CONFIG": f"{FOLDER}/{INI}",
    "GF_PATHS_PROVISIONING": f"{FOLDER}/provisioning",
    "GF_PATHS_LOGS": f"{DATA_FOLDER}/log",
}
ADMIN_PASSWORD = "GF_SECURITY_ADMIN_PASSWORD"  # noqa: S105 - a variable's name
SECRET_KEY = "GF_SECURITY_SECRET_KEY"  # noqa: S105 - a variable's name
CLIENT_SECRET = "GF_AUTH_GENERIC_OAUTH_CLIENT_SECRET"  # noqa: S105 - a variable's name

Section = dict[str, str]


@dataclass(frozen=True)
class Access:
    """How people reach a Grafana and sign in."""

    reached: Dashboards = field(default_factory=Dashboards)
    provider: OAuth | None = None

    @property
    def client(self) -> OAuthClient | None:
        """At the identity provider, where there is one."""
        return self.reached.oauth if self.provider else None

    @property
    def secure(self) -> bool:
        """Whether browsers use https; a port-forward does not."""
        return self.reached.host is not None and self.reached.tls


def files(found: Sequence[Source], scrape_interval: str, access: Access) -> dict[str, str]:
    """All texts by file name.

    Args:
        found: data sources; at least one, the first is the default.
        scrape_interval: of the metrics.
        access: how people come.
    """
    shown = dashboards.texts(tuple(found))
    return {
        INI: grafana_ini(access, home=next(iter(shown))),
        DATA_SOURCES: sources.for_own(tuple(found), scrape_interval),
        PROVIDERS: _providers(),
        **{f"{uid}.json": text for uid, text in shown.items()},
    }


def mounted_at(file: str) -> str:
    """Where a file is, below the mounted folder."""
    if file.endswith(".json"):
        return f"dashboards/{file}"
    kind = {DATA_SOURCES: "datasources", PROVIDERS: "dashboards"}.get(file)
    return f"provisioning/{kind}/{file}" if kind else file


@functools.cache
def _providers() -> str:
    """Dashboards from the mounted folder alone: neither changed nor deleted in the browser."""
    provider = {
        "name": "shared-observability",
        "orgId": 1,
        "folder": "",
        "type": "file",
        "disableDeletion": True,
        "allowUiUpdates": False,
        "options": {"path": f"{FOLDER}/dashboards"},
    }
    return to_yaml({"apiVersion": 1, "providers": [provider]})


def grafana_ini(access: Access, home: str) -> str:
    """The file, section by section.

    Args:
        access: how people come.
        home: uid of the dashboard that is shown first.
    """
    sections = {**_of_people(access), **_of_itself(home), **_to_nobody()}
    return "\n".join(_section(name, values) for name, values in sections.items())


def _section(name: str, values: Mapping[str, str]) -> str:
    return "\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in values.items()), ""])


def _of_people(access: Access) -> dict[str, Section]:
    """Who comes in: the administrator, whom the administrator adds, and who signs in by the identity provider.

    Editor, since Explore needs it. What an editor saves is lost with the pod; provisioned dashboards nobody changes.
    """
    host = access.reached.host
    url = {"root_url": f"{'https' if access.reached.tls else 'http'}://{host}/"} if host else {}
    return {
        "server": {"http_port": str(PORT), **url},
        "security": {
            "admin_user": "admin",
            "disable_gravatar": "true",
            "cookie_secure": str(access.secure).lower(),
            "cookie_samesite": "lax",
        },
        "users": {"allow_sign_up": "false", "allow_org_create": "false", "auto_assign_org_role": "Editor"},
        "auth.anonymous": {"enabled": "false"},
        **(
            {"auth.generic_oauth": _oauth(access.provider, access.client)}
            if access.provider and access.client
            else {}
        ),
    }


def _oauth(provider: OAuth, client: OAuthClient) -> Section:
    """An account is made at the first sign-in, for members of the client's groups only."""
    return {
        "enabled": "true",
        "name": provider.name,
        "client_id": client.client_id,
        "auth_url": provider.auth_url,
        "token_url": provider.token_url,
        "api_url": provider.api_url,
        "scopes": " ".join(provider.scopes),
        "use_pkce": "true",
        "allow_sign_up": "true",
        "groups_attribute_path": provider.groups_path,
        "allowed_groups": ",".join(client.groups),
        "allow_assign_grafana_admin": "false",
    }


def _of_itself(home: str) -> dict[str, Section]:
    """Its own logs as JSON, no metrics of itself without a credential, and as long as a query may take."""
    return {
        "log": {"mode": "console"},
        "log.console": {"format": "json"},
        "metrics": {"enabled": "false"},
        "dataproxy": {"timeout": str(sources.SECONDS + 5)},
        "dashboards": {"default_home_dashboard_path": f"{FOLDER}/{mounted_at(f'{home}.json')}"},
        "unified_alerting": {"enabled": "false"},
    }


def _to_nobody() -> dict[str, Section]:
    """Nothing goes to or comes from anywhere but the gateway, and no page is shown without signing in.

    Update checks alone do not keep Grafana from installing plugins at its start: `preinstall_disabled` does.
    """
    return {
        "analytics": {
            "reporting_enabled": "false",
            "check_for_updates": "false",
            "check_for_plugin_updates": "false",
            "feedback_links_enabled": "false",
        },
        "plugins": {
            "plugin_admin_enabled": "false",
            "preinstall_disabled": "true",
            "preinstall_auto_update": "false",
            "public_key_retrieval_disabled": "true",
        },
        "news": {"news_feed_enabled": "false"},
        "snapshots": {"enabled": "false", "external_enabled": "false"},
        "public_dashboards": {"enabled": "false"},
        "cloud_migration": {"enabled": "false"},
    }
