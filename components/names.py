"""Names and labels that more than one room uses. Plain constants: nothing here imports pulumi."""

# Namespaces of the layer. The node agents need hostPath, so they alone live in a namespace that allows it.
LAYER_NAMESPACE = "observability"
NODES_NAMESPACE = "observability-nodes"

# Labels that the tenant stack puts on a namespace. Node agents and Prometheus decide by them, so neither lists tenants.
PREFIX = "shared-observability"
TENANT_LABEL = f"{PREFIX}/tenant"  # the tenant's name; also its Loki tenant id
LOGS_LABEL = f"{PREFIX}/logs"  # node | api | off
METRICS_LABEL = f"{PREFIX}/metrics"  # true | false
# On every object of ours: the stack that owns it. What lacks it is foreign and is never taken over.
OWNER_LABEL = f"{PREFIX}/owner"

# On a namespace that we created, as opposed to one that we adopted: only such a one may be deleted with its tenant.
CREATED_LABEL = f"{PREFIX}/created"
# Field manager of the labels that we put on a namespace: tells ours from everybody else's, other Pulumi stacks' too.
FIELD_MANAGER = PREFIX

# Loki tenant of every namespace that belongs to no tenant.
PLATFORM_TENANT = "platform"

# Ports, the same in objects, configurations and docs.
ALLOY_PORT = 12345
NODE_EXPORTER_PORT = 9100
KUBE_STATE_METRICS_PORT = 8080
KUBE_STATE_METRICS_TELEMETRY_PORT = 8081
PROMETHEUS_PORT = 9090
LOKI_PORT = 3100  # the authenticating sidecar's: the only one that the pod opens
GATEWAY_PORT = 8080
LOKI_LOOPBACK_PORT = 3101  # Loki's own, on 127.0.0.1

# Values of the label app.kubernetes.io/name.
ALLOY = "alloy"
NODE_EXPORTER = "node-exporter"
KUBE_STATE_METRICS = "kube-state-metrics"
PROMETHEUS = "prometheus"
LOKI = "loki"
GATEWAY = "gateway"
GRAFANA = "grafana"

# Cluster-scoped objects, and the role in `default` that lets Prometheus find the API servers.
AGENTS_PRIORITY_CLASS = f"{PREFIX}-agents"
AGENTS_PRIORITY_CLASS_WAITING = f"{PREFIX}-agents-waiting"  # the same priority, without preemption
AGENTS_PRIORITY = 1_000_000
ALLOY_ROLE = f"{PREFIX}-alloy"
PROMETHEUS_ROLE = f"{PREFIX}-prometheus"
KUBE_STATE_METRICS_ROLE = f"{PREFIX}-kube-state-metrics"

# Classes of encrypted volumes, on EKS: for nodes of Auto Mode one of its own, since another driver attaches them.
VOLUME_CLASS = f"{PREFIX}-gp3"
AUTO_MODE_VOLUME_CLASS = f"{PREFIX}-gp3-auto"

# Guards in the cluster: each a ValidatingAdmissionPolicy and its binding.
TENANT_WORKLOADS_GUARD = f"{PREFIX}-tenant-workloads"
DAEMONSETS_GUARD = f"{PREFIX}-daemonsets"
CLUSTER_BINDINGS_GUARD = f"{PREFIX}-cluster-bindings"
TENANT_LABELS_GUARD = f"{PREFIX}-tenant-labels"
GUARDS = (TENANT_WORKLOADS_GUARD, DAEMONSETS_GUARD, CLUSTER_BINDINGS_GUARD, TENANT_LABELS_GUARD)
# What they let pass: an annotation of the layer's namespace, which the API server reads.
EXEMPTIONS_ANNOTATION = f"{PREFIX}/admission-exemptions"
# The right to set the labels by which a namespace belongs to a tenant. No API serves it; only the authorizer knows it.
LABEL_RIGHT_GROUP, LABEL_RIGHT_RESOURCE, LABEL_RIGHT_VERB = PREFIX, "tenants", "label"

# Objects in a tenant's namespaces.
PODS_QUOTA = f"{PREFIX}-pods"
PRIORITY_QUOTA = f"{PREFIX}-priority"
COLLECTOR = f"{PREFIX}-collector"
TENANT_GRAFANA = f"{PREFIX}-grafana"
READ_SECRET = f"{PREFIX}-read"  # what any Grafana needs to read the tenant's data

POD_SECURITY_LABEL = "pod-security.kubernetes.io/enforce"
