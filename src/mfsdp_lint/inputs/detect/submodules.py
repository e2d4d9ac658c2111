"""Git submodules: what `.gitmodules` names, at the commit that is checked out or recorded. git is not run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.detect.found import Found
from mfsdp_lint.inputs.detect.places import Places, join
from mfsdp_lint.inputs.detect.revisions import from_revision
from mfsdp_lint.inputs.detect.tree import BRIDGE, CORE, PINNED_CORE, core_at, declared

_SECTION = re.compile(r"^\s*\[submodule [^\]]*\]\s*$", re.MULTILINE)
_ENTRY = re.compile(r"^\s*(path|url)\s*=\s*(.+?)\s*$", re.MULTILINE)

GITLINK = 0o160000
"""The mode of a submodule in git's index."""


def in_submodules(places: Places) -> Iterator[Found]:
    """Yield the versions of the Megatron submodules of a repository."""
    for path in places.files(".gitmodules"):
        folder = os.path.dirname(path)
        for section in _SECTION.split(places.text(path))[1:]:
            entry = dict(_ENTRY.findall(section))
            if re.search(r"megatron-(bridge|lm)(\.git)?/?$", entry.get("url", ""), re.IGNORECASE) and "path" in entry:
                found = _checked_out(places, join(folder, entry["path"])) or _recorded(places, path, entry)
                if found is not None:
                    yield found


def _checked_out(places: Places, checkout: str) -> Found | None:
    for path in (join(checkout, each) for each in BRIDGE):
        if version := declared(places.text(path)):
            return Found(path, bridge=version, core=declared(places.text(join(checkout, PINNED_CORE))))
    return core_at(places, join(checkout, CORE))


def _recorded(places: Places, gitmodules: str, entry: dict[str, str]) -> Found | None:
    commit = recorded_commit(os.path.dirname(gitmodules), entry["path"])
    if commit is None:
        return None
    place = f"{gitmodules}, {entry['path']} at {commit[:7]}"
    found = from_revision(place, entry["url"], commit) or _of_a_framework(place, commit)
    if found is None:
        places.remarks.append(
            f"{place}: no release that is known; --target-bridge or --target-core says which to judge by"
        )
    return found


def _of_a_framework(place: str, commit: str) -> Found | None:
    """Return the versions of a commit between releases that a framework is tied to; None for another commit."""
    from mfsdp_lint.megatron.front_ends.load import pins

    return Found(place, **pins()[commit]) if commit in pins() else None


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
