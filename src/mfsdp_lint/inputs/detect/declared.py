"""Versions that files of a project declare: lock files, requirements, containers; and the folders that have such files.

All of them are read as lines that name a package or an image, which is what they have in common: a file that is
malformed for its own tool still says what it says, and every line has a number. A TOML parser takes half a second for a
large lock file, and knows no line numbers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice, pairwise

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import is_project
from mfsdp_lint.megatron.versions import HEAD
from mfsdp_lint.megatron.versions.releases import CONTAINERS, CORE_HEAD, CORE_RELEASES, RELEASES, TORCH_IN_NGC


@dataclass(frozen=True, slots=True)
class NamedVersions:
    """`place` is where it says so (`uv.lock:812`). `bridge` and `core` may be ranges, `te` and `torch` are versions;
    None where it says nothing of them. `older` is the version of a core that is older than all that are known, of which
    `core` is then the oldest; `between` is that of one from between the two that `core` names."""

    place: str
    bridge: str | None = None
    core: str | None = None
    te: str | None = None
    torch: str | None = None
    older: str | None = None
    between: str | None = None


PACKAGES = {
    "megatron-bridge": "bridge",
    "megatron-core": "core",
    "transformer-engine": "te",
    "transformer-engine-torch": "te",
    "transformer-engine-cu12": "te",
    "transformer-engine-cu13": "te",
    "torch": "torch",
}
"""The distributions whose versions matter, by their normalised names, and the field of NamedVersions that is theirs."""

_LONGEST = 100
"""Characters of a specifier that people write."""

_SPECIFIER = lazy_pattern(r"(~=|===?|!=|<=|>=|<|>|\^|~)?\s*v?([\w.*+!-]+)")


def normalised(name: str) -> str:
    """Normalise a distribution's name as package indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def from_package(place: str, name: str, version: str | None) -> NamedVersions | None:
    """Return the version that a named distribution has; None for a distribution that does not matter here."""
    field = PACKAGES.get(normalised(name))
    if field is None or not version:
        return None
    if field in ("te", "torch") and re.search(r"[<>=!|,*]", version):  # one of several is not known
        return None
    return NamedVersions(place, **{field: version})


def version_or_range(specifiers: str) -> str | None:
    """Convert a requirement's specifiers (PEP 440, and Poetry's `^` and `~`) to the tool's version or range.

    None where they are empty, or not understood.
    """
    bounds = []
    for piece in (piece.strip() for piece in specifiers.split(",")):
        if not piece or piece == "*":
            continue
        match = _SPECIFIER.fullmatch(piece)
        if match is None or len(piece) > _LONGEST:
            return None
        bounds += _bounds(match[1] or "==", match[2])
    if len(bounds) == 1 and bounds[0].startswith("=="):
        return bounds[0][2:]
    return ",".join(bounds) or None


def _bounds(sign: str, version: str) -> list[str]:
    """Convert one specifier.

    Bounds are spelt out to three numbers, since a shorter one would mean a whole line here.
    """
    if version.endswith(".*"):
        return [f"{'!=' if sign == '!=' else '=='}{version[:-2]}.*"]
    parts = version.split("+")[0].split(".")
    full = ".".join((*parts, "0", "0")[:3]) if len(parts) < 3 else version
    match sign:
        case "==" | "===":
            return [f"=={full}"]
        case "~=":
            return [f">={full}", f"<{_next(parts[: max(len(parts) - 1, 1)])}"]
        case "~":
            return [f">={full}", f"<{_next(parts[:2])}"]
        case "^":
            leading = next((i for i, part in enumerate(parts) if part != "0"), len(parts) - 1)
            return [f">={full}", f"<{_next(parts[: leading + 1])}"]
        case _:
            return [f"{sign}{full}"]


def _next(parts: list[str]) -> str:
    """Return the version behind all that begin with these numbers."""
    last = re.match(r"\d*", parts[-1])
    return ".".join([*parts[:-1], str(int((last and last[0]) or 0) + 1)])


MOST_FOLDERS = 200
"""Folders in one folder that are looked into."""

LARGEST = 16 * 1024 * 1024
"""Bytes. A lock file of a large project has two million; what is larger than this is something else."""


@dataclass(slots=True)
class ProjectFolders:
    """The folders to look into, nearest first, and what was seen there. `search_path` are the options' folders.

    Only these folders are listed, and where it is asked for those in them, each only once.
    """

    folders: tuple[str, ...]
    search_path: tuple[str, ...] = ()
    remarks: list[str] = field(default_factory=list)
    _listed: dict[str, disk.Listing] = field(default_factory=dict)

    def only(self, folders: tuple[str, ...]) -> ProjectFolders:
        """Return other folders, of the same search path, with what was seen."""
        return replace(self, folders=folders, _listed=self._listed)

    def files(self, *patterns: str, below: bool = False) -> Iterator[str]:
        """Yield the files of these names in every folder, and in those in it (`below`), by folder, pattern and name."""
        for folder in self.folders:
            for where in (folder, *(self._inside(folder) if below else ())):
                for pattern in patterns:
                    yield from (join(where, name) for name in self.names(where, pattern))

    def _inside(self, folder: str) -> Iterator[str]:
        """Yield the folders in a folder, none of them elsewhere, and hidden ones if images are described there; as many
        as a project has.
        """
        with suppress(OSError):
            inside = (each for each in disk.entries(folder) if each.kind == "folder" and not each.is_link)
            names = (each.name for each in islice(inside, MOST_FOLDERS))
            yield from (join(folder, name) for name in names if name[:1] != "." or name in OF_IMAGES)

    def names(self, folder: str, pattern: str) -> list[str]:
        """Return the names in a folder that match a shell pattern, sorted; none where it cannot be listed."""
        if folder not in self._listed:
            self._listed[folder] = disk.Listing(folder)
        return self._listed[folder].matching(pattern)

    def text(self, path: str) -> str:
        """Return the text of a file.

        Empty, with a remark, where it cannot be read; empty for a path that is no plain file, or a file that is too
        large.
        """
        try:
            content = disk.read(path, LARGEST + 1) if disk.is_file(path) else b""
            if len(content) > LARGEST:
                return ""
            return "\n".join(content.decode("utf-8", "replace").replace("\r\n", "\n").split("\r"))
        except OSError as error:
            self.remarks.append(f"{path}: {error.strerror or error}: not asked for versions")
            return ""


def project_folders(paths: Sequence[str], search_path: Sequence[str] = ()) -> ProjectFolders:
    """Return the places for the paths that a run was asked to lint."""
    folders = dict.fromkeys(folder for path in paths for folder in upwards(path))
    return ProjectFolders(tuple(folders), tuple(search_path))


def join(folder: str, name: str) -> str:
    """Join a path as people read it: relative ones have no leading `./`."""
    return os.path.normpath(os.path.join(folder, name))


def upwards(path: str) -> Iterator[str]:
    """Yield the folder of a path, then those above it up to the repository's root; without a repository, up to the
    project's, or up to here if that is further.

    Where the path lies in a `megatron` package, the folder of that package counts as well.
    """
    folder = path if disk.is_folder(path) else os.path.dirname(path)
    start = os.path.abspath(folder)
    chain = [start]
    while os.path.dirname(chain[-1]) != chain[-1]:
        chain.append(os.path.dirname(chain[-1]))
    yield _shown(start)
    package = next((i for i, each in enumerate(chain) if os.path.basename(each) == "megatron"), None)
    if package is not None:
        yield _shown(chain[package + 1])
    here = os.path.abspath(os.curdir)
    root = next((i for i, each in enumerate(chain) if disk.exists(os.path.join(each, ".git"))), None)
    if root is None:
        project = next((i for i, each in enumerate(chain) if is_project(each)), 0)
        root = max(project, chain.index(here) if here in chain else 0)
    yield from (_shown(each) for each in chain[1 : root + 1])


def _shown(folder: str) -> str:
    """Return the folder relative to here where that is shorter to read."""
    try:
        relative = os.path.relpath(folder)
    except ValueError:  # another drive
        return folder
    return folder if relative.count(os.pardir) > 3 else relative


_REPOSITORY = lazy_pattern(r"[/:]([\w.-]+?)(?:\.git)?/?(?=[@?#\s\"']|$)")
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


LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock*.toml")

_PACKAGE = lazy_pattern(r'\[\[packages?\]\][^\n]*\n(?=name\s*=\s*"([^"]+)")')
"""The head of an entry, which begins a line. (Where `^` said so, the text would be searched letter by letter.)"""
_END = lazy_pattern(r"^\[\[packages?\]\]|^\[metadata\]|\Z", re.MULTILINE)
_FIELD = lazy_pattern(r"""^(name|version|source|url|reference|resolved_reference|git|revision|ref)\s*=\s*(.*)$""", re.M)
_GIT = lazy_pattern(r'git\s*=\s*"([^"?#]+)(?:\?(?:[^"#]*&)?(?:rev|tag|branch)=([^"&#]+))?[^"#]*(?:#(\w+))?"')


def in_locks(places: ProjectFolders) -> Iterator[NamedVersions]:
    """Yield the locked versions, and their places."""
    for path in places.files(*LOCKS):
        for line, name, body in _packages_in(places.text(path)):
            if found := _locked(f"{path}:{line}", name, body):
                yield found


@lru_cache(maxsize=4)
def _packages_in(text: str) -> tuple[tuple[int, str, str], ...]:
    """Return the packages in a lock file that matter, with their lines and entries; a server asks all the time."""
    if not any(name in text for name in PACKAGES):
        return ()
    return tuple(
        (text.count("\n", 0, head.end()) + 1, head[1], text[head.end() : end.start()])
        for head in _PACKAGE.finditer(text)
        if text[head.start() - 1 : head.start()] in ("", "\n") and normalised(head[1]) in PACKAGES
        if (end := _END.search(text, head.end()))
    )


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


PINNED = (
    *("requirements*.txt", "*[-_.]requirements*.txt", "requirements*.lock", "constraints*.txt"),
    *("environment*.yml", "environment*.yaml", "conda*.yml", "conda*.yaml"),
)
DECLARED = ("pyproject.toml", "setup.cfg", "setup.py", "Pipfile", "pixi.toml")
OF_REQUIREMENTS = "requirements"
"""A folder in which some keep them, a file a purpose."""

_NAME = r"(?P<name>(?:nvidia[-_.])?(?:megatron|transformer|torch)[\w.-]*)"
_REQUIREMENT = lazy_pattern(
    rf"""(?:^|["'\s\-=\[,])
    {_NAME}\s*(?:\[[^\]]*\])?\s*
    (?:@\s*(?P<url>[^\s"',;]+) | (?P<specifiers>(?:(?:[<>=!~]=?=?|\^)\s*[\w.*+!-]+\s*,?\s*)+))""",
    re.VERBOSE | re.IGNORECASE,
)
_TABLE_ENTRY = lazy_pattern(rf"""^["']?{_NAME}["']?\s*=\s*(?P<value>["'{{].*)$""", re.IGNORECASE)
_URL = lazy_pattern(r"(?:git\+)?(?:https?|ssh)://[^\s\"']*?megatron-(?:bridge|lm)[^\s\"']*", re.IGNORECASE)
_REVISION = lazy_pattern(r"@([\w./-]+?)(?=[#&\s\"']|$)")
_INLINE = lazy_pattern(r"""\b(version|git|rev|tag|branch)\s*=\s*["']([^"']*)["']""")


def in_requirements(places: ProjectFolders) -> Iterator[NamedVersions]:
    """Yield the versions that the requirement files ask for, from files that pin first."""
    kept = places.only(tuple(join(folder, OF_REQUIREMENTS) for folder in places.folders)).files("*.txt", "*.lock")
    for paths in ((*places.files(*PINNED), *kept), places.files(*DECLARED)):
        yield from _requirements_of(places, paths)


def in_requirements_below(places: ProjectFolders) -> NamedVersions | None:
    """Return the version that the requirement files in the folders of a project name, of which none names another."""
    paths = islice(places.files(*PINNED, *DECLARED, below=True), MOST_SET_UP_FILES)
    found = [each for each in _requirements_of(places, paths) if each.bridge or each.core]
    return found[0] if len({(each.bridge, each.core) for each in found}) == 1 else None


def _requirements_of(places: ProjectFolders, paths: Iterable[str]) -> Iterator[NamedVersions]:
    for path in paths:
        text = places.text(path)
        if any(word in text.lower() for word in ("megatron", "transformer", "torch")):
            for number, line in enumerate(map(str.strip, text.splitlines()), 1):
                if not line.startswith("#"):
                    yield from _requirements(f"{path}:{number}", re.sub(r"\s#.*$", "", line))


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
        if re.match(r"=[^=]", specifiers):  # conda's `=0.3.1`, or an assignment
            specifiers = f"={specifiers}" if re.match(r"=\s*\d", specifiers) else ""
        if specifiers and (found := from_package(place, match["name"], version_or_range(specifiers))):
            yield found


DOCKERFILES = (
    *("Dockerfile*", "*.Dockerfile", "Containerfile*", "devcontainer.json"),
    *("docker-compose*.y*ml", "compose*.y*ml", "values*.y*ml", "kustomization.y*ml"),
    *("*.def", "Singularity*", "Apptainer*"),
)
OF_IMAGES = frozenset({".devcontainer", ".docker"})
"""Hidden folders in which people describe the images that they work in."""
SCRIPTS = ("*.sh", "*.sbatch", "*.slurm", "*.sub", "*.env", "*VERSION*")
MOST_SET_UP_FILES = 200
"""Files looked into, in the folders of a project and those in them."""

# `nvcr.io/nvidia/nemo:25.11`, pyxis' `nvcr.io#nvidia/nemo:25.11`, and enroot's `nvidia+nemo+25.11.sqsh`.
_IMAGE = lazy_pattern(r"nvidia[/+](nemo|pytorch)[:+](\d\d\.\d\d(?:\.\d\d)?)(?P<suffix>[\w.-]*)")

# `registry/trainer:core_v0.19.0`, `newTag: core_v0.19.0-cu129`, `registry/megatron-bridge:0.4.2`, and a folder that is
# called by a tag of Megatron-LM (`/opt/megatron/core_v0.19.0`, `Megatron-LM-core_v0.19.0`).
_TAGGED = lazy_pattern(
    r"(?:(?<![\w.-])(?P<image>[\w.-]+)[:+]|tag[\"']?[ \t]*[:=][ \t]*[\"']?|(?<![A-Za-z0-9.])(?=core_[vr]\d))"
    r"(?P<tag>core_[vr]\d+\.\d+(?:\.\d+(?:rc\d+)?)?(?!\w|\.\d)|v?\d+\.\d+\.\d+(?![\w.]))",
    re.IGNORECASE,
)
"""An image whose tag is a tag of Megatron-LM, or one with the name of a package and the number of a release; or such a
tag of Megatron-LM anywhere else: nothing but Megatron-LM is called so."""
_IMAGE_NAME = lazy_pattern(
    r"""[ \t]*(?:-[ \t]+)?["']?(?:newName|repository|image|name)["']?[ \t]*[:=][ \t]*"""
    r"""["']?(?:[\w.:-]+/)*(?P<image>[\w.-]+)["']?,?[ \t]*$""",
    re.IGNORECASE,
)
_BESIDE_A_TAG = 2
"""Lines above and below the tag of an image, of which one has its name."""
_CORES = frozenset(each.core for each in CORE_RELEASES)
_PACKAGED = {
    "megatron-bridge": frozenset(each.bridge for each in RELEASES),
    "megatron-core": _CORES,
    "megatron-lm": _CORES,
}


def in_set_up(places: ProjectFolders) -> Iterator[NamedVersions]:
    """Yield the versions that Dockerfiles and scripts install, then those in the images that they name."""
    files = places.files(*DOCKERFILES, *SCRIPTS, below=True)
    yield from set_up_by(places, islice(files, MOST_SET_UP_FILES))


def in_own_set_up(places: ProjectFolders) -> Iterator[NamedVersions]:
    """Yield the versions that the folders' own Dockerfiles and scripts set up.

    The image in a script is that of the script's own run (see `named_by`).
    """
    yield from set_up_by(places, islice(places.files(*DOCKERFILES), MOST_SET_UP_FILES))
    yield from set_up_by(places, islice(places.files(*SCRIPTS), MOST_SET_UP_FILES), images=False)


_PROJECT_INSTALLED = lazy_pattern(
    r"\b(?:pip3?\s+install\b.*?\s(?:-r|--requirement|-e|--editable|\.)(?=[\s=./]|$)|uv\s+sync\b)"
)
"""A command that installs what the project's own files name."""


def named_by(places: ProjectFolders, path: str) -> tuple[NamedVersions, ...]:
    """Return the Megatron versions that a launch file sets up for its own runs; none where it names different ones."""
    text = places.text(path)
    if not _TELLING.search(text) or _PROJECT_INSTALLED.search(text):
        return ()
    found = tuple(each for each in set_up_by(places, (path,)) if each.bridge or each.core)
    return found if len({(each.bridge, each.core) for each in found}) == 1 else ()


def set_up_by(places: ProjectFolders, paths: Iterable[str], *, images: bool = True) -> Iterator[NamedVersions]:
    """Yield the versions that these files install, then those in the images that they name.

    Where they install several versions of a package, any of these is meant.
    """
    texts = [(path, text) for path in paths if _TELLING.search(text := places.text(path))]
    installed = [found for path, text in texts for found in _installed(path, text)]
    for package in ("bridge", "core"):
        by_version = {version: found for found in reversed(installed) if (version := getattr(found, package))}
        if by_version:
            where = dict.fromkeys(found.place for found in reversed(by_version.values()))
            yield NamedVersions(", ".join(where), **{package: " | ".join(reversed(by_version))})
    yield from (found for found in installed if not (found.bridge or found.core))
    megatron = any(found.bridge or found.core for found in installed)
    for found in (found for path, text in texts for found in _in_images(path, text)) if images else ():
        # What is installed into an image counts.
        yield replace(found, bridge=None, core=None) if megatron else found


def tables(places: ProjectFolders) -> Iterator[str]:
    """Yield the project's TOML files, in which a program may look up what it checks out (`ref = "core_v0.19.0"`)."""
    return islice(places.files("*.toml", below=True), MOST_SET_UP_FILES)


def in_images_of(places: ProjectFolders, paths: Iterable[str]) -> NamedVersions | None:
    """Return the Megatron versions in the images that files name or make; None where there are others too."""
    texts = [(path, text) for path in paths if _TELLING.search(text := places.text(path))]
    found = (each for path, text in texts for each in (*_in_images(path, text), *_installed(path, _set_up_in(text))))
    return _agreed(found)


def in_pages(places: ProjectFolders) -> NamedVersions | None:
    """Return the Megatron version that the project's README says; None where it names different ones."""
    texts = ((path, places.text(path).translate(_MARKS)) for path in places.files("README*"))
    return _agreed(each for path, text in texts for each in (*_installed(path, text), *_in_images(path, text)))


def _agreed(found: Iterable[NamedVersions]) -> NamedVersions | None:
    megatron = [each for each in found if each.bridge or each.core]
    return megatron[0] if len({(each.bridge, each.core) for each in megatron}) == 1 else None


_MARKS = str.maketrans("`*()", "    ")
"""Marks of a page around the name of a package, or a tag."""
_SETS_UP = lazy_pattern(r"pip_install\([^()]*\)|^.*\b(?:pip3? install|git\s+(?:-\S+\s+)*clone)\b.*", re.MULTILINE)
"""Lines of a Python file about how an image is made: `run_commands("git clone -b v0.6.0 …")` of Modal, and the like."""


def _set_up_in(text: str) -> str:
    """Return these pieces of a Python text, each in its line."""
    if "install" not in text and "clone" not in text:  # as in most, which is found sooner than a pattern
        return ""
    pieces = [found.span() for found in _SETS_UP.finditer(text)]
    gaps = pairwise((0, *(place for piece in pieces for place in piece), len(text)))
    return "".join(
        text[start:end] if number % 2 else "\n" * text.count("\n", start, end)
        for number, (start, end) in enumerate(gaps)
    )


_TELLING = lazy_pattern(r"nvidia|megatron|core_[vr]\d", re.IGNORECASE)
_COMMENT = lazy_pattern(r"\s*#(?!SBATCH)")
_MESSAGE = lazy_pattern(r"\s*[-@]?\s*(?:echo|printf|die|log|error|usage)\b")
_NAMED_VALUE = lazy_pattern(
    r"""^[ \t]*(?:-[ \t]+)?(?:(?:ARG|ENV|export|readonly)[ \t]+)?(\w+)[ \t]*"""
    r"""(?:[:?]{0,3}=|:)[ \t]*["']?([\w.+-]+)["']?[ \t]*$""",
    re.M,
)
# (In a justfile `{{tag}}`.)
# (In a workflow of GitHub `${{ env.TAG }}`.)
_USE = lazy_pattern(r"\$(?:(\w+)|[({](\w+)(?::?-([\w.+-]*))?[)}])|\$?\{\{[ ]*(?:env\.)?(\w+)[ ]*\}\}")
_CHECKED_OUT = lazy_pattern(
    r"^(?P<margin>[ ]*)repository:[ ]*[\"']?(?P<url>[\w.-]+/megatron-(?:bridge|lm))[\"']?[ ]*\n"
    r"(?:(?P=margin)[\w-]+:.*\n){0,4}?(?P=margin)ref:[ ]*[\"']?(?P<revision>[\w./-]+)",
    re.IGNORECASE | re.MULTILINE,
)
"""The step of a workflow that checks Megatron out (actions/checkout), with the revision behind it."""
_CLONE = lazy_pattern(r"\bgit\s+(?:-\S+\s+)*clone\b.{0,500}?megatron-(?:bridge|lm)\b.{0,500}", re.IGNORECASE)
_BRANCH = lazy_pattern(r"\s(?:-b|--branch|--revision)[\s=]\s*[\"']?([\w./-]+)")
_CHECKOUT = lazy_pattern(r"\bgit\s+(?:-C\s+\S+\s+)?(?:checkout|switch|reset)\s+(?:-\S+\s+)*[\"']?([\w./-]+)")
_GIT_COMMAND = lazy_pattern(r"(?<![\w.-])git\s")
_ENTERED = lazy_pattern(r"(?<![\w.-])(?:cd|pushd|git\s+-C)\s+[\"']?([^\s\"';&|]+)")
_IS_SOURCE = lazy_pattern(r"(?:^|/)(megatron-(?:bridge|lm))/?$", re.IGNORECASE)
_SOURCE_FOLDER = lazy_pattern(
    r"^[ \t]*(?:(?:export|readonly)[ \t]+)?(?P<name>\w+)="
    r"[\"']?(?P<folder>[^\s\"'=]*?megatron-(?:bridge|lm))/?[\"']?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A variable that names the folder of a checkout."""
_LONGEST_PIECE = 5000
"""Characters of a command that people write."""


def _with_values(text: str) -> str:
    """Put the values of variables into a text, of those that it gives one value, and defaults of the others."""
    values: dict[str, set[str]] = {}
    for match in _NAMED_VALUE.finditer(text):
        values.setdefault(match[1], set()).add(match[2])

    def value(match: re.Match[str]) -> str:
        known = values.get(match[1] or match[2] or match[4], {match[3]} if match[3] else set())
        return next(iter(known)) if len(known) == 1 else match[0]

    return _USE.sub(value, text)


@lru_cache(maxsize=MOST_SET_UP_FILES)
def _installed(path: str, text: str) -> tuple[NamedVersions, ...]:
    """Return the versions that a Dockerfile or a script installs; every folder below it asks."""
    return tuple(_installs(path, _with_values(text)))


@lru_cache(maxsize=MOST_SET_UP_FILES)
def _in_images(path: str, text: str) -> tuple[NamedVersions, ...]:
    """Return the versions in the images that a file names."""
    lines = enumerate(_with_values(text).splitlines(), 1)
    said = [(f"{path}:{number}", line) for number, line in lines if not _COMMENT.match(line)]
    known = (_in_image(place, match) for place, line in said for match in _IMAGE.finditer(line))
    # (What a command of git takes is of a repository that it names.)
    tags = ((at, place, match, line) for at, (place, line) in enumerate(said) for match in _TAGGED.finditer(line))
    tagged = (
        _as_tagged(place, match["image"] or _image_around(said, at), match["tag"])
        for at, place, match, line in tags
        if match["image"] or not _GIT_COMMAND.search(line)
    )
    return tuple(each for each in (*known, *tagged) if each is not None)


def _installs(path: str, text: str) -> Iterator[NamedVersions]:
    """Yield the versions that a text installs: packages, and checkouts of git."""
    for match in _CHECKED_OUT.finditer(text):
        place = f"{path}:{text.count(chr(10), 0, match.start('revision')) + 1}"
        if found := from_revision(place, f"github.com/{match['url']}", match["revision"]):
            yield found
    cloned = ""
    folders = {match["name"]: match["folder"] for match in _SOURCE_FOLDER.finditer(text)}
    for number, line in _commands(text):
        place = f"{path}:{number}"
        for piece in () if _COMMENT.match(line) else re.split(r"&&|\|\|?|;", re.sub(r"\s#.*$", "", line)):
            if _MESSAGE.match(piece) or len(piece) > _LONGEST_PIECE:
                continue
            if (entered := _ENTERED.search(piece)) and (source := _IS_SOURCE.search(_filled(entered[1], folders))):
                cloned = f"github.com/NVIDIA/{source[1]}"
            if clone := _CLONE.search(piece):
                branch, cloned = _BRANCH.search(clone[0]), clone[0]
                found = branch and from_revision(place, cloned, branch[1])
            else:
                revision = _CHECKOUT.search(piece) if cloned else None
                found = revision and from_revision(place, cloned, revision[1])
            yield from (found,) if found else _requirements(place, piece.strip())


def _filled(folder: str, folders: Mapping[str, str]) -> str:
    """Return a folder for the variable that names it."""
    return folders.get(folder.strip("${}"), folder)


def _commands(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers; a line that a backslash continues is one with those behind it."""
    begun, pieces = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if not (line or pieces):
            continue
        begun = begun if pieces else number
        pieces.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            yield begun, " ".join(pieces)
            pieces = []
    if pieces:
        yield begun, " ".join(pieces)


def _in_image(place: str, match: re.Match[str]) -> NamedVersions | None:
    image, tag, suffix = match[1], match[2].removesuffix(".00"), match["suffix"].removesuffix(".sqsh")
    if image == "pytorch":
        return NamedVersions(place, torch=TORCH_IN_NGC[tag]) if tag in TORCH_IN_NGC and suffix == "-py3" else None
    if suffix.strip("."):  # made for one model, or a release candidate: what is in it is not known
        return None
    known = next((each for each in CONTAINERS if each.tag == tag), None)
    return NamedVersions(place, known.bridge, known.core, known.te, known.torch) if known else None


def _image_around(lines: Sequence[tuple[str, str]], at: int) -> str:
    """Return the package that an image is called by, of which a line gives the tag alone, as Kustomize and charts have
    it; "" where it is called by none.
    """
    around = lines[max(0, at - _BESIDE_A_TAG) : at + _BESIDE_A_TAG + 1]
    names = (found["image"] for _, line in around if (found := _IMAGE_NAME.match(line)))
    return next((name for name in names if normalised(name) in _PACKAGED), "")


def _as_tagged(place: str, image: str, tag: str) -> NamedVersions | None:
    """Return the version that an image is tagged with: whoever builds one of a release calls it as upstream does."""
    image = normalised(image)
    if tag[0] in "cC":
        version = _core_at(tag)
        return None if version is None else NamedVersions(place, core=version)
    version = tag.lstrip("vV")
    if version not in _PACKAGED.get(image, ()):  # a number of their own
        return None
    return NamedVersions(place, bridge=version) if image == "megatron-bridge" else NamedVersions(place, core=version)
