"""The node agents' configuration: container logs of one node, to the log store, each under its namespace's tenant; and
the node's own metrics, where they are asked for.

Checked against the component reference of Alloy 1.18 (docs/sources/reference/components); tests parse the text with
Alloy's own grammar. All components used are generally available, so the default stability level is enough.
"""

from components import names
from components.layer.config import alloy_host
from components.layer.config.relabel import agent_rules, alloy_value, to_alloy

# What the DaemonSet mounts and passes. Positions live under the storage path, on the node: an emptyDir would make
# every rollout of the agents read all files again.
CONFIG_FOLDER = "/etc/alloy"
CONFIG_FILE = "config.alloy"
CREDENTIAL_FOLDER = "/etc/alloy-credential"
CREDENTIAL_FILE = "token"
STORAGE_FOLDER = "/var/lib/alloy"
LOG_FOLDER = "/var/log/pods"
NODE_NAME_VARIABLE = "NODE_NAME"
ARGUMENTS = (
    "run",
    # By IPv6 too where there is any: Go takes each wildcard for both (net.Listen; seen with 0.0.0.0 and Go 1.26).
    f"--server.http.listen-addr=0.0.0.0:{names.ALLOY_PORT}",
    f"--storage.path={STORAGE_FOLDER}",
    "--disable-reporting",
    f"{CONFIG_FOLDER}/{CONFIG_FILE}",
)
READY_PATH = "/-/ready"

PUSH_PATH = "/loki/api/v1/push"
PUSH_URL = f"http://{names.LOKI}.{names.LAYER_NAMESPACE}.svc:{names.LOKI_PORT}{PUSH_PATH}"

# Loki refuses longer lines (limits_config.max_line_size, 256KB). Cut here, a line that never ends cannot fill the
# memory of an agent that all tenants of a node share.
LONGEST_LINE = 256 * 1024


def agent_config(cluster: str, *, logs: bool = True, host_metrics: bool = False) -> str:
    """The whole text for every node: the cluster's name and nothing of any tenant is in it.

    Args:
        cluster: its name.
        logs: whether there is a log store to push to.
        host_metrics: whether the agent measures its node too.
    """
    lines = (_discovery(), _files(), _lines(), _write(cluster)) if logs else ()
    measures = (alloy_host.component(),) if host_metrics else ()
    return "\n\n".join((_logging(), *lines, *measures)) + "\n"


def _logging() -> str:
    return """\
logging {
  level  = "info"
  format = "json"
}"""


def _discovery() -> str:
    return f"""\
// This node's pods only: without the selector every agent would watch and tail the whole cluster.
discovery.kubernetes "pods" {{
  role = "pod"
  selectors {{
    role  = "pod"
    field = "spec.nodeName=" + sys.env("{NODE_NAME_VARIABLE}")
  }}
  attach_metadata {{
    namespace = true
  }}
}}

discovery.relabel "logs" {{
  targets = discovery.kubernetes.pods.targets
{to_alloy(agent_rules())}
}}"""


def _files() -> str:
    return """\
// Init containers and finished pods keep their files until the pod is deleted, and are read like all others. Files are
// read from their start when no position is known, or the first lines of short-lived pods would be lost.
loki.source.file "pods" {
  targets       = discovery.relabel.logs.output
  forward_to    = [loki.process.pods.receiver]
  tail_from_end = false
  file_match {
    enabled = true
  }
}"""


def _lines() -> str:
    return f"""\
loki.process "pods" {{
  forward_to = [loki.write.loki.receiver]
  stage.cri {{
    max_partial_line_size          = {LONGEST_LINE}
    max_partial_line_size_truncate = true
  }}
  // Pod, uid and restart name one run of a container. The runtime's own id cannot be had from the file's path, and as
  // a label of the target it would make the agent read the file again at each restart.
  stage.regex {{
    source     = "filename"
    expression = "/(?P<container_restart>[0-9]+)\\\\.log$"
  }}
  stage.structured_metadata {{
    values = {{
      container_restart = "",
      node              = "",
      pod_uid           = "",
      stream            = "",
    }}
  }}
  stage.label_drop {{
    values = ["filename"]
  }}
  stage.tenant {{
    label = "tenant"
  }}
}}"""


def _write(cluster: str) -> str:
    return f"""\
// Retried without end: while the store is away the agent stops reading, then reads the open file to its end and goes on
// with the current one. Not so for 429, or one tenant over its limit would hold up all others of the node: what waited
// comes at once, so a tenant's burst has to take it.
loki.write "loki" {{
  endpoint {{
    url                 = {alloy_value(PUSH_URL)}
    bearer_token_file   = {alloy_value(f"{CREDENTIAL_FOLDER}/{CREDENTIAL_FILE}")}
    tenant_id           = {alloy_value(names.PLATFORM_TENANT)}
    max_backoff_retries = 0
    max_backoff_period  = "30s"
    retry_on_http_429   = false
    follow_redirects    = false
  }}
  external_labels = {{
    cluster = {alloy_value(cluster)},
  }}
}}"""
