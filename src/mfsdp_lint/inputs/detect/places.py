"""The folders in which a project names versions, up to the repository's root, and the versions that one place names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.inputs import disk


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

_SPECIFIER = re.compile(r"(~=|===?|!=|<=|>=|<|>|\^|~)?\s*v?([\w.*+!-]+)")


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


LARGEST = 16 * 1024 * 1024
"""Bytes. A lock file of a large project has two million; what is larger than this is something else."""


@dataclass(slots=True)
class ProjectFolders:
    """The folders to look into, nearest first, and what was seen there. `search_path` are the options' folders.

    Only these folders are listed, never what is below them, and each only once.
    """

    folders: tuple[str, ...]
    search_path: tuple[str, ...] = ()
    remarks: list[str] = field(default_factory=list)
    _listed: dict[str, disk.Listing] = field(default_factory=dict)

    def files(self, *patterns: str, below: Sequence[str] = ("",)) -> Iterator[str]:
        """Yield the files of these names in every folder (or its subfolders `below`), by folder, pattern and name."""
        for folder in self.folders:
            for inner in below:
                where = os.path.join(folder, inner) if inner else folder
                for pattern in patterns:
                    yield from (join(where, name) for name in self.names(where, pattern))

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
    folders = dict.fromkeys(folder for path in paths for folder in _upwards(path))
    return ProjectFolders(tuple(folders), tuple(search_path))


def join(folder: str, name: str) -> str:
    """Join a path as people read it: relative ones have no leading `./`."""
    return os.path.normpath(os.path.join(folder, name))


def _upwards(path: str) -> Iterator[str]:
    """Yield the folder of a path, then those above it up to the repository's root; without a repository, up to here.

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
    if root is None and here in chain:
        root = chain.index(here)
    yield from (_shown(each) for each in chain[1 : (root or 0) + 1])


def _shown(folder: str) -> str:
    """Return the folder relative to here where that is shorter to read."""
    try:
        relative = os.path.relpath(folder)
    except ValueError:  # another drive
        return folder
    return folder if relative.count(os.pardir) > 3 else relative
