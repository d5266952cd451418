"""Minimal look-alikes of agents that people really install, as the platform's and as a tenant's.

Each has the traits of a published manifest (named in its comment) that decide, and nothing else of it.
"""

from typing import Any

import pytest

from tests.policies.layers import LAYERS, objects, run

PLATFORM: dict[str, Any] = {"pack-settings": {"tenants": {"shop": {}}}}
TENANT: dict[str, Any] = {"pack-settings": {"stackTenant": "shop"}}
# Advisories that nearly every one of them gets: they would only hide what is asked here.
LATER = (
    "agent-priority",
    "requests-set",
    "secrets-read",
    "pod-slots",
    "duplicate-agents",
    "tenant-default-namespace",
)

PLACEMENT, TOLERATIONS, DAEMON_SET = "daemonset-placement", "daemonset-tolerations", "tenant-daemonset"
HOST, PODS = "tenant-host-access", "tenant-cluster-pod-list"
OS = "nodeSelector: {kubernetes.io/os: linux}"


def ds(name: str, namespace: str, pod: str) -> str:
    where = f", namespace: {namespace}" if namespace else ""
    head = f"apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: {name}{where}}}"
    return f"{{{head}, spec: {{template: {{spec: {{{pod}}}}}}}}}"


def reads(rules: str, labels: str = "{}") -> str:
    return f"""
{{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {{name: r, labels: {labels}}}, rules: {rules}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: b}}
subjects: [{{kind: ServiceAccount, name: a, namespace: monitoring}}]
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}}
"""


POD_READER = "[{apiGroups: [''], resources: [pods, namespaces], verbs: [get, list, watch]}]"
AWS_CNI = (
    "hostNetwork: true, tolerations: [{operator: Exists}],"
    " containers: [{securityContext: {privileged: true}}, {securityContext: {privileged: true}}],"
    " affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms:"
    " [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]},"
    " {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]},"
    " {key: eks.amazonaws.com/compute-type, operator: NotIn, values: [fargate, hybrid, auto]}]}]}}}"
)

# name: manifest, what the platform's copy gets, what a tenant's copy gets beside it
MANIFESTS: dict[str, tuple[str, set[str], set[str]]] = {
    # kube-prometheus manifests/nodeExporter-daemonset.yaml
    "node exporter": (
        ds(
            "node-exporter",
            "monitoring",
            f"{OS}, hostNetwork: true, tolerations: [{{operator: Exists}}], volumes: [{{hostPath: {{path: /}}}},"
            " {hostPath: {path: /sys}}], containers: [{ports: [{hostPort: 9100}]}]",
        ),
        {PLACEMENT, TOLERATIONS},
        {DAEMON_SET, HOST},
    ),
    # kube-prometheus manifests/nodeExporter-clusterRole.yaml
    "reviews": (
        reads("[{apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]}]"),
        set(),
        set(),
    ),
    # kube-prometheus manifests/prometheus-clusterRole.yaml
    "node metrics": (
        reads(
            "[{apiGroups: [''], resources: [nodes/metrics], verbs: [get]}, {nonResourceURLs: [/metrics], verbs: [get]}]"
        ),
        set(),
        set(),
    ),
    # kube-prometheus manifests/prometheusAdapter-clusterRoleAggregatedMetricsReader.yaml
    "aggregated metrics reader": (
        reads(
            "[{apiGroups: [metrics.k8s.io], resources: [pods, nodes], verbs: [get, list, watch]}]",
            "{rbac.authorization.k8s.io/aggregate-to-view: 'true', rbac.authorization.k8s.io/aggregate-to-edit: 'no'}",
        ),
        set(),
        {PODS},
    ),
    # kube-prometheus kubeStateMetrics-clusterRole.yaml; fluent-bit-role.yaml; metrics-server; cluster-autoscaler
    "pod reader": (reads(POD_READER), set(), {PODS}),
    # argo-cd argocd-application-controller-clusterrole.yaml
    "everything": (reads("[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]"), set(), {PODS}),
    # amazon-vpc-cni-k8s config/master/aws-k8s-cni.yaml
    "aws-node": (ds("aws-node", "kube-system", AWS_CNI), set(), {DAEMON_SET, HOST}),
    "aws-node under another name": (
        ds("aws-node-2", "kube-system", AWS_CNI),
        {PLACEMENT, TOLERATIONS},
        {DAEMON_SET, HOST},
    ),
    # aws-ebs-csi-driver deploy/kubernetes/base/node.yaml: without a namespace it is nobody's
    "ebs-csi-node without namespace": (
        ds(
            "ebs-csi-node",
            "",
            f"{OS}, tolerations: [{{operator: Exists}}], containers: [{{securityContext: {{privileged: true}}}}]",
        ),
        {PLACEMENT, TOLERATIONS},
        {DAEMON_SET, HOST},
    ),
    "ebs-csi-node in kube-system": (
        ds(
            "ebs-csi-node",
            "kube-system",
            f"{OS}, tolerations: [{{operator: Exists}}], containers: [{{securityContext: {{privileged: true}}}}]",
        ),
        set(),
        {DAEMON_SET, HOST},
    ),
    # aws-efs-csi-driver: keyed and keyless Exists side by side
    "efs-csi-node": (
        ds(
            "efs-csi-node",
            "kube-system",
            "hostNetwork: true, tolerations: [{operator: Exists}, {key: efs, operator: Exists}]",
        ),
        set(),
        {DAEMON_SET, HOST},
    ),
    # cilium install/kubernetes/quick-install.yaml
    "cilium": (
        ds(
            "cilium",
            "kube-system",
            "hostNetwork: true, tolerations: [{operator: Exists}], containers: [{securityContext: {privileged: true}}]",
        )
        + "\n---"
        + reads(POD_READER),
        {PLACEMENT, TOLERATIONS},
        {DAEMON_SET, HOST, PODS},
    ),
    # flannel Documentation/kube-flannel.yml: os by affinity, half of everything tolerated
    "flannel": (
        ds(
            "kube-flannel-ds",
            "kube-flannel",
            "tolerations: [{operator: Exists, effect: NoSchedule}], affinity: {nodeAffinity:"
            " {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions:"
            " [{key: kubernetes.io/os, operator: In, values: [linux]}]}]}}}",
        ),
        {PLACEMENT, TOLERATIONS},
        {DAEMON_SET},
    ),
    # NVIDIA k8s-device-plugin: bounded toleration, no placement
    "nvidia device plugin": (
        ds(
            "nvidia-device-plugin-daemonset",
            "kube-system",
            "tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]",
        ),
        {PLACEMENT},
        {DAEMON_SET},
    ),
    # fluent-bit-kubernetes-logging fluent-bit-ds.yaml
    "fluent-bit": (
        ds(
            "fluent-bit",
            "logging",
            "tolerations: [{operator: Exists, effect: NoExecute}, {operator: Exists, effect: NoSchedule}],"
            " volumes: [{hostPath: {path: /var/log}}]",
        ),
        {PLACEMENT, TOLERATIONS},
        {DAEMON_SET, HOST},
    ),
    # opentelemetry-operator tests/e2e-instrumentation/.../02-install-daemonset-collector.yaml
    "otel collector": (
        (
            "{apiVersion: opentelemetry.io/v1beta1, kind: OpenTelemetryCollector, metadata: {name: d, namespace: o},"
            " spec: {mode: daemonset, hostNetwork: true}}"
        ),
        set(),
        {DAEMON_SET, HOST},
    ),
    # amazon-cloudwatch-agent-operator integration-tests/manifests/cloudwatch-agent-daemonset.yaml
    "cloudwatch agent": (
        (
            "{apiVersion: cloudwatch.aws.amazon.com/v1alpha1, kind: AmazonCloudWatchAgent,"
            " metadata: {name: d, namespace: o}, spec: {mode: daemonset}}"
        ),
        set(),
        {DAEMON_SET},
    ),
    # datadog-agent Dockerfiles/manifests/all-containers/daemonset.yaml: nulls and empties
    "datadog": (
        ds(
            "datadog",
            "",
            f"{OS}, tolerations: null, affinity: {{}}, containers: [{{resources: {{}}, ports: [{{hostPort: 8126}}]}}],"
            " volumes: [{hostPath: {path: /proc}}]",
        ),
        {PLACEMENT},
        {DAEMON_SET, HOST},
    ),
    # amazon-cloudwatch-container-insights cwagent-statsd.yaml
    "statsd": (
        ds("cwagent-statsd", "amazon-cloudwatch", "containers: [{ports: [{hostPort: 8125, protocol: UDP}]}]"),
        {PLACEMENT},
        {DAEMON_SET, HOST},
    ),
    # secrets-store-csi-driver deploy/
    "secrets store": (
        ds(
            "csi-secrets-store",
            "kube-system",
            f"{OS}, tolerations: [{{operator: Exists}}], containers: [{{securityContext: {{privileged: true}}}}]",
        )
        + "\n---"
        + reads(POD_READER),
        {PLACEMENT, TOLERATIONS},
        {DAEMON_SET, HOST, PODS},
    ),
    # kubernetes testdata/cluster-roles.yaml: a list, null rules, an aggregated role
    "a list of roles": (
        (
            "{apiVersion: v1, kind: List, items: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole,"
            " metadata: {name: admin}, rules: null, aggregationRule: {clusterRoleSelectors: [{matchLabels:"
            " {rbac.authorization.k8s.io/aggregate-to-admin: 'true'}}]}}]}"
        ),
        set(),
        set(),
    ),
    # gpu feature discovery selects its nodes: the shape that passes
    "gpu feature discovery": (
        ds("gpu-feature-discovery", "gpu", "nodeSelector: {nvidia.com/gpu.present: 'true'}"),
        set(),
        {DAEMON_SET},
    ),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", MANIFESTS)
def test_agents_that_people_install(name: str, layer: str) -> None:
    text, platform, tenant = MANIFESTS[name]
    resources = objects(text)
    # Of a file without a namespace it is not decided whose it is; test_check.py has that.
    of_nobody_yet = {(rule, "undecided") for rule in (DAEMON_SET, HOST)}

    def rules(config: Any) -> set[str]:
        found = {(each.rule, each.verdict) for each in run(layer, resources, config=config)}
        return {rule for rule, _ in found - of_nobody_yet} - set(LATER)

    assert rules(PLATFORM) == platform
    assert rules(TENANT) == platform | tenant


@pytest.mark.parametrize("layer", LAYERS)
def test_a_datadog_agent_and_a_statsd_agent_clash_on_no_port_but_two_statsd_do(layer: str) -> None:
    datadog, statsd = MANIFESTS["datadog"][0], MANIFESTS["statsd"][0]
    both = objects(f"{datadog}\n---\n{statsd}")
    assert not [each for each in run(layer, both) if each.rule == "duplicate-agents"]
    twice = objects(f"{statsd}\n---\n{statsd.replace('cwagent-statsd', 'dd-statsd')}")
    assert [each.verdict for each in run(layer, twice) if each.rule == "duplicate-agents"] == ["violation"]
