"""The configuration of a tenant's own collector (`logs: api`): its namespace's logs by the API server, to the gateway.

Pure. Checked against the component reference of Alloy 1.18; tests parse the text with Alloy's own grammar. Best effort
by nature: the API server serves only a container's current log file, so what rotates while the collector is away is
lost, and what was read before a restart is sent again (positions are on an emptyDir). Node agents are the durable way.
"""

from components import names
from components.layer.config.alloy import LONGEST_LINE, PUSH_PATH
from components.layer.config.relabel import (
    CONTAINER,
    NAMESPACE,
    POD,
    POD_NODE,
    POD_UID,
    alloy_value,
    constant,
    copy,
    to_alloy,
)

CONFIG_FOLDER = "/etc/alloy"
CONFIG_FILE = "config.alloy"
CREDENTIAL_FOLDER = "/etc/alloy-credential"
CREDENTIAL_FILE = "token"
STORAGE_FOLDER = "/var/lib/alloy"
ARGUMENTS = (
    "run",
    f"--server.http.listen-addr=0.0.0.0:{names.ALLOY_PORT}",
    f"--storage.path={STORAGE_FOLDER}",
    "--disable-reporting",
    f"{CONFIG_FOLDER}/{CONFIG_FILE}",
)
PUSH_URL = f"http://{names.GATEWAY}.{names.LAYER_NAMESPACE}.svc:{names.GATEWAY_PORT}{PUSH_PATH}"


def collector_config(cluster: str, tenant: str) -> str:
    """The whole text for one namespace.

    Nothing in it needs a right outside the namespace: `attach_metadata` and the role `node` would.

    Args:
        cluster: name of the cluster, a label on every line.
        tenant: name of the tenant, a label too; under which tenant a line is stored is decided by the token.
    """
    rules = (
        constant("tenant", tenant),
        copy(NAMESPACE, "namespace"),
        copy(POD, "pod"),
        copy(CONTAINER, "container"),
        copy(POD_NODE, "node"),
        copy(POD_UID, "pod_uid"),
    )
    return f"""\
logging {{
  level  = "info"
  format = "json"
}}

discovery.kubernetes "own" {{
  role = "pod"
  namespaces {{
    own_namespace = true
  }}
}}

discovery.relabel "logs" {{
  targets = discovery.kubernetes.own.targets
{to_alloy(rules)}
}}

loki.source.kubernetes "own" {{
  targets    = discovery.relabel.logs.output
  forward_to = [loki.process.own.receiver]
}}

loki.process "own" {{
  forward_to = [loki.write.gateway.receiver]
  stage.truncate {{
    rule {{
      limit = "{LONGEST_LINE // 1024}KiB"
    }}
  }}
  stage.structured_metadata {{
    values = {{
      node    = "",
      pod_uid = "",
    }}
  }}
}}

// The gateway stores under the token's tenant, whatever is said here. 429 is retried, unlike by the node agents: nobody
// else's lines wait behind these, and the gateway answers it to a tenant's fifth push at once, so to its collectors.
loki.write "gateway" {{
  endpoint {{
    url                 = {alloy_value(PUSH_URL)}
    bearer_token_file   = {alloy_value(f"{CREDENTIAL_FOLDER}/{CREDENTIAL_FILE}")}
    max_backoff_retries = 0
    max_backoff_period  = "30s"
    retry_on_http_429   = true
    follow_redirects    = false
  }}
  external_labels = {{
    cluster = {alloy_value(cluster)},
  }}
}}
"""
