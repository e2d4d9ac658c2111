"""Versions of the Megatron that is present: the tree itself, submodules, installed packages, and the imported names.

Nothing is imported, and git is not run.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise, repeat

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.detect.declared import (
    LARGEST,
    NamedVersions,
    ProjectFolders,
    from_package,
    from_revision,
    join,
    upwards,
)
from mfsdp_lint.inputs.discover import written_folders
from mfsdp_lint.inputs.imports import parsed
from mfsdp_lint.inputs.projects import active_environments, own_packages, repository_above
from mfsdp_lint.megatron.versions import HEAD, VersionError, numbers
from mfsdp_lint.megatron.versions.releases import CORE_RELEASES, every, having, having_field, releases
from mfsdp_lint.megatron.vocabulary import SECTIONS, table

BRIDGE = ("src/megatron/bridge/package_info.py", "megatron/bridge/package_info.py")
CORE = "megatron/core/package_info.py"
PINNED_CORE = f"3rdparty/Megatron-LM/{CORE}"

_PART = lazy_pattern(r"""^(MAJOR|MINOR|PATCH|PRE_RELEASE)\s*=\s*(?:(\d+)|["']([\w.]*)["'])""", re.MULTILINE)

Line = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FeatureProbe:
    """A text in a file of megatron-core (empty: the file or folder itself) that lines from `since` to below `before`
    have, and no other. Paths are relative to `megatron/core`."""

    path: str
    text: str
    since: Line
    before: Line

    def is_in(self, line: Line) -> bool:
        """Tell whether a line has it."""
        return self.since <= line < self.before


PROBES = (
    FeatureProbe("distributed/custom_fsdp", "", (0, 11), (0, 14)),
    FeatureProbe("distributed/fsdp", "", (0, 14), (1, 0)),
    FeatureProbe("distributed/distributed_data_parallel_config.py", "fsdp_manual_registration", (0, 16), (1, 0)),
    FeatureProbe("distributed/finalize_model_grads.py", "force_all_reduce", (0, 16), (1, 0)),
    FeatureProbe("distributed/fsdp/src/megatron_fsdp/utils.py", "expt_device_mesh", (0, 16), (1, 0)),
    FeatureProbe("distributed/fsdp/mcore_fsdp_adapter.py", "Grandfathered Argument", (0, 17), (0, 19)),
    FeatureProbe("distributed/torch_fully_sharded_data_parallel.py", "def finish_grad_sync", (0, 19), (1, 0)),
    FeatureProbe("distributed/distributed_data_parallel_config.py", "megatron_fsdp_version", (0, 20), (1, 0)),
    # Came in the same commit, 313f6e9; the branches from before it have an optimizer that wants the opposite.
    FeatureProbe("optimizer/__init__.py", "requires use_distributed_optimizer=False", (0, 20), (1, 0)),
)
"""Checked on the tags core_v0.12.0 … core_v0.19.0, on main at d98e8a6 and on the commits that Bridge releases pin.

The 0.16.0rc0 that Bridge 0.2 pins still lacks some of what 0.16.0 has, and is from between 0.15 and that."""

LINES: tuple[Line, ...] = tuple((0, minor) for minor in range(12, 21))


def in_tree(places: ProjectFolders) -> Iterator[NamedVersions]:
    """Yield the versions of the Megatron sources that lie in the folders themselves."""
    for folder in places.folders:
        if found := _source_in(places, folder, (PINNED_CORE, CORE)):
            yield found


def _source_in(places: ProjectFolders, folder: str, cores: Sequence[str]) -> NamedVersions | None:
    """Return the versions of the source in a folder; `cores` are the places of the core that goes with a Bridge."""
    for path in (join(folder, each) for each in BRIDGE):
        if version := declared(places.text(path)):
            texts = (places.text(join(folder, each)) for each in cores)
            return NamedVersions(path, bridge=version, core=next(filter(None, map(declared, texts)), None))
    return core_at(places, join(folder, CORE))


def core_at(places: ProjectFolders, path: str) -> NamedVersions | None:
    """Return the megatron-core that this package_info.py belongs to; its features decide where the file disagrees."""
    says = declared(places.text(path))
    if says is None:
        return None
    line, core = numbers(says)[:2], os.path.dirname(path)
    has: dict[FeatureProbe, bool] = {}  # empty where the code is not at hand
    if disk.is_folder(os.path.join(core, "distributed")):
        for probe in PROBES:
            file = os.path.join(core, *probe.path.split("/"))
            has[probe] = probe.text in places.text(file) if probe.text else disk.exists(file)
    fits = [each for each in LINES if has and all(has[probe] == probe.is_in(each) for probe in PROBES)]
    if line < LINES[0] and (not fits or LINES[0] in fits):
        places.remarks.append(f"{path} says {says}, of which nothing is known: only the text of scripts is judged")
        return NamedVersions(path, core=_named(LINES[0]), older=says)
    # Neighbouring lines of which every feature is that of one or of the other.
    between = (
        sides for sides in pairwise(LINES) if has and all(has[probe] in map(probe.is_in, sides) for probe in PROBES)
    )
    sides = None if fits else next((each for each in between if line in each), None)
    if sides is not None:
        named = " and ".join(map(_named, sides))
        places.remarks.append(f"{path} says {says}, but the code is from between megatron-core {named}: judged by both")
        newer = _releases(sides[1])[0]
        # A range holds what is in development only where it is named.
        newer = HEAD if newer.endswith(".dev") else newer
        return NamedVersions(path, core=f"{_releases(sides[0])[-1]} | {newer}", between=says)
    if not fits or line in fits:
        return NamedVersions(path, core=says)
    nearest = min(fits, key=lambda each: (abs(each[1] - line[1]), each))
    version = _named(nearest)
    places.remarks.append(f"{path} says {says}, but the code is that of megatron-core {version}")
    return NamedVersions(path, core=version)


def _named(line: Line) -> str:
    return ".".join(map(str, line))


def declared(text: str) -> str | None:
    """Return the version that a package_info.py declares; None where it declares none."""
    parts = {match[1]: match[2] or match[3] or "" for match in _PART.finditer(text)}
    if not all(parts.get(name, "").isdigit() for name in ("MAJOR", "MINOR", "PATCH")):
        return None
    version = f"{parts['MAJOR']}.{parts['MINOR']}.{parts['PATCH']}{parts.get('PRE_RELEASE', '')}"
    try:
        numbers(version)
    except VersionError:
        return None
    return version


def _releases(line: Line) -> list[str]:
    """Return the releases of a line, the oldest first."""
    return [each.core for each in CORE_RELEASES if numbers(each.core)[:2] == line]


_SECTION = lazy_pattern(r"^\s*\[submodule [^\]]*\]\s*$", re.MULTILINE)
_ENTRY = lazy_pattern(r"^\s*(path|url|branch)\s*=\s*(.+?)\s*$", re.MULTILINE)
_TAG = lazy_pattern(r"(core_)?[vr]\d[\w.]*")
"""A branch, or a tag, that belongs to one release; the commit of any other is not known."""

GITLINK = 0o160000
"""The mode of a submodule in git's index."""


def in_submodules(places: ProjectFolders) -> Iterator[NamedVersions]:
    """Yield the versions of the Megatron submodules of a repository."""
    for path in places.files(".gitmodules"):
        folder = os.path.dirname(path)
        for section in _SECTION.split(places.text(path))[1:]:
            entry = dict(_ENTRY.findall(section))
            if re.search(r"megatron-(bridge|lm)(\.git)?/?$", entry.get("url", ""), re.IGNORECASE) and "path" in entry:
                checkout = join(folder, entry["path"])
                found = _source_in(places, checkout, (PINNED_CORE,)) or _recorded(places, path, entry)
                if found is not None:
                    yield found


def _recorded(places: ProjectFolders, gitmodules: str, entry: dict[str, str]) -> NamedVersions | None:
    commit = recorded_commit(os.path.dirname(gitmodules), entry["path"])
    branch = entry.get("branch", "")
    tracked = from_revision(gitmodules, entry["url"], branch) if _TAG.fullmatch(branch) else None
    if commit is None:
        return tracked
    from mfsdp_lint.megatron.front_ends import pins

    place = f"{gitmodules}, {entry['path']} at {commit[:7]}"
    found = from_revision(place, entry["url"], commit)
    if found is None and commit in pins():  # between releases, and a framework is tied to it
        found = NamedVersions(place, **pins()[commit])
    found = found or tracked
    if found is None:
        places.remarks.append(
            f"{place}: no release that is known; --target-bridge or --target-core says which to judge by"
        )
    return found


def recorded_commit(repository: str, path: str) -> str | None:
    """Return the commit that a repository's index records for the submodule at `path` (index versions 2 and 3)."""
    try:
        index = disk.read(os.path.join(_git_folder(repository), "index"))
    except OSError:
        return None
    # An entry: ten 32-bit numbers, the seventh its mode, then the 20 bytes of its commit, 16 bits of flags of which
    # twelve are the length of its path, and the path (git's documentation, gitformat-index).
    name = path.encode("utf-8", "surrogateescape")
    start = index.find(name + b"\0")
    while start >= 0:
        begin = start - 62
        if begin >= 0:
            mode = int.from_bytes(index[begin + 24 : begin + 28], "big")
            length = int.from_bytes(index[start - 2 : start], "big") & 0xFFF
            if mode == GITLINK and length == len(name):
                return index[start - 22 : start - 2].hex()
        start = index.find(name + b"\0", start + 1)
    return None


def _git_folder(repository: str) -> str:
    """Return `.git`, or the folder that the file of that name points to (a worktree, or a submodule itself)."""
    folder = os.path.join(repository, ".git")
    if disk.is_file(folder):
        pointed = disk.read(folder).decode("utf-8", "replace").partition("gitdir:")[2].strip()
        return os.path.join(repository, pointed)
    return folder


CHECKOUTS = lazy_pattern(r"megatron[-_]bridge", re.IGNORECASE)
"""Names of folders beside a project that may hold a checkout of Megatron-Bridge."""


def source_of(places: ProjectFolders, bridge: str, core: str) -> tuple[str, ...]:
    """Return the folders in which imports find the source of just these versions; none where it is not at hand.

    It is looked for where versions are: in submodules and checkouts in the project's folders, then in the packages that
    are installed. Nothing is returned where imports find a Megatron-Bridge anyway, whichever it is.
    """
    at_hand = [*places.folders, *places.search_path]
    if any(disk.is_file(join(folder, each)) for folder in at_hand for each in BRIDGE):
        return ()
    for roots in (*_checkouts(places), *((folder,) for folder in _package_folders(places))):
        found = [_source_in(places, root, (CORE,)) for root in roots]
        bridges = {each.bridge for each in found if each is not None and each.bridge}
        cores = {each.core for each in found if each is not None and each.core}
        if bridges and all(map(_is, bridges, repeat(bridge))) and all(map(_is, cores, repeat(core))):
            return roots
    return ()


def _is(version: str, wanted: str) -> bool:
    try:
        return numbers(version) == numbers(wanted)
    except VersionError:
        return False


def _checkouts(places: ProjectFolders) -> Iterator[tuple[str, ...]]:
    """Yield the folders for imports of each checkout of Megatron-Bridge: its own, and that of its Megatron-LM."""
    named = [
        join(folder, name)
        for folder in places.folders
        for name in places.names(folder, "*")
        if CHECKOUTS.fullmatch(name)
    ]
    submodules = [
        join(os.path.dirname(path), match[2])
        for path in places.files(".gitmodules")
        for match in _ENTRY.finditer(places.text(path))
        if match[1] == "path"
    ]
    for checkout in dict.fromkeys((*submodules, *named)):
        for root in (join(checkout, "src"), checkout):
            if disk.is_file(join(root, BRIDGE[1])):
                pinned = join(checkout, "3rdparty/Megatron-LM")
                yield (root, pinned) if disk.is_file(join(pinned, CORE)) else (root,)


ENVIRONMENTS = (".venv", "venv", "env")
OURS = "mfsdp_lint-"


def in_site_packages(places: ProjectFolders) -> Iterator[NamedVersions]:
    """Yield the installed versions.

    They are on the search path (as source, too), next to the project, in active environments, and beside the tool.
    """
    yield from in_tree(ProjectFolders(places.search_path, remarks=places.remarks))
    for folder in _package_folders(places):
        found = []
        for name in places.names(folder, "*.dist-info"):
            distribution, _, version = name.removesuffix(".dist-info").partition("-")
            if one := from_package(join(folder, name), distribution, version):
                found.append(one)
        if _is_where_megatron_runs(places, folder, found):
            yield from found


def _package_folders(places: ProjectFolders) -> Iterable[str]:
    """Return the folders of packages that may be those of the project, each once."""
    folders: dict[str, None] = {}
    for folder in places.folders:
        for environment in ENVIRONMENTS:
            folders.update(dict.fromkeys(_site_packages(join(folder, environment))))
    folders.update(dict.fromkeys(places.search_path))
    for environment in active_environments():
        folders.update(dict.fromkeys(_site_packages(environment)))
    folders.update(dict.fromkeys(own_packages()))
    return folders


def _is_where_megatron_runs(places: ProjectFolders, folder: str, found: list[NamedVersions]) -> bool:
    """Tell whether the packages installed there show the versions of the project.

    Beside this tool there may be the torch and megatron-core of its dry run, and torch alone is everywhere.
    """
    if any(each.bridge for each in found):
        return True
    return any(each.core for each in found) and not places.names(folder, f"{OURS}*")


def _site_packages(environment: str) -> Iterator[str]:
    """Yield the site-packages of a virtual or conda environment, wherever its platform puts them."""
    windows = join(environment, "Lib/site-packages")
    if disk.is_folder(windows):
        yield windows
    library = join(environment, "lib")
    yield from (join(library, f"{name}/site-packages") for name in disk.Listing(library).matching("python3*"))


PACKAGE = "megatron.bridge"

# Only at the margin of a file: an import inside of `try` or of a function may be there for one version among others.
_FROM = lazy_pattern(rf"^from\s+({re.escape(PACKAGE)}[\w.]*)\s+import\s+(\([^)]*\)|[^\n;#]+)", re.MULTILINE)
_IMPORT = lazy_pattern(rf"^import\s+({re.escape(PACKAGE)}[\w.]+)", re.MULTILINE)
_COMMENT = lazy_pattern(r"#[^\n]*")

_SET = lazy_pattern(
    rf"^(?P<indent>[ \t]*)\w+\.(?P<section>{'|'.join(sorted(SECTIONS))})\.(?P<field>\w+)[\w.]*[ \t]*[-+*/|]?=(?!=)",
    re.MULTILINE,
)


def in_use(places: ProjectFolders, files: Iterable[str]) -> NamedVersions | None:
    """Find the releases that have everything that the files import, and what they set of a configuration.

    Return None if that is all of them or none. The place is the use that fewest of them have.
    """
    mask, rarest, place = every(), every(), ""
    texts = [(path, text) for path in files if PACKAGE in (text := places.text(path))]
    for path, text in texts:
        for line, has in _imported_names(text):
            if mask & has == 0:  # no release has it all: the tree carries its own parts of Megatron-Bridge
                return None
            mask &= has
            if has.bit_count() < rarest.bit_count():
                rarest, place = has, f"what {path}:{line} imports"
    for path, text in texts:
        for line, has in _set_fields(text):
            if mask & has == 0:  # it is a mistake in some release, whichever is meant: that is for the rules
                continue
            mask &= has
            if has.bit_count() < rarest.bit_count():
                rarest, place = has, f"what {path}:{line} sets"
    if mask == every():
        return None
    return NamedVersions(place, bridge=" | ".join(f"=={each}" for each in releases(mask)))


def _set_fields(text: str) -> Iterator[tuple[int, int]]:
    """Yield every assignment to a field that some releases have and others have not, by its line, and the former."""
    for match in _SET.finditer(text):
        has = having_field(match["section"], match["field"])
        if has and has != every() and not _is_guarded(text, match):
            yield text.count("\n", 0, match.start()) + 1, has


def _is_guarded(text: str, match: re.Match[str]) -> bool:
    """Tell whether the block around a statement is there for one release among others: `try`, or a question."""
    above = reversed(text[: match.start()].splitlines())
    indent = len(match["indent"].expandtabs())
    for line in above:
        said = line.strip()
        if said and len(line.expandtabs()) - len(line.expandtabs().lstrip()) < indent:
            return said.startswith(("try", "except", "else", "if", "elif", "with"))
    return False


def _imported_names(text: str) -> Iterator[tuple[int, int]]:
    """Yield every import by its line, and the releases that have it (a bit each)."""
    for match in _FROM.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        for name in _COMMENT.sub("", match[2]).strip("() \n").split(","):
            if words := name.split():
                yield line, having(match[1], words[0])
    for match in _IMPORT.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, having(match[1], None)


_FLAG = lazy_pattern(r"(?<![\w-])--[a-z][\w-]+")
_COMMENTED = lazy_pattern(r"^[ \t]*#.*$", re.MULTILINE)
_OF_TRAINING = lazy_pattern(
    r"(?<![\w.])(?:--)?(?:num[-_]layers|micro[-_]batch[-_]size|tensor[-_]model[-_]parallel[-_]size|use[-_]megatron[-_]fsdp)\b"
)
_LAUNCHES = lazy_pattern(r"\b(?:torchrun|torch\.distributed|pretrain_\w+\.py|subprocess)\b")
_KEY = lazy_pattern(r"(?<![\w.-])[\"']?([a-z]\w*[-_][\w-]+)[\"']?\s*(?:=(?!=)|:(?!=))")
_DECLARES = r"\b(?!append\b|extend\b|insert\b)\w+\((?:[^()\[\]]*,)?\s*[\"']{name}[\"']"
"""A call that is given a flag, as parsers are told of theirs; a list of words may have it as well."""


def _keys(path: str, text: str) -> Iterator[str]:
    """Yield the keys in a Python file, but for the arguments that it gives to what is not of the project."""
    of_others = _arguments_of_others(path, text)
    yield from (each[1] for each in _KEY.finditer(text) if each[1] not in of_others)


def _arguments_of_others(path: str, text: str) -> set[str]:
    """Return the named arguments of calls of what other packages have, as `torch.profiler.profile(record_shapes=…)`."""
    tree = parsed(text)
    names: set[str] = set()
    calls: list[tuple[str, ast.Call]] = []
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Import(names=imported):
                given = ((each.name, each.asname or each.name.partition(".")[0]) for each in imported)
                names |= {known_as for module, known_as in given if not _is_own(path, module)}
            case ast.ImportFrom(level=0, module=str(module), names=imported) if not _is_own(path, module):
                names |= {each.asname or each.name for each in imported}
            case ast.Call(func=func):
                while isinstance(func, ast.Attribute):
                    func = func.value
                calls += [(func.id, node)] if isinstance(func, ast.Name) else []
    return {each.arg for name, call in calls if name in names for each in call.keywords if each.arg}


def _is_own(path: str, module: str) -> bool:
    """Tell whether a module is one of the project that a file lies in, or Megatron's own."""
    first = module.partition(".")[0]
    here = (os.path.join(folder, name) for folder in upwards(path) for name in (first, f"{first}.py"))
    return first == "megatron" or any(map(disk.exists, here))


def _declaring(places: ProjectFolders, files: Iterable[str], flags: Collection[str]) -> Iterator[str]:
    """Yield the texts of a project's Python files that name one of some flags: those that are read, and all others."""
    yield from map(places.text, files)
    words = [each.encode() for each in flags]
    for root in dict.fromkeys(repository_above(os.path.abspath(each)) for each in places.folders[:1]):
        for folder, names in written_folders(root):
            for name in names:
                if name.endswith(".py"):
                    with suppress(OSError, ValueError):
                        data = disk.read(os.path.join(folder, name), LARGEST)
                        if any(word in data for word in words):
                            yield data.decode("utf-8", "replace")


def in_flags(
    places: ProjectFolders, scripts: Iterable[str], files: Iterable[str], assumed: str
) -> NamedVersions | None:
    """Find the newest megatron-core that has every flag of the scripts, and of the Python files that start training.

    None if none does, or no flag is newer than the `assumed` one. (An older flag is a mistake of its own.) Python may
    make flags of keys: `use_megatron_fsdp=True`.

    A flag that no release has is another program's, and so may be one that a Python file of the project declares. The
    place is the flag that decides.
    """
    texts = [(path, text) for path in scripts if "--" in (text := places.text(path)) and _OF_TRAINING.search(text)]
    python = [
        (path, text) for path in files if _OF_TRAINING.search(text := places.text(path)) and _LAUNCHES.search(text)
    ]
    if not (texts or python):  # (the table of settings takes a while to load)
        return None
    known = table().core_versions
    newer = known[known.index(assumed) + 1 :] if assumed in known else ()
    fits: set[str] | None = None
    deciding: dict[str, str] = {}
    narrowing = dict(texts)
    for path, text in (*texts, *python):
        keys = () if path in narrowing else (f"--{each.replace('_', '-')}" for each in _keys(path, text))
        for name in (*keys, *_FLAG.findall(_COMMENTED.sub("", text))):
            having = table().flag_versions(name)
            if having and having[0] in newer:
                deciding.setdefault(name, path)
            elif having and path in narrowing:
                fits = set(having) if fits is None else fits & set(having)
    for text in _declaring(places, files, deciding) if deciding else ():
        deciding = {name: path for name, path in deciding.items() if not re.search(_DECLARES.format(name=name), text)}
    for name in deciding:
        versions = set(table().flag_versions(name))
        fits = versions if fits is None else fits & versions
    place = next((f"{name} in {path}" for name, path in deciding.items()), "")
    if not place or not fits:
        return None
    fitting = [version for version in newer if version in fits]
    released = [version for version in fitting if version != HEAD]
    return NamedVersions(place, core=(released or fitting)[-1])
