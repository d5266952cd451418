"""What every pod of ours states, and what none may have: on all pod templates of all environments."""

from collections.abc import Iterator, Mapping
from typing import Any

from components.cluster.placement import OS_LABEL
from components.names import ALLOY, NODE_EXPORTER, NODES_NAMESPACE
from components.versions import IMAGES
from tests.unit.components.environments import Environment, Object, containers

Pod = Mapping[str, Any]


def pods(recorded: Environment) -> list[tuple[Object, Pod]]:
    """Each workload with its pods' specification; there is always one unless the whole layer is off."""
    found: list[tuple[Object, Pod]] = [(o, o.pod) for o in recorded.objects if o.pod is not None]
    layer = recorded.settings.layer
    assert found or layer.logs == layer.metrics == "off"
    return found


def all_containers(recorded: Environment) -> Iterator[tuple[str, Pod, Pod]]:
    """(what it is called in a message, its pod, the container)."""
    for workload, pod in pods(recorded):
        for container in containers(pod):
            yield f"{workload} container {container['name']}", pod, container


def test_every_pod_selects_linux_nodes(recorded: Environment) -> None:
    for workload, pod in pods(recorded):
        assert pod["nodeSelector"] == {OS_LABEL: "linux"}, str(workload)


def test_every_container_requests_cpu_and_memory_and_has_a_memory_limit(recorded: Environment) -> None:
    for what, _, container in all_containers(recorded):
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}, what
        assert set(container["resources"]["limits"]) == {"memory"}, what


def test_every_container_has_the_runtimes_seccomp_profile(recorded: Environment) -> None:
    for what, pod, container in all_containers(recorded):
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, what
        assert container["securityContext"].get("seccompProfile", {}).get("type") in (
            None,
            "RuntimeDefault",
        ), what


def test_every_container_has_a_read_only_root_no_capability_and_no_way_to_more_privilege(
    recorded: Environment,
) -> None:
    for what, _, container in all_containers(recorded):
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"] is True, what
        assert security["allowPrivilegeEscalation"] is False, what
        assert security["capabilities"] == {"drop": ["ALL"]}, what
        assert security.get("privileged", False) is False, what


def test_only_the_log_agent_runs_as_root(recorded: Environment) -> None:
    """The kubelet writes log files 0640 for root; what Alloy measures is readable for everybody."""
    agent = f"DaemonSet {NODES_NAMESPACE}/{ALLOY} container {ALLOY}"
    for what, pod, container in all_containers(recorded):
        user = container["securityContext"].get("runAsUser", pod["securityContext"].get("runAsUser"))
        assert (user == 0) == (what == agent and recorded.settings.layer.logs != "off"), what
        assert container["securityContext"]["runAsNonRoot"] == (user != 0), what


def test_only_node_agents_mount_folders_of_the_node(recorded: Environment) -> None:
    for workload, pod in pods(recorded):
        mounted = [volume["name"] for volume in pod.get("volumes", []) if "hostPath" in volume]
        assert bool(mounted) == (workload.namespace == NODES_NAMESPACE), f"{workload} mounts {mounted}"


def test_only_one_folder_of_the_node_is_written_and_it_is_the_log_agents_own(recorded: Environment) -> None:
    for what, pod, container in all_containers(recorded):
        of_node = {v["name"]: v["hostPath"]["path"] for v in pod.get("volumes", []) if "hostPath" in v}
        mounts = [mount for mount in container.get("volumeMounts", []) if mount["name"] in of_node]
        written = {of_node[mount["name"]] for mount in mounts if not mount["readOnly"]}
        agent = f"DaemonSet {NODES_NAMESPACE}/{ALLOY} container {ALLOY}"
        logs = recorded.settings.layer.logs != "off"
        assert written == ({"/var/lib/shared-observability/alloy"} if what == agent and logs else set()), what


def test_the_log_agent_sees_no_tree_of_the_node_in_which_something_else_is_mounted(
    recorded: Environment,
) -> None:
    """A read-only mount of `/`, `/proc` or `/sys` leaves what is mounted below it writable, and it has uid 0."""
    for workload, pod in pods(recorded):
        if workload.name == ALLOY:
            seen = {v["hostPath"]["path"] for v in pod["volumes"] if "hostPath" in v}
            logs = {"/var/log/pods", "/var/lib/shared-observability/alloy"}
            assert not seen & {"/", "/proc", "/sys", "/sys/fs", "/sys/kernel", "/var", "/run"}, seen
            assert all(path.startswith(("/proc/", "/sys/")) for path in seen - logs), seen


def test_only_the_exporter_sees_the_nodes_network_and_processes(recorded: Environment) -> None:
    for workload, pod in pods(recorded):
        host = {key for key in ("hostNetwork", "hostPID", "hostIPC") if pod.get(key)}
        assert host == ({"hostNetwork", "hostPID"} if workload.name == NODE_EXPORTER else set()), str(
            workload
        )
        ports = [port for container in containers(pod) for port in container.get("ports", [])]
        assert not [port for port in ports if port.get("hostPort")], str(workload)


def test_only_node_agents_have_a_priority(recorded: Environment) -> None:
    (priority_class,) = recorded.of("PriorityClass")
    for workload, pod in pods(recorded):
        expected = priority_class.name if workload.namespace == NODES_NAMESPACE else None
        assert pod.get("priorityClassName") == expected, str(workload)
        assert "priority" not in pod


def test_every_image_is_one_of_the_versions_file(recorded: Environment) -> None:
    registry = recorded.settings.layer.image_registry
    known = {f"{registry}/{image}" if registry else image for image in IMAGES.values()}
    for what, _, container in all_containers(recorded):
        assert container["image"] in known, what
        assert ":" in container["image"].rpartition("/")[2], what


def test_a_token_is_mounted_exactly_where_the_account_has_rights(recorded: Environment) -> None:
    bound = {
        (subject["namespace"], subject["name"])
        for binding in recorded.of("RoleBinding", "ClusterRoleBinding")
        for subject in binding.inputs["subjects"]
    }
    for workload, pod in pods(recorded):
        of_pod = (workload.namespace, pod["serviceAccountName"])
        assert pod["automountServiceAccountToken"] == (of_pod in bound), str(workload)
    for account in recorded.of("ServiceAccount"):
        assert account.inputs["automountServiceAccountToken"] is False, str(account)


def test_everything_that_a_pod_refers_to_is_deployed_with_it(recorded: Environment) -> None:
    there = {(o.kind.removeprefix("External"), o.namespace, o.name) for o in recorded.objects}
    for workload, pod in pods(recorded):
        wanted = {("ServiceAccount", pod["serviceAccountName"])}
        for volume in pod.get("volumes", []):
            wanted |= {("ConfigMap", volume["configMap"]["name"])} if "configMap" in volume else set()
            wanted |= {("Secret", volume["secret"]["secretName"])} if "secret" in volume else set()
            claim = volume.get("persistentVolumeClaim")
            wanted |= {("PersistentVolumeClaim", claim["claimName"])} if claim else set()
        missing = [ref for ref in wanted if (ref[0], workload.namespace, ref[1]) not in there]
        assert not missing, f"{workload} refers to {missing}"


def test_every_mount_has_its_volume_and_every_volume_its_mount(recorded: Environment) -> None:
    for workload, pod in pods(recorded):
        mounted = {mount["name"] for c in containers(pod) for mount in c.get("volumeMounts", [])}
        assert mounted == {volume["name"] for volume in pod.get("volumes", [])}, str(workload)
        sub_paths = [m for c in containers(pod) for m in c.get("volumeMounts", []) if "subPath" in m]
        assert not sub_paths, f"{workload}: a file that is mounted by subPath never changes"


def test_selectors_match_the_pods_and_no_two_workloads_select_the_same_ones(recorded: Environment) -> None:
    selectors = []
    for workload, _ in pods(recorded):
        selected = workload.inputs["spec"]["selector"]["matchLabels"]
        labels = workload.inputs["spec"]["template"]["metadata"]["labels"]
        assert selected.items() <= labels.items(), str(workload)
        selectors.append((workload.namespace, tuple(sorted(selected.items()))))
    assert len(selectors) == len(set(selectors))


def test_every_service_reaches_exactly_one_workload_on_a_port_that_it_opens(recorded: Environment) -> None:
    for service in recorded.of("Service"):
        workloads = [workload for workload, _ in pods(recorded) if workload.namespace == service.namespace]
        spec = service.inputs["spec"]
        (behind,) = (
            workload
            for workload in workloads
            if spec["selector"].items() <= workload.inputs["spec"]["template"]["metadata"]["labels"].items()
        )
        opened = {port["containerPort"] for c in containers(behind.pod or {}) for port in c.get("ports", [])}
        assert {port["targetPort"] for port in spec["ports"]} <= opened, str(service)
        assert spec["type"] == "ClusterIP", str(service)
