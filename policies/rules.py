"""All rules, in the order in which they are documented."""

from policies import (
    agent_priority,
    collectors,
    duplicate_agents,
    memory_hpa,
    monitors,
    placement,
    pod_slots,
    requests_set,
    secrets_read,
    tenant_cluster_pod_list,
    tenant_daemonset,
    tenant_default_namespace,
    tenant_host_access,
    tenant_label_lookalike,
    tolerations,
)
from policies.rule import Rule

RULES: tuple[Rule, ...] = (
    placement.RULE,
    tolerations.DAEMON_SETS,
    tolerations.WORKLOADS,
    tenant_daemonset.RULE,
    tenant_cluster_pod_list.RULE,
    tenant_host_access.RULE,
    tenant_default_namespace.RULE,
    tenant_label_lookalike.RULE,
    pod_slots.RULE,
    duplicate_agents.RULE,
    memory_hpa.RULE,
    collectors.RULE,
    monitors.RULE,
    agent_priority.RULE,
    requests_set.RULE,
    secrets_read.RULE,
)
BY_NAME = {rule.name: rule for rule in RULES}
