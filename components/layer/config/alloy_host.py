"""What the node agents need to measure their node (`layer.hostMetrics: alloy`): collectors, and the files they read.

Alloy's `prometheus.exporter.unix` contains node_exporter. It is given single files and folders of the node and nothing
else: a mount of `/` or of `/proc` brings mounts below it that stay writable, and this process has uid 0 to read logs.

Checked with the node_exporter fork that Alloy 1.18 contains, as uid 0 without any capability, in network, process and
host name namespaces of its own, with exactly these mounts: the same 390 series as on the node itself.
"""

from dataclasses import dataclass

from components import names
from components.layer.config.relabel import alloy_value

COMPONENT = "node"
# Alloy serves a component's metrics on its own port.
METRICS_PATH = f"/api/v0/component/prometheus.exporter.unix.{COMPONENT}/metrics"

PROC, SYS = "/host/proc", "/host/sys"


@dataclass(frozen=True)
class HostPath:
    """A file or folder of the node, and where the agent finds it."""

    name: str
    path: str
    mounted: str
    kind: str


def _proc(file: str) -> HostPath:
    return HostPath(f"proc-{file.rpartition('/')[2]}", f"/proc/{file}", f"{PROC}/{file}", "File")


# /proc/net follows its reader's network namespace, /proc/1/net is always the node's: so the node's interfaces are
# counted without hostNetwork. The links in /sys/class/net lead to /sys/devices.
HOST_PATHS = (
    *map(_proc, ("diskstats", "loadavg", "meminfo", "stat", "sys/fs/file-nr", "vmstat")),
    HostPath("proc-net", "/proc/1/net", f"{PROC}/net", "Directory"),
    HostPath("sys-devices", "/sys/devices", f"{SYS}/devices", "Directory"),
    HostPath("sys-class-net", "/sys/class/net", f"{SYS}/class/net", "Directory"),
)

# Those whose files every Linux node has. Left out, of node-exporter's defaults: `filesystem` and `os` (they need the
# node's root), `uname` (the host name would be the pod's), `conntrack` (its limits follow the reader's namespace),
# `dmi` (as root it would publish serial numbers), and what not every kernel has (`pressure`, `schedstat`).
COLLECTORS = (
    "arp", "cpu", "diskstats", "filefd", "loadavg", "meminfo", "netclass", "netdev", "netstat", "sockstat", "softnet",
    "stat", "time", "timex", "udp_queues", "vmstat",
)  # fmt: skip
# Interfaces of pods: one per pod, and they come and go.
POD_INTERFACES = "^(veth.*|eni.*)$"


def component() -> str:
    """The component's text."""
    return f"""\
// The node itself, scraped by Prometheus at {METRICS_PATH} of port {names.ALLOY_PORT}.
prometheus.exporter.unix {alloy_value(COMPONENT)} {{
  procfs_path    = {alloy_value(PROC)}
  sysfs_path     = {alloy_value(SYS)}
  set_collectors = {alloy_value(list(COLLECTORS))}
  netclass {{
    ignored_devices = {alloy_value(POD_INTERFACES)}
  }}
  netdev {{
    device_exclude = {alloy_value(POD_INTERFACES)}
  }}
}}"""
