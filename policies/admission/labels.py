"""The guard of the labels that make a namespace a tenant's: whoever sets them chooses whose data it is.

Who may is asked of the authorizer, so that nobody is listed here and any RBAC rule can say it: the verb `label` on
`tenants` of the API group `shared-observability`, which no API serves. Administrators hold it by `*`.
"""

import json

from components.names import (
    LABEL_RIGHT_GROUP,
    LABEL_RIGHT_RESOURCE,
    LABEL_RIGHT_VERB,
    POD_SECURITY_LABEL,
    PREFIX,
    TENANT_LABEL,
    TENANT_LABELS_GUARD,
)
from policies import tenant_host_access
from policies.admission.guard import NOT_THE_API_SERVER, Check, Defect, Guard, Resources

RULE = "tenant-labels"
# Prometheus writes labels with `_` for each character that a metric label must not have, so a look-alike key, such as
# `shared.observability/tenant`, reads there like ours.
PATTERN = "^" + "".join(c if c.isalnum() else "[-._/]" for c in f"{PREFIX}/")
WHY = (
    "labels by which a namespace belongs to a tenant, or that read like them, are set or changed by somebody without "
    "the right to do so"
)
OPENED = f"it gives {{tenant}} {tenant_host_access.OPEN_NAMESPACE}"
FIX = (
    "Leave them to the program's settings. Whoever deploys it needs the right: "
    f"apiGroups [{LABEL_RIGHT_GROUP}], resources [{LABEL_RIGHT_RESOURCE}], verbs [{LABEL_RIGHT_VERB}] "
    "(docs/deployer.yaml)"
)
# Both subresources write labels too: of an update of the status the API server keeps the old spec, of `finalize` the
# old status, and of neither the old labels (kubernetes/kubernetes `pkg/registry/core/namespace/strategy.go`).
NAMESPACES = ("namespaces", "namespaces/status", "namespaces/finalize")
_MAY = (
    f"authorizer.group({json.dumps(LABEL_RIGHT_GROUP)}).resource({json.dumps(LABEL_RIGHT_RESOURCE)})"
    f".check({json.dumps(LABEL_RIGHT_VERB)}).allowed()"
)
_OPENED = f'variables.labels[?{json.dumps(POD_SECURITY_LABEL)}].orValue("") == "privileged"'
_WAS_OPEN = f'variables.before[?{json.dumps(POD_SECURITY_LABEL)}].orValue("") == "privileged"'


def of_namespaces() -> Guard:
    """The guard: of every namespace, the cluster's own too, whose logs would be read by whoever it is given to."""
    ours = f"k.matches({json.dumps(PATTERN)})"
    return Guard(
        name=TENANT_LABELS_GUARD,
        resources=(Resources(("",), NAMESPACES, "Cluster"),),
        conditions={"not-the-api-server": NOT_THE_API_SERVER},
        variables={
            "labels": "object.metadata.?labels.orValue({})",
            "before": "oldObject == null ? {} : oldObject.metadata.?labels.orValue({})",
            "set": f"variables.labels.filter(k, {ours} && variables.labels[k] != variables.before[?k].orValue(null))",
            "removed": f"variables.before.filter(k, {ours} && !(k in variables.labels))",
            "touched": "variables.set + variables.removed",
            "tenant": f'variables.labels[?{json.dumps(TENANT_LABEL)}].orValue("")',
        },
        checks=(
            Check(RULE, (Defect("variables.touched.size() > 0", WHY),), FIX, unless=_MAY),
            Check(
                tenant_host_access.RULE.name,
                (Defect(f'variables.tenant != "" && {_OPENED} && !({_WAS_OPEN})', OPENED),),
                tenant_host_access.FIX,
            ),
        ),
    )
