"""The incident's shape: a pair of agents for each app. One clear violation per defect."""

from collections import Counter

import pytest

from tests.policies.layers import LAYERS, objects, run

APPS = ("shop", "billing")
GROUPS = {
    "web": {"instanceTypes": ["t3.large"], "nodes": 5},
    "workers": {"instanceTypes": ["r5a.xlarge"], "nodes": 9},
}
CONFIG = {"pack-settings": {"tenants": {app: {} for app in APPS}, "nodeGroups": GROUPS}}

APP = """---
apiVersion: v1
kind: Namespace
metadata: {name: APP, labels: {pod-security.kubernetes.io/enforce: privileged}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node-exporter, namespace: APP}
spec:
  template:
    spec:
      hostNetwork: true
      tolerations: [{operator: Exists, effect: NoSchedule}]
      containers: [{name: e, image: "quay.io/prometheus/node-exporter:v1.8.2", ports: [{containerPort: 9100}]}]
      volumes: [{name: root, hostPath: {path: /}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: alloy, namespace: APP}
spec:
  template:
    spec:
      serviceAccountName: alloy
      tolerations: [{operator: Exists, effect: NoSchedule}]
      containers: [{name: a, image: "grafana/alloy:v1.6.0"}]
      volumes: [{name: logs, hostPath: {path: /var/log/pods}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: alloy-APP}
rules: [{apiGroups: [""], resources: [pods, pods/log], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: alloy-APP}
subjects: [{kind: ServiceAccount, name: alloy, namespace: APP}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: alloy-APP}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: APP, annotations: {shared-observability/idle-memory: 1.7Gi}}
spec:
  template:
    spec:
      containers: [{name: app, resources: {requests: {cpu: 100m, memory: 1Gi}}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: app, namespace: APP}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: app}
  maxReplicas: 10
  metrics: [{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}}]
"""
# What is wrong with each app, and how often it is said.
PER_APP = {
    "daemonset-placement": 2,  # both agents
    "daemonset-tolerations": 2,
    "tenant-daemonset": 2,
    "tenant-host-access": 4,  # the namespace, hostNetwork, two hostPaths
    "tenant-cluster-pod-list": 1,
    "memory-hpa": 1,
}


@pytest.mark.parametrize("layer", LAYERS)
def test_each_defect_is_one_violation_that_names_its_object(layer: str) -> None:
    found = run(layer, objects("".join(APP.replace("APP", app) for app in APPS)), config=CONFIG)
    mandatory = [each for each in found if each.rule in PER_APP]
    assert Counter(each.rule for each in mandatory) == {rule: n * len(APPS) for rule, n in PER_APP.items()}
    assert {each.verdict for each in found} == {"violation"}
    assert all(any(app in each.message for app in APPS) for each in mandatory)


@pytest.mark.parametrize("layer", LAYERS)
def test_the_second_pair_is_a_duplicate_of_the_first(layer: str) -> None:
    found = run(layer, objects("".join(APP.replace("APP", app) for app in APPS)), config=CONFIG)
    duplicates = [each.message for each in found if each.rule == "duplicate-agents"]
    assert len(duplicates) == 3  # log shipper, exporter, and the exporters' port 9100
    assert sum("second log shipper" in message for message in duplicates) == 1
    assert sum("second node exporter" in message for message in duplicates) == 1
    assert sum("port 9100/TCP" in message for message in duplicates) == 1


@pytest.mark.parametrize("layer", LAYERS)
def test_at_fifteen_apps_the_agents_alone_fill_the_smaller_nodes(layer: str) -> None:
    apps = [f"app-{number}" for number in range(15)]
    found = run(layer, objects("".join(APP.replace("APP", app) for app in apps)), config=CONFIG)
    (slots,) = [each.message for each in found if each.rule == "pod-slots"]
    assert slots.startswith("NodeGroup web: its nodes get 30 agent pods each")
