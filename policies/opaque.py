"""Objects that make other objects out of anyone's sight: charts, GitOps, add-ons, commands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from policies.manifest import Manifest
from policies.values import MISSING, Field

HELM_RELEASE = "kubernetes:helm.sh/v3:Release"
# A chart's objects by kind and apiVersion, as the provider writes them after the release: `DaemonSet.apps/apps/v1`.
DAEMON_SET_KEY = "DaemonSet."
ADD_ONS = frozenset({"aws:eks/addon:Addon", "aws-native:eks:Addon", "eks:index:Addon"})
COMMANDS = frozenset({"command:local:Command", "command:remote:Command"})
TOOLS = ("kubectl", "helm", "kustomize", "eksctl", "argocd", "flux")
# Components that register what they find in a chart or file as children; none when an input is unknown at preview.
CONTAINERS = frozenset(
    {
        "kubernetes:helm.sh/v3:Chart",
        "kubernetes:helm.sh/v4:Chart",
        "kubernetes:yaml/v2:ConfigFile",
        "kubernetes:yaml/v2:ConfigGroup",
        "kubernetes:yaml:ConfigFile",
        "kubernetes:yaml:ConfigGroup",
        "kubernetes:kustomize/v2:Directory",
        "kubernetes:kustomize:Directory",
    }
)


@dataclass(frozen=True)
class GitOpsKind:
    """A custom resource from which a controller deploys a chart or a folder.

    Attributes:
        target: path of the namespace that it deploys to, if not its own.
    """

    group: str
    kind: str
    target: tuple[str, ...]


GIT_OPS = (
    GitOpsKind("argoproj.io", "Application", ("spec", "destination", "namespace")),
    GitOpsKind("argoproj.io", "ApplicationSet", ("spec", "template", "spec", "destination", "namespace")),
    GitOpsKind("helm.toolkit.fluxcd.io", "HelmRelease", ("spec", "targetNamespace")),
    GitOpsKind("kustomize.toolkit.fluxcd.io", "Kustomization", ("spec", "targetNamespace")),
    GitOpsKind("helm.cattle.io", "HelmChart", ("spec", "targetNamespace")),
    GitOpsKind("helm.crossplane.io", "Release", ("spec", "forProvider", "namespace")),
    GitOpsKind(
        "kubernetes.crossplane.io", "Object", ("spec", "forProvider", "manifest", "metadata", "namespace")
    ),
)
_GIT_OPS = {(kind.group, kind.kind): kind for kind in GIT_OPS}


@dataclass(frozen=True)
class Opaque:
    """Something that deploys what cannot be seen here.

    Attributes:
        what: for messages: `the Helm release`.
        namespace: where it deploys to, as far as it says.
        chart: `name@version`, if it is a chart that says so.
    """

    what: str
    namespace: Field
    chart: str = ""


def opaque(manifest: Manifest) -> Opaque | None:
    """What the object deploys out of sight; None if all that it makes can be seen."""
    root = manifest.root
    if manifest.token == HELM_RELEASE:
        return Opaque("the Helm release", root["namespace"], _chart(root))
    if manifest.token in ADD_ONS:
        return Opaque(f"the EKS add-on {add_on(manifest) or '(not known yet)'}", MISSING)
    if manifest.token in COMMANDS and _calls_a_tool(root):
        return Opaque("the command", MISSING)
    if kind := _GIT_OPS.get((manifest.group, manifest.kind)):
        target = root.at(*kind.target)
        return Opaque(
            f"the {kind.kind}", manifest.namespace if target.empty else target, _git_ops_chart(root)
        )
    return None


def add_on(manifest: Manifest) -> str:
    """The name of an EKS add-on; empty if it is none, or not known yet."""
    return manifest.root["addonName"].text or "" if manifest.token in ADD_ONS else ""


def counts(manifest: Manifest) -> Mapping[str, int] | None:
    """How many objects of each kind a Helm release has made; None as long as nobody knows."""
    names = manifest.outputs["resourceNames"]
    if manifest.token != HELM_RELEASE or not isinstance(names.value, dict):
        return None
    return {key: len(list(found.items())) for key, found in names.members()}


def daemon_sets(found: Mapping[str, int]) -> int:
    """How many of the counted objects are DaemonSets."""
    return sum(number for key, number in found.items() if key.startswith(DAEMON_SET_KEY))


def _calls_a_tool(root: Field) -> bool:
    commands = [root[key] for key in ("create", "update", "delete")]
    return any(field.unknown or _mentions(field.text or "") for field in commands)


def _mentions(text: str) -> bool:
    return any(tool in text for tool in TOOLS)


def _chart(root: Field) -> str:
    chart, version = root["chart"].text, root["version"].text
    return f"{chart}@{version}" if chart and version else ""


def _git_ops_chart(root: Field) -> str:
    for spec in _chart_specs(root):
        version = spec["version"].text or spec["targetRevision"].text
        if spec["chart"].text and version:
            return f"{spec['chart'].text}@{version}"
    return ""


def _chart_specs(root: Field) -> Iterator[Field]:
    yield root.at("spec", "chart", "spec")  # Flux
    yield root.at("spec", "source")  # Argo CD
    yield root["spec"]  # k3s' HelmChart
