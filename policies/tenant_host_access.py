"""`tenant-host-access`: a tenant's pods stay off the node they run on."""

from collections.abc import Iterator

from pydantic import Field as Setting

from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.pods import Pod, pod_of
from policies.rule import Rule, Severity
from policies.values import Field, Truth
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

FIX = "Remove it; what needs the node belongs into the shared layer, whose namespace `observability-nodes` allows it"
ENFORCE = "pod-security.kubernetes.io/enforce"
# What Pod Security's level baseline lets a container add; everything else reaches beyond it.
BASELINE_CAPABILITIES = (
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
)
HOST_FLAGS = {
    "hostNetwork": "the node's network, past every NetworkPolicy",
    "hostPID": "the node's processes",
    "hostIPC": "the node's shared memory",
}


FILES = "files of the node"
WHOLE_NODE = "the whole node"
WINDOWS = "the whole Windows node"
RIGHTS = "rights on the node"
KERNEL = "the node's kernel settings"
PORT = "a port of the node, which nobody else can use then"
OPEN_NAMESPACE = "a namespace in which Pod Security allows everything"


class HostAccessSettings(RuleSettings):
    """What a tenant's container may add."""

    capabilities: tuple[str, ...] = Setting(
        default=BASELINE_CAPABILITIES, description="capabilities that a container may add"
    )


def judge(manifest: Manifest, world: World, settings: HostAccessSettings) -> Iterator[Finding]:
    """Judges a tenant's pods, namespaces and volumes."""
    owner = world.tenancy.owner(manifest)
    if owner.known is False or (owner.known is None and not world.tenancy.any_known):
        return
    found = [*_namespace(manifest), *_volume(manifest)]
    if (pod := pod_of(manifest)) is not None:
        found += _pod(pod, settings)
    for field, verdict, what in found:
        if verdict and owner.known:
            yield violation(manifest, field, f"it gives {owner.label} {what}", f"{FIX}.")
        else:
            why = f"whether it gives {owner.label} {what} is not known yet"
            if verdict:
                why = f"it gives {what}, and its namespace is not known yet and could be a tenant's"
            yield undecided(manifest, field, why, f"{FIX}, or give a value that is known at preview.")


Reach = tuple[Field, Truth, str]
"""A field, whether it reaches the node (True) or could (None), and what it reaches."""


def _namespace(manifest: Manifest) -> Iterator[Reach]:
    level = manifest.labels[ENFORCE]
    if manifest.kind == "Namespace" and not manifest.group and (level.unknown or level.text == "privileged"):
        yield level, None if level.unknown else True, OPEN_NAMESPACE


def _volume(manifest: Manifest) -> Iterator[Reach]:
    for source in ("hostPath", "local"):
        path = manifest.root.at("spec", source)
        if manifest.kind == "PersistentVolume" and not path.absent:
            yield path, None if path.unknown else True, FILES


def _pod(pod: Pod, settings: HostAccessSettings) -> Iterator[Reach]:
    spec = pod.spec
    if spec.unknown:
        yield spec, None, "access to the node"
        return
    for flag, what in HOST_FLAGS.items():
        yield from _flag(spec[flag], what)
    if spec["volumes"].unknown:
        yield spec["volumes"], None, FILES
    for volume in spec["volumes"].items():
        if volume.unknown or not volume["hostPath"].absent:
            known = not (volume.unknown or volume["hostPath"].unknown)
            yield volume["hostPath"], known or None, FILES
    yield from _flag(spec.at("securityContext", "windowsOptions", "hostProcess"), WINDOWS)
    for unknown in pod.unknown_containers():
        yield unknown, None, "access to the node"
    for container in pod.containers():
        yield from _container(container, settings)
    if not pod.whole:
        yield from _container(spec, settings)  # a custom resource has a container's fields in its spec


def _container(container: Field, settings: HostAccessSettings) -> Iterator[Reach]:
    context = container["securityContext"]
    yield from _flag(context["privileged"], WHOLE_NODE)
    yield from _flag(context.at("windowsOptions", "hostProcess"), WINDOWS)
    added = context.at("capabilities", "add")
    if added.unknown:
        yield added, None, RIGHTS
    for capability in added.items():
        name = (capability.text or "").removeprefix("CAP_")
        if capability.unknown or name not in settings.capabilities:
            yield capability, None if capability.unknown else True, RIGHTS
    if context["procMount"].text == "Unmasked":
        yield context["procMount"], True, KERNEL
    for port in container["ports"].items():
        number = port["hostPort"]
        if number.unknown or number.number:
            yield number, None if number.unknown else True, PORT


def _flag(field: Field, what: str) -> Iterator[Reach]:
    if field.true is not False:
        yield field, field.true, what


PAGE = f"""
## How it decides
Refused in a tenant's pods, whatever makes them, and in the fields of agents' custom resources: `hostPath`,
`hostNetwork`, `hostPID`, `hostIPC`, `hostPort`, `privileged`, added capabilities beyond Pod Security's level baseline,
`procMount: Unmasked` and Windows' `hostProcess`; init and ephemeral containers count. Refused too: the label
`{ENFORCE}: privileged` on a tenant's namespace, and a PersistentVolume on `hostPath` or
`local` in a tenant's stack.

Pod Security in the cluster refuses most of this later, and at another place: it does not judge a Deployment or
DaemonSet, only the pods made from it, so the object is accepted and makes no pods.

## What it does not see
Volumes of a CSI driver that mounts the node's files; objects of other stacks. There Pod Security holds.

## Sources
kubernetes/website, Pod Security Standards, level baseline.
"""

RULE = Rule(
    name="tenant-host-access",
    summary="A tenant's pods have no access to the node they run on.",
    level=Level.MANDATORY,
    severity=Severity.CRITICAL,
    remediation=f"{FIX}.",
    page=PAGE,
    settings=HostAccessSettings,
    judge=judge,
    joins=True,
)
