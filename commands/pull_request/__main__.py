"""Reviews a change: `python -m commands.pull_request --base origin/main`, or `make review BASE=origin/main`.

Renders each environment as it was and as it would be, from throw-away states and with stand-ins for secrets: no cluster
is asked, no key is needed, nothing is deployed. Writes into the folder `--out`: `comment.md` for the pull request,
`review.json`, and a diff and a SARIF file for each environment.

Exit status: 0; 1 if an environment could not be deployed as it is; 2 if the change could not be reviewed.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from commands.engine import temporary_folder
from commands.environments import NAME, ROOT, CommandError
from commands.pull_request import evidence
from commands.pull_request.comment import comment
from commands.pull_request.review import Reviews

REFUSED, FAILED = 1, 2
OUT = ROOT / "rendered" / "review"
COMMENT = "comment.md"


def run(base: str, environments: Sequence[str], out: Path, whole: str) -> Reviews:
    """Reviews this checkout against a commit, and writes the files.

    Raises:
        CommandError: if the commit is not known, or its tools cannot be had.
    """
    start = evidence.fork_point(base)
    if out.exists():
        if not (out / COMMENT).exists():
            raise CommandError(f"{out} is there, and no review wrote it: name another folder by --out")
        shutil.rmtree(out)
    out.mkdir(parents=True)
    (out / COMMENT).touch()
    head = evidence.head()
    with temporary_folder() as folder:
        before = evidence.unpack(start, folder)
        names = environments or _environments(head.root, before.root)
        found = []
        for name in names:
            print(f"{name}: rendered as it was and as it would be", flush=True)
            found.append(evidence.review(name, before, head, out))
    reviews = Reviews(base=start, head=evidence.commit("HEAD"), environments=tuple(found))
    written = reviews.model_dump_json(by_alias=True, indent=2)
    (out / "review.json").write_text(f"{written}\n", encoding="utf-8")
    (out / COMMENT).write_text(comment(reviews, whole=whole), encoding="utf-8")
    return reviews


def _environments(*roots: Path) -> list[str]:
    names = {file.name.split(".")[1] for root in roots for file in root.glob("Pulumi.*.yaml")}
    return sorted(name for name in names if NAME.fullmatch(name))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m commands.pull_request",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--base", required=True, help="branch or commit that the change goes to")
    parser.add_argument("--env", nargs="*", default=[], help="environments; by default all stack files")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the files; replaced")
    parser.add_argument(
        "--whole", default="the run's artifact", help="where all of it can be had, as Markdown"
    )
    asked = parser.parse_args(arguments)
    try:
        reviews = run(asked.base, asked.env, asked.out.absolute(), asked.whole)
    except CommandError as problem:
        sys.stderr.write(f"review: {problem}\n")
        return FAILED
    print(f"review: {asked.out / COMMENT}")
    for refused in (review.environment for review in reviews.environments if review.refused):
        sys.stderr.write(f"review: {refused} could not be deployed as it is\n")
    return REFUSED if reviews.refused else 0


if __name__ == "__main__":
    sys.exit(main())
