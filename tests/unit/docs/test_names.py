"""Whatever the documentation names exists: files and headings behind links, commands, settings, paths."""

import re
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest
import yaml

from commands.environments import ROOT
from commands.settings_reference import PROJECT, sections, settings_paths, slug
from tests.unit.docs.pages import HEADING, blocks, code, links, named, pages, prose, spans
from tests.unit.docs.test_generated import SCHEMA

PAGES = pages()
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
SETTING = re.compile(r"((?:cluster|layer|tenants)(?:\.[A-Za-z0-9<>_-]+|\[\d*\])+)(?:: .+)?")
PROJECT_FILE = re.compile(
    r"(?:\.ci|commands|components|diagnosis|docs|policies|simulator|tests|toolchain)/(?:[\w.-]+/)*(?:[\w-]+\.\w+)?"
)
MODULE = re.compile(r"python -m ([a-z_.]+)")


def anchors(page: Path) -> set[str]:
    """What a link to this page may end with."""
    text = prose(page)
    return {
        slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)) for heading in HEADING.findall(text)
    } | set(re.findall(r"<a id=\"([^\"]+)\">", text))


def settings_in(page: Path) -> list[str]:
    """Dotted paths of settings that the page names."""
    return [match[1] for span in spans(page) if (match := SETTING.fullmatch(span))]


def known_settings() -> re.Pattern[str]:
    """Every path of a setting or of a mapping of settings, with any name where a user chooses one."""
    paths = {*settings_paths(), *(section.path for section in sections() if section.path)}
    return re.compile("|".join(_path_pattern(path) for path in paths))


def _path_pattern(path: str) -> str:
    parts = (r"[A-Za-z0-9<>_-]+" if part.startswith("<") else re.escape(part) for part in path.split("."))
    return r"\.".join(parts).replace(r"\[\]", r"(?:\[\d*\])?") + r"(?:\[\d*\])?"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        file, _, anchor = unquote(link).partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{named(page)} links to {link}, which does not exist"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{named(page)} links to {link}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_make_targets_exist(page: Path) -> None:
    for text in code(page):
        for target in re.findall(r"(?:^|[\s;&(])make ([a-z][a-z-]*)", text):
            assert target in TARGETS, f"{named(page)}: `make {target}`"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_secret_is_handed_over_by_a_pipe(page: Path) -> None:
    """The engine is run without a terminal: from the keyboard it would read nothing."""
    for line in "\n".join(code(page)).splitlines():
        if "config set --secret" in line:
            assert re.search(r"\| (make )?pulumi ", line), f"{named(page)}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_settings_exist(page: Path) -> None:
    known = known_settings()
    for path in settings_in(page):
        assert known.fullmatch(path), f"{named(page)}: there is no setting {path}"


def test_settings_are_told_from_other_names() -> None:
    known = known_settings()
    assert known.fullmatch("tenants.shop.namespaces.shop-api.pods")
    assert known.fullmatch("cluster.nodeGroups.web.instanceTypes[0]")
    assert not known.fullmatch("layer.metrics.retain")
    assert not known.fullmatch("tenants.shop.quota")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_and_modules_exist(page: Path) -> None:
    for span in spans(page):
        if PROJECT_FILE.fullmatch(span):
            assert (ROOT / span).exists(), f"{named(page)}: {span}"
    for text in code(page):
        for module in MODULE.findall(text):
            file = ROOT / module.replace(".", "/")
            assert file.is_dir() or file.with_suffix(".py").exists(), f"{named(page)}: python -m {module}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_examples_of_settings_are_settings(page: Path) -> None:
    """What an example leaves out is no mistake; what it says has to be allowed."""
    keys = SCHEMA["properties"]["config"]["properties"]
    for block in blocks(page, "yaml"):
        if f"{PROJECT}:" not in block or "apiVersion:" in block:
            continue
        found = yaml.safe_load(block)
        for key, value in found.get("config", found).items():
            schema = {"$defs": SCHEMA["$defs"], **keys[key]}
            errors = jsonschema.Draft202012Validator(schema).iter_errors(value)
            told = [f"{e.json_path}: {e.message}" for e in errors if e.validator != "required"]
            assert not told, f"{named(page)}: {key}: {told}"


def test_what_messages_and_comments_refer_to_exists() -> None:
    """Decisions, runbooks and rules; a path such as `docs/storage.md` may be another project's."""
    named_files = re.compile(r"docs/(?:adr|runbooks|policies)/[\w-]+\.md")
    folders = ("commands", "components", "diagnosis", "policies", "simulator", "toolchain")
    for file in (file for folder in folders for file in (ROOT / folder).rglob("*.py")):
        for path in named_files.findall(file.read_text(encoding="utf-8")):
            assert (ROOT / path).exists(), f"{named(file)}: {path}"


def test_the_list_of_decisions_is_complete() -> None:
    index = ROOT / "docs" / "adr" / "README.md"
    written = {page.name for page in index.parent.glob("*.md")} - {index.name}
    assert set(links(index)) == written
