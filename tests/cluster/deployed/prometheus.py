"""The deployed Prometheus, run for real: its own arguments, configuration and rights, in a network of its own.

Nothing of its configuration is changed but the API server's address and the paths of credentials.
"""

import base64
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import yaml

from components import names
from components.layer.config import relabel
from simulator.control_plane import ControlPlane
from simulator.tools import TOOLS
from tests.support.kube import Kube, Object, wait_until
from tests.support.netns import IsolatedProcess

LAYER = names.LAYER_NAMESPACE
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
PATHS = ("credentials_file", "password_file", "ca_file")
ADDED = ("api_server", "authorization", "tls_config")
# Prometheus looks for new targets every 5 s, and takes them over every 5 s.
SECONDS = 40
AGENT_JOB = "agent-rules"
PASSWORD_FILE, CREDENTIAL = "password", "layer"


@dataclass(frozen=True)
class Files:
    """What the pod has mounted, as folders of this machine.

    Attributes:
        moved: local folder by folder in the pod.
        config: the text of the deployed configuration.
        arguments: the container's own.
        password: of the layer.
    """

    moved: dict[str, Path]
    config: str
    arguments: list[str]
    password: str

    def local(self, text: str) -> str:
        """A path, or an option with one, that leads to the local folder."""
        return re.sub(
            rf"(^|=)({'|'.join(self.moved)})(?=/|$)", lambda found: found[1] + str(self.moved[found[2]]), text
        )


def mounted(kube: Kube, control_plane: ControlPlane, folder: Path) -> Files:
    """Writes down what the deployed pod has mounted, its account's token among it."""
    spec = kube.get("deployments", names.PROMETHEUS, LAYER)["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    folders = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    config = kube.get("configmaps", volumes["config"]["configMap"]["name"], LAYER)["data"]
    secret = kube.get("secrets", volumes["credential"]["secret"]["secretName"], LAYER)["data"]
    credential = {file: base64.b64decode(value).decode() for file, value in secret.items()}
    account = {
        "token": kube.token(LAYER, spec["serviceAccountName"]),
        "ca.crt": control_plane.authority.read_text(),
    }
    moved = {folders["data"]: folder / "data", ACCOUNT: folder / "account"}
    moved |= {folders[name]: folder / name for name in ("config", "credential")}
    (folder / "data").mkdir()
    for name, files in {"config": config, "credential": credential, "account": account}.items():
        (folder / name).mkdir()
        for file, text in files.items():
            (folder / name / file).write_text(text)
    (text,) = config.values()
    return Files(moved, text, container["args"], credential[PASSWORD_FILE])


def with_api_server(files: Files, port: int) -> Object:
    """The deployed configuration for this machine."""
    config: Object = yaml.safe_load(files.config)
    for job in config["scrape_configs"]:
        for discovery in job.get("kubernetes_sd_configs", []):
            discovery["api_server"] = f"https://127.0.0.1:{port}"
            discovery["authorization"] = {"credentials_file": f"{ACCOUNT}/token"}
            discovery["tls_config"] = {"ca_file": f"{ACCOUNT}/ca.crt"}
    return dict(_with_paths(config, files))


def _with_paths(value: Any, files: Files) -> Any:
    if isinstance(value, dict):
        return {
            key: files.local(item) if key in PATHS else _with_paths(item, files)
            for key, item in value.items()
        }
    return [_with_paths(item, files) for item in value] if isinstance(value, list) else value


def differences(old: Any, new: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Paths of all values that are not the same in two configurations."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from differences(old.get(key), new.get(key), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, (*path, i))
    elif old != new:
        yield path


def agent_job(discovery: Object) -> Object:
    """The node agents' rules as a job of Prometheus, which shows what an agent would read; the path too."""
    rules = (*relabel.agent_rules(), relabel.copy("__path__", "path"))
    found = {**discovery, "role": "pod", "attach_metadata": {"namespace": True}}
    return {
        "job_name": AGENT_JOB,
        "kubernetes_sd_configs": [found],
        "relabel_configs": relabel.to_prometheus(rules),
    }


@dataclass(frozen=True)
class Server:
    """A running Prometheus."""

    process: IsolatedProcess
    files: Files
    given: Object = field(repr=False)

    def get(self, path: str, *, password: str | None = None) -> Object:
        """The data of an answer to the layer, or to somebody with another password."""
        pair = f"{CREDENTIAL}:{self.files.password if password is None else password}"
        header = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        port = self.process.outside(names.PROMETHEUS_PORT)
        with urlopen(Request(f"http://127.0.0.1:{port}{path}", headers=header), timeout=10) as answer:
            return dict(json.load(answer)["data"])

    def targets(self) -> list[Object]:
        """All active targets."""
        return list(self.get("/api/v1/targets?state=active")["activeTargets"])

    def status(self, path: str, password: str) -> int:
        """The status that somebody with this password gets."""
        try:
            self.get(path, password=password)
        except HTTPError as error:
            return error.code
        return 200

    def wait_for(self, wanted: Mapping[str, Counter[str]]) -> None:
        """Waits until each job has exactly these targets, in the form of `named`."""

        def wrong() -> str:
            found = named(self.targets())
            jobs = {*wanted, *found} - {AGENT_JOB}
            return "\n".join(
                f"{job}: missing {+(wanted.get(job, Counter()) - found.get(job, Counter()))}, "
                f"more than wanted {+(found.get(job, Counter()) - wanted.get(job, Counter()))}"
                for job in sorted(jobs)
                if found.get(job) != wanted.get(job)
            )

        wait_until(lambda: not wrong(), SECONDS, wrong)


def named(targets: list[Object]) -> dict[str, Counter[str]]:
    """Targets of each job by what they stand for: a pod of a tenant, a node, or an address."""
    found: dict[str, Counter[str]] = {}
    for target in targets:
        labels = target["labels"]
        pod = f"{labels['namespace']}/{labels['pod']}" if "pod" in labels else None
        name = pod or labels.get("node") or labels["instance"]
        found.setdefault(target["scrapePool"], Counter())[name] += 1
    return found


@contextmanager
def running(kube: Kube, control_plane: ControlPlane, folder: Path) -> Iterator[Server]:
    """The deployed Prometheus with the agents' job beside its own; answers its API."""
    files = mounted(kube, control_plane, folder)
    config = with_api_server(files, control_plane.port)
    discovery = next(
        job["kubernetes_sd_configs"][0] for job in config["scrape_configs"] if "kubernetes_sd_configs" in job
    )
    keys = {key: discovery[key] for key in ADDED}
    given = {**config, "scrape_configs": [*config["scrape_configs"], agent_job(keys)]}
    arguments = [files.local(argument) for argument in files.arguments]
    (file,) = (folder / "config").iterdir()
    file.write_text(yaml.safe_dump(given))
    process = IsolatedProcess(
        [str(TOOLS / "prometheus"), *arguments],
        reaches=[control_plane.port],
        serves=[names.PROMETHEUS_PORT],
        cwd=folder,
        log=folder / "log",
    )
    with process:
        server = Server(process, files, config)

        def up() -> bool:
            assert process.alive(), process.output()
            try:
                return "version" in server.get("/api/v1/status/buildinfo")
            except OSError:  # not up yet
                return False

        wait_until(up, SECONDS, process.output)
        yield server
