"""What a change does to one environment, as data: the input of the comment, and the file `review.json`."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Data(BaseModel):
    """JSON with camelCase keys; keys that the comment does not show are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class Bounds(Data):
    """A number of nodes, and its bounds where it is autoscaled."""

    min: int
    max: int


class Group(Data):
    """One of `podBudget.groups`."""

    name: str
    nodes: Bounds
    slots: int
    left: int


class Demand(Data):
    """One of `podBudget.layer` or `podBudget.tenants`."""

    name: str
    pods: int


class Total(Data):
    """`podBudget.total`."""

    nodes: Bounds
    slots: int
    left: int
    need: int
    placed: int


class Agents(Data):
    """`podBudget.agents`."""

    pods: int
    share_percent: float


class OneMoreApp(Data):
    """`podBudget.oneMoreApp`."""

    room: int


class Binding(Data):
    """`podBudget.binding`."""

    groups: tuple[str, ...]
    need: int
    have: int


class Budget(Data):
    """The output `podBudget`, as docs/pod-budget.md describes it."""

    cluster: str
    fits: bool
    groups: tuple[Group, ...]
    layer: tuple[Demand, ...]
    tenants: tuple[Demand, ...]
    total: Total
    agents: Agents
    one_more_app: OneMoreApp
    binding: Binding | None = None


class Finding(Data):
    """One entry of `python -m policies.check --format json`."""

    rule: str
    verdict: str
    level: str
    kind: str
    namespace: str = ""
    name: str
    path: str = ""
    message: str

    @property
    def refuses(self) -> bool:
        """Whether a deployment is refused for it."""
        return self.verdict == "violation" and self.level == "mandatory"

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes it the same finding before and after."""
        return (self.rule, self.kind, self.namespace, self.name, self.path, self.message)


class Review(Data):
    """What a change does to one environment; None is what could not be told, and a problem says why.

    Attributes:
        environment: name of its stack file.
        before: the budget on the base; None too where the environment is new.
        after: the budget on the head; None too where the environment is gone.
        findings_before: of the policies, on the base's manifests.
        findings: of the policies, on the head's manifests.
        diff: between the two renders, as `git diff` writes it.
        problems: what failed on the head, in the words of what failed.
        notes: what failed on the base: nothing is refused for it, but there is nothing to compare with.
    """

    environment: str
    before: Budget | None = None
    after: Budget | None = None
    findings_before: tuple[Finding, ...] | None = None
    findings: tuple[Finding, ...] | None = None
    diff: str | None = None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether it could not be deployed as it is."""
        unfit = self.after is not None and not self.after.fits
        return bool(self.problems) or unfit or any(finding.refuses for finding in self.findings or ())


class Reviews(Data):
    """The file `review.json`.

    Attributes:
        base: commit that is compared with.
        head: commit of the change.
        environments: one review each.
    """

    base: str
    head: str
    environments: tuple[Review, ...] = Field(default=())

    @property
    def refused(self) -> bool:
        """Whether any environment could not be deployed as it is."""
        return any(review.refused for review in self.environments)


def new_findings(before: Sequence[Finding] | None, after: Sequence[Finding]) -> set[tuple[str, ...]]:
    """The identities of what the base does not have; empty where the base is not known."""
    known = {finding.identity for finding in before or ()}
    return set() if before is None else {finding.identity for finding in after} - known
