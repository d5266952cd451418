"""Archives that are the same byte for byte wherever and whenever they are built from the same files."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """A file's content, and whether it can be run."""

    content: bytes
    executable: bool = False


def tar_gz(files: Mapping[str, File], *, folder: str, time: int) -> bytes:
    """The files in one folder, as a compressed tar.

    Sorted by name, owned by nobody in particular, with two modes, one time, and no time or name in gzip's header. What
    is left is the compression itself: another zlib may write other bytes for the same tar.

    Args:
        files: by their path in the folder.
        folder: the archive's only top-level folder.
        time: of every file, in seconds since 1970.
    """
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(files):
            member = tarfile.TarInfo(f"{folder}/{path}")
            member.size = len(files[path].content)
            member.mode = 0o755 if files[path].executable else 0o644
            member.mtime = time
            archive.addfile(member, io.BytesIO(files[path].content))
    return packed.getvalue()


def sums(archives: Mapping[str, bytes]) -> str:
    """The file SHA256SUMS, as `sha256sum --check` reads it."""
    return "".join(f"{hashlib.sha256(archives[name]).hexdigest()}  {name}\n" for name in sorted(archives))
