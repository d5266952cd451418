"""Builds the archives of a release: `python -m commands.release --out dist`, or `make release`.

From the files of the commit that is checked out, not from the checkout: what is not committed is not in them. The same
commit gives the same bytes. Writes into the folder:

- shared-observability-VERSION.tar.gz: everything
- shared-observability-policies-VERSION.tar.gz: the policy pack, for other repositories
- SHA256SUMS
- NOTES.md: this version's part of CHANGELOG.md
"""

import argparse
import io
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from commands.environments import ROOT, CommandError
from commands.release.archive import File, sums, tar_gz
from commands.release.contents import ContentError, pack

NAME = "shared-observability"
SUMS, NOTES = "SHA256SUMS", "NOTES.md"
UNRELEASED = "Unreleased"


def committed(revision: str = "HEAD") -> tuple[dict[str, File], int]:
    """The files of a commit by their path, and its time.

    Raises:
        CommandError: if git does not give them.
    """
    with tarfile.open(fileobj=io.BytesIO(_git("archive", "--format=tar", revision))) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        files = {m.name: File(_content(archive, m), executable=bool(m.mode & 0o100)) for m in members}
    return files, int(_git("show", "--no-patch", "--format=%ct", revision))


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    opened = archive.extractfile(member)
    return opened.read() if opened else b""


def _git(*arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise CommandError(
            f"`git {' '.join(arguments)}` failed: {done.stderr.decode(errors='replace').strip()}"
        )
    return done.stdout


def build(files: Mapping[str, File], time: int, tag: str = "") -> dict[str, bytes]:
    """The files of a release by their name.

    Args:
        files: of the commit.
        time: of the commit, in seconds since 1970.
        tag: what the release is to be called; empty for a build that is no release.

    Raises:
        CommandError: if the tag is not this version's, or the changelog has no part for it.
    """
    version = tomllib.loads(files["pyproject.toml"].content.decode())["project"]["version"]
    if tag and tag != f"v{version}":
        raise CommandError(
            f"the tag is {tag}, and pyproject.toml says {version}: tag v{version}, or change the version"
        )
    notes = changes(files["CHANGELOG.md"].content.decode(), version)
    if tag and not notes:
        raise CommandError(
            f"CHANGELOG.md has no part `## [{version}] - DATE`: rename `## [{UNRELEASED}]` to it"
        )
    contents = {NAME: files, f"{NAME}-policies": pack(files)}
    archives = {
        f"{name}-{version}.tar.gz": tar_gz(inside, folder=f"{name}-{version}", time=time)
        for name, inside in contents.items()
    }
    return {**archives, SUMS: sums(archives).encode(), NOTES: (notes or f"{UNRELEASED}\n").encode()}


def changes(changelog: str, version: str) -> str:
    """A version's part of the changelog, without its heading; empty if there is none."""
    parts = re.split(r"(?m)^## \[", changelog)
    found = next((part for part in parts if part.startswith(f"{version}] - ")), "")
    return found.partition("\n")[2].strip("\n") + "\n" if found else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m commands.release",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the files, created if absent")
    parser.add_argument(
        "--tag", default="", help="of the release: refused unless version and changelog agree"
    )
    asked = parser.parse_args(arguments)
    try:
        files, time = committed()
        built = build(files, time, asked.tag)
        left_out = _git("status", "--porcelain").decode().splitlines()
    except (CommandError, ContentError) as problem:
        sys.stderr.write(f"release: {problem}\n")
        return 2
    asked.out.mkdir(parents=True, exist_ok=True)
    for name, content in built.items():
        (asked.out / name).write_bytes(content)
        print(f"{asked.out / name}: {len(content) / 1024:.0f} KiB")
    if left_out:
        sys.stderr.write(f"release: {len(left_out)} files of the checkout are not committed, and not in it\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
