"""Versions that files of a project declare: lock files, requirements, and the containers that it runs in.

All of them are read as lines that name a package or an image, which is what they have in common: a file that is
malformed for its own tool still says what it says, and every line has a number. A TOML parser takes half a second for a
large lock file, and knows no line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mfsdp_lint.inputs.detect.places import (
    PACKAGES,
    NamedVersions,
    ProjectFolders,
    from_package,
    normalised,
    version_or_range,
)
from mfsdp_lint.megatron.versions.ranges import HEAD
from mfsdp_lint.megatron.versions.releases import CONTAINERS, CORE_HEAD, CORE_RELEASES, RELEASES, TORCH_IN_NGC

_REPOSITORY = re.compile(r"[/:]([\w.-]+?)(?:\.git)?/?(?=[@?#\s\"']|$)")
_SHORTEST_COMMIT = 7


def from_revision(place: str, url: str, *revisions: str | None) -> NamedVersions | None:
    """Return the versions of the first known revision; None where none is known, or the repository is another."""
    repository = _REPOSITORY.search(url.partition("://")[2] or url)
    while repository and repository[1].lower() not in ("megatron-bridge", "megatron-lm"):
        url = url[repository.end() - 1 :]
        repository = _REPOSITORY.search(url, 1)
    if repository is None:
        return None
    for revision in revisions:
        if not revision:
            continue
        if repository[1].lower() == "megatron-bridge":
            if bridge := _bridge_at(revision):
                return NamedVersions(place, bridge=bridge)
        elif core := _core_at(revision):
            return NamedVersions(place, core=core)
    return None


def _bridge_at(revision: str) -> str | None:
    if named := re.fullmatch(r"(?:refs/\w+/)?[vr](\d+\.\d+(?:\.\d+)?\w*)", revision):
        return named[1]
    if revision == "main":
        return HEAD
    return next((each.bridge for each in RELEASES if _same(revision, each.commit)), None)


def _core_at(revision: str) -> str | None:
    if named := re.fullmatch(r"(?:refs/\w+/)?core_[vr](\d+\.\d+(?:\.\d+)?\w*)", revision):
        return named[1]
    if revision == "main":
        return CORE_HEAD
    commits = [(each.core_commit, each.core) for each in RELEASES] + [
        (each.commit, each.core) for each in CORE_RELEASES
    ]
    return next((core for commit, core in commits if _same(revision, commit)), None)


def _same(revision: str, commit: str) -> bool:
    return len(revision) >= _SHORTEST_COMMIT and commit.startswith(revision.lower())


LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")

_PACKAGE = re.compile(r"^\[\[package\]\][^\n]*\n(.*?)(?=^\[\[package\]\]|^\[metadata\]|\Z)", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"""^(name|version|source|url|reference|resolved_reference|git|revision|ref)\s*=\s*(.*)$""", re.M)
_GIT = re.compile(r'git\s*=\s*"([^"?#]+)(?:\?(?:[^"#]*&)?(?:rev|tag|branch)=([^"&#]+))?[^"#]*(?:#(\w+))?"')


def in_locks(places: ProjectFolders) -> Iterator[NamedVersions]:
    """Yield the locked versions, and their places."""
    for path in places.files(*LOCKS):
        text = places.text(path)
        if not any(name in text for name in PACKAGES):
            continue
        for match in _PACKAGE.finditer(text):
            name = re.match(r'name\s*=\s*"([^"]+)"', match[1])
            if name is None or normalised(name[1]) not in PACKAGES:
                continue
            place = f"{path}:{text.count(chr(10), 0, match.start(1)) + 1}"
            if found := _locked(place, name[1], match[1]):
                yield found


def _locked(place: str, name: str, body: str) -> NamedVersions | None:
    fields: dict[str, str] = {}
    for match in _FIELD.finditer(body):
        fields.setdefault(match[1], match[2].strip())
    said = {key: value.strip("\"'") for key, value in fields.items()}
    if git := _GIT.search(fields.get("source", "")):
        if found := from_revision(place, git[1], git[3], git[2]):
            return found
    elif url := said.get("url") or said.get("git"):
        commit = said.get("resolved_reference") or said.get("revision")
        if found := from_revision(place, url, commit, said.get("reference") or said.get("ref")):
            return found
    return from_package(place, name, said.get("version"))


PINNED = ("requirements*.txt", "environment.yml", "environment.yaml")
DECLARED = ("pyproject.toml",)

_NAME = r"(?P<name>(?:nvidia[-_.])?(?:megatron|transformer|torch)[\w.-]*)"
_REQUIREMENT = re.compile(
    rf"""(?:^|["'\s\-=])
    {_NAME}\s*(?:\[[^\]]*\])?\s*
    (?:@\s*(?P<url>[^\s"',;]+) | (?P<specifiers>(?:(?:[<>=!~]=?=?|\^)\s*[\w.*+!-]+\s*,?\s*)+))""",
    re.VERBOSE | re.IGNORECASE,
)
_TABLE_ENTRY = re.compile(rf"""^["']?{_NAME}["']?\s*=\s*(?P<value>["'{{].*)$""", re.IGNORECASE)
_URL = re.compile(r"(?:git\+)?(?:https?|ssh)://[^\s\"']*?megatron-(?:bridge|lm)[^\s\"']*", re.IGNORECASE)
_REVISION = re.compile(r"@([\w./-]+?)(?=[#&\s\"']|$)")
_INLINE = re.compile(r"""\b(version|git|rev|tag|branch)\s*=\s*["']([^"']*)["']""")


def in_requirements(places: ProjectFolders) -> Iterator[NamedVersions]:
    """Yield the versions that the requirement files ask for, from files that pin first."""
    for patterns in (PINNED, DECLARED):
        for path in places.files(*patterns):
            yield from _required(path, places.text(path))


def _required(path: str, text: str) -> Iterator[NamedVersions]:
    lowered = text.lower()
    if not any(word in lowered for word in ("megatron", "transformer", "torch")):
        return
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{path}:{number}"
        line = line.strip()
        if line.startswith("#"):
            continue
        yield from _requirements(place, re.sub(r"\s#.*$", "", line))


def _requirements(place: str, line: str) -> Iterator[NamedVersions]:
    if url := _URL.search(line):
        revision = _REVISION.search(url[0].rpartition("/")[2])
        inline = dict(_INLINE.findall(line))
        named = (revision and revision[1]) or inline.get("rev") or inline.get("tag") or inline.get("branch")
        if found := from_revision(place, url[0], named):
            yield found
        return
    if entry := _TABLE_ENTRY.match(line):
        inline = dict(_INLINE.findall(entry["value"]))
        value = inline.get("version", "") if entry["value"].startswith("{") else entry["value"].strip("\"', ")
        if value[:1].isdigit() or value[:1] in "^~<>=!*":
            if value[:1].isdigit() and "*" not in value and "," not in value:
                # A bare version in one of Poetry's tables means "this one or newer below the next that breaks".
                value = f"^{value}"
            if found := from_package(place, entry["name"], version_or_range(value)):
                yield found
            return
    for match in _REQUIREMENT.finditer(line):
        specifiers = (match["specifiers"] or "").strip().rstrip(",")
        if re.match(r"=[^=]", specifiers):  # conda's `=0.3.1`
            specifiers = f"={specifiers}"
        if specifiers and (found := from_package(place, match["name"], version_or_range(specifiers))):
            yield found


DOCKERFILES = ("Dockerfile*", "*.Dockerfile", "Containerfile*", "docker-compose*.y*ml", "compose*.y*ml", "values*.y*ml")
SCRIPTS = ("*.sh", "*.sbatch", "*.slurm", "*.sub")
FOLDERS = ("", "docker", "scripts", "launch", "slurm")
MOST_IMAGE_FILES = 200
"""Files looked into."""

# `nvcr.io/nvidia/nemo:25.11`, pyxis' `nvcr.io#nvidia/nemo:25.11`, and enroot's `nvidia+nemo+25.11.sqsh`.
_IMAGE = re.compile(r"nvidia[/+](nemo|pytorch)[:+](\d\d\.\d\d(?:\.\d\d)?)(?P<suffix>[\w.-]*)")


def in_images(places: ProjectFolders) -> Iterator[NamedVersions]:
    """Yield the versions in the images that are named, as far as the table knows them."""
    seen = 0
    for path in places.files(*DOCKERFILES, *SCRIPTS, below=FOLDERS):
        seen += 1
        if seen > MOST_IMAGE_FILES:
            return
        text = places.text(path)
        if "nvidia" not in text:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("#") and not line.lstrip().startswith("#SBATCH"):
                continue
            for match in _IMAGE.finditer(line):
                if found := _in_image(f"{path}:{number}", match):
                    yield found


def _in_image(place: str, match: re.Match[str]) -> NamedVersions | None:
    image, tag, suffix = match[1], match[2].removesuffix(".00"), match["suffix"].removesuffix(".sqsh")
    if image == "pytorch":
        return NamedVersions(place, torch=TORCH_IN_NGC[tag]) if tag in TORCH_IN_NGC and suffix == "-py3" else None
    if suffix.strip("."):  # made for one model, or a release candidate: what is in it is not known
        return None
    known = next((each for each in CONTAINERS if each.tag == tag), None)
    return NamedVersions(place, known.bridge, known.core, known.te, known.torch) if known else None
