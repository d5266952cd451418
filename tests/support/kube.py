"""The cluster that a test asks: the API server's own answers, as Python objects.

`kube.list("pods", "shop")`, `kube.get("nodes", "web-0")`, `kube.find(...)`, `kube.apply(manifest)` and
`kube.delete(...)` are the simulator's client; kubectl is there for what only kubectl says (`auth can-i`, warnings).
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from simulator.api import Api, Object
from simulator.waiting import wait_until

__all__ = ["Kube", "Object", "wait_until"]
SECONDS = 30


class Kube(Api):
    """An administrator's view of one cluster, with the questions that tests ask."""

    def __init__(self, kubeconfig: Path) -> None:
        super().__init__(kubeconfig)
        self.kubeconfig = kubeconfig

    def kubectl(self, *arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        """Runs kubectl on this cluster; the caller judges its exit status."""
        command = ["kubectl", f"--kubeconfig={self.kubeconfig}", *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)

    def as_user(self, user: str, groups: Sequence[str] = ()) -> Api:
        """The same cluster with someone else's rights, by impersonation."""
        return Api(self.kubeconfig, impersonate=user, groups=groups)

    def as_service_account(self, namespace: str, name: str) -> Api:
        """The same cluster with a service account's rights."""
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
        return self.as_user(f"system:serviceaccount:{namespace}:{name}", groups)

    def may(
        self, namespace: str, service_account: str, verb: str, resource: str, where: str | None = None
    ) -> bool:
        """What the authorizer says: may a service account do this in namespace `where`, or in all of them?

        Args:
            namespace: of the service account.
            service_account: its name; it need not exist.
            verb: `list`, `get`, ...
            resource: plural, with its group where it has one (`daemonsets.apps`), with `/log` for a subresource.
            where: a namespace; None asks for all namespaces at once.
        """
        plain, _, sub = resource.partition("/")
        plural, _, group = plain.partition(".")
        question = {
            "verb": verb,
            "group": group,
            "resource": plural,
            "subresource": sub,
            "namespace": where or "",
        }
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
        user = f"system:serviceaccount:{namespace}:{service_account}"
        review: Object = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "groups": groups, "resourceAttributes": question},
        }
        answer = self.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        return bool(answer["status"]["allowed"])

    def token(self, namespace: str, service_account: str) -> str:
        """A token of an existing service account, as its pods get one."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token"
        return str(self.request("POST", path, {"spec": {"expirationSeconds": 3600}})["status"]["token"])

    def events(self, namespace: str, reason: str | None = None) -> list[str]:
        """Messages of a namespace's events, all or those with one reason."""
        selector = {"fieldSelector": f"reason={reason}"} if reason else {}
        return [event["message"] for event in self.list("events", namespace, **selector)]

    def running(self, namespace: str | None = None, selector: str = "") -> list[Object]:
        """Pods that run and are ready."""
        return [pod for pod in self.list("pods", namespace, labelSelector=selector) if is_ready(pod)]

    def wait_for_pods(
        self, count: int, namespace: str, selector: str = "", seconds: float = SECONDS
    ) -> list[Object]:
        """Waits until exactly so many pods run and are ready, and returns them."""

        def found() -> list[Object] | bool:
            pods = self.running(namespace, selector)
            return (pods or True) if len(pods) == count else False

        answer = wait_until(
            found, seconds, lambda: f"not {count} ready pods but: {self.describe(namespace, selector)}"
        )
        return answer if isinstance(answer, list) else []

    def describe(self, namespace: str | None = None, selector: str = "") -> str:
        """Pods in a line each: name, node, phase, and why it does not run."""
        lines = [
            f"  {pod['metadata']['namespace']}/{pod['metadata']['name']} on {pod['spec'].get('nodeName', '-')}: "
            f"{pod['status']['phase']} {why_not(pod)}".rstrip()
            for pod in self.list("pods", namespace, labelSelector=selector)
        ]
        warnings = (
            [f"  event: {text}" for text in self.events(namespace, "FailedCreate")] if namespace else []
        )
        return "\n" + "\n".join([*lines, *dict.fromkeys(warnings)] or ["  no pods"])


def is_ready(pod: Object) -> bool:
    """Whether a pod runs and is ready."""
    conditions = pod["status"].get("conditions", [])
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready and pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]


def why_not(pod: Object) -> str:
    """The first message of a condition that does not hold."""
    conditions = pod["status"].get("conditions", [])
    return next((c["message"] for c in conditions if c["status"] == "False" and c.get("message")), "")
