"""Writes all manifests of an environment as YAML: `python -m commands.render --env prod --out rendered/prod`.

From a throw-away state, whatever the environment's own target is, so no cluster is asked and every object is written.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import yaml

from commands.engine import (
    WITHOUT_CHECKPOINTS,
    engine_environment,
    exit_status,
    policy_arguments,
    run_pulumi,
    temporary_folder,
)
from commands.environments import CommandError, stack_file
from commands.stack import secrets_provider_arguments
from commands.stand_ins import VALUE, without_secrets

CLUSTER_KEYS = ("shared-observability:cluster", "cluster")
MARK = "# Rendered by shared-observability; `make render` replaces this file.\n"
KIND = re.compile(r"^kind: ['\"]?(\w+)", re.MULTILINE)
# `kubectl apply -f FOLDER` goes by name: what others live in, or are kinds of, comes first.
FIRST = {"CustomResourceDefinition": "0-", "Namespace": "1-", "PriorityClass": "1-", "StorageClass": "1-"}
OTHERS = "2-"


def with_render_target(text: str, directory: Path) -> str:
    """Returns a stack file's text with the cluster's target replaced by a render into a folder.

    By YAML nodes, not values: `1.10`, `0123` and `yes` stay as they are written.
    """
    document = yaml.compose(text)
    cluster = next((node for key in CLUSTER_KEYS if (node := _at(_at(document, "config"), key))), None)
    if not isinstance(cluster, yaml.MappingNode):
        raise CommandError(f"the stack file holds no mapping {CLUSTER_KEYS[0]!r} under `config`")
    target = yaml.compose(json.dumps({"kind": "render", "directory": str(directory)}))
    kept = [(key, value) for key, value in cluster.value if key.value != "target"]
    cluster.value = [*kept, (yaml.ScalarNode("tag:yaml.org,2002:str", "target"), target)]
    return str(yaml.serialize(document, width=sys.maxsize, allow_unicode=True))


def _at(node: yaml.Node | None, key: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    found: yaml.Node | None = next((value for name, value in node.value if name.value == key), None)
    return found


def refuse_foreign(out: Path) -> None:
    """Raises unless the folder is absent, or holds nothing but files of an earlier render."""
    if out.exists() and not out.is_dir():
        raise CommandError(f"{out} is not a folder")
    foreign = sorted(p.name for p in out.iterdir() if not _ours(p)) if out.exists() else []
    if foreign:
        names = ", ".join(foreign[:5]) + (", ..." if len(foreign) > 5 else "")
        raise CommandError(f"{out} holds files that no render wrote ({names}): name an empty folder by OUT=")


def _ours(file: Path) -> bool:
    if not file.is_file() or file.is_symlink() or file.suffix != ".yaml":
        return False
    with file.open("rb") as opened:
        return opened.read(len(MARK)) == MARK.encode()


def install(rendered: Path, out: Path) -> Counter[str]:
    """Replaces what is in `out` by the rendered files, in one flat folder; returns how many there are of each kind."""
    texts: dict[str, str] = {}
    kinds: Counter[str] = Counter()
    for file in sorted(rendered.rglob("*.yaml")):
        text = file.read_text(encoding="utf-8")
        found = KIND.search(text)
        kind = found[1] if found else "unknown"
        name = FIRST.get(kind, OTHERS) + file.name
        if name in texts:
            raise CommandError(f"two objects were rendered to files called {name}")
        texts[name] = MARK + text
        kinds[kind] += 1
    refuse_foreign(out)
    out.mkdir(parents=True, exist_ok=True)
    for stale in out.iterdir():
        stale.unlink()
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    return kinds


def render(environment: str, out: Path, *, judged: bool = True, stand_ins: bool = False) -> int:
    """Renders an environment into a folder and returns the engine's exit status; the folder changes only on success.

    Args:
        environment: its name, as in `Pulumi.<environment>.yaml`.
        out: the folder.
        judged: whether the policy pack may refuse it.
        stand_ins: whether known values stand for the secrets, so that no key is needed.
    """
    file = stack_file(environment)
    refuse_foreign(out)
    print(f"{environment}: rendering from a throw-away state; nothing is deployed", flush=True)
    with (
        temporary_folder() as folder,
        engine_environment(environment, backend=f"file://{folder / 'state'}", public=stand_ins) as variables,
    ):
        config = folder / file.name
        text, secrets = file.read_text(encoding="utf-8"), list[str]()
        if stand_ins:
            text, secrets = without_secrets(text)
        config.write_text(with_render_target(text, folder / "rendered"), encoding="utf-8")
        stack = ["--stack", environment, "--config-file", str(config)]
        update = ["up", *stack, "--yes", "--skip-preview", "--suppress-outputs", "--suppress-progress"]
        provider = [] if stand_ins else secrets_provider_arguments(file)
        steps = [["stack", "init", environment, "--no-select", *provider]]
        if secrets:
            given = [argument for path in secrets for argument in ("--secret", f"{path}={VALUE}")]
            steps.append(["config", "set-all", *stack, "--path", *given])
        for arguments in (*steps, [*update, *(policy_arguments() if judged else [])]):
            done = run_pulumi(arguments, {**variables, **WITHOUT_CHECKPOINTS})
            if done.returncode:
                return exit_status(done)
        kinds = install(folder / "rendered", out)
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    print(f"{environment}: {kinds.total()} manifests in {out} ({listed})")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m commands.render", description=__doc__)
    parser.add_argument("--env", required=True, help="the environment: dev for Pulumi.dev.yaml")
    parser.add_argument("--out", required=True, type=Path, help="folder for the manifests, created if absent")
    parser.add_argument(
        "--without-policies", action="store_true", help="render what the pack would refuse too"
    )
    parser.add_argument(
        "--stand-in-secrets", action="store_true", help="known values for the secrets: needs no key"
    )
    asked = parser.parse_args(arguments)
    try:
        return render(
            asked.env,
            asked.out.absolute(),
            judged=not asked.without_policies,
            stand_ins=asked.stand_in_secrets,
        )
    except CommandError as problem:
        sys.stderr.write(f"render: {problem}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
