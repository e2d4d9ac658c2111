"""Projects: where one begins; the folders around a file, and paths that are written in it, with slashes as people write
them; and the folders of installed packages, as far as the process itself names them.
"""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Callable

from mfsdp_lint.inputs import disk

REPOSITORY = ".git"
DECLARES = ("pyproject.toml", "setup.cfg")
"""Files that declare the project of their folder. `setup.py` does as well, but in a package it is a module of it."""

OWN_FOLDER = ".mfsdp_cache"
"""The one folder that the tool makes in a project: outcomes of runs, and files that are not finished yet."""


def is_project(folder: str) -> bool:
    """Tell whether a folder is the root of a project."""
    return has_marker(lambda name: disk.exists(os.path.join(folder, name)))


def has_marker(has: Callable[[str], bool]) -> bool:
    """Tell whether a folder is the root of a project, by the names that it has."""
    return any(map(has, (REPOSITORY, *DECLARES))) or (has("setup.py") and not has("__init__.py"))


def root_above(folder: str) -> str:
    """Return the nearest folder from `folder` upwards that is the root of a project; itself, where there is none."""
    above = folder
    while not is_project(above):
        if os.path.dirname(above) == above:
            return folder
        above = os.path.dirname(above)
    return above


def repository_above(folder: str) -> str:
    """Return the nearest folder above that is the root of a repository, else of a project; else the folder itself."""
    above = [folder]
    while (parent := os.path.dirname(above[-1])) != above[-1]:
        above.append(parent)
    for kind in (holds_repository, is_project):
        for each in above:
            if kind(each):
                return each
    return folder


def holds_repository(folder: str) -> bool:
    """Tell whether a folder is the root of a repository."""
    return disk.exists(os.path.join(folder, REPOSITORY))


def shown(path: str) -> str:
    """Shorten an absolute path as a person would write it here."""
    relative = os.path.relpath(path)
    return (path if relative.startswith("..") else relative).replace(os.sep, "/")


OF_HOOKS = "PRE_COMMIT_FROM_REF"
"""The variable in which pre-commit names the revision before the changes that are checked, where that is not HEAD."""

DECIDING = (OF_HOOKS, "GIT_WORK_TREE")
"""The variables that decide what the texts before a change were, besides the files of git."""

VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
"""The variables of the environment that name an active virtual or conda environment."""


def active_environments() -> list[str]:
    """Return the folders of the environments that are active."""
    return [folder for variable in VARIABLES if (folder := os.environ.get(variable))]


def own_packages() -> list[str]:
    """Return the folders of packages that are installed beside the tool, as in a training container."""
    return [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]


def beside(path: str, other: str) -> str:
    """Resolve a path that is written in a file against that file's folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), other))


def above(path: str) -> list[str]:
    """Return the folders that a file lies in, the innermost first, up to the root of its repository.

    Where nothing marks a root, they are those that the path names.
    """
    folder = posixpath.dirname(path)
    root = repository_above(os.path.abspath(folder))
    top = root if is_project(root) else None
    found = [folder]
    while os.path.abspath(found[-1]) != top:
        parent = _parent(found[-1])
        # Where nothing marks a root, only the folders are known that the path names.
        if parent is None or (top is None and parent.endswith("..")):
            break
        found.append(parent)
    return found


def _parent(folder: str) -> str | None:
    if posixpath.basename(folder) in ("", ".", "..") and not folder.endswith("/"):
        return posixpath.normpath(posixpath.join(folder, ".."))
    parent = posixpath.dirname(folder)
    return None if parent == folder else parent
