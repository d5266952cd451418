"""Looks at AWS before anything is made: through the one provider, by functions that read only."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

import pulumi
import pulumi_aws as aws

from components.cluster import own_state
from components.cluster.eks import cli, plans
from components.cluster.eks.checks import wrong_account
from components.cluster.eks.cloud import Cloud
from components.cluster.eks.facts import (
    Caller,
    ClusterFacts,
    Deployed,
    Facts,
    Failure,
    GroupFacts,
    SubnetFacts,
    TypeFacts,
)
from components.cluster.eks.kubeconfig import identity
from components.cluster.eks.tags import KUBERNETES_TAG, POD_ADDRESSES_TAG
from components.cluster.eks.versions import chosen_versions, pinned_versions
from components.settings.eks import EksTarget
from components.settings.load import ALREADY_SHOWN
from components.settings.mistakes import Mistake, SettingsError
from components.settings.model import LogStore, S3Store, Settings

PROVIDER = "aws"
T = TypeVar("T")
_FOREIGN = ("403", "Forbidden", "AccessDenied", "301", "PermanentRedirect")
_UNKNOWN_YET = (
    "Not checked, since there are no AWS credentials ({}): whether the cluster exists, instance types, "
)


def look_or_exit(settings: Settings, target: EksTarget) -> Cloud:
    """Registers the provider and asks AWS what has to be known; says what nobody could be asked.

    Raises:
        SystemExit: with status 32, where there are no credentials and more than a first preview is asked for, or where
            they are another account's.
    """
    deployed = read_deployed()
    caller, why_not = _caller(target)
    if caller is None:
        _refuse_blind(target, deployed, why_not)
        pulumi.log.warn(
            _UNKNOWN_YET.format(why_not)
            + "subnets and their free addresses, versions of Kubernetes and add-ons, "
            "the bucket's name, who deploys. `up` checks all of it before it makes anything"
        )
    elif wrong := list(wrong_account(target, caller)):
        # Before the provider says it: its own refusal names no setting.
        _refuse(wrong)
    provider = _register_provider(target, blind=caller is None)
    if caller is None:
        return Cloud(provider, Facts(why_not=why_not, deployed=deployed), {})
    facts = Look(settings, target, provider).facts(caller, deployed)
    return Cloud(provider, facts, chosen_versions(target, facts))


def read_deployed() -> Deployed:
    """What this stack's own state holds."""
    clusters = own_state.resources("aws:eks/cluster:Cluster")
    providers = own_state.resources("pulumi:providers:kubernetes")
    groups = own_state.resources("aws:eks/nodeGroup:NodeGroup")
    add_ons = own_state.resources("aws:eks/addon:Addon")
    cluster = clusters[0] if clusters else {}
    return Deployed(
        cluster=identity(str(cluster["arn"]), str(cluster["createdAt"])) if cluster else "",
        name=str(cluster.get("name", "")),
        version=str(cluster.get("version", "")),
        identifier=next((str(p.get("clusterIdentifier", "")) for p in providers), ""),
        add_ons={str(one["addonName"]): _deployed_add_on(one) for one in add_ons},
        groups={str(group["nodeGroupName"]): _deployed_group(group) for group in groups},
        buckets=tuple(str(bucket["bucket"]) for bucket in own_state.resources("aws:s3/bucket:Bucket")),
    )


def _deployed_add_on(add_on: Any) -> tuple[str, str]:
    return str(add_on["addonVersion"]), str((add_on.get("tags") or {}).get(KUBERNETES_TAG, ""))


def _deployed_group(group: Any) -> dict[str, Any]:
    return {
        "instanceTypes": list(group.get("instanceTypes") or []),
        "amiType": group.get("amiType"),
        "capacity": group.get("capacityType"),
        "subnets": list(group.get("subnetIds") or []),
        "podAddresses": str((group.get("tags") or {}).get(POD_ADDRESSES_TAG, "")),
        "maximum": int((group.get("scalingConfig") or {}).get("maxSize", 0)),
    }


def _caller(target: EksTarget) -> tuple[Caller | None, str]:
    try:
        return cli.caller(target), ""
    except cli.CliError as error:
        return None, str(error)


def _refuse_blind(target: EksTarget, deployed: Deployed, why_not: str) -> None:
    if pulumi.runtime.is_dry_run() and target.create and not deployed.cluster:
        return
    login = f"aws sts get-caller-identity{f' --profile {target.profile}' if target.profile else ''}"
    mistake = Mistake(
        "cluster.target",
        f"there are no AWS credentials ({why_not}), so nothing of the cluster can be known; only the first preview of "
        "a cluster that this program makes can do without",
        f"Install the AWS CLI 2 and sign in, until this answers: {login}",
    )
    _refuse([mistake])


def _refuse(mistakes: Sequence[Mistake]) -> NoReturn:
    pulumi.log.error(str(SettingsError(mistakes, pulumi.get_stack())))
    raise SystemExit(ALREADY_SHOWN)


def _register_provider(target: EksTarget, *, blind: bool) -> aws.Provider:
    """Region and account are stated. Without credentials, in a first preview, it is told not to look for any."""
    return aws.Provider(
        PROVIDER,
        region=target.region,
        profile=None if blind else target.profile,
        allowed_account_ids=[target.account] if target.account and not blind else None,
        access_key="none-in-this-preview" if blind else None,
        secret_key="none-in-this-preview" if blind else None,
        skip_credentials_validation=True if blind else None,
        skip_requesting_account_id=True if blind else None,
        skip_metadata_api_check=True if blind else None,
    )


class Look:
    """Questions to AWS; one that gets no answer is kept as a failure, and the others go on."""

    def __init__(self, settings: Settings, target: EksTarget, provider: aws.Provider) -> None:
        self._settings, self._target = settings, target
        self._options = pulumi.InvokeOptions(provider=provider)
        self._failures: list[Failure] = []

    def facts(self, caller: Caller, deployed: Deployed) -> Facts:
        """Everything that `checks.py` wants to know."""
        target, create = self._target, self._target.create
        listed = self._ask("cluster.target", "the list of clusters", aws.eks.get_clusters)
        clusters = listed.names if listed else ()
        name = create.name if create else target.existing or ""
        cluster = self._cluster(name) if name in clusters else None
        groups = self._settings.cluster.node_groups.values()
        types = dict.fromkeys(name for group in groups for name in group.instance_types)
        zones = self._zones(list(types))
        return Facts(
            caller=caller,
            clusters=tuple(clusters),
            cluster=cluster,
            groups=dict(self._groups(name)) if cluster and not create else {},
            zones=zones,
            types=dict(self._types(found for found in types if zones.get(found))),
            subnets=dict(self._subnets()),
            versions=self._versions() if create else (),
            add_ons=dict(self._add_ons(create.version, deployed)) if create else {},
            bucket=self._bucket(deployed),
            oidc_provider=bool(cluster) and not create and self._has_oidc_provider(cluster),
            deployed=deployed,
            failures=tuple(self._failures),
        )

    def _ask(self, path: str, what: str, function: Callable[..., T], **arguments: Any) -> T | None:
        try:
            return function(**arguments, opts=self._options)
        except Exception as error:  # noqa: BLE001 - the SDK raises nothing more precise; it is told as a mistake
            self._failures.append(Failure(path, what, _reason(error)))
            return None

    def _cluster(self, name: str) -> ClusterFacts | None:
        found = self._ask("cluster.target", f"cluster '{name}'", aws.eks.get_cluster, name=name)
        if found is None:
            return None
        authorities, identities = found.certificate_authorities, found.identities
        return ClusterFacts(
            name=name,
            arn=found.arn,
            created_at=found.created_at,
            endpoint=found.endpoint,
            authority=authorities[0].data if authorities else "",
            version=found.version,
            status=found.status,
            issuer=identities[0].oidcs[0].issuer if identities and identities[0].oidcs else "",
        )

    def _groups(self, cluster: str) -> Iterator[tuple[str, GroupFacts]]:
        listed = self._ask(
            "cluster.nodeGroups", "the list of node groups", aws.eks.get_node_groups, cluster_name=cluster
        )
        for name in listed.names if listed else ():
            found = self._ask(
                f"cluster.nodeGroups.{name}",
                f"node group '{name}'",
                aws.eks.get_node_group,
                cluster_name=cluster,
                node_group_name=name,
            )
            if found is not None:
                bounds = found.scaling_configs[0]
                yield (
                    name,
                    GroupFacts(
                        instance_types=tuple(found.instance_types),
                        minimum=int(bounds.min_size),
                        maximum=int(bounds.max_size),
                        labels=dict(found.labels),
                        taints=frozenset((t.key, t.value or "", t.effect) for t in found.taints),
                    ),
                )

    def _zones(self, types: list[str]) -> dict[str, frozenset[str]]:
        if not types:
            return {}
        wanted = aws.ec2.GetInstanceTypeOfferingsFilterArgs(name="instance-type", values=types)
        found = self._ask(
            "cluster.nodeGroups",
            "which zones offer the instance types",
            aws.ec2.get_instance_type_offerings,
            filters=[wanted],
            location_type="availability-zone",
        )
        if found is None:
            return {}
        offered = list(zip(found.instance_types, found.locations, strict=True))
        return {name: frozenset(zone for one, zone in offered if one == name) for name in types}

    def _types(self, types: Iterable[str]) -> Iterator[tuple[str, TypeFacts]]:
        for name in types:
            found = self._ask(
                "cluster.nodeGroups",
                f"instance type '{name}'",
                aws.ec2.get_instance_type,
                instance_type=name,
            )
            if found is not None:
                yield name, _type_facts(found)

    def _subnets(self) -> Iterator[tuple[str, SubnetFacts]]:
        for path, subnet in subnets_of(self._settings, self._target).items():
            found = self._ask(path, f"subnet '{subnet}'", aws.ec2.get_subnet, id=subnet)
            if found is not None:
                yield (
                    subnet,
                    SubnetFacts(found.availability_zone, found.vpc_id, int(found.available_ip_address_count)),
                )

    def _versions(self) -> tuple[str, ...]:
        found = self._ask(
            "cluster.target.create.version",
            "the Kubernetes versions of EKS",
            aws.eks.get_cluster_versions,
        )
        return tuple(one.cluster_version for one in found.cluster_versions) if found else ()

    def _add_ons(self, version: str, deployed: Deployed) -> Iterator[tuple[str, tuple[str, str]]]:
        """Not asked about one that stays as it is: neither pinned, nor of another Kubernetes version, nor new."""
        pinned = pinned_versions(self._target)
        for plan in plans.add_ons(self._settings.cluster, self._target):
            name = plan.name
            deployed_version, chosen_for = deployed.add_ons.get(name, ("", ""))
            if chosen_for == version and pinned.get(name, deployed_version) == deployed_version:
                continue
            default, newest = (self._add_on_version(name, version, newest) for newest in (False, True))
            if default and newest:
                yield name, (default, newest)

    def _add_on_version(self, name: str, kubernetes: str, newest: bool) -> str:
        found = self._ask(
            f"cluster.target.create.addOnVersions.{name}",
            f"the {'newest' if newest else 'default'} version of the add-on for Kubernetes {kubernetes}",
            aws.eks.get_addon_version,
            addon_name=name,
            kubernetes_version=kubernetes,
            most_recent=newest,
        )
        return found.version if found else ""

    def _bucket(self, deployed: Deployed) -> Any:
        logs = self._settings.layer.logs
        store = logs.store if isinstance(logs, LogStore) else None
        if not isinstance(store, S3Store) or store.bucket in deployed.buckets:
            return "free"
        try:
            aws.s3.get_bucket(bucket=store.bucket, opts=self._options)
        except Exception as error:  # noqa: BLE001 - the SDK raises nothing more precise: the text has the status
            return "foreign" if any(word in str(error) for word in _FOREIGN) else "free"
        return "there"

    def _has_oidc_provider(self, cluster: ClusterFacts | None) -> bool:
        if cluster is None or self._target.identity != "irsa":
            return False
        try:
            aws.iam.get_open_id_connect_provider(url=cluster.issuer, opts=self._options)
        except Exception:  # noqa: BLE001 - whatever the reason, it cannot be used; checks.py says how to get one
            return False
        return True


def subnets_of(settings: Settings, target: EksTarget) -> dict[str, str]:
    """Each subnet once, by the path of the first setting that names it."""
    if target.create is None:
        return {}
    named = [(f"cluster.target.create.subnets[{i}]", s) for i, s in enumerate(target.create.subnets)]
    for group, managed in plans.managed(settings.cluster).items():
        named += [
            (f"cluster.nodeGroups.{group}.eks.subnets[{i}]", s) for i, s in enumerate(managed.eks.subnets)
        ]
    return {path: subnet for subnet, path in {s: p for p, s in reversed(named)}.items()}


def _type_facts(found: aws.ec2.AwaitableGetInstanceTypeResult) -> TypeFacts:
    cards = {card.index: card.maximum_interfaces for card in found.network_cards}
    return TypeFacts(
        enis=int(cards.get(found.default_network_card_index, found.maximum_network_interfaces)),
        ipv4_per_eni=int(found.maximum_ipv4_addresses_per_interface),
        vcpus=int(found.default_vcpus),
        memory_mib=int(found.memory_size),
        hypervisor=found.hypervisor or "",
        bare_metal=bool(found.bare_metal),
        architectures=tuple(found.supported_architectures),
    )


def _reason(error: Exception) -> str:
    """The last line with words in it: before it stand the call and its address."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].removeprefix("* ") if lines else type(error).__name__
