"""Runs the pack's rules without Pulumi: on manifests, rendered folders, exported states and live clusters.

    python -m policies.check FILE_OR_DIR... [--cluster KUBECONFIG] [--tenant NAMESPACE ...] [--namespace NAMESPACE]
                             [--config PACK_CONFIG] [--format text|json|sarif]

Exit status: 0, 1 with violations (of any level), 2 if an input or a part of it could not be read. What cannot be
decided does not count.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from policies import duplicate_cost, report
from policies.cluster import ClusterReading, read_cluster
from policies.config import ALL, PACK_SETTINGS, UNDECIDED, ConfigError, PackConfig, PackSettings, Tenant, read
from policies.judge import judge_for
from policies.manifest import Manifest, Origin
from policies.manifests import Reading, read_paths
from policies.rules import BY_NAME, RULES
from policies.tenancy import Tenancy
from policies.verdict import Finding, Level, Verdict
from policies.world import World

VIOLATIONS, UNREAD = 1, 2
NAMESPACE = re.compile(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")


@dataclass
class Result:
    """What a check found.

    Attributes:
        findings: with the level of each.
        judged: how many objects.
        unread: what could not be read.
        exempted: how many findings exemptions covered.
        notes: for people: what the cluster's duplicates cost.
    """

    findings: list[tuple[Finding, Level]] = field(default_factory=list)
    judged: int = 0
    unread: list[str] = field(default_factory=list)
    exempted: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def status(self) -> int:
        """The exit status."""
        if self.unread:
            return UNREAD
        return VIOLATIONS if any(found.verdict is Verdict.VIOLATION for found, _ in self.findings) else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    options = _parser().parse_args(arguments)
    # `--tenant shop manifests/` names a folder too: no namespace has a slash or a dot. The first is never a path.
    further = [name for group in options.tenant for name in group[1:]]
    if both := [name for name in further if NAMESPACE.match(name) and Path(name).exists()]:
        _parser().error(
            f"--tenant ... {both[0]}: a namespace, or the path of that name? For the path write ./{both[0]}, for the "
            f"namespace --tenant {both[0]}"
        )
    named = [name for group in options.tenant for name in group]
    options.paths += [Path(name) for name in named if not NAMESPACE.match(name)]
    options.tenant = [name for name in named if NAMESPACE.match(name)]
    if not options.paths and not options.cluster:
        _parser().error("give a file, a folder or --cluster")
    try:
        result = _run(options)
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return UNREAD
    sys.stdout.write(report.FORMATS[options.format](result))
    for line in [
        *(f"could not read {sentence}" for sentence in result.unread),
        *_notes(result, options.format),
    ]:
        sys.stderr.write(f"{line}\n")
    return result.status


def _run(options: argparse.Namespace) -> Result:
    """Reads all inputs and judges them.

    Raises:
        ConfigError: the settings are wrong.
    """
    config = read(options.config) if options.config else PackConfig()
    strangers = sorted({*config.levels, *config.properties} - {*BY_NAME, PACK_SETTINGS, UNDECIDED, ALL})
    if strangers:
        raise ConfigError(f"{options.config}: the pack has no policy {', '.join(strangers)}")
    reading = read_paths(options.paths)
    if options.namespace:
        reading.manifests = [placed(manifest, options.namespace) for manifest in reading.manifests]
    live = read_cluster(options.cluster) if options.cluster else ClusterReading()
    reading.manifests += live.manifests
    reading.unread += live.unread
    return check(reading, with_tenants(config, options.tenant), live)


def check(reading: Reading, config: PackConfig, live: ClusterReading | None = None) -> Result:
    """Judges all objects by all rules that are not disabled."""
    world = World(Origin.FILE, config.settings, Tenancy(config.settings), complete=True)
    world.live_nodes = live.nodes if live else ()
    for manifest in reading.manifests:
        world.add(manifest)
    judge = judge_for(world, config)
    result = Result(judged=sum(manifest.judged for manifest in world), unread=list(reading.unread))
    for rule in RULES:
        level = config.level(rule.name, rule.level)
        if level is Level.DISABLED:
            continue
        settings = judge.configure(rule, config.properties.get(rule.name, {}))
        found = [*judge.everything(rule, settings)]
        if not rule.joins:
            found = [finding for manifest in world for finding in judge.one(rule, manifest, settings)] + found
        result.findings += _with_levels(found, level, config.level(UNDECIDED, Level.ADVISORY))
    result.exempted = judge.exemptions.covered
    about = [replace(found, rule=PACK_SETTINGS) for found in judge.exemptions.report(complete=True)]
    result.findings += _with_levels(about, config.level(PACK_SETTINGS, Level.ADVISORY), Level.ADVISORY)
    if live is not None:
        result.notes = duplicate_cost.report(duplicate_cost.cost(world, live.nodes, live.pods))
    return result


def placed(manifest: Manifest, namespace: str) -> Manifest:
    """The object of a file in the namespace that `kubectl apply --namespace` would give it."""
    metadata = manifest.root["metadata"].value or {}
    missing = manifest.origin is Origin.FILE and manifest.namespace.empty and isinstance(metadata, dict)
    if not missing or not manifest.namespaced:
        return manifest
    metadata = {**metadata, "namespace": namespace}
    return replace(manifest, root=replace(manifest.root, value={**manifest.root.value, "metadata": metadata}))


def _with_levels(found: Sequence[Finding], level: Level, undecided: Level) -> list[tuple[Finding, Level]]:
    """Violations at the rule's level, the others at that of the policy `undecided`; none of what is disabled."""
    pairs = [(finding, level if finding.verdict is Verdict.VIOLATION else undecided) for finding in found]
    return [(finding, level) for finding, level in pairs if level is not Level.DISABLED]


def _notes(result: Result, form: str) -> list[str]:
    """What duplicates cost: with text it is part of the report, otherwise stdout holds the findings alone."""
    return [] if form == "text" else result.notes


def with_tenants(config: PackConfig, namespaces: Sequence[str]) -> PackConfig:
    """The settings, with each namespace of the command line as a tenant of its name."""
    given = {name: Tenant(namespaces=(name,)) for name in namespaces}
    settings: PackSettings = config.settings.model_copy(
        update={"tenants": {**given, **config.settings.tenants}}
    )
    return replace(config, settings=settings)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m policies.check",
        description="Runs the policy pack's rules on manifests, rendered folders, exported states and clusters.",
        epilog="Exit status: 0, 1 with violations, 2 if an input could not be read.",
    )
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="FILE_OR_DIR", help="YAML or JSON, or a `pulumi stack export`"
    )
    parser.add_argument(
        "--cluster", type=Path, metavar="KUBECONFIG", help="read a live cluster too, by this kubeconfig only"
    )
    parser.add_argument(
        "--tenant",
        action="append",
        nargs="+",
        default=[],
        metavar="NAMESPACE",
        help="tenants' namespaces; repeatable",
    )
    parser.add_argument(
        "--namespace",
        metavar="NAMESPACE",
        help="where what has no namespace of its own is applied; without it, whose that is stays undecided",
    )
    parser.add_argument("--config", type=Path, metavar="PACK_CONFIG", help="file for --policy-pack-config")
    parser.add_argument("--format", choices=sorted(report.FORMATS), default="text")
    return parser


if __name__ == "__main__":
    sys.exit(main())
