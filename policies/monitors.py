"""`monitor-has-one-scraper`: every ServiceMonitor and PodMonitor is scraped by exactly one collector.

CloudWatch's operator routes monitors by the annotation `cloudwatch.aws/scraper`: the collector with that `scraperRole`
takes them, the one without a role takes all others. OpenTelemetry's selects monitors by label selectors; a missing
selector selects nothing and an empty one everything.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import Field as Setting

from policies.collectors import CLOUD_WATCH, OPEN_TELEMETRY, Collector, collector
from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.rule import Rule, Severity
from policies.selectors import selector_matches
from policies.values import Field, Truth, all_of
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

ROUTE = "cloudwatch.aws/scraper"
SELECTORS = {"ServiceMonitor": "serviceMonitorSelector", "PodMonitor": "podMonitorSelector"}
GROUP = "monitoring.coreos.com"
FIX = "Let exactly one collector with an enabled target allocator and `prometheusCR` select the monitor"
ROLE_PATHS = (
    ("targetAllocator", "prometheusCR", "scraperRole"),
    ("targetAllocator", "scraperRole"),
    ("scraperRole",),
)


class MonitorSettings(RuleSettings):
    """Roles that scrapers can have."""

    scraper_roles: tuple[str, ...] = Setting(
        default=("cluster-scraper",), description="values of `scraperRole` that the operator knows"
    )


@dataclass(frozen=True)
class Scraper:
    """A collector that reads monitors.

    Attributes:
        found: the collector.
        role: its role, empty for the default one; None if it is not known.
        field: where the role is.
    """

    found: Collector
    role: str | None
    field: Field

    @property
    def works(self) -> Truth:
        """Whether it reads monitors at all."""
        return all_of([self.found.allocates, self.found.allocator.at("prometheusCR", "enabled").true])


def judge(manifest: Manifest, world: World, settings: MonitorSettings) -> Iterator[Finding]:
    """Judges the roles of CloudWatch's scrapers, and monitors."""
    if manifest.kind == CLOUD_WATCH and (found := collector(manifest)) is not None:
        yield from _role(_scraper(found), world, settings)
    # A scraper can still come as long as not all objects are known.
    if manifest.kind in SELECTORS and manifest.group == GROUP and not manifest.patch and world.complete:
        yield from _routed(manifest, _scrapers(CLOUD_WATCH, world))
        yield from _selected(manifest, _scrapers(OPEN_TELEMETRY, world))


def _scrapers(kind: str, world: World) -> list[Scraper]:
    found = [collector(manifest) for manifest in world.of_kind(kind)]
    return [_scraper(each) for each in found if each is not None]


def _scraper(found: Collector) -> Scraper:
    spec = found.manifest.root["spec"]
    fields = [spec.at(*path) for path in ROLE_PATHS]
    field = next((field for field in fields if not field.absent), fields[0])
    return Scraper(found, None if field.unknown else field.text or "", field)


def _role(scraper: Scraper, world: World, settings: MonitorSettings) -> Iterator[Finding]:
    manifest, field = scraper.found.manifest, scraper.field
    if field.unknown:
        yield undecided(manifest, field, "its scraper role is not known yet", f"{FIX}.")
    elif not field.absent and scraper.role not in settings.scraper_roles:
        what = (
            "an empty scraper role" if not scraper.role else "a scraper role that the operator does not know"
        )
        why = f"{what} routes no monitor to it; leaving it out makes it the default scraper"
        yield violation(
            manifest, field, why, f"Use one of {', '.join(settings.scraper_roles)}, or leave it out."
        )
    elif not field.absent and scraper.works is False:
        why = "it has a scraper role but no allocator that reads monitors"
        yield violation(manifest, field, why, "Enable `targetAllocator` and its `prometheusCR`.")
    if scraper.works and scraper.role is not None:
        yield from _twins(scraper, world)


def _twins(scraper: Scraper, world: World) -> Iterator[Finding]:
    """Two scrapers of one role read the same monitors, so every sample arrives twice."""
    manifest = scraper.found.manifest
    others = [o for o in _scrapers(CLOUD_WATCH, world) if o.works and o.role == scraper.role]
    labels = sorted(other.found.manifest.label() for other in others)
    if len(labels) > 1 and manifest.label() != labels[0] and not _has_selector(scraper):
        role = scraper.role or "default"
        why = f"{labels[0]} is the {role} scraper too, so both scrape every monitor that is routed there"
        yield violation(manifest, scraper.field, why, "Keep one, or give one of them another `scraperRole`.")


def _has_selector(scraper: Scraper) -> bool:
    prometheus = scraper.found.allocator["prometheusCR"]
    return any(not prometheus[name].empty for name in SELECTORS.values())


def _routed(manifest: Manifest, scrapers: Sequence[Scraper]) -> Iterator[Finding]:
    """CloudWatch: by annotation."""
    route = manifest.annotations[ROUTE]
    if route.unknown:
        yield undecided(manifest, route, "which scraper it is routed to is not known yet", f"{FIX}.")
        return
    role = route.text or ""
    if not any(scraper.works is not False for scraper in scrapers) and not (role and scrapers):
        if role:
            why = f"it is routed to {role}, and no collector is declared here"
            yield undecided(manifest, route, why, f"{FIX}.")
        return
    possible = [s for s in scrapers if s.works is not False and s.role in (role, None)]
    if not possible:
        what = f"the scraper {role}" if role else "the default scraper"
        why = f"it is routed to {what}, and no collector with an allocator has that role: nobody scrapes it"
        yield violation(manifest, route, why, f"{FIX}.")
    elif not any(s.works and s.role == role for s in possible):
        why = "whether its scraper exists depends on values that are not known yet"
        yield undecided(manifest, route, why, f"{FIX}.")


def _selected(manifest: Manifest, scrapers: Sequence[Scraper]) -> Iterator[Finding]:
    """OpenTelemetry: by label selectors of each allocator."""
    working = [scraper for scraper in scrapers if scraper.works is not False]
    truths = [(s, _selects(s, manifest)) for s in working]
    sure = sorted(s.found.manifest.label() for s, truth in truths if truth)
    if len(sure) > 1:
        why = f"{' and '.join(sure)} both scrape it, so every sample arrives twice"
        yield violation(manifest, manifest.root["metadata"], why, f"{FIX}.")
    elif working and not sure and all(truth is False for _, truth in truths):
        why = "no collector here selects it, and whether something else scrapes it cannot be seen"
        yield undecided(manifest, manifest.root["metadata"], why, f"{FIX}.")


def _selects(scraper: Scraper, manifest: Manifest) -> Truth:
    selector = scraper.found.allocator["prometheusCR"][SELECTORS[manifest.kind]]
    if selector.absent:
        return False
    allowed = scraper.found.allocator.at("prometheusCR", "allowNamespaces")
    denied = scraper.found.allocator.at("prometheusCR", "denyNamespaces")
    namespace = manifest.namespace.text or ""
    here = (allowed.empty or namespace in allowed.texts()) and namespace not in denied.texts()
    # Which namespaces a namespace selector picks depends on labels in the cluster.
    named = scraper.found.allocator["prometheusCR"][
        f"{SELECTORS[manifest.kind].removesuffix('Selector')}NamespaceSelector"
    ]
    return all_of(
        [scraper.works, here, None if not named.empty else True, selector_matches(selector, manifest.labels)]
    )


PAGE = f"""
## How it decides
CloudWatch: a `scraperRole` needs an enabled target allocator with `prometheusCR`; a missing role is the default
scraper's, an empty or unknown one a violation. A `ServiceMonitor` or `PodMonitor` goes to the scraper that its
annotation `{ROUTE}` names, without one to the default scraper; if there is none, nobody scrapes it. Two scrapers of one
role scrape everything twice.

OpenTelemetry: a monitor that two allocators select is a violation; one that none of them selects *cannot be decided*,
since something else may scrape it.

## What it does not see
Scrapers of other stacks, and which namespaces a namespace selector picks.

## Sources
aws/amazon-cloudwatch-agent-operator, target allocator `watcher/promOperator.go`; open-telemetry/opentelemetry-operator
`docs/target-allocator`.
"""

RULE = Rule(
    name="monitor-has-one-scraper",
    summary="Every ServiceMonitor and PodMonitor is scraped by exactly one collector.",
    level=Level.MANDATORY,
    severity=Severity.MEDIUM,
    remediation=f"{FIX}.",
    page=PAGE,
    settings=MonitorSettings,
    judge=judge,
    joins=True,
)
