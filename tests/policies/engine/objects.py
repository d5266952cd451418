"""Objects for the real engine: for each rule what fails, what passes and what cannot be decided at preview."""

FAILING = """
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {shared-observability/tenant: shop, pod-security.kubernetes.io/enforce: privileged}}
---
apiVersion: v1
kind: Namespace
metadata: {name: guest, labels: {shared.observability/tenant: shop}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: alloy, namespace: shop}
spec:
  updateStrategy: {rollingUpdate: {maxSurge: 1}}
  selector: {matchLabels: {app: alloy}}
  template:
    metadata: {labels: {app: alloy}}
    spec:
      nodeSelector: {kubernetes.io/os: linux}
      tolerations: [{operator: Exists, effect: NoSchedule}]
      containers: [{name: alloy, image: "grafana/alloy:v1"}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: promtail, namespace: agents}
spec:
  selector: {matchLabels: {app: promtail}}
  template:
    metadata: {labels: {app: promtail}}
    spec:
      nodeSelector: {eks.amazonaws.com/nodegroup: web}
      containers: [{name: promtail, image: "grafana/promtail:3"}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop, annotations: {shared-observability/idle-memory: 1.7Gi}}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: app, resources: {requests: {memory: 1Gi}}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: app, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: app}
  maxReplicas: 9
  metrics: [{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods, secrets], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
subjects: [{kind: ServiceAccount, name: app, namespace: shop}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
---
apiVersion: opentelemetry.io/v1beta1
kind: OpenTelemetryCollector
metadata: {name: central, namespace: agents}
spec: {mode: statefulset, targetAllocator: {enabled: true, allocationStrategy: per-node}}
---
apiVersion: cloudwatch.aws.amazon.com/v1alpha1
kind: AmazonCloudWatchAgent
metadata: {name: agent, namespace: agents}
spec: {mode: statefulset, targetAllocator: {enabled: true, prometheusCR: {enabled: true}}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: app, namespace: agents, annotations: {cloudwatch.aws/scraper: cluster-scraper}}
spec: {endpoints: []}
"""
# `tenant-default-namespace` needs a tenant's own stack: it has tests of its own.
RULES_THAT_FAIL = {
    "daemonset-placement",
    "daemonset-tolerations",
    "workload-tolerations",
    "tenant-daemonset",
    "tenant-cluster-pod-list",
    "tenant-host-access",
    "tenant-label-lookalike",
    "pod-slots",
    "duplicate-agents",
    "memory-hpa",
    "per-node-needs-daemonset",
    "monitor-has-one-scraper",
    "agent-priority",
    "requests-set",
    "secrets-read",
}
# Three agent pods per node during a rollout; a node has one slot for them.
TIGHT = {"web": {"instanceTypes": ["t3.small"], "nodes": 3, "systemPods": 9}}

PASSING = """
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {shared-observability/tenant: shop, pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: alloy, namespace: observability-nodes}
spec:
  selector: {matchLabels: {app: alloy}}
  template:
    metadata: {labels: {app: alloy}}
    spec:
      priorityClassName: agents
      nodeSelector: {kubernetes.io/os: linux, eks.amazonaws.com/nodegroup: web}
      tolerations: [{key: dedicated, operator: Equal, value: batch, effect: NoSchedule}]
      containers: [{name: alloy, image: "grafana/alloy:v1", resources: {requests: {cpu: 10m, memory: 10Mi}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop, annotations: {shared-observability/idle-memory: 1.7Gi}}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: app, resources: {requests: {cpu: 10m, memory: 4Gi}}}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: app, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: app}
  maxReplicas: 9
  metrics: [{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: shop}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: shop}
subjects: [{kind: ServiceAccount, name: app, namespace: shop}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
---
apiVersion: cloudwatch.aws.amazon.com/v1alpha1
kind: AmazonCloudWatchAgent
metadata: {name: agent, namespace: agents}
spec: {mode: statefulset, targetAllocator: {enabled: true, prometheusCR: {enabled: true}}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: app, namespace: agents}
spec: {endpoints: []}
"""
ROOMY = {"web": {"instanceTypes": ["t3.large"], "nodes": 3}}

# `<unknown>` becomes a value that is known only at the update, when it is the one after the colon.
UNDECIDABLE = """
apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels: {shared-observability/tenant: shop, pod-security.kubernetes.io/enforce: "<unknown>:restricted"}
---
apiVersion: v1
kind: Namespace
metadata: {name: guest, labels: "<unknown>:{team: guests}"}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: alloy, namespace: agents}
spec:
  selector: {matchLabels: {app: alloy}}
  template:
    metadata: {labels: {app: alloy}}
    spec:
      priorityClassName: "<unknown>:agents"
      nodeSelector: "<unknown>:{pool: agents}"
      tolerations: "<unknown>:[]"
      containers: "<unknown>:[]"
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      tolerations: "<unknown>:[]"
      containers: [{name: app, resources: "<unknown>:{requests: {cpu: 1m, memory: 1Gi}}"}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: app, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: app}
  maxReplicas: 9
  metrics: [{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: [""], resources: "<unknown>:[configmaps]", verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
subjects: [{kind: ServiceAccount, name: app, namespace: shop}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
---
apiVersion: opentelemetry.io/v1beta1
kind: OpenTelemetryCollector
metadata: {name: agent, namespace: shop}
spec: {mode: "<unknown>:statefulset", targetAllocator: {enabled: true, allocationStrategy: consistent-hashing}}
---
apiVersion: cloudwatch.aws.amazon.com/v1alpha1
kind: AmazonCloudWatchAgent
metadata: {name: agent, namespace: agents}
spec:
  mode: statefulset
  targetAllocator: {enabled: true, prometheusCR: {enabled: true, scraperRole: "<unknown>:cluster-scraper"}}
---
apiVersion: collectors.grafana.com/v1alpha1
kind: Alloy
metadata: {name: other, namespace: agents}
spec: {controller: {type: "<unknown>:deployment"}}
---
apiVersion: collectors.grafana.com/v1alpha1
kind: Alloy
metadata: {name: third, namespace: agents}
spec: {controller: {type: "<unknown>:deployment"}}
"""
