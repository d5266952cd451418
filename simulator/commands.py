"""The command line of each process, and the files that they share. All of them run in the state folder."""

import base64
import random
import secrets
import socket
import subprocess
from pathlib import Path

import yaml

from simulator.api import Object
from simulator.tools import SimulatorError

FILES = ("sa.key", "server.key", "server.crt", "tokens.csv", "kubeconfig", "stages.yaml")
USER = "simulator"  # in the kubeconfig: by it the simulator knows its own files
FOLDERS = ("etcd", "certs", "tmp")
# Outside the range from which the kernel takes ports for outgoing connections (from 32768 by default): while the
# API server is down in a test, nothing else may get its port.
PORTS = range(20_000, 32_000)
CONTROLLERS_OFF = "-nodeipam,-service-lb-controller,-node-route-controller,-cloud-node-lifecycle-controller"
# The clients of the controllers and the scheduler throttle themselves to 20 and 50 requests/s by default: 1,200
# agents took 138 s to run, with these 32 s.
UNTHROTTLED = ["--kube-api-qps=2000", "--kube-api-burst=2000"]
# The in-tree host-path provisioner always writes below /tmp, so the controllers get a /tmp of their own in the
# state folder. Their binary is opened before, because the project itself may lie in /tmp.
PRIVATE_TMP = 'exec 3<"$1" && shift && mount --bind tmp /tmp && exec /proc/self/fd/3 "$@"'


def etcd(port: int, peer_port: int) -> list[str]:
    """Without fsync: the data is thrown away with the cluster."""
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        *["etcd", "--data-dir=etcd", "--unsafe-no-fsync"],
        *[f"--listen-client-urls={client}", f"--advertise-client-urls={client}"],
        *[f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"],
        f"--initial-cluster=default={peer}",
    ]


def api_server(port: int, etcd_port: int) -> list[str]:
    """RBAC, Pod Security, quotas and priorities as on a real cluster; one static administrator's token."""
    return [
        *["kube-apiserver", f"--etcd-servers=http://127.0.0.1:{etcd_port}"],
        *[f"--secure-port={port}", "--bind-address=127.0.0.1", "--cert-dir=certs"],
        *["--tls-cert-file=server.crt", "--tls-private-key-file=server.key"],
        "--service-account-issuer=https://kubernetes.default.svc",
        *["--service-account-key-file=sa.key", "--service-account-signing-key-file=sa.key"],
        *["--authorization-mode=Node,RBAC", "--token-auth-file=tokens.csv"],
        *[
            "--service-cluster-ip-range=10.96.0.0/16",
            "--allow-privileged=true",
            "--endpoint-reconciler-type=none",
        ],
    ]


def controllers() -> list[str]:
    """All controllers but those that need a cloud or hand out pod networks."""
    return [
        *["kube-controller-manager", "--kubeconfig=kubeconfig", "--secure-port=0", "--leader-elect=false"],
        *["--enable-hostpath-provisioner", "--root-ca-file=server.crt"],
        *["--service-account-private-key-file=sa.key", "--use-service-account-credentials=true"],
        f"--controllers=*,{CONTROLLERS_OFF}",
        *UNTHROTTLED,
    ]


def scheduler() -> list[str]:
    """The default profile."""
    return [
        "kube-scheduler",
        "--kubeconfig=kubeconfig",
        "--secure-port=0",
        "--leader-elect=false",
        *UNTHROTTLED,
    ]


def kwok() -> list[str]:
    """The kubelet of every node whose label `sim/dead` is not `true`."""
    return [
        *[
            "--kubeconfig=kubeconfig",
            "--config=stages.yaml",
            "--manage-nodes-with-label-selector=sim/dead!=true",
        ],
        *["--node-lease-duration-seconds=40", "--cidr=10.0.0.1/16"],
    ]


def private_tmp(state: Path) -> list[str]:
    """What gives a command the state's folder `tmp` as its /tmp; nothing where that is not allowed."""
    (state / "tmp").mkdir(exist_ok=True)
    for flags in ("-m", "-rm"):
        wrapper = ["unshare", flags, "sh", "-c", PRIVATE_TMP, "sh"]
        try:
            if (
                subprocess.run(
                    [*wrapper, "/bin/true"], cwd=state, capture_output=True, check=False
                ).returncode
                == 0
            ):
                return wrapper
        except FileNotFoundError:
            break
    return []


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nothing uses."""
    found: list[int] = []
    for port in random.sample(PORTS, 500):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise SimulatorError(
        f"no {count} free ports between {PORTS.start} and {PORTS.stop} on 127.0.0.1: `ss -ltn` lists them"
    )


def write_credentials(state: Path, port: int, context: str) -> None:
    """Keys, the server's certificate (its own authority), the administrator's token, and the kubeconfig."""
    _openssl(state, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "sa.key")
    _openssl(
        state,
        *[
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "3650",
        ],
        *["-subj", "/CN=simulator", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"],
        *["-keyout", "server.key", "-out", "server.crt"],
    )
    token = secrets.token_hex(16)
    _write(state / "tokens.csv", f'{token},admin,admin,"system:masters"\n')
    authority = base64.b64encode((state / "server.crt").read_bytes()).decode()
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority-data": authority}
    config: Object = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": context, "cluster": cluster}],
        "users": [{"name": USER, "user": {"token": token}}],
        "contexts": [{"name": context, "context": {"cluster": context, "user": USER}}],
        "current-context": context,
    }
    _write(state / "kubeconfig", yaml.safe_dump(config, sort_keys=False))


def _openssl(state: Path, *arguments: str) -> None:
    run = subprocess.run(["openssl", *arguments], cwd=state, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SimulatorError(f"openssl {arguments[0]} failed:\n{run.stderr.strip()}")


def _write(path: Path, text: str) -> None:
    """For the owner only: the token opens the whole simulated cluster."""
    path.touch(mode=0o600)
    path.write_text(text)
