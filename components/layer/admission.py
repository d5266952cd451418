"""Guards in the API server: the rules of the policy pack for whoever does not deploy by Pulumi. No pods, no webhook.

Each is a policy and its binding. Under `warn` nothing is ever refused, not even if a policy itself fails.

What a guard is told beside its text are namespaces: the layer's own, whose annotation lists the exemptions, or each
namespace with a tenant's label. Not ConfigMaps: once no binding reads them, the API server never looks at ConfigMaps
again for a policy until it is restarted (kubernetes/kubernetes#130887, seen on 1.35.4), so that the exemptions after
`destroy` and `up` would be those of before.
"""

import pulumi
from pulumi_kubernetes.admissionregistration import v1 as admission
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, LabelSelectorRequirementArgs

from components import names
from components.context import Context
from components.settings.admission import Admission
from policies.admission.guard import Guard, Resources, Selector, exemption_line
from policies.admission.guards import guards

NAMESPACES = admission.ParamKindArgs(api_version="v1", kind="Namespace")


def exemptions(settings: Admission | None) -> dict[str, str]:
    """The annotation of the layer's namespace that lists what the guards let pass; none if there is nothing."""
    lines = (
        [exemption_line(e.rule, e.namespace, e.name, e.reason) for e in settings.exemptions]
        if settings
        else []
    )
    return {names.EXEMPTIONS_ANNOTATION: "\n".join(lines)} if lines else {}


class AdmissionGuards(pulumi.ComponentResource):
    """All guards of an environment."""

    def __init__(
        self,
        name: str,
        context: Context,
        settings: Admission,
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("shared-observability:layer:AdmissionGuards", name, None, opts)
        self._context, self._settings = context, settings
        for guard in guards(settings.trusted_roles):
            self._declare_binding(guard, self._declare_policy(guard))
        self.register_outputs({})

    def _declare_policy(self, guard: Guard) -> admission.ValidatingAdmissionPolicy:
        action = self._settings.action
        return admission.ValidatingAdmissionPolicy(
            f"{guard.name}-policy",
            metadata=self._context.owner.metadata(guard.name),
            spec=admission.ValidatingAdmissionPolicySpecArgs(
                failure_policy="Fail" if action == "deny" else "Ignore",
                param_kind=NAMESPACES if guard.params else None,
                match_constraints=admission.MatchResourcesArgs(
                    match_policy="Equivalent",
                    namespace_selector=_selector(guard.namespaces) if guard.namespaces else None,
                    resource_rules=[_rule(resources) for resources in guard.resources],
                ),
                match_conditions=[
                    admission.MatchConditionArgs(name=name, expression=expression)
                    for name, expression in guard.conditions.items()
                ],
                variables=[
                    admission.VariableArgs(name=name, expression=expression)
                    for name, expression in guard.all_variables().items()
                ],
                validations=[
                    admission.ValidationArgs(
                        expression=expression, message_expression=message, reason="Forbidden"
                    )
                    for expression, message in guard.validations(action)
                ],
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _declare_binding(self, guard: Guard, policy: pulumi.Resource) -> None:
        act = "Deny" if self._settings.action == "deny" else "Warn"
        admission.ValidatingAdmissionPolicyBinding(
            f"{guard.name}-binding",
            metadata=self._context.owner.metadata(guard.name),
            spec=admission.ValidatingAdmissionPolicyBindingSpecArgs(
                policy_name=guard.name,
                param_ref=_params(guard),
                validation_actions=[act, "Audit"],
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[policy]),
        )


def _rule(resources: Resources) -> admission.NamedRuleWithOperationsArgs:
    return admission.NamedRuleWithOperationsArgs(
        api_groups=list(resources.groups),
        api_versions=["*"],
        resources=list(resources.resources),
        operations=list(resources.operations),
        scope=resources.scope,
    )


def _selector(selectors: tuple[Selector, ...]) -> LabelSelectorArgs:
    return LabelSelectorArgs(
        match_expressions=[
            LabelSelectorRequirementArgs(
                key=each.key, operator=each.operator, values=list(each.values) or None
            )
            for each in selectors
        ]
    )


def _params(guard: Guard) -> admission.ParamRefArgs | None:
    """The exemptions, or every namespace with a tenant's label, for each of which the guard judges once."""
    if guard.params == "exemptions":
        return admission.ParamRefArgs(name=names.LAYER_NAMESPACE, parameter_not_found_action="Allow")
    if guard.params == "tenants":
        labelled = LabelSelectorRequirementArgs(key=names.TENANT_LABEL, operator="Exists")
        return admission.ParamRefArgs(
            selector=LabelSelectorArgs(match_expressions=[labelled]), parameter_not_found_action="Allow"
        )
    return None
