"""The example of a comment in docs/workflow.md: an app is added to `dev`. The finding and the diff are made up."""

from commands.environments import ROOT
from commands.pull_request.comment import comment
from commands.pull_request.review import Budget, Finding, Review, Reviews
from components.budget import pod_budget
from components.cluster.pod_budget_output import as_output
from components.settings.model import Settings
from components.settings.stack_file import read_settings

DOC = ROOT / "docs" / "workflow.md"
ADDED_PODS = 40
RULE = "memory-hpa"
DIFF = """\
diff --git head/dev/2-v1-resourcequota-quagga-shared-observability-pods.yaml
new file mode 100644
--- /dev/null
+++ head/dev/2-v1-resourcequota-quagga-shared-observability-pods.yaml
@@ -0,0 +1,9 @@
+apiVersion: v1
+kind: ResourceQuota
+metadata:
+  name: shared-observability-pods
+  namespace: quagga
+spec:
+  hard:
+    count/daemonsets.apps: "0"
+    pods: "40"
"""


def example() -> str:
    """The comment, from the budget of Pulumi.dev.yaml with one tenant more."""
    settings = read_settings(ROOT / "Pulumi.dev.yaml", "shared-observability", "dev")
    added = settings.tenants["shop"].model_copy(update={"pods": ADDED_PODS})
    after = settings.model_copy(update={"tenants": {**settings.tenants, "quagga": added}})
    finding = Finding(
        rule=RULE,
        verdict="undecided",
        level="advisory",
        kind="HorizontalPodAutoscaler",
        namespace="quagga",
        name="api",
        message="HorizontalPodAutoscaler quagga/api: the workload api that it scales is not in these files",
    )
    review = Review(
        environment="dev",
        before=_budget(settings),
        after=_budget(after),
        findings_before=(),
        findings=(finding,),
        diff=DIFF,
    )
    return comment(Reviews(base="2f6a10c9d3b4", head="8e51b7aa0c42", environments=(review,)))


def filled(text: str) -> str:
    """The page with the example as it should be."""
    before, marker, rest = text.partition("<!-- generated: comment -->\n")
    _, end, after = rest.partition("<!-- end -->")
    return f"{before}{marker}\n{example()}\n{end}{after}"


def _budget(settings: Settings) -> Budget:
    return Budget.model_validate(as_output(pod_budget(settings)))
