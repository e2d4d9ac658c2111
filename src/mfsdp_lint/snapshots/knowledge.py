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
from mfsdp_lint.readers.python.eval.classes import fields_of, mro
from mfsdp_lint.readers.python.eval.functions import HUGGINGFACE
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.calling import call
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import LIBRARY
from mfsdp_lint.readers.python.values.classes import ClassObject, FieldSpec
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.identity import identical
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.names import Deferred, StarOut
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    Descriptor,
    External,
    Function,
    Instance,
    Native,
    Object,
)
from mfsdp_lint.snapshots.build import Arguments, Builder, apply
from mfsdp_lint.snapshots.forgetting import forget_names, only_upstream
from mfsdp_lint.snapshots.forwarding import Forwarding
from mfsdp_lint.snapshots.public_names import having, releases
from mfsdp_lint.snapshots.snapshot import PROVIDERS, Node, Snapshot
from mfsdp_lint.snapshots.starting import MAKERS, STARTS, container_of, start
from mfsdp_lint.startup.steps import Phase
from mfsdp_lint.versions.target import Target, resolve_target

DATA = os.path.join(os.path.dirname(__file__), "data")
REQUIRED: Node = ["required"]
ANY_PARAMETERS: Node = [["args", "*", REQUIRED], ["kwargs", "**", REQUIRED]]


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
                return self.function(machine, module, name, described)
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

    # -- functions and classes ----------------------------------------------------------------------------------------

    def function(
        self, machine: Machine, module: Module, name: str, described: Any, owner: ClassObject | None = None
    ) -> Function:
        """A function by its summary; without one, a call of it is not followed."""
        parameters: Any = (described or {}).get("parameters", ANY_PARAMETERS)
        function = Function(_definition(name, parameters), module, None, name, owner)

        def make() -> None:
            builder = Builder(self, machine, module)
            for parameter, _, node in parameters:
                if node != REQUIRED:
                    function.defaults[parameter] = builder.build(node)

        isolated(machine, make)
        full = f"{module.name}.{name}"
        phases = STARTS.get(full if owner is None else f"{module.name}.{owner.name}.{name}")

        def run(
            machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Any
        ) -> Object:
            passed = [*arguments, *keywords.values()]
            if phases is not None and self._start(machine, function, phases, described, passed, node, frame):
                return None
            if not described:
                return unfollowed(machine, full, arguments, keywords, node, frame)
            return apply(self, machine, function, described, arguments, keywords, node, frame)

        function.unwrapped = Native(full, LIBRARY.get(full, run))
        return function

    def _start(
        self,
        machine: Machine,
        function: Function,
        phases: frozenset[Phase],
        described: Any,
        passed: list[Object],
        node: Any,
        frame: Frame,
    ) -> bool:
        """Take phases of the start-up on what a call is given; False where that cannot be told."""
        container = container_of(machine, passed)
        if container is None or not only_upstream(machine, [container]):
            return False

        def forget() -> None:
            bound = (described or {}).get("bound")
            if bound is None or not forget_names(machine, [container], bound[0], bound[1]):
                havoc(machine, container)

        def make(section: str, name: str) -> Object:
            return call(machine, self.reference(machine, *MAKERS[section]), [name], {}, node, frame)

        inner = Frame(function.module, function.name, None, frame, node, machine.tick())
        start(machine, self.target, phases, container, forget, make, inner)
        return True

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


class ClassData:
    """What a snapshot knows of a class, in the terms of the evaluator's classes."""

    __slots__ = ("described", "forwarding", "is_dataclass", "is_frozen", "knowledge", "opaque")

    def __init__(self, knowledge: Knowledge, described: Any) -> None:
        self.knowledge = knowledge
        self.described = described
        self.is_dataclass = described["kind"] == "dataclass"
        self.opaque = bool(described.get("opaque"))
        self.is_frozen = bool(described.get("frozen"))
        self.forwarding = Forwarding(*described["forwards"]) if "forwards" in described else None

    def fill(self, machine: Machine, cls: ClassObject) -> None:
        """The attributes that the class itself has."""
        described, knowledge = self.described, self.knowledge
        builder = Builder(knowledge, machine, cls.module)
        for name, node, *_ in described.get("fields", ()):
            if isinstance(node, CONSTANTS):
                cls.fields[name] = node
        for name, node in described.get("attributes", {}).items():
            cls.fields[name] = builder.build(node)
        for name, summary in described.get("methods", {}).items():
            cls.fields[name] = self._method(machine, cls, name, summary)
        for name, summary in described.get("properties", {}).items():
            cls.fields[name] = Descriptor(
                "property", self._property(machine, cls, name, summary), self._setter(machine, cls, name)
            )
        if "made" in described:
            cls.fields["__post_init__"] = self._hook(cls, "__post_init__", self._made)
        if "sets" in described:
            cls.fields["__setattr__"] = self._hook(cls, "__setattr__", self._sets)
        if self.forwarding is not None:
            cls.fields["__getattr__"] = self._hook(cls, "__getattr__", self._get_forwarded)
            cls.fields["__setattr__"] = self._hook(cls, "__setattr__", self._set_forwarded)

    def field_specs(self, machine: Machine, cls: ClassObject) -> list[FieldSpec]:
        """The fields that the class itself declares."""
        return [self._spec(machine, cls, *field) for field in self.described.get("fields", ())]

    def provider(self, machine: Machine, method: str, architecture: str | None) -> Object:
        """See Knowledge.provider; only AutoBridge is asked."""
        return self.knowledge.provider(machine, method, architecture)

    def _spec(self, machine: Machine, cls: ClassObject, name: str, node: Node, flags: str = "") -> FieldSpec:
        init, keyword_only = "i" not in flags, "k" in flags
        if node == REQUIRED:
            return FieldSpec(name, init=init, keyword_only=keyword_only)
        if isinstance(node, CONSTANTS) or node[0] in ("ext", "enum", "ref"):
            return FieldSpec(
                name, Builder(self.knowledge, machine, cls.module).build(node), init=init, keyword_only=keyword_only
            )

        def make(
            machine: Machine, arguments: list[Object], keywords: dict[str, Object], site: Any, frame: Any
        ) -> Object:
            return Builder(self.knowledge, machine, cls.module, frame, site=site).build(node)

        return FieldSpec(name, factory=Native(f"{cls.name}.{name}", make), init=init, keyword_only=keyword_only)

    def _method(self, machine: Machine, cls: ClassObject, name: str, summary: Any) -> Object:
        kind = self.described.get("kinds", {}).get(name)
        if cls.name == "AutoBridge" and name in HUGGINGFACE:
            function = Function(
                _definition(name, [["self", "a", REQUIRED], ["kwargs", "**", REQUIRED]]), cls.module, None, name, cls
            )
        else:
            function = self.knowledge.function(machine, cls.module, name, summary, cls)
        return Descriptor(kind, function) if kind else function

    def _property(self, machine: Machine, cls: ClassObject, name: str, summary: Any) -> Function:
        if summary:
            return self.knowledge.function(machine, cls.module, name, summary, cls)
        return self._hook(cls, name, lambda machine, arguments, *_: machine.unknown(f"{cls.name}.{name}"))

    def _setter(self, machine: Machine, cls: ClassObject, name: str) -> Function | None:
        """What assigning to a property does; None where that is an error."""
        setters = self.described.get("setters", {})
        if name not in setters:
            return None
        if setters[name]:
            return self.knowledge.function(machine, cls.module, name, setters[name], cls)
        return self._hook(cls, name, lambda machine, arguments, *_: havoc(machine, arguments[0]))

    def _hook(self, cls: ClassObject, name: str, run: Callable[..., Object]) -> Function:
        function = Function(_definition(name, []), cls.module, None, name, cls)
        function.unwrapped = Native(f"{cls.qualified_name}.{name}", run)
        return function

    def _made(self, machine: Machine, arguments: list[Object], keywords: Any, node: Any, frame: Any) -> None:
        """What constructing an instance leaves in its fields, beyond what was passed or declared."""
        instance = arguments[0]
        made = self.described["made"]
        if made is None or not isinstance(instance, Instance) or not isinstance(instance.cls, ClassObject):
            havoc(machine, instance)
            return
        found = (base for base in self._orders(machine, instance) if isinstance(base, ClassObject))
        own = next((base for base in found if base.data is self), None)
        if own is None:
            havoc(machine, instance)
            return
        specs = fields_of(machine, own)
        given = {spec.name for spec in specs if _is_given(instance, spec)}
        arguments_given = Arguments(dict(instance.fields), given)
        builder = Builder(self.knowledge, machine, own.module, frame, arguments_given)
        # All values first: what they say of a field is what it was before.
        values = {name: builder.build(node) for name, node in made.items()}
        for name, value in values.items():
            if value is not MISSING:
                machine.put(instance, name, value)

    @staticmethod
    def _orders(machine: Machine, instance: Instance) -> list[Object]:
        """The classes of an instance and their bases; of several that it may be of, those of all."""
        classes = instance.cls.options if isinstance(instance.cls, Choice) else (instance.cls,)
        return [base for cls in classes if isinstance(cls, ClassObject) for base in mro(machine, cls)]

    def _sets(self, machine: Machine, arguments: list[Object], keywords: Any, node: Any, frame: Any) -> None:
        instance, name, value = arguments
        sets = self.described["sets"]
        if sets is None:
            havoc(machine, instance)
        machine.put(instance, name, value)
        for other in sets.get(name, ()) if sets else ():
            if isinstance(instance, Instance) and other in instance.fields:
                machine.put(instance, other, value)

    def _get_forwarded(self, machine: Machine, arguments: list[Object], keywords: Any, node: Any, frame: Any) -> Object:
        assert self.forwarding is not None
        instance, name = arguments
        if not isinstance(instance, Instance) or not isinstance(name, str):
            return machine.unknown()
        return self.forwarding.get(machine, instance, name, node, frame)

    def _set_forwarded(self, machine: Machine, arguments: list[Object], keywords: Any, node: Any, frame: Any) -> None:
        assert self.forwarding is not None
        instance, name, value = arguments
        if not isinstance(instance, Instance) or not isinstance(name, str):
            havoc(machine, instance)
            return
        self.forwarding.set(machine, instance, name, value, node, frame)


def _is_given(instance: Instance, spec: FieldSpec) -> bool:
    """Whether a field that may be left out has another value than when it is."""
    if spec.default is MISSING:
        return spec.factory is not MISSING and spec.name in instance.writes
    return not identical(instance.fields.get(spec.name, MISSING), spec.default)


def _definition(name: str, parameters: list[Any]) -> ast.FunctionDef:
    """The signature of a function as a syntax tree; its body is not known."""

    def named(kind: str) -> list[ast.arg]:
        return [ast.arg(parameter, lineno=1, col_offset=0) for parameter, its, _ in parameters if its == kind]

    arguments = ast.arguments(
        posonlyargs=named("p"),
        args=named("a"),
        vararg=next(iter(named("*")), None),
        kwonlyargs=named("k"),
        kw_defaults=[],
        kwarg=next(iter(named("**")), None),
        defaults=[],
    )
    return ast.FunctionDef(name, arguments, [ast.Pass()], [], lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
