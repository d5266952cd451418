"""One environment: the layer of its cluster, and its tenants."""

import gc

import pulumi

from components import budget
from components.cluster import account, preflight
from components.cluster.target import Target
from components.config_history import merged
from components.context import Context
from components.layer import isolation, log_volume, rollout
from components.layer.shared import SharedLayer
from components.objects import Owner
from components.outputs import exports
from components.settings.load import load_or_exit
from components.tenant.stack import TenantStack

gc.disable()  # what the program makes, it keeps until it ends; looking for garbage took a fifth of its CPU (ADR 0020)

settings = load_or_exit()
pod_budget = budget.show_or_exit(settings)
cloud = account.look_or_exit(settings)
found = preflight.check_or_exit(settings, cloud)
isolation.say(settings)
log_volume.say(settings)
rollout.say_where_to_look(settings)
target = Target("target", settings, identity=found.identity, cloud=cloud)
context = Context(
    settings,
    Owner(pulumi.get_stack()),
    target.renders,
    found.config_history,
    target.storage_class,
    target.account_annotations,
)
options = pulumi.ResourceOptions(providers=[target.provider])

layer = SharedLayer("layer", context, opts=options)
tenants = {
    name: TenantStack(
        name, context=context, pod_security=found.pod_security, gateway=layer.gateway, opts=options
    )
    for name in settings.tenants
}

histories = [layer.config_history, *(tenant.config_history for tenant in tenants.values())]
outputs = exports(
    settings,
    identity=target.identity,
    history=merged(histories),
    generations=found.token_generations,
    pod_budget=pod_budget,
)
for name, value in outputs.items():
    pulumi.export(name, value)
