"""A release as its users see it: the names it has, the arguments they take, and the configurations of its recipes.

Everything comes from the snapshot of the release, when it is asked for; a recipe costs some 3 ms. Nothing is stored
about a pair of releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.store import read_json
from mfsdp_lint.core.values import Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.versions.releases import every, having, in_none, releases
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots import Snapshot
from mfsdp_lint.snapshots.knowledge import load_knowledge, shipped

RECIPES = "megatron.bridge."
"""The recipes of the library, and everything else that is compared, are in this package."""

CORE = "megatron.core."

CORE_NAMES = Path(__file__).with_name("core_names.json")
"""The names of megatron-core that some release of Megatron-Bridge lacks (scripts/index_modules.py)."""

KINDS = ("model.__class__", "dataset.__class__", "peft", "peft.__class__")
"""The settings that say what is trained, and on which data: a recipe that differs in these is of another kind."""

Name = tuple[str, str]
"""A module, and a name in it."""

_ASKED = "upgrade-library.py"
_REQUIRED = ["required"]


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A call of a function of the library: its arguments as texts of Python, by keyword."""

    function: Name
    arguments: tuple[tuple[str, str], ...] = ()


class Library:
    """The library of one release."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._known: dict[LibraryCall, Recipe | None] = {}
        self._values: dict[int, Mapping[str, Value]] = {}

    @cached_property
    def snapshot(self) -> Snapshot:
        """The snapshot of the release. Raises FileNotFoundError in an installation without it."""
        found = shipped(self.target.library)
        if found is None:
            raise FileNotFoundError(f"bridge-{self.target.library}.snapshot")
        return found

    @cached_property
    def _release(self) -> str:
        return self.target.bridge if self.target.bridge in releases(every()) else self.target.data

    def has(self, module: str, name: str | None = None) -> bool:
        """Tell whether the release has a public module, or a name of one. What is not known is taken to be there."""
        if f"{module}.".startswith(CORE):
            return self._release in releases(_having_in_core(module, name))
        if not module.startswith(RECIPES) or in_none(module, name):
            return True
        return self._release in releases(having(module, name))

    def entry(self, name: Name) -> Any:
        """Return what the snapshot says of a name, at the place where it is defined; None where it has none."""
        found = self._found(name)
        return None if found is None else self.snapshot.entry(*found)

    def _found(self, name: Name) -> Name | None:
        module, inner = name
        for _ in range(16):  # (the longest chain of imports in a release is 4)
            if inner not in (self.snapshot.names(module) or ()):
                return None
            entry = self.snapshot.entry(module, inner)
            if entry[0] != "from":
                return module, inner
            module, inner = entry[1], entry[2]
        return None

    def definition(self, name: Name) -> Name:
        """Return the place where a name is defined; the name itself where that is not known."""
        return self._found(name) or name

    def defining(self, name: str) -> list[Name]:
        """Return the public modules that define a name themselves."""
        return [
            (module, name)
            for module in self.snapshot.modules()
            if module.startswith(RECIPES) and "._" not in module and name in (self.snapshot.names(module) or ())
            if self.snapshot.entry(module, name)[0] in ("class", "function", "value")
        ]

    def takes(self, name: Name) -> frozenset[str] | None:
        """Return the keyword arguments of a function, or the fields of a dataclass; None where others may do, too."""
        match self.entry(name):
            case ["function", {"parameters": parameters, **rest}]:
                kinds = {kind for _, kind, _ in parameters}
                if "**" in kinds and not rest.get("keys"):
                    return None
                own = (parameter for parameter, kind, _ in parameters if kind in ("a", "k"))
                keys: list[str] = list(rest.get("keys") or ()) if "**" in kinds else []  # type: ignore[call-overload]
                return frozenset((*own, *keys))
            case ["class", {"kind": "dataclass"}]:
                return self._fields(name)
        return None

    def members(self, name: Name) -> Mapping[str, object]:
        """Return the members of an enumeration with their values; none of what is no enumeration."""
        match self.entry(name):
            case ["class", {"kind": "enum", "attributes": dict(members)}]:
                return members
        return {}

    @cached_property
    def fields(self) -> frozenset[str]:
        """The names of the fields of all classes that the snapshot has."""
        entries = (
            self.snapshot.entry(module, name)
            for module in self.snapshot.modules()
            for name in self.snapshot.names(module) or ()
        )
        return frozenset(field for kind, *rest in entries if kind == "class" for field, *_ in rest[0].get("fields", ()))

    def _fields(self, name: Name) -> frozenset[str] | None:
        """Return the fields that a dataclass and its bases take; None where a base is not known."""
        entry = self.entry(name)
        if entry is None or entry[0] != "class" or "__init__" in entry[1].get("methods", {}):
            return None
        found = {field for field, _, *flags in entry[1].get("fields", ()) if not (flags and "i" in flags[0])}
        for base in entry[1].get("bases", ()):
            if base == ["ext", "object"]:
                continue
            more = self._fields((base[1], base[2])) if isinstance(base, list) and base[0] == "ref" else None
            if more is None:
                return None
            found |= more
        return frozenset(found)

    def recipes(self, package: str) -> Iterator[Name]:
        """Yield the public functions of a package that return a configuration without being given anything."""
        for module in self.snapshot.modules():
            if module != package and not module.startswith(f"{package}."):
                continue
            for name in self.snapshot.names(module) or ():
                entry = None if name.startswith("_") else self.snapshot.entry(module, name)
                if entry and entry[0] == "function" and "outcome" in entry[1] and not self._needs_arguments(entry[1]):
                    yield module, name

    @staticmethod
    def _needs_arguments(described: Mapping[str, Any]) -> bool:
        return any(node == _REQUIRED and kind not in ("*", "**") for _, kind, node in described.get("parameters", ()))

    def evaluated(self, calls: Iterable[LibraryCall]) -> list[Recipe | None]:
        """Return the configurations that calls return; None for a call that returns none, or cannot be made."""
        wanted = list(calls)
        new = [call for call in dict.fromkeys(wanted) if call not in self._known]
        if new:
            text = "".join(_function(number, call) for number, call in enumerate(new))
            read = read_python([_ASKED], Sources({_ASKED: text}), load_knowledge(self.target))
            found = {recipe.name: recipe for recipe in read.recipes if not recipe.partial}
            self._known |= {call: found.get(f"r{number}") for number, call in enumerate(new)}
        return [self._known[call] for call in wanted]

    def values(self, recipe: Recipe) -> Mapping[str, Value]:
        """Return the values of all settings of a recipe that `evaluated` returned, and of its kinds."""
        if id(recipe) not in self._values:
            paths = dict.fromkeys((*KINDS, *recipe.paths()))
            self._values[id(recipe)] = {path: recipe.setting(path).value for path in paths}
        return self._values[id(recipe)]


def _having_in_core(module: str, name: str | None) -> int:
    """Return the mask of the releases whose megatron-core has a module, or a name of it."""
    modules = _core_names()
    mask, names = modules.get(module, (every(), {}))
    if name is None:
        return mask
    submodule, _ = modules.get(f"{module}.{name}", (0, {}))
    return names.get(name, mask) | submodule


@cache
def _core_names() -> Mapping[str, tuple[int, Mapping[str, int]]]:
    found: Mapping[str, tuple[int, Mapping[str, int]]] = read_json(CORE_NAMES)["modules"]
    return found


def _function(number: int, call: LibraryCall) -> str:
    module, name = call.function
    given = ", ".join(f"{keyword}={text}" for keyword, text in call.arguments)
    return f"def r{number}():\n    from {module} import {name}\n    return {name}({given})\n"
