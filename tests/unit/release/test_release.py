"""Releases: the same bytes from the same commit, the pack with all that it imports, and one version everywhere."""

import io
import re
import subprocess
import sys
import tarfile
import tomllib

import pytest
import yaml

from commands.environments import ROOT, CommandError
from commands.release.__main__ import NOTES, SUMS, build, changes
from commands.release.archive import File, tar_gz
from commands.release.contents import OWN_ENVIRONMENT, ContentError, closure, imports, pack

TIME = 1_800_000_000
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


@pytest.fixture(scope="module")
def files() -> dict[str, File]:
    """The checkout's files as a commit would have them, less those that take long to compress."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    kept = [
        path for path in listed if not path.startswith(("docs/", "tests/", "toolchain/", "requirements.txt"))
    ]
    return {path: File((ROOT / path).read_bytes()) for path in kept if (ROOT / path).is_file()}


def members(packed: bytes) -> list[tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return archive.getmembers()


def test_the_same_files_give_the_same_bytes_in_whatever_order_they_come(files: dict[str, File]) -> None:
    first = build(files, TIME)
    second = build(dict(reversed(files.items())), TIME)
    assert first == second
    assert build(files, TIME + 1)[SUMS] != first[SUMS]


def test_nothing_of_the_machine_that_builds_is_in_an_archive() -> None:
    packed = tar_gz({"b": File(b"2"), "a/run": File(b"1", executable=True)}, folder="top", time=TIME)
    found = members(packed)
    assert [(one.name, one.mode) for one in found] == [("top/a/run", 0o755), ("top/b", 0o644)]
    assert {(one.uid, one.gid, one.uname, one.gname, one.mtime) for one in found} == {(0, 0, "", "", TIME)}
    assert packed[4:8] == b"\0\0\0\0", "gzip's header holds a time"


def test_sums_are_those_of_the_archives(files: dict[str, File]) -> None:
    built = build(files, TIME)
    names = [line.split("  ")[1] for line in built[SUMS].decode().splitlines()]
    assert names == [
        f"shared-observability-{VERSION}.tar.gz",
        f"shared-observability-policies-{VERSION}.tar.gz",
    ]
    assert set(built) == {*names, SUMS, NOTES}


def test_the_packs_archive_holds_what_it_imports_and_no_more(files: dict[str, File]) -> None:
    packed = pack(files)
    assert {"__main__.py", "PulumiPolicy.yaml", "requirements.txt", "README.md", "LICENSE"} <= set(packed)
    assert {
        "policies/check.py",
        "policies/builtin_roles.json",
        "components/cluster/instance_types.csv",
    } <= set(packed)
    assert packed["__main__.py"] == files["policies/__main__.py"]
    assert "policies/__main__.py" not in packed
    assert not [
        path for path in packed if path.startswith(("components/layer", "components/tenant", "commands"))
    ]
    options = yaml.safe_load(packed["PulumiPolicy.yaml"].content)["runtime"]["options"]
    assert options == {"virtualenv": "venv"}


def test_what_is_shipped_needs_no_package_beyond_its_lock(files: dict[str, File]) -> None:
    """The checker installs few packages: a rule or a setting that imports Pulumi would break every hook."""
    check = closure(files, ["policies/check.py"])
    whole = {path for path in pack(files) if path.endswith(".py")} | {"policies/__main__.py"}
    assert foreign(files, check) <= {"pydantic", "yaml", "typing_extensions"}
    assert foreign(files, whole - {"__main__.py"}) <= {
        *("pydantic", "yaml", "typing_extensions"),
        *("pulumi", "pulumi_policy", "google", "grpc"),
    }


def foreign(files: dict[str, File], paths: set[str]) -> set[str]:
    """Names of packages that are neither Python's nor ours."""
    found = {name.partition(".")[0] for path in paths for name in imports(files[path].content)}
    return found - sys.stdlib_module_names - {"policies", "components"}


def test_a_pack_that_imports_another_room_cannot_be_built(files: dict[str, File]) -> None:
    strange = {**files, "policies/new.py": File(b"from diagnosis.report import report\n")}
    with pytest.raises(ContentError, match="imports diagnosis"):
        pack(strange)
    moved = {**files, "policies/PulumiPolicy.yaml": File(b"runtime: python\n")}
    with pytest.raises(ContentError, match=re.escape(OWN_ENVIRONMENT[0].decode())):
        pack(moved)


def test_the_version_is_stated_once_and_repeated_right() -> None:
    written = yaml.safe_load((ROOT / "policies" / "PulumiPolicy.yaml").read_text())
    assert written["version"] == VERSION
    assert f"shared-observability@v{VERSION}" in (ROOT / "README.md").read_text(encoding="utf-8")
    headings = re.findall(r"(?m)^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert headings[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", heading) for heading in headings[1:])


def test_a_release_needs_the_right_tag_and_a_part_of_the_changelog(files: dict[str, File]) -> None:
    with pytest.raises(
        CommandError, match=rf"the tag is v9\.9\.9, and pyproject\.toml says {re.escape(VERSION)}"
    ):
        build(files, TIME, "v9.9.9")
    without = {**files, "CHANGELOG.md": File(b"# Changelog\n\n## [Unreleased]\n\n- something\n")}
    with pytest.raises(CommandError, match="has no part"):
        build(without, TIME, f"v{VERSION}")
    parts = (
        "# Changelog",
        "## [Unreleased]",
        f"## [{VERSION}] - 2026-12-01",
        "- it",
        "## [0.0.1] - 2026-01-01",
        "- old\n",
    )
    text = "\n\n".join(parts)
    released = build({**files, "CHANGELOG.md": File(text.encode())}, TIME, f"v{VERSION}")
    assert released[NOTES] == b"- it\n"
    assert changes(text, "0.0.1") == "- old\n"


@pytest.mark.parametrize("lock", ["pack", "check"])
def test_a_shipped_lock_has_the_projects_versions_hashes_and_no_address(lock: str) -> None:
    text = (ROOT / "distribution" / lock / "requirements.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"(?m)^([a-z0-9._-]+)==(\S+)", text))
    whole = dict(
        re.findall(r"(?m)^([a-z0-9._-]+)==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"))
    )
    assert pinned
    assert pinned.items() <= whole.items()
    assert len(re.findall(r"(?m)^\S+==\S+ \\\n\s+--hash=sha256:", text)) == len(pinned)
    assert "://" not in text
    assert ("pulumi" in pinned) == (lock == "pack")
