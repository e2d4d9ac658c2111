"""Answers the evaluator about upstream packages whose source is not at hand, from a snapshot (see snapshot.py)."""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any

from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.readers.python.eval.blocks import isolated
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.names import Deferred, StarOut
from mfsdp_lint.readers.python.values.objects import External, Object
from mfsdp_lint.snapshots.build import Builder
from mfsdp_lint.snapshots.class_data import ClassData
from mfsdp_lint.snapshots.functions import upstream_function
from mfsdp_lint.snapshots.public_names import having, releases
from mfsdp_lint.snapshots.snapshot import PROVIDERS, Snapshot
from mfsdp_lint.versions.target import Target, resolve_target

DATA = os.path.join(os.path.dirname(__file__), "data")
PACKAGE = "megatron"


def load_knowledge(target: Target) -> Knowledge:
    """What is known of the target's release, or of its neighbour. The snapshot is opened when something is asked."""
    return Knowledge(lambda: shipped(target.data), target)


@lru_cache(maxsize=8)
def shipped(bridge: str) -> Snapshot | None:
    """The snapshot of a Megatron-Bridge release that comes with the tool."""
    try:
        with open(os.path.join(DATA, f"bridge-{bridge}.snapshot"), "rb") as stream:
            return Snapshot(stream.read())
    except FileNotFoundError:
        return None


class Knowledge:
    """The modules of a snapshot, for one evaluation.

    `load` gives the snapshot, when something of Megatron is first imported; a module is looked into when it is needed.
    `target` are the releases that it is to stand for, if these may be others than its own.
    """

    def __init__(self, load: Callable[[], Snapshot | None], target: Target | None = None) -> None:
        self._load = load
        self._wanted = target
        self._modules: dict[str, Module] = {}
        self._origins: dict[int, Origin] = {}
        self._packages: dict[str, list[str]] | None = None

    # -- what the evaluator asks --------------------------------------------------------------------------------------

    def module(self, machine: Machine, name: str) -> Module | None:
        """An upstream module or package by its dotted name; None where the snapshot has none."""
        if name.partition(".")[0] != PACKAGE:
            return None
        if name not in self._modules:
            parts = self._submodules(name)
            names = None if self.snapshot is None else self.snapshot.names(name)
            if names is None and not parts:
                return None
            self._modules[name] = self._make_module(machine, name, names or (), parts)
        return self._modules[name]

    def member(self, machine: Machine, module_name: str, name: str) -> Object | None:
        """A name of an upstream module, a submodule included; None where nothing is known of it."""
        module = self.module(machine, module_name)
        return None if module is None or name not in module.fields else resolve_global(machine, module, name)

    def lacks(self, module_name: str, name: str | None = None) -> bool:
        """Whether the release surely has no module of this name, or the module no such name."""
        if self.snapshot is None or module_name.partition(".")[0] != PACKAGE:
            return False
        return self.snapshot.bridge not in releases(having(module_name, name))

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """The snapshot, opened now at the latest."""
        return self._load()

    @cached_property
    def target(self) -> Target:
        """The releases that the answers are about."""
        assert self._wanted is not None or self.snapshot is not None
        return self._wanted or resolve_target(self.snapshot.bridge)  # type: ignore[union-attr]

    def remarks(self) -> tuple[str, ...]:
        """What is worth saying about the answers that were given so far."""
        opened = self.__dict__.get("snapshot")
        if opened is None or self._wanted is None or self._wanted.bridge == opened.bridge:
            return ()
        mine, theirs = self._wanted.bridge, opened.bridge
        return (f"megatron-bridge {mine}: nothing is known of its own recipes, those of {theirs} were used",)

    def _release(self, path: str) -> str:
        """The release that a module (or its file) belongs to."""
        assert self.snapshot is not None
        core = path.replace("/", ".").startswith("megatron.core.")
        return f"megatron-core {self.snapshot.core}" if core else f"megatron-bridge {self.snapshot.bridge}"

    # -- modules ------------------------------------------------------------------------------------------------------

    def _submodules(self, name: str) -> list[str]:
        if self._packages is None:
            self._packages = {}
            seen = set()
            for full in self.snapshot.modules() if self.snapshot is not None else ():
                parts = full.split(".")
                for depth in range(len(parts) - 1, 0, -1):
                    inner = ".".join(parts[: depth + 1])
                    if inner in seen:
                        break
                    seen.add(inner)
                    self._packages.setdefault(".".join(parts[:depth]), []).append(parts[depth])
        return self._packages.get(name, [])

    def _make_module(self, machine: Machine, name: str, names: Sequence[str], parts: Sequence[str]) -> Module:
        module = Module(name.replace(".", "/") + ".py", name, ast.Module([], []))
        module.ran = True
        module.upstream = self._release(f"{name}.")
        module.fields["__name__"] = name
        # A name that the snapshot does not have may be there all the same.
        module.stars.append(StarOut(name))
        for part in parts:
            module.fields[part] = Deferred(functools.partial(self.module, machine, f"{name}.{part}"))
        for key in names:
            module.fields[key] = Deferred(functools.partial(self._entry, machine, module, key))
        return module

    def _entry(self, machine: Machine, module: Module, name: str) -> Object:
        assert self.snapshot is not None
        match self.snapshot.entry(module.name, name):
            case ["from", source, other]:
                return self.reference(machine, source, other)
            case ["module", other]:
                return self.module(machine, other)
            case ["class", described]:
                return self._class(machine, module, name, described)
            case ["function", described]:
                return upstream_function(self, machine, module, name, described)
            case ["value", node]:
                return isolated(machine, lambda: Builder(self, machine, module).build(node))
        return External(f"{module.name}.{name}")

    def reference(self, machine: Machine, module: str, name: str) -> Object:
        """A class or function by the module that defines it."""
        found = self.member(machine, module, name)
        return External(f"{module}.{name}") if found is None else found

    def origin(self, number: int) -> Origin:
        """Where an upstream write stands."""
        if number not in self._origins:
            assert self.snapshot is not None
            self._origins[number] = self._origin(*self.snapshot.place(number))
        return self._origins[number]

    def _origin(self, path: str, line: int, end_line: int, function: str, how: str) -> Origin:
        span = Span(path, line, 1, end_line, 1)
        return Origin(span, "default" if how == "default" else "upstream", None, function, self._release(path))

    # -- classes ----------------------------------------------------------------------------------------

    def _class(self, machine: Machine, module: Module, name: str, described: Any) -> ClassObject:
        cls = ClassObject(name, module, None, None)
        cls.data = ClassData(self, described)
        builder = Builder(self, machine, module)
        cls.bases_of = isolated(machine, lambda: [builder.build(node) for node in described.get("bases", ())])
        return cls

    def provider(self, machine: Machine, method: str, architecture: str | None) -> Object:
        """The model provider that AutoBridge makes for an architecture (None: for any)."""
        if self.snapshot is None:
            return None
        known = self.snapshot.names(PROVIDERS) or ()
        name = next((name for name in (f"{method} {architecture or ''}", f"{method} ") if name in known), None)
        if name is None:
            return None
        module = Module(PROVIDERS, PROVIDERS, ast.Module([], []))
        node = self.snapshot.entry(PROVIDERS, name)[1]
        return isolated(machine, lambda: Builder(self, machine, module).build(node))
