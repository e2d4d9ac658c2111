"""Answers the evaluator about upstream packages whose source is not at hand, from a snapshot (see `snapshots`)."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from mfsdp_lint.core.files import read
from mfsdp_lint.core.recipe import How, Origin, Recipe, Span
from mfsdp_lint.inputs.imports import closure
from mfsdp_lint.megatron.versions import Target, resolve_target
from mfsdp_lint.megatron.versions.releases import having, in_none, releases
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.knowledge import Knowledge
from mfsdp_lint.readers.python.state.calling import isolated
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.code import Deferred, StarOut
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ClassObject,
    ConfigTree,
    External,
    Frame,
    Module,
    Object,
    Place,
)
from mfsdp_lint.snapshots import PROVIDERS, Snapshot
from mfsdp_lint.snapshots.build import Builder
from mfsdp_lint.snapshots.upstream import ClassData, upstream_function

if TYPE_CHECKING:
    from mfsdp_lint.readers.framework_configs import ProgramReader
    from mfsdp_lint.readers.megatron_lm_arguments import CommandLine

DATA = os.path.join(os.path.dirname(__file__), "data")
PACKAGE = "megatron"
VERSIONED = {
    "megatron.bridge": "megatron-bridge",
    "megatron.bridge.package_info": "megatron-bridge",
    "megatron.core": "megatron-core",
    "megatron.core.package_info": "megatron-core",
}
"""The modules that say which version of a package they belong to."""
VERSION, SHORT_VERSION, PARTS = "__version__", "__shortversion__", ("MAJOR", "MINOR", "PATCH", "PRE_RELEASE")


def load_knowledge(target: Target, *also: Target) -> SnapshotKnowledge:
    """Load the knowledge of the target's release, or of its neighbour. The snapshot is opened on first use.

    `also` are other releases that share the reading.
    """
    return SnapshotKnowledge(lambda: shipped(target.library), target, also)


@lru_cache(maxsize=8)
def shipped(bridge: str) -> Snapshot | None:
    """Open the snapshot of a Megatron-Bridge release that comes with the tool; None if there is none."""
    try:
        return Snapshot(read(os.path.join(DATA, f"bridge-{bridge}.snapshot")))
    except FileNotFoundError:
        return None


@lru_cache(maxsize=8)
def _packages(snapshot: Snapshot) -> dict[str, list[str]]:
    """Return the modules right below each package of a snapshot."""
    found: dict[str, list[str]] = {}
    seen = set()
    for full in snapshot.modules():
        parts = full.split(".")
        for depth in range(len(parts) - 1, 0, -1):
            inner = ".".join(parts[: depth + 1])
            if inner in seen:
                break
            seen.add(inner)
            found.setdefault(".".join(parts[:depth]), []).append(parts[depth])
    return found


class SnapshotKnowledge(Knowledge[Interpreter]):
    """The modules of a snapshot, for one evaluation.

    `load` gives the snapshot, when something of Megatron is first imported; a module is looked into when it is needed.
    `target` are the releases that it is to stand for, if these may be others than its own; `also` those that it stands
    for as well.
    """

    def __init__(
        self, load: Callable[[], Snapshot | None], target: Target | None = None, also: Sequence[Target] = ()
    ) -> None:
        self._load = load
        self._wanted = target
        self._also = also
        self._modules: dict[str, Module] = {}
        self._origins: dict[int, Origin] = {}
        self._reach: dict[str, Set[str]] = {}
        self._told_of_target = False

    # -- what the evaluator asks --------------------------------------------------------------------------------------

    def covers(self, name: str) -> bool:
        return name.partition(".")[0] == PACKAGE

    def anew(self) -> SnapshotKnowledge:
        return SnapshotKnowledge(lambda: self.snapshot, self._wanted, self._also)

    def module(self, interp: Interpreter, name: str) -> Module | None:
        if not self.covers(name):
            return None
        if name not in self._modules:
            parts = [] if self.snapshot is None else _packages(self.snapshot).get(name, [])
            names = None if self.snapshot is None else self.snapshot.names(name)
            if names is None and not parts:
                return None
            self._modules[name] = self._make_module(interp, name, names or (), parts)
        return self._modules[name]

    def member(self, interp: Interpreter, module_name: str, name: str) -> Object | None:
        module = self.module(interp, module_name)
        return None if module is None or name not in module.fields else resolve_global(interp, module, name)

    def version_of(self, package: str) -> Object | None:
        self._told_of_target = True
        return self._version_of(package)

    def _version_of(self, package: str) -> Object | None:
        if self._wanted is None:
            return None
        targets = (self._wanted, *self._also)
        found = tuple(dict.fromkeys(target.version_of(package) for target in targets))
        return None if None in found else found[0] if len(found) == 1 else Choice(found)

    def lacks(self, module_name: str, name: str | None = None) -> bool:
        if self.snapshot is None or not self.covers(module_name):
            return False
        if self.snapshot.bridge not in releases(having(module_name, name)):
            return True
        return in_none(module_name) or (name is not None and in_none(module_name, name))

    def replaced_below(self, interp: Interpreter, module_name: str) -> Place | None:
        """Return where the program replaces an object that a module's functions may use; None if it does not."""
        for (_, name), (owner, before, place) in interp.replaced.items():
            now = owner.fields.get(name, MISSING)
            if now is before or isinstance(now, Deferred):
                continue
            replaced = owner.module.name if isinstance(owner, ClassObject) else owner.name
            if replaced in self._reached(module_name):
                return place
        return None

    def _reached(self, module_name: str) -> Set[str]:
        """Collect a module of the snapshot and all modules that it has names of, directly or through others."""
        if module_name not in self._reach:
            self._reach[module_name] = closure((module_name,), self._named_by).keys()
        return self._reach[module_name]

    def _named_by(self, module_name: str) -> Iterator[str]:
        """Yield the modules that a module has names of."""
        if self.snapshot is not None:
            entries = (self.snapshot.entry(module_name, name) for name in self.snapshot.names(module_name) or ())
            yield from (entry[1] for entry in entries if entry[0] in ("from", "module"))

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """The snapshot, opened now at the latest."""
        return self._load()

    @property
    def targets(self) -> tuple[Target | None, ...]:
        return (self._wanted, *self._also)

    @property
    def is_used(self) -> bool:
        return "snapshot" in self.__dict__

    def use(self) -> None:
        _ = self.snapshot

    @property
    def depends_on_target(self) -> bool:
        return self._told_of_target

    @property
    def is_of_neighbour(self) -> bool:
        opened = self.__dict__.get("snapshot")
        return opened is not None and self._wanted is not None and self._wanted.bridge != opened.bridge

    @property
    def target(self) -> Target:
        """The releases that the answers are about."""
        self._told_of_target = True
        assert self._wanted is not None or self.snapshot is not None
        return self._wanted or resolve_target(self.snapshot.bridge)  # type: ignore[union-attr]

    def remarks(self) -> tuple[str, ...]:
        if not self.is_of_neighbour:
            return ()
        assert self._wanted is not None
        assert self.snapshot is not None
        mine, theirs = self._wanted.bridge, self.snapshot.bridge
        return (f"megatron-bridge {mine}: nothing is known of its own recipes, those of {theirs} were used",)

    def framework(self, name: str) -> ProgramReader:
        from mfsdp_lint.readers.framework_configs import program_reader  # most files need none

        return program_reader(name, self.target)

    def command_line(self) -> CommandLine:
        from mfsdp_lint.readers.megatron_lm_arguments import CommandLine  # most files need none

        return CommandLine(self.target)

    def composed(self, asking: Interpreter, path: str, tree: ConfigTree, frame: Frame) -> Sequence[Recipe] | None:
        from mfsdp_lint.readers.framework_configs import recipes_of_program
        from mfsdp_lint.readers.python.export.composed import section_of, variables_of

        return recipes_of_program(path, section_of(asking, tree, frame), self.target, variables_of(asking))

    def describes(self, program: str) -> bool:
        from mfsdp_lint.megatron.front_ends import described_by

        return described_by(program) is not None

    def _release(self, path: str) -> str:
        """Name the release that a module (or its file) belongs to."""
        assert self.snapshot is not None
        core = path.replace("/", ".").startswith("megatron.core.")
        return f"megatron-core {self.snapshot.core}" if core else f"megatron-bridge {self.snapshot.bridge}"

    # -- modules ------------------------------------------------------------------------------------------------------

    def _make_module(self, interp: Interpreter, name: str, names: Sequence[str], parts: Sequence[str]) -> Module:
        module = Module(name.replace(".", "/") + ".py", name, ast.Module([], []))
        module.ran = True
        module.upstream = self._release(f"{name}.")
        module.fields["__name__"] = name
        # A name that the snapshot does not have may be there all the same.
        module.stars.append(StarOut(name))
        for part in parts:
            module.fields[part] = Deferred(functools.partial(self.module, interp, f"{name}.{part}"))
        for key in names:
            module.fields[key] = Deferred(functools.partial(self._entry, interp, module, key))
        if name in VERSIONED:
            self._tell_version(module, VERSIONED[name])
        return module

    def _tell_version(self, module: Module, package: str) -> None:
        """Give a module that says a version that of the target, of which the snapshot may be a neighbour."""
        version = self._version_of(package)
        if version is None:
            self._told_of_target = True
            for key in (VERSION, SHORT_VERSION, *PARTS, "VERSION"):
                module.fields.pop(key, None)
            return
        said = {VERSION: version}
        if module.name.endswith(".package_info"):
            parts = [_parts(text) for text in (version.options if isinstance(version, Choice) else (version,))]
            columns = {name: tuple(dict.fromkeys(each[place] for each in parts)) for place, name in enumerate(PARTS)}
            said |= {name: column[0] if len(column) == 1 else Choice(column) for name, column in columns.items()}
            said["VERSION"] = tuple(said[name] for name in PARTS)
            said[SHORT_VERSION] = version
        module.fields |= {key: Deferred(functools.partial(self._told, value)) for key, value in said.items()}

    def _told(self, value: Object) -> Object:
        """Return a part of the target's version, which somebody asks for."""
        self._told_of_target = True
        return value

    def _entry(self, interp: Interpreter, module: Module, name: str) -> Object:
        assert self.snapshot is not None
        match self.snapshot.entry(module.name, name):
            case ["from", source, other]:
                return self.reference(interp, source, other)
            case ["module", other]:
                return self.module(interp, other)
            case ["class", described]:
                cls = ClassObject(name, module, None, None)
                cls.data = ClassData(self, interp, described)
                builder = Builder(self, interp, module)
                cls.bases_of = isolated(interp, lambda: [builder.build(node) for node in described.get("bases", ())])
                return cls
            case ["function", described]:
                return upstream_function(self, interp, module, name, described)
            case ["value", node]:
                return isolated(interp, lambda: Builder(self, interp, module).build(node))
        return External(f"{module.name}.{name}")

    def reference(self, interp: Interpreter, module: str, name: str) -> Object:
        """Return a class or function by the module that defines it."""
        found = self.member(interp, module, name)
        return External(f"{module}.{name}") if found is None else found

    def origin(self, number: int) -> Origin:
        """Return the origin of an upstream write."""
        if number not in self._origins:
            assert self.snapshot is not None
            path, line, end_line, function, how = self.snapshot.place(number)
            span = Span(path, line, 1, end_line, 1)
            kind: How = "default" if how == "default" else "upstream"
            self._origins[number] = Origin(span, kind, None, function, self._release(path))
        return self._origins[number]

    def provider(self, interp: Interpreter, method: str, architecture: str | None) -> Object:
        if self.snapshot is None:
            return None
        known = self.snapshot.names(PROVIDERS) or ()
        name = next((name for name in (f"{method} {architecture or ''}", f"{method} ") if name in known), None)
        if name is None:
            return None
        module = Module(PROVIDERS, PROVIDERS, ast.Module([], []))
        node = self.snapshot.entry(PROVIDERS, name)[1]
        return isolated(interp, lambda: Builder(self, interp, module).build(node))


def _parts(version: object) -> tuple[int | str, ...]:
    """Split a version into its numbers and the rest behind them."""
    text = str(version)
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    return (0, 0, 0, text) if found is None else (*map(int, found.groups()), text[found.end() :])
