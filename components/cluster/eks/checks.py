"""What has to be true in AWS before anything is made or changed there. Pure: decides from facts, all at once."""

from collections.abc import Iterator
from typing import Any

from components.cluster import node_groups
from components.cluster.eks import addresses, existing, plans
from components.cluster.eks.arns import is_same_principal, who
from components.cluster.eks.facts import Caller, Facts
from components.cluster.eks.kubeconfig import identity
from components.cluster.eks.type_checks import type_mistakes
from components.cluster.eks.versions import parts, pinned_versions
from components.cluster.refusals import namespaces
from components.settings.eks import EksCreate, EksTarget
from components.settings.mistakes import Mistake
from components.settings.model import LogStore, S3Store, Settings

TARGET, CREATE = "cluster.target", "cluster.target.create"
POLICY = "docs/eks-deployer-policy.json"
RECOVERY = "docs/runbooks/eks-recovery.md"
REPLACEMENT = "docs/runbooks/node-replacement.md"
HEALTHY = ("ACTIVE", "UPDATING")


def mistakes(settings: Settings, target: EksTarget, facts: Facts, stack: str) -> list[Mistake]:
    """Every mistake that AWS shows; without credentials only what the stack's own state shows.

    Args:
        settings: the environment.
        target: `cluster.target`.
        facts: what was found.
        stack: name of the stack, for commands.
    """
    if facts.caller is None:
        return [*_pod_addresses(settings, target, facts), *_namespaces(settings, target, facts)]
    found = [
        *_failures(facts),
        *wrong_account(target, facts.caller),
        *_living_cluster(facts, stack),
        *type_mistakes(settings, target, facts),
        *_bucket(settings, facts, stack),
    ]
    if target.create is None:
        return [*found, *existing.mistakes(settings, target, facts)]
    create = target.create
    return [
        *found,
        *_deployer(create, facts),
        *_ownership(create, facts, stack),
        *_versions(create, facts),
        *_add_ons(target, create, facts),
        *_subnets(settings, create, facts),
        *_replaced_groups(settings, target, facts),
        *_pod_addresses(settings, target, facts),
        *_namespaces(settings, target, facts),
    ]


def _namespaces(settings: Settings, target: EksTarget, facts: Facts) -> Iterator[Mistake]:
    """What a cluster that nobody has seen yet cannot have; one that AWS did not tell of may be there."""
    known = facts.cluster or facts.deployed.name or facts.failures
    if target.create and not known and target.create.name not in facts.clusters:
        yield from namespaces.of_a_new_cluster(settings)


def _failures(facts: Facts) -> Iterator[Mistake]:
    for failure in facts.failures:
        yield Mistake(
            failure.path,
            f"AWS does not tell {failure.what} ({failure.reason})",
            f"Correct the setting, or let {_caller(facts)} ask: {POLICY}",
        )


def _caller(facts: Facts) -> str:
    return facts.caller.arn if facts.caller else "the caller"


def wrong_account(target: EksTarget, caller: Caller) -> Iterator[Mistake]:
    """Credentials of another account than the one that is stated; nothing else is asked with them."""
    if target.account and caller.account != target.account:
        yield Mistake(
            f"{TARGET}.account",
            f"is {target.account}, but the credentials are of account {caller.account} ({caller.arn})",
            f"Use a profile of account {target.account} ({TARGET}.profile), or sign in to it",
        )


def _living_cluster(facts: Facts, stack: str) -> Iterator[Mistake]:
    """A changed identity would make the engine create every object anew and then delete the originals: on a cluster
    that lives these are the same objects, namespaces and all."""
    if facts.cluster is None:
        return
    found, before = identity(facts.cluster.arn, facts.cluster.created_at), facts.deployed
    if facts.cluster.status not in HEALTHY:
        yield Mistake(
            TARGET,
            f"cluster '{facts.cluster.name}' is {facts.cluster.status}",
            f"Wait, or see: aws eks describe-cluster --name {facts.cluster.name}",
        )
    if before.cluster and before.cluster != found:
        yield Mistake(
            TARGET,
            f"cluster '{facts.cluster.name}' is another one than this stack made ({found}, it was {before.cluster}): "
            "it was made again outside of it",
            f"See {RECOVERY}",
        )
    elif before.identifier and before.identifier != found:
        yield Mistake(
            TARGET,
            f"cluster '{facts.cluster.name}' is known to this stack under another identity ({before.identifier}, now "
            f"{found}): the engine would create every object anew and then delete the originals, which are the same "
            "objects if the cluster is the same, and belong to another cluster if it is not",
            f"See {RECOVERY}, or: make destroy ENV={stack} with the old target, then deploy",
        )


def _deployer(create: EksCreate, facts: Facts) -> Iterator[Mistake]:
    admins = [entry for entry in create.access if entry.policy == "clusterAdmin" and not entry.namespaces]
    caller = _caller(facts)
    if not any(is_same_principal(entry.principal, caller) for entry in admins):
        account, name = who(caller)
        yield Mistake(
            f"{CREATE}.access",
            f"gives {caller}, whose credentials these are, no rights in the cluster: nobody has any by having made it",
            f"Add {{principal: arn:aws:iam::{account}:role/{name}, policy: clusterAdmin}} (a role with its path), or "
            "deploy as one of those that have that policy",
        )


def _ownership(create: EksCreate, facts: Facts, stack: str) -> Iterator[Mistake]:
    deployed, exists = facts.deployed, create.name in facts.clusters
    if deployed.name and deployed.name != create.name:
        yield Mistake(
            f"{CREATE}.name",
            f"was {deployed.name}: under another name it is another cluster, and this one would be deleted with all "
            "that runs in it",
            f"Write {deployed.name}; use another stack for another cluster",
        )
    elif exists and not deployed.name:
        yield Mistake(
            f"{CREATE}.name",
            f"a cluster '{create.name}' exists in this account and region, and this stack did not make it",
            f"Write `existing: {create.name}` in place of `create`, or take another name",
        )
    elif deployed.name and not exists:
        yield Mistake(
            CREATE,
            f"cluster '{create.name}' is gone, though this stack made it: deploying would make another one, and the "
            "engine would take the old one's objects for this one's",
            f"See {RECOVERY}. Or, to forget it: make destroy ENV={stack}",
        )


def _versions(create: EksCreate, facts: Facts) -> Iterator[Mistake]:
    path = f"{CREATE}.version"
    if facts.versions and create.version not in facts.versions:
        yield Mistake(
            path,
            f"EKS does not offer Kubernetes {create.version}",
            f"Offered: {', '.join(sorted(facts.versions, key=parts))}",
        )
    now = facts.cluster.version if facts.cluster and facts.deployed.name else ""
    if not now:
        return
    step = parts(create.version)[1] - parts(now)[1]
    if step < 0:
        yield Mistake(
            path,
            f"is {create.version}, but the control plane has {now}, and it never goes back",
            f"Write '{now}'",
        )
    if step > 1:
        first = f"1.{parts(now)[1] + 1}"
        yield Mistake(
            path,
            f"is {create.version}, but the control plane has {now}, and it goes up one minor version at a time",
            f"Write '{first}' first, and see docs/runbooks/eks-upgrade.md",
        )


def _add_ons(target: EksTarget, create: EksCreate, facts: Facts) -> Iterator[Mistake]:
    """EKS tells its default and its newest; a pinned version between or before them is EKS's to judge."""
    stated = pinned_versions(target)
    for name, (default, newest) in facts.add_ons.items():
        pinned = stated.get(name, "")
        if pinned and parts(pinned) > parts(newest):
            yield Mistake(
                f"{CREATE}.addOnVersions.{name}",
                f"is {pinned}, but the newest for Kubernetes {create.version} is {newest}",
                f"Write {newest}, or leave it out for the default {default}",
            )


def _subnets(settings: Settings, create: EksCreate, facts: Facts) -> Iterator[Mistake]:
    known = [facts.subnets[subnet] for subnet in create.subnets if subnet in facts.subnets]
    path = f"{CREATE}.subnets"
    if len(known) == len(create.subnets):
        if len({subnet.zone for subnet in known}) < 2:
            yield Mistake(path, f"are all in zone {known[0].zone}", "EKS needs subnets in two zones or more")
        if len({subnet.vpc for subnet in known}) > 1:
            yield Mistake(path, "are of several VPCs", "Name subnets of one VPC")
    for need in subnet_needs(settings, create, facts):
        if not need.fits:
            yield Mistake(
                path,
                f"{', '.join(need.subnets)} have {need.free} free addresses, and groups {', '.join(need.groups)} take "
                f"{need.need} at their most, one group's update included",
                "Add subnets, let pods use prefixes or fewer warm addresses (podAddresses, vpcCni), or lower `nodes`",
            )


def subnet_needs(settings: Settings, create: EksCreate, facts: Facts) -> list[addresses.SubnetNeed]:
    """What the nodes take of the subnets beyond those that were deployed: they have theirs already."""
    deployed = facts.deployed.groups
    more = {
        name: max(node_groups.nodes_max(group) - int(deployed.get(name, {}).get("maximum", 0)), 0)
        for name, group in plans.managed(settings.cluster).items()
    }
    found = addresses.needs(settings.cluster, create, facts.subnets, more)
    return found if any(more.values()) else []


def _replaced_groups(settings: Settings, target: EksTarget, facts: Facts) -> Iterator[Mistake]:
    """EKS has no update for these: the engine would delete the group, and all its nodes at once, before it makes it."""
    for group in plans.managed_groups(settings.cluster, target):
        before = facts.deployed.groups.get(group.name)
        for key, value in group.unchangeable.items():
            if before is not None and _sorted(before.get(key)) != _sorted(value):
                setting = {"instanceTypes": "instanceTypes"}.get(key, f"eks.{key}")
                yield Mistake(
                    f"cluster.nodeGroups.{group.name}.{setting}",
                    f"was {_shown(before.get(key))} and is {_shown(value)}: EKS cannot change that, so all nodes of "
                    "the group would go at once before new ones come",
                    f"Add a group of another name, and remove this one when its pods have moved: {REPLACEMENT}",
                )


def _pod_addresses(settings: Settings, target: EksTarget, facts: Facts) -> Iterator[Mistake]:
    """EKS computes a group's max-pods when it makes the group, also for nodes that the group starts later."""
    if target.create is None:
        return
    prefixes = plans.uses_prefixes(settings.cluster)
    for group in plans.managed_groups(settings.cluster, target):
        path = f"cluster.nodeGroups.{group.name}.podAddresses"
        before = facts.deployed.groups.get(group.name, {}).get("podAddresses", "")
        if before and before != group.pod_addresses:
            yield Mistake(
                path,
                f"was {before} and is {group.pod_addresses}: EKS has computed max-pods when the group was made, and no "
                "change reaches its nodes, nor those that it starts later",
                f"Leave `podAddresses: {before}` on it, add a group of another name with `{group.pod_addresses}`, and "
                f"remove this one when its pods have moved: {REPLACEMENT}",
            )
        elif not before and prefixes and group.pod_addresses == "secondary":
            yield Mistake(
                path,
                "is secondary, but other managed groups have prefix, and the VPC CNI knows one way for all: "
                "a group that is made now gets prefixes",
                "Write `podAddresses: prefix` here too",
            )


def _sorted(value: Any) -> Any:
    return sorted(value) if isinstance(value, list) else value


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _bucket(settings: Settings, facts: Facts, stack: str) -> Iterator[Mistake]:
    logs = settings.layer.logs
    if not isinstance(logs, LogStore) or not isinstance(logs.store, S3Store):
        return
    path, name, makes = "layer.logs.store.bucket", logs.store.bucket, logs.store.made_by == "program"
    if facts.bucket == "foreign":
        yield Mistake(
            path,
            f"'{name}' belongs to somebody else, or to another region: bucket names are unique in all of AWS",
            "Choose another name",
        )
    if facts.bucket == "there" and makes:
        yield Mistake(
            path,
            f"'{name}' exists, and stack '{stack}' did not make it",
            "Choose another name, or write `madeBy: others` beside it: then nothing but a role for it is made",
        )
    if facts.bucket == "free" and not makes:
        yield Mistake(path, f"'{name}' does not exist, and is made by others", "Write `madeBy: program`")
