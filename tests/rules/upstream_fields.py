"""Which settings the classes of a release have, from its snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from mfsdp_lint.core.values import Plain
from mfsdp_lint.snapshots.knowledge import shipped

_NO_CLASS = frozenset({"env", "env_vars", "run", "args", "startup", "write", "found"})
"""Sections that are no configuration of Megatron-Bridge."""


def exists(path: str, settings: Mapping[str, Plain], release: str) -> bool:
    """Check that a class of a release has a setting: the class that the settings name for its section, else any."""
    section, _, leaf = path.partition(".")
    if section in _NO_CLASS or not leaf:
        return True
    if leaf == "__class__":
        return settings[path] in _classes(release)
    return leaf.partition(".")[0] in _names(str(settings.get(f"{section}.__class__")), release)


@cache
def _classes(release: str) -> Mapping[str, Mapping[str, Any]]:
    """The classes of a release as its snapshot describes them, by their dotted names."""
    snapshot = shipped(release)
    assert snapshot is not None
    found = {}
    for module in snapshot.modules():
        for name in snapshot.names(module) or ():
            entry = snapshot.entry(module, name)
            if entry and entry[0] == "class":
                found[f"{module}.{name}"] = entry[1]
    return found


@cache
def _names(name: str, release: str) -> frozenset[str]:
    """The fields, attributes and properties of a class and its bases; of all classes where it hides what it has."""
    described = _classes(release).get(name)
    if described is None or "forwards" in described:
        return frozenset[str]().union(*map(_own, _classes(release).values()))
    bases = [f"{base[1]}.{base[2]}" for base in described.get("bases", ()) if base[0] == "ref"]
    return _own(described).union(*(_names(base, release) for base in bases))


def _own(described: Mapping[str, Any]) -> frozenset[str]:
    fields = {field[0] for field in described.get("fields", ())}
    return frozenset(fields.union(described.get("attributes", ()), described.get("properties", ())))
