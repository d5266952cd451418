"""How people reach a Grafana and sign in to it. These texts end in grafana.ini, so each says what it may hold."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from components.settings.base import DNS_LABEL, LabelKey, Model, ObjectName, Switch

HOST = rf"^{DNS_LABEL[1:-1]}(\.{DNS_LABEL[1:-1]})+$"
# No blank, quote, comment or `$`, by which grafana.ini would read another value, an environment variable or a file.
HTTPS_URL = r"^https://[A-Za-z0-9][A-Za-z0-9._~:/?=&%+@-]*$"
CLIENT_ID = r"^[A-Za-z0-9][A-Za-z0-9._~:/@+-]{0,254}$"
GROUP = r"^[A-Za-z0-9][A-Za-z0-9._~:/@+-]{0,254}$"
PROVIDER_NAME = r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}$"
GROUPS_PATH = r"^[A-Za-z_][A-Za-z0-9_.]{0,254}$"

HttpsUrl = Annotated[str, Field(pattern=HTTPS_URL)]


class OAuth(Model):
    """The identity provider by which people sign in to their team's Grafana: OAuth 2.0, or OpenID Connect."""

    name: Annotated[str, Field(pattern=PROVIDER_NAME)] = Field(
        default="single sign-on", description="on the button of the login page"
    )
    auth_url: HttpsUrl = Field(description="where the browser is sent to sign in")
    token_url: HttpsUrl = Field(description="where Grafana gets its token")
    api_url: HttpsUrl = Field(description="where Grafana asks who that is: the user info endpoint")
    scopes: tuple[Annotated[str, Field(pattern=GROUP)], ...] = Field(
        default=("openid", "profile", "email"), min_length=1, description="what Grafana asks for"
    )
    groups_path: Annotated[str, Field(pattern=GROUPS_PATH)] = Field(
        default="groups", description="where in the provider's answer a person's groups are"
    )


class OAuthClient(Model):
    """One Grafana at the identity provider. Its secret is under the top-level key `oauth`, by the client's ID."""

    client_id: Annotated[str, Field(pattern=CLIENT_ID)] = Field(description="as the provider gave it")
    groups: tuple[Annotated[str, Field(pattern=GROUP)], ...] = Field(
        min_length=1,
        description="who may sign in; without it everybody whom the provider knows could read the team's data",
    )


class Dashboards(Model):
    """A tenant's Grafana, reached by a host name."""

    host: Annotated[str, Field(pattern=HOST, max_length=253)] | None = Field(
        default=None, description="host name of an Ingress; without one it is reached by kubectl port-forward"
    )
    ingress_class: ObjectName | None = Field(
        default=None, description="of the Ingress; by default the cluster's default"
    )
    annotations: Mapping[LabelKey, str] = Field(
        default={}, description="of the Ingress, for its controller; nothing secret"
    )
    tls: Switch = Field(
        default=True, description="people come by https, and cookies are sent by nothing else"
    )
    tls_secret: ObjectName | None = Field(
        default=None,
        description="Secret with the certificate, in the tenant's home namespace; none where a load balancer has it",
    )
    oauth: OAuthClient | None = Field(
        default=None, description="sign-in by the layer's identity provider; needs a host"
    )
