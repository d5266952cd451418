"""What the settings of a target on EKS say about each other. Reads plain data, like `checks.py`."""

from collections.abc import Iterator

from components.cluster import instance_types, node_groups
from components.settings.mistakes import Mistake
from components.settings.raw import Raw, has_hard_taints, is_off, mapping, texts

TARGET, CREATE = "cluster.target", "cluster.target.create"
# Only EKS itself may set labels of these; it refuses them in a node group.
RESERVED_LABELS = ("eks.amazonaws.com/", "kubernetes.io/", "k8s.io/")


def mistakes(cluster: Raw, groups: Raw, layer: Raw) -> list[Mistake]:
    """All mistakes about EKS.

    Args:
        cluster: the key `cluster`.
        groups: its node groups.
        layer: the key `layer`.
    """
    target = mapping(cluster.get("target"))
    if target.get("kind") == "render":
        return []  # `make render` of an environment whose nodes are made here too: it writes what comes to the cluster
    if target.get("kind") != "eks":
        return list(_nodes_without_create(groups))
    create = mapping(target.get("create"))
    found = [*_either(target), *_bucket_region(target, layer), *_one_volume_driver(groups, layer)]
    if target.get("create") is None:
        return [*found, *_nodes_without_create(groups)]
    managed = {
        name: mapping(g) for name, g in groups.items() if mapping(g).get("kind", "managed") == "managed"
    }
    return [
        *found,
        *_endpoint(mapping(create.get("endpoint"))),
        *_access(create),
        *_vpc_cni(mapping(create.get("vpcCni"))),
        *_kinds(groups, managed),
        *(mistake for name, group in managed.items() for mistake in _group(name, group)),
    ]


def _either(target: Raw) -> Iterator[Mistake]:
    existing, create = (target.get(key) is not None for key in ("existing", "create"))
    if existing == create:
        both = existing
        yield Mistake(
            TARGET,
            f"says {'both' if both else 'neither'} `existing` {'and' if both else 'nor'} `create`",
            "Write `existing: NAME` for a cluster that is there, or `create: {...}` for one to make",
        )
    if create and target.get("otherGroups"):
        yield Mistake(
            f"{TARGET}.otherGroups",
            "is of an existing cluster: the groups of one that is made here are exactly those declared",
            "Take it out",
        )


def _nodes_without_create(groups: Raw) -> Iterator[Mistake]:
    for name, group in groups.items():
        if mapping(mapping(group).get("eks")):
            yield Mistake(
                f"cluster.nodeGroups.{name}.eks",
                "has no effect: this program makes no nodes here, only with cluster.target.create",
                "Take it out",
            )


def _bucket_region(target: Raw, layer: Raw) -> Iterator[Mistake]:
    store = mapping(mapping(layer.get("logs")).get("store"))
    region = target.get("region")
    if store.get("kind") == "s3" and isinstance(region, str) and store.get("region") not in (None, region):
        yield Mistake(
            "layer.logs.store.region",
            f"is {store.get('region')}, but the cluster is in {region}: every line would cross regions",
            f"Write {region}",
        )


def _one_volume_driver(groups: Raw, layer: Raw) -> Iterator[Mistake]:
    """The layer's pods have volumes, and those of Auto Mode's nodes are of a driver of its own."""
    volumes = not (is_off(layer.get("logs")) and is_off(layer.get("metrics")))
    if layer.get("storageClass") is not None or not volumes:
        return
    named = {name for _, name in texts(layer.get("runsOn"))}
    allowed = {n: mapping(g) for n, g in groups.items() if (n in named if named else not has_hard_taints(g))}
    auto = [name for name, group in allowed.items() if group.get("kind") == "autoMode"]
    others = [name for name in allowed if name not in auto]
    if auto and others:
        yield Mistake(
            "layer.runsOn",
            f"allows nodes of Auto Mode ({', '.join(auto)}) and other nodes ({', '.join(others)}), and neither can "
            "attach the other's volumes: a store that moves between them would stay Pending",
            f"Write `runsOn: [{', '.join(others)}]` or `runsOn: [{', '.join(auto)}]`, or name a StorageClass of your "
            "own by layer.storageClass",
        )


def _endpoint(endpoint: Raw) -> Iterator[Mistake]:
    public = endpoint.get("public") in (True, "on")
    if endpoint.get("private") in (False, "off") and not public:
        yield Mistake(
            f"{CREATE}.endpoint", "is neither private nor public, so nobody reaches it", "Turn one of them on"
        )
    if public and not endpoint.get("publicCidrs"):
        yield Mistake(
            f"{CREATE}.endpoint.publicCidrs",
            "is missing: without it the whole internet may connect to the API server",
            "Name the ranges that may; 0.0.0.0/0 if it is really meant",
        )


def _access(create: Raw) -> Iterator[Mistake]:
    entries = create.get("access")
    principals: set[str] = set()
    for i, entry in enumerate(entries if isinstance(entries, list) else []):
        principal = mapping(entry).get("principal")
        if isinstance(principal, str) and principal in principals:
            yield Mistake(
                f"{CREATE}.access[{i}].principal",
                f"'{principal}' has an entry already",
                "Make one of the two",
            )
        principals.add(str(principal))
        if mapping(entry).get("policy") == "clusterAdmin" and mapping(entry).get("namespaces"):
            yield Mistake(
                f"{CREATE}.access[{i}].policy",
                "is clusterAdmin, which EKS gives for the whole cluster only",
                "Write `admin` for these namespaces, or take them out",
            )


def _vpc_cni(cni: Raw) -> Iterator[Mistake]:
    if cni.get("minimumIpTarget") and not cni.get("warmIpTarget"):
        yield Mistake(
            f"{CREATE}.vpcCni.minimumIpTarget",
            "needs warmIpTarget: alone the VPC CNI keeps taking addresses and giving them back",
            "Add warmIpTarget, or take it out",
        )


def _kinds(groups: Raw, managed: Raw) -> Iterator[Mistake]:
    for name, group in groups.items():
        if mapping(group).get("kind") == "autoMode":
            yield Mistake(
                f"cluster.nodeGroups.{name}.kind",
                "is autoMode, and clusters that are made here do not have Auto Mode",
                "Use an existing cluster with it (docs/eks.md), or a managed group",
            )
    starting = [
        name
        for name, group in managed.items()
        if not group.get("taints") and not group.get("startupTaints") and _nodes_min(group) > 0
    ]
    if groups and not starting:
        yield Mistake(
            "cluster.nodeGroups",
            "has no managed group without taints that always has a node: CoreDNS would run nowhere, and nothing else "
            "that a cluster needs",
            "Add one, or raise `nodes.min` of one to 1",
        )


def _nodes_min(group: Raw) -> int:
    nodes = group.get("nodes")
    least = mapping(nodes).get("min", 0) if isinstance(nodes, dict) else nodes
    return least if isinstance(least, int) else 1


def _group(name: str, group: Raw) -> Iterator[Mistake]:
    path = f"cluster.nodeGroups.{name}"
    types = [(i, instance_types.lookup(found)) for i, found in texts(group.get("instanceTypes"))]
    known = [found for _, found in types if found]
    if not group.get("instanceTypes"):
        yield Mistake(
            f"{path}.instanceTypes", "is missing: EKS has to know what to start", "Name one or more"
        )
    if group.get("maxPods") and known and len(known) == len(types):
        yield Mistake(
            f"{path}.maxPods",
            "cannot be chosen for a managed group: EKS computes it from instance types and VPC CNI, and injects "
            "it",
            "Take it out; for more pods per node write `podAddresses: prefix`",
        )
    if group.get("customNetworking") in (True, "on"):
        yield Mistake(
            f"{path}.customNetworking",
            "needs ENIConfigs before the first node, which this program does not make",
            "Take it out, or use an existing cluster",
        )
    architectures = {found.architecture for found in known}
    if len(architectures) > 1:
        yield Mistake(
            f"{path}.instanceTypes",
            f"mix {' and '.join(sorted(architectures))}, and a group has one AMI type",
            "Make a group for each",
        )
    yield from _ami_type(path, group, architectures)
    yield from _label(path, mapping(group.get("selector")))
    bounds = mapping(group.get("nodes"))
    least, most = _nodes_min(group), bounds.get("max")
    if isinstance(most, int) and mapping(group.get("eks")).get("maxUnavailable", 1) > max(most, 1) >= least:
        yield Mistake(
            f"{path}.eks.maxUnavailable",
            f"is more than the {most} nodes that the group has at most",
            "Write less",
        )


def _ami_type(path: str, group: Raw, architectures: set[str]) -> Iterator[Mistake]:
    ami_type = mapping(group.get("eks")).get("amiType")
    if isinstance(ami_type, str) and len(architectures) == 1:
        wanted, (given,) = ("arm64" if "ARM_64" in ami_type else "x86_64"), architectures
        if wanted != given:
            yield Mistake(
                f"{path}.eks.amiType",
                f"{ami_type} is for {wanted}, and the group's instance types are {given}",
                "Leave it out, or choose types of that architecture",
            )


def _label(path: str, selector: Raw) -> Iterator[Mistake]:
    key, values = selector.get("key"), texts(selector.get("values"))
    if not isinstance(key, str) or key == node_groups.LABELS["managed"]:
        return
    if key.startswith(RESERVED_LABELS) or len(values) > 1:
        yield Mistake(
            f"{path}.selector",
            "has to be one label that EKS can put on the group's nodes",
            "Leave it out (eks.amazonaws.com/nodegroup), or name one value of a key of your own",
        )
