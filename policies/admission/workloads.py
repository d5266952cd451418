"""Guards of workloads: everything of a tenant that makes pods, and DaemonSets anywhere else.

What built-in controllers make is not judged: it comes from an object that was, or that was there before the guard, and
refusing its pods would be an outage at the next restart of one. An update is judged by a rule only if it changes what
the rule reads, so a workload that was there before goes on being scaled, labelled and collected.
"""

import json
from collections.abc import Sequence

from components.names import (
    AGENTS_PRIORITY,
    AGENTS_PRIORITY_CLASS,
    AGENTS_PRIORITY_CLASS_WAITING,
    DAEMONSETS_GUARD,
    EXEMPTIONS_ANNOTATION,
    TENANT_LABEL,
    TENANT_WORKLOADS_GUARD,
)
from policies import agent_priority, placement, tenant_daemonset, tenant_host_access, tolerations
from policies.admission.guard import (
    NO_TENANTS,
    NOT_SPARED,
    NOT_THE_API_SERVER,
    TENANTS,
    Check,
    Defect,
    Guard,
    Resources,
    one_of,
)
from policies.pods import AGENT_KINDS, CRON_KINDS, DAEMON_SET, TEMPLATE_KINDS, AgentKind

PRIORITY_RULE = "tenant-priority"
CONTROLLERS = (
    "cronjob-controller",
    "daemon-set-controller",
    "deployment-controller",
    "job-controller",
    "replicaset-controller",
    "replication-controller",
    "statefulset-controller",
)
# Without credentials of their own for each controller all of them are the controller manager.
CONTROLLER_USERS = (
    "system:kube-controller-manager",
    *(f"system:serviceaccount:kube-system:{c}" for c in CONTROLLERS),
)
NODES_GROUP = "system:nodes"  # kubelets show static pods by pods of the API; refused, they would run unseen
CONDITIONS = {
    "not-the-api-server": NOT_THE_API_SERVER,
    "not-a-controller-of-the-cluster": f"!(request.userInfo.username in {one_of(CONTROLLER_USERS)})",
    "not-a-kubelet": f"!({json.dumps(NODES_GROUP)} in request.userInfo.?groups.orValue([]))",
}
PRIORITY_FIX = "Use one of the classes that the tenant's setting `priorityClasses` allows, or none"


def _plurals(kinds: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(f"{kind.lower()}s" for kind in kinds))


# In any API group, as in the pack: OpenKruise's and Argo's kinds have the shapes of the built-in ones.
WORKLOADS = Resources(("*",), _plurals([*TEMPLATE_KINDS, *CRON_KINDS]), "Namespaced")
PODS = Resources(("",), ("podtemplates", "pods", "pods/ephemeralcontainers"), "Namespaced")
# All kinds of the groups, since a policy may name what no cluster has, but the plural of a kind is its operator's.
AGENTS = Resources(tuple(sorted({kind.group for kind in AGENT_KINDS})), ("*",), "Namespaced")
DAEMON_SETS = Resources(("*",), _plurals([DAEMON_SET]), "Namespaced")


def pod_of(of: str) -> str:
    """CEL for the pod's fields of `object` or `oldObject`, an empty map if it holds none."""
    cron = f"{of}.?spec.?jobTemplate.?spec.?template.?spec"
    of_kruise = f"{of}.?spec.?template.?jobTemplate.?spec.?template.?spec"
    return (
        f'({of} == null ? {{}} : variables.kind == "Pod" ? {of}.?spec.orValue({{}})'
        f' : variables.kind == "PodTemplate" ? {of}.?template.?spec.orValue({{}})'
        f" : variables.kind in {one_of(sorted(CRON_KINDS))} ? {cron}.or({of_kruise}).orValue({{}})"
        f" : variables.kind in {one_of(sorted(TEMPLATE_KINDS))} ? {of}.?spec.?template.?spec.orValue({{}}) : {{}})"
    )


def _list(field: str) -> str:
    """A list that may be absent or null: the API server writes out some empty ones as null."""
    return f"({field}.orValue(null) == null ? [] : {field}.value())"


VARIABLES = {
    "kind": "request.kind.kind",
    "exempt": f'params.metadata.?annotations[?{json.dumps(EXEMPTIONS_ANNOTATION)}].orValue("").split("\\n")',
    "name": 'object.metadata.?name.orValue(object.metadata.?generateName.orValue(""))',
    "place": 'request.namespace + "/" + variables.name + " "',
    "pod": pod_of("object"),
    "before": pod_of("oldObject"),
}
OF_TENANTS = {
    "tenant": f"namespaceObject.metadata.labels[{json.dumps(TENANT_LABEL)}]",
    "containers": " + ".join(
        _list(f"variables.pod.?{kind}") for kind in ("initContainers", "containers", "ephemeralContainers")
    ),
}
IS_DAEMON_SET = f"variables.kind == {json.dumps(DAEMON_SET)}"
CREATED = 'request.operation == "CREATE"'


def _changes(*fields: str) -> str:
    """Whether the request changes one of these fields of the pod."""
    return " || ".join(
        [CREATED, *(f"variables.pod.?{field} != variables.before.?{field}" for field in fields)]
    )


# --- tolerations ---------------------------------------------------------------------------------------------------


def _unbounded(effect: str, unless: str) -> str:
    keyless = 't.?key.orValue("") == "" && t.?operator.orValue("") == "Exists"'
    of_effect = f't.?effect.orValue("") == {json.dumps(effect)}'
    if unless and effect == "NoExecute":
        of_effect += f" && !({unless})"
    return f"variables.pod.?tolerations.orValue([]).exists(t, {keyless} && {of_effect})"


_SOON_OVER = f"t.?tolerationSeconds.orValue(null) != null && t.tolerationSeconds <= {tolerations.SECONDS}"


def _tolerations(rule: str, when: str, unless: str = "") -> Check:
    defects = tuple(
        Defect(_unbounded(effect, unless), tolerations.why(effect))
        for effect in ("", "NoSchedule", "PreferNoSchedule", "NoExecute")
    )
    return Check(rule, defects, tolerations.FIX, f"({when}) && ({_changes('tolerations')})")


# --- placement -----------------------------------------------------------------------------------------------------

_UNIVERSAL, _EVERYWHERE = one_of(placement.UNIVERSAL), one_of(placement.PRESENT_EVERYWHERE)
_NAMES = f"e.key in {_UNIVERSAL}"
_EXPRESSION = (
    f'(e.operator == "In" && !({_NAMES}))'
    f' || (e.operator in ["Exists", "Gt", "Lt"] && !({_NAMES}) && !(e.key in {_EVERYWHERE}))'
)
_FIELD = 'e.operator == "In"'
_EXPRESSIONS, _FIELDS = (_list(f"t.?{part}") for part in ("matchExpressions", "matchFields"))
_TERMS = "variables.terms.size() > 0 && variables.terms.all(t, {})".format(
    f"{_EXPRESSIONS}.size() + {_FIELDS}.size() == 0"
    f" || {_EXPRESSIONS}.exists(e, {_EXPRESSION}) || {_FIELDS}.exists(e, {_FIELD})"
)
OF_DAEMON_SETS = {
    "terms": _list(
        "variables.pod.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms"
    ),
    "placed": f"variables.pod.?nodeSelector.orValue({{}}).exists(k, !(k in {_UNIVERSAL})) || ({_TERMS})",
}
_PINNED = 'variables.pod.?nodeName.orValue("") != ""'
PLACEMENT = Check(
    placement.RULE.name,
    (Defect(_PINNED, placement.PINNED), Defect(f"!({_PINNED}) && !variables.placed", placement.EVERYWHERE)),
    placement.FIX,
    f"{IS_DAEMON_SET} && ({_changes('nodeSelector', 'affinity', 'nodeName')})",
)

# --- DaemonSets of tenants -----------------------------------------------------------------------------------------


def _per_node(kind: AgentKind, of: str) -> str:
    """CEL: whether an agent's custom resource becomes one pod per node."""
    if not kind.mode:
        return f"({of} != null)"
    mode = f"{of}.?{'.?'.join(kind.mode)}"
    if kind.per_node == "*":
        return f"({of} != null && {mode}.orValue(null) != null)"
    value = f'{mode}.orValue("")'
    stated = f'({value} == "" ? {json.dumps(kind.default)} : {value}.lowerAscii())'
    return f"({of} != null && {stated} == {json.dumps(kind.per_node)})"


def _agent(kind: AgentKind) -> str:
    ours = f"request.kind.group == {json.dumps(kind.group)} && variables.kind == {json.dumps(kind.kind)}"
    return f"({ours} && {_per_node(kind, 'object')} && !{_per_node(kind, 'oldObject')})"


TENANT_DAEMON_SET = Check(
    tenant_daemonset.RULE.name,
    (
        Defect(
            f"({IS_DAEMON_SET} && {CREATED}) || {' || '.join(_agent(kind) for kind in AGENT_KINDS)}",
            tenant_daemonset.ONE_POD_PER_NODE.format(whose="{tenant}"),
        ),
    ),
    tenant_daemonset.FIX,
)

# --- host access ---------------------------------------------------------------------------------------------------


def _any_container(test: str) -> str:
    return f"variables.containers.exists(c, {test})"


def _host_access() -> tuple[Defect, ...]:
    allowed = one_of(tenant_host_access.BASELINE_CAPABILITIES)
    windows = "?securityContext.?windowsOptions.?hostProcess.orValue(false)"
    plain = 'x.startsWith("CAP_") ? x.substring(4) : x'
    found = {
        **{
            f"variables.pod.?{flag}.orValue(false)": what
            for flag, what in tenant_host_access.HOST_FLAGS.items()
        },
        "variables.pod.?volumes.orValue([]).exists(v, has(v.hostPath))": tenant_host_access.FILES,
        f"variables.pod.{windows} || {_any_container(f'c.{windows}')}": tenant_host_access.WINDOWS,
        _any_container("c.?securityContext.?privileged.orValue(false)"): tenant_host_access.WHOLE_NODE,
        _any_container(
            f"c.?securityContext.?capabilities.?add.orValue([]).exists(x, !(({plain}) in {allowed}))"
        ): tenant_host_access.RIGHTS,
        _any_container('c.?securityContext.?procMount.orValue("") == "Unmasked"'): tenant_host_access.KERNEL,
        _any_container(
            "c.?ports.orValue([]).exists(p, p.?hostPort.orValue(0) != 0)"
        ): tenant_host_access.PORT,
    }
    return tuple(Defect(test, f"it gives {{tenant}} {what}") for test, what in found.items())


HOST_ACCESS = Check(
    tenant_host_access.RULE.name,
    _host_access(),
    tenant_host_access.FIX,
    f"{CREATED} || variables.pod != variables.before",
)

# --- priority ------------------------------------------------------------------------------------------------------

AT_LEAST_THE_AGENTS = (AGENTS_PRIORITY_CLASS, AGENTS_PRIORITY_CLASS_WAITING, *agent_priority.RESERVED)
# A pod's number is there already: the API server resolves the class before it asks its guards.
PRIORITY = Check(
    PRIORITY_RULE,
    (
        Defect(
            f'variables.pod.?priorityClassName.orValue("") in {one_of(AT_LEAST_THE_AGENTS)}'
            f" || variables.pod.?priority.orValue(0) >= {AGENTS_PRIORITY}",
            "it gives {tenant} a priority not below that of the node agents, which its pods would displace",
        ),
    ),
    PRIORITY_FIX,
    _changes("priorityClassName", "priority"),
)


def of_tenants() -> Guard:
    """Everything that makes pods in a tenant's namespace."""
    daemon_sets = _tolerations(tolerations.DAEMON_SETS.name, IS_DAEMON_SET)
    others = _tolerations(tolerations.WORKLOADS.name, f"!({IS_DAEMON_SET})", _SOON_OVER)
    return Guard(
        name=TENANT_WORKLOADS_GUARD,
        resources=(WORKLOADS, PODS, AGENTS),
        namespaces=(TENANTS, NOT_SPARED),
        conditions=CONDITIONS,
        variables={**VARIABLES, **OF_TENANTS, **OF_DAEMON_SETS},
        checks=(TENANT_DAEMON_SET, PLACEMENT, daemon_sets, others, HOST_ACCESS, PRIORITY),
        params="exemptions",
    )


def of_others() -> Guard:
    """DaemonSets in namespaces that are nobody's."""
    return Guard(
        name=DAEMONSETS_GUARD,
        resources=(DAEMON_SETS,),
        namespaces=(NO_TENANTS, NOT_SPARED),
        conditions=CONDITIONS,
        variables={**VARIABLES, **OF_DAEMON_SETS},
        checks=(PLACEMENT, _tolerations(tolerations.DAEMON_SETS.name, "true")),
        params="exemptions",
    )
