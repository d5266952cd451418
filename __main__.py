"""One environment: the layer of its cluster, and its tenants."""

import pulumi

from components import budget
from components.cluster import preflight
from components.cluster.target import Target
from components.context import Context
from components.layer import rollout
from components.layer.shared import SharedLayer
from components.objects import Owner
from components.outputs import exports
from components.settings.load import load_or_exit
from components.tenant.stack import TenantStack

settings = load_or_exit()
pod_budget = budget.show_or_exit(settings)
found = preflight.check_or_exit(settings)
rollout.say_where_to_look(settings)
target = Target("target", settings.cluster.target, identity=found.identity)
context = Context(settings, Owner(pulumi.get_stack()), target.renders, found.config_history)
options = pulumi.ResourceOptions(providers=[target.provider])

layer = SharedLayer("layer", context, opts=options)
tenants = {
    name: TenantStack(name, tenant, context=context, pod_security=found.pod_security, opts=options)
    for name, tenant in settings.tenants.items()
}

outputs = exports(
    settings, identity=found.identity, config_history=layer.config_history, pod_budget=pod_budget
)
for name, value in outputs.items():
    pulumi.export(name, value)
