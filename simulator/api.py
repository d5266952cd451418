"""A small client of a Kubernetes API server: JSON over one kept-alive connection per thread.

About 2 ms a request where kubectl takes 60 ms: tests ask often.
"""

import base64
import contextlib
import http.client
import json
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import yaml

from simulator.tools import SimulatorError

Object = dict[str, Any]
MANAGER = "simulator"
HTTPS = 443
NOT_FOUND = 404
EMPTY_SECONDS = 15
ERRORS = 400  # and above
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class ApiError(SimulatorError):
    """The API server's refusal, in its own words."""

    def __init__(self, status: int, message: str, reason: str = "") -> None:
        super().__init__(f"{status} {reason}: {message}".strip())
        self.status, self.message, self.reason = status, message, reason


class UnreachableError(SimulatorError):
    """Nothing answers at the API server's address."""


class Api:
    """Objects of one cluster, named as for kubectl: `pods`, `leases.coordination.k8s.io`."""

    def __init__(
        self, kubeconfig: Path, *, impersonate: str = "", groups: Sequence[str] = (), timeout: float = 30
    ) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._address = urlsplit(cluster["server"])
        self._headers = [("Authorization", f"Bearer {user['token']}")]
        if impersonate:
            self._headers += [("Impersonate-User", impersonate), *(("Impersonate-Group", g) for g in groups)]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._tls = ssl.create_default_context(cadata=authority)
        self._timeout = timeout
        self._local = threading.local()
        self._kinds: dict[str, tuple[str, str, bool]] = {}
        self._collections: list[tuple[str, str]] = []

    @property
    def port(self) -> int:
        """The API server's port."""
        return self._address.port or HTTPS

    # --- objects ---

    def list(self, resource: str, namespace: str | None = None, **query: str) -> list[Object]:
        """Objects of one kind, in one namespace or in all; narrowed by `labelSelector`, `fieldSelector`."""
        return list(self.request("GET", self._path(resource, namespace), query=query)["items"])

    def get(self, resource: str, name: str, namespace: str | None = None) -> Object:
        """One object; ApiError 404 when there is none."""
        return self.request("GET", self._path(resource, namespace, name))

    def find(self, resource: str, name: str, namespace: str | None = None) -> Object | None:
        """One object, or None."""
        try:
            return self.get(resource, name, namespace)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    def create(self, manifest: Object, *, dry_run: bool = False) -> Object:
        """Creates an object; ApiError 409 when it exists."""
        path = self._path_of(manifest, with_name=False)
        return self.request("POST", path, manifest, query={"dryRun": "All"} if dry_run else {})

    def apply(self, *manifests: Object, dry_run: bool = False) -> None:
        """Server-side apply, forced, as field manager `simulator`; unknown fields are refused."""
        query = {"fieldManager": MANAGER, "force": "true", "fieldValidation": "Strict"}
        if dry_run:
            query["dryRun"] = "All"
        for manifest in manifests:
            path = self._path_of(manifest, with_name=True)
            self.request("PATCH", path, manifest, query=query, content="application/apply-patch+yaml")

    def patch(
        self,
        resource: str,
        name: str,
        change: Object,
        namespace: str | None = None,
        *,
        sub: str = "",
        strategic: bool = False,
    ) -> Object:
        """Merge patch of an object or of its subresource `sub`: None removes a key, lists are replaced.

        `strategic` merges lists by their key, as a container's by its name.
        """
        path = self._path(resource, namespace, name) + (f"/{sub}" if sub else "")
        kind = "strategic-merge-patch" if strategic else "merge-patch"
        return self.request("PATCH", path, change, content=f"application/{kind}+json")

    def delete(self, resource: str, name: str, namespace: str | None = None, *, now: bool = False) -> None:
        """Deletes an object and waits for nothing, `now` without a pod's grace; no error when there is none."""
        query = {"propagationPolicy": "Background", **({"gracePeriodSeconds": "0"} if now else {})}
        try:
            self.request("DELETE", self._path(resource, namespace, name), query=query)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise

    def remove_namespace(self, name: str) -> None:
        """Deletes a namespace with everything in it at once; no error when there is none.

        The namespace controller would first wait 5 s, for API servers that do not know of the deletion yet. What still
        is there after EMPTY_SECONDS is left to it.
        """
        self.delete("namespaces", name)
        self._kinds = self._discover()
        deadline = time.monotonic() + EMPTY_SECONDS
        while (found := self.find("namespaces", name)) and not self._empty(name):
            if time.monotonic() > deadline:
                return
            time.sleep(0.05)
        if found:
            found["spec"]["finalizers"] = []
            with contextlib.suppress(ApiError):  # the controller was quicker
                self.request("PUT", f"/api/v1/namespaces/{name}/finalize", found)

    def _empty(self, namespace: str) -> bool:
        """Deletes what a namespace holds; whether there was nothing."""
        empty = True
        for root, plural in self._collections:
            path = f"{root}/namespaces/{namespace}/{plural}"
            if self.request("GET", path, query={"limit": "1"})["items"]:
                empty = False
                self.request(
                    "DELETE", path, query={"gracePeriodSeconds": "0", "propagationPolicy": "Background"}
                )
        return empty

    # --- requests ---

    def request(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        *,
        query: Mapping[str, str] | None = None,
        content: str = "application/json",
        accept: str = "application/json",
    ) -> Object:
        """One request for JSON; ApiError for an answer of 400 and above, UnreachableError when there is none."""
        status, text = self.raw(method, path, body, query=query, content=content, accept=accept)
        answer = json.loads(text) if text.lstrip().startswith("{") else {"message": text}
        if status >= ERRORS:
            raise ApiError(status, answer.get("message", text), answer.get("reason", ""))
        return dict(answer)

    def raw(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        *,
        query: Mapping[str, str] | None = None,
        content: str = "application/json",
        accept: str = "application/json",
    ) -> tuple[int, str]:
        """Status and text of one request. A connection that died while it was idle is opened again, once."""
        target = path + (f"?{urlencode(query)}" if query else "")
        headers = [*self._headers, ("Content-Type", content), ("Accept", accept)]
        data = None if body is None else json.dumps(body).encode()
        for fresh in (False, True):
            kept = getattr(self._local, "connection", None)
            connection = self._connect() if fresh or kept is None else kept
            try:
                answer = _send(connection, method, target, headers, data)
                return answer.status, answer.read().decode()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self._local.connection = None
                if fresh or kept is None:
                    raise UnreachableError(f"{method} {self._address.geturl()}{path}: {error}") from error
        raise AssertionError("unreachable")

    def _connect(self) -> http.client.HTTPSConnection:
        host, port = self._address.hostname or "", self._address.port
        connection = http.client.HTTPSConnection(host, port, context=self._tls, timeout=self._timeout)
        self._local.connection = connection
        return connection

    # --- kinds ---

    def _path_of(self, manifest: Object, *, with_name: bool) -> str:
        metadata = manifest["metadata"]
        resource = self._resource(f"{manifest['apiVersion']}/{manifest['kind']}")
        return self._build(*resource, metadata.get("namespace"), metadata["name"] if with_name else None)

    def _path(self, resource: str, namespace: str | None, name: str | None = None) -> str:
        return self._build(*self._resource(resource), namespace, name)

    @staticmethod
    def _build(root: str, plural: str, namespaced: bool, namespace: str | None, name: str | None) -> str:
        if namespace and not namespaced:
            raise ValueError(f"{plural} have no namespace")
        if namespaced and name and not namespace:
            raise ValueError(f"{plural} {name}: its namespace is missing")
        scope = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{scope}/{plural}" + (f"/{quote(name, safe='')}" if name else "")

    def _resource(self, key: str) -> tuple[str, str, bool]:
        """Where a kind lives: asked from the server, and again when it is new (a CRD)."""
        if key not in self._kinds:
            self._kinds = self._discover()
        try:
            return self._kinds[key]
        except KeyError:
            raise ApiError(404, f"the server knows no resource {key}", "UnknownResource") from None

    def _discover(self) -> dict[str, tuple[str, str, bool]]:
        """Every resource by plural, plural.group and apiVersion/kind; the core and preferred versions win."""
        found: dict[str, tuple[str, str, bool]] = {}
        self._collections = []
        for root in ("/api", "/apis"):
            for group in self.request("GET", root, accept=_DISCOVERY)["items"]:
                name = group.get("metadata", {}).get("name", "")
                for version in group["versions"]:
                    api = f"{name}/{version['version']}" if name else version["version"]
                    for item in version["resources"]:
                        kind, plural = item.get("responseKind", {}).get("kind", ""), item["resource"]
                        place = (f"{root}/{api}", plural, item["scope"] == "Namespaced")
                        for key in (plural, f"{plural}.{name}", f"{api}/{kind}"):
                            found.setdefault(key, place)
                        if (
                            place[2]
                            and "deletecollection" in item["verbs"]
                            and found[f"{plural}.{name}"] == place
                        ):
                            self._collections.append((place[0], plural))
        return found


def _send(
    connection: http.client.HTTPSConnection,
    method: str,
    target: str,
    headers: Sequence[tuple[str, str]],
    body: bytes | None,
) -> http.client.HTTPResponse:
    """One request by its parts, since `request()` takes each header once, and Impersonate-Group may come twice."""
    connection.putrequest(method, target)
    for name, value in headers:
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body or b"")))
    connection.endheaders(body)
    return connection.getresponse()
