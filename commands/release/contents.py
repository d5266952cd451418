"""What is in the archives: everything, and the policy pack with what it imports."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from commands.release.archive import File

PACK = "policies"
PACK_FILE = f"{PACK}/PulumiPolicy.yaml"
PACK_PROGRAM = f"{PACK}/__main__.py"
DISTRIBUTION = "distribution/pack"
# In this repository the pack has the program's packages; in its archive it has its own.
OWN_ENVIRONMENT = (b"virtualenv: ../.venv", b"virtualenv: venv")


class ContentError(Exception):
    """Why an archive would not work, for whoever has changed what it is made of."""


def pack(files: Mapping[str, File]) -> dict[str, File]:
    """The policy pack: a folder for `--policy-pack`, and `python -m policies.check` in it.

    The pack's program lies at the top, where the engine looks for it; the package `policies` and the modules of
    `components` that it imports lie beside it, with their data files.

    Args:
        files: of a commit, by path.

    Raises:
        ContentError: if the pack imports something of this project that is neither, or its files are not as expected.
    """
    modules = closure(files, [path for path in files if _in_pack(path)])
    strangers = sorted({path.partition("/")[0] for path in modules} - {PACK, "components"})
    if strangers:
        raise ContentError(
            f"the policy pack imports {', '.join(strangers)}, which is not part of its archive"
        )
    folders = {str(PurePosixPath(path).parent) for path in modules if not path.endswith("/__init__.py")}
    data = {
        path
        for path in files
        if str(PurePosixPath(path).parent) in folders and not path.endswith((".py", ".yaml"))
    }
    packed = {path: files[path] for path in sorted(modules | data) if path != PACK_PROGRAM}
    written = files[PACK_FILE].content
    if OWN_ENVIRONMENT[0] not in written:
        raise ContentError(
            f"{PACK_FILE} names no {OWN_ENVIRONMENT[0].decode()!r}, which the archive replaces"
        )
    inside = {
        path.removeprefix(f"{DISTRIBUTION}/"): files[path] for path in files if path.startswith(DISTRIBUTION)
    }
    return {
        **packed,
        **inside,
        "PulumiPolicy.yaml": File(written.replace(*OWN_ENVIRONMENT)),
        "__main__.py": files[PACK_PROGRAM],
        "LICENSE": files["LICENSE"],
        "CHANGELOG.md": files["CHANGELOG.md"],
    }


def _in_pack(path: str) -> bool:
    return str(PurePosixPath(path).parent) == PACK and path.endswith(".py")


def closure(files: Mapping[str, File], modules: Iterable[str]) -> set[str]:
    """These modules and all of this project that they import, with their packages; by path."""
    ours = {path.partition("/")[0] for path in files if path.endswith("/__init__.py")}
    found: set[str] = set()
    todo = list(modules)
    while todo:
        path = todo.pop()
        if path in found:
            continue
        found.add(path)
        for name in imports(files[path].content):
            if name.partition(".")[0] in ours:
                todo += _files_of(name, files)
    return found


def imports(source: bytes) -> Iterator[str]:
    """What a module imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            # `from policies import report` may import a module of the package.
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def _files_of(name: str, files: Mapping[str, File]) -> Iterator[str]:
    """The module's own file, and each package above it."""
    path = name.replace(".", "/")
    parents = [str(parent) for parent in PurePosixPath(path).parents if str(parent) != "."]
    candidates = [f"{path}.py", *(f"{folder}/__init__.py" for folder in (path, *parents))]
    yield from (candidate for candidate in candidates if candidate in files)
