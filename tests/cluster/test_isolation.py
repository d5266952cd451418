"""A process in a network namespace of its own reaches the API server and nothing else, and is reached by its port."""

import http.client
import json
import sys
from pathlib import Path

from simulator.control_plane import ControlPlane
from simulator.processes import Processes
from tests.support.kube import wait_until
from tests.support.netns import IsolatedProcess

PORT = 9090
# Asks the API server, tries the address of a simulated pod, then serves what it saw.
PROGRAM = """
import http.client, http.server, json, socket, ssl, sys
api, authority = sys.argv[1:]
seen = {}
context = ssl.create_default_context(cafile=authority)
connection = http.client.HTTPSConnection("127.0.0.1", int(api), context=context, timeout=10)
connection.request("GET", "/readyz")
seen["api"] = connection.getresponse().read().decode()
for address in ("10.0.0.2", "192.0.2.1"):
    try:
        socket.create_connection((address, 80), timeout=5)
    except OSError as error:
        seen[address] = error.strerror
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(seen).encode())
http.server.HTTPServer(("127.0.0.1", 9090), Answer).serve_forever()
"""


def test_it_reaches_the_api_server_and_no_other_address(control_plane: ControlPlane, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", PROGRAM, str(control_plane.port), str(control_plane.authority)]
    log = tmp_path / "log"
    with IsolatedProcess(
        argv, reaches=[control_plane.port], serves=[PORT], cwd=tmp_path, log=log
    ) as isolated:

        def ask() -> dict[str, str] | None:
            assert isolated.alive(), isolated.output()
            connection = http.client.HTTPConnection("127.0.0.1", isolated.outside(PORT), timeout=10)
            try:
                connection.request("GET", "/")
                return dict(json.load(connection.getresponse()))
            except (OSError, http.client.HTTPException):  # not up yet
                return None
            finally:
                connection.close()

        seen = wait_until(ask, 20, isolated.output)
        assert seen == {
            "api": "ok",
            "10.0.0.2": "Network is unreachable",
            "192.0.2.1": "Network is unreachable",
        }
    assert not isolated.alive()


def test_its_end_is_seen_with_what_it_wrote(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "raise SystemExit('cannot do it')"]
    with IsolatedProcess(argv, cwd=tmp_path, log=tmp_path / "log") as isolated:
        wait_until(lambda: not isolated.alive(), 10, "it still runs")
        assert "cannot do it" in isolated.output()


def test_it_ends_with_the_test_that_started_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    program = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    owner = f"""if True:
        from pathlib import Path
        import sys, time
        from tests.support.netns import IsolatedProcess
        folder = Path({str(tmp_path)!r})
        IsolatedProcess([sys.executable, "-c", {program!r}], cwd=folder, log=folder / "log").__enter__()
        time.sleep(60)"""
    processes = Processes(tmp_path)
    processes.start("owner", [sys.executable, "-c", owner])
    wait_until(lambda: pid.exists() and pid.read_text(), 10, lambda: processes.last_lines("owner"))
    processes.stop()
    wait_until(lambda: not Path(f"/proc/{pid.read_text()}").exists(), 10, "it outlives its owner")
