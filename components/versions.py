"""Every image, tool and add-on version, once.

Plain constants without imports: `toolchain/setup` reads this file before any package is installed. A test asserts that
each tool that tests run has the version of the image that is deployed, where both exist.
"""

# Tools that run the program and its tests (toolchain/ obtains them).
PULUMI_CLI = "3.274.1"
PULUMI_SDK = "3.272.0"
# The newest provider whose Go module carries all that a build needs (see docs/compatibility.md).
KUBERNETES_PROVIDER = "4.25.0"
PULUMI_POLICY = "1.21.0"
KUBERNETES = "1.35.4"
ETCD = "3.6.5"
KWOK = "0.8.0"
PROMETHEUS = "3.16.0"
PROM_LABEL_PROXY = "0.14.0"
ACTIONLINT = "1.7.12"
ALLOY_SYNTAX = "0.1.0"
# Debian 12's nginx, on which the service tests load the rendered configurations.
NGINX_TESTED = "1.22.1"

# Images that are deployed.
ALLOY = "1.18.1"
NODE_EXPORTER = "1.12.1"
KUBE_STATE_METRICS = "2.20.0"
LOKI = "3.7.6"
NGINX = "1.28.0"
GRAFANA = "13.2.0"

IMAGES = {
    "alloy": f"docker.io/grafana/alloy:v{ALLOY}",
    "node-exporter": f"quay.io/prometheus/node-exporter:v{NODE_EXPORTER}",
    "kube-state-metrics": f"registry.k8s.io/kube-state-metrics/kube-state-metrics:v{KUBE_STATE_METRICS}",
    "prometheus": f"quay.io/prometheus/prometheus:v{PROMETHEUS}",
    "prom-label-proxy": f"quay.io/prometheuscommunity/prom-label-proxy:v{PROM_LABEL_PROXY}",
    "loki": f"docker.io/grafana/loki:{LOKI}",
    "grafana": f"docker.io/grafana/grafana:{GRAFANA}",
    # Alpine, not distroless: its wget is what probes Loki on the pod's loopback address.
    "nginx": f"docker.io/nginxinc/nginx-unprivileged:{NGINX}-alpine",
}
