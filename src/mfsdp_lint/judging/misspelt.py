"""Settings that a configuration gives and that surely are misspelt: one has a near name, and nothing has this one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.snapshots.knowledge import shipped
from mfsdp_lint.vocabulary import table

_ALIKE = 0.85
_OTHERS = frozenset({"env", "env_vars", "run"})
"""Sections whose names anybody may make."""


def misspelt(paths: Iterable[str], data: str) -> Iterator[tuple[str, str]]:
    """Each path that is misspelt, and the setting that is nearest. `data` is the release whose names count.

    A name that is like none is somebody's own.
    """
    return ((path, meant) for path in paths if (meant := _meant(path, data)))


@lru_cache(maxsize=4096)  # who gives many configurations gives the same settings each time
def _meant(path: str, data: str) -> str:
    """The setting that is meant by a path that is none; "" where it may be right."""
    known = table().entries
    section, _, rest = path.partition(".")
    leaf = path.rpartition(".")[2]
    if path in known or section in _OTHERS or leaf.startswith("__"):
        return ""
    sections = {each.partition(".")[0] for each in known if "." in each}
    if rest and section not in sections:
        meant = [f"{each}.{rest}" for each in nearest(section, sections, cutoff=0.75)]
        wrong = section
    elif any(each.endswith(f".{leaf}") for each in known):
        return ""  # of another section, which may have been given it
    else:
        meant = nearest(path, (each for each in known if each.startswith(f"{section}.")), cutoff=_ALIKE)
        wrong = leaf
    return meant[0] if meant and wrong not in _upstream_names(data) else ""


@cache
def _upstream_names(data: str) -> frozenset[str]:
    """The names of all fields, attributes and properties of the classes of a release."""
    snapshot = shipped(data)
    if snapshot is None:
        return frozenset()
    names: set[str] = set()
    for module in snapshot.modules():
        for name in snapshot.names(module) or ():
            entry = snapshot.entry(module, name)
            if entry and entry[0] == "class":
                described = entry[1]
                names.update(field[0] for field in described.get("fields", ()))
                names.update(described.get("attributes", ()), described.get("properties", ()))
    return frozenset(names)
