"""Makes a snapshot from upstream source, with the tool's own evaluator. Nothing upstream is imported or run."""

from __future__ import annotations

import ast
import functools
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from typing import Any

from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.eval import huggingface
from mfsdp_lint.readers.python.eval.architectures import ARCHITECTURES
from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute
from mfsdp_lint.readers.python.eval.classes import (
    bases,
    enum_members,
    fields_of,
    has_base,
    is_dataclass,
    is_enum,
    is_frozen,
    lookup,
    namespace,
    own_fields,
)
from mfsdp_lint.readers.python.eval.construction import instantiate
from mfsdp_lint.readers.python.eval.imports import ensure_ran, resolve_global
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.outcomes import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    Descriptor,
    DictObject,
    Function,
    Instance,
    ListObject,
    Object,
    Partial,
    SetObject,
)
from mfsdp_lint.snapshots.forwarding import forwarding
from mfsdp_lint.snapshots.making.bounds import Bound, Bounds
from mfsdp_lint.snapshots.making.combine import UNCHANGED
from mfsdp_lint.snapshots.making.encode import UNKNOWN, Encoder, Places, bare, class_defaults
from mfsdp_lint.snapshots.making.summarise import (
    Parameter,
    Subject,
    Watching,
    constructor_subject,
    function_subject,
    outcome_with,
    promises,
    says_something,
    summarise,
)
from mfsdp_lint.snapshots.making.touched import touched
from mfsdp_lint.snapshots.making.words import words
from mfsdp_lint.snapshots.snapshot import PROVIDERS, Contents, Node, dump
from mfsdp_lint.versions.target import RELEASES

PACKAGES = ("megatron.bridge", "megatron.core", "megatron.training")
AUTO_BRIDGE = ("megatron.bridge.models.conversion.auto_bridge", "AutoBridge")
OPAQUE = {"__init__", "__new__", "__getattr__", "__getattribute__", "__setattr__"}
"""Methods by which a class that is no dataclass may make of its instances whatever it likes."""
PROBES = (True, False, "<probe>")


class NoSource(ValueError):
    """A folder that does not hold the upstream source it should."""


def make_snapshot(
    checkout: str,
    core: str | None = None,
    say: Callable[[str], None] = lambda _: None,
    release: str | None = None,
) -> bytes:
    """The snapshot of a Megatron-Bridge source tree as the bytes of its file.

    `checkout` is a clone or an unpacked wheel; `core` the Megatron-LM tree or unpacked megatron-core wheel that goes
    with it, by default the submodule `3rdparty/Megatron-LM`. `say` hears of every module. `release` is what the tree is
    where its `package_info.py` does not say so: that of the 0.6.0 tag says 0.6.1. Raises NoSource.
    """
    bridge_root = _root(checkout, "megatron/bridge", "Megatron-Bridge")
    core_root = _root(core or os.path.join(checkout, "3rdparty", "Megatron-LM"), "megatron/core", "Megatron-LM")
    maker = _Maker([bridge_root, core_root], say)
    modules = maker.make()
    bridge = release or _version(bridge_root, "bridge")
    # The development head of Megatron-LM calls itself by the release that it will be.
    pinned = {known.bridge: known.core for known in RELEASES}
    return dump(Contents(bridge, pinned.get(bridge) or _version(core_root, "core"), modules, maker.places.all()))


def _root(folder: str, package: str, name: str) -> str:
    for root in (folder, os.path.join(folder, "src")):
        if os.path.isdir(os.path.join(root, package)):
            return root
    raise NoSource(f"{folder}: no {name} source ({package}/) in it")


def _version(root: str, package: str) -> str:
    """What `package_info.py` says: MAJOR.MINOR.PATCH and the pre-release."""
    path = os.path.join(root, "megatron", package, "package_info.py")
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except OSError:
        raise NoSource(f"{path}: not there") from None
    parts = dict(re.findall(r"^(MAJOR|MINOR|PATCH|PRE_RELEASE) *= *[\"']?(\w*)", text, re.M))
    return f"{parts.get('MAJOR')}.{parts.get('MINOR')}.{parts.get('PATCH')}{parts.get('PRE_RELEASE', '')}"


class _Maker:
    """The state of making one snapshot: the evaluator, and what was made of each module so far."""

    def __init__(self, roots: Sequence[str], say: Callable[[str], None]) -> None:
        self.roots = roots
        self.say = say
        self.places = Places(roots)
        self.finder = ModuleFinder(Sources(), roots)
        self.machine = Watching(self.finder)
        self.modules: dict[str, Module] = {}
        self.providers: dict[str, Instance] = {}
        self.homes: dict[int, tuple[str, str] | None] = {}
        self.alive: list[Object] = []
        self.bounds = Bounds(self.machine, self.modules)

    def make(self) -> dict[str, dict[str, Any]]:
        for package in PACKAGES:
            for name, path in self._files(package):
                module = self.finder.load(path, name)
                if module is not None:
                    self.modules[name] = module
        self._find_providers()
        made = {}
        for name, module in self.modules.items():
            names = self._module(module)
            if names:
                made[name] = names
                self.say(f"{name}: {len(names)} names")
        made[PROVIDERS] = self._encoded_providers()
        return made

    def _files(self, package: str) -> Iterator[tuple[str, str]]:
        for root in self.roots:
            folder = os.path.join(root, *package.split("."))
            for above, folders, files in os.walk(folder):
                folders.sort()
                for file in sorted(files):
                    if not file.endswith(".py"):
                        continue
                    path = os.path.join(above, file)
                    parts = os.path.relpath(path, root)[: -len(".py")].split(os.sep)
                    yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path

    def home(self, value: ClassObject | Function) -> tuple[str, str] | None:
        """The module and the name of a class or function, if that name still means it."""
        if id(value) not in self.homes:
            self.alive.append(value)
            self.homes[id(value)] = None
            module = self.modules.get(value.module.name)
            if module is not None and value.name.isidentifier() and self._global(module, value.name) is value:
                self.homes[id(value)] = (module.name, value.name)
        return self.homes[id(value)]

    def _global(self, module: Module, name: str) -> Object:
        self.machine.path.steps = 0
        try:
            return resolve_global(self.machine, module, name)
        except (Raised, CannotJoin, OutOfSteps, RecursionError):
            return MISSING

    # -- providers ----------------------------------------------------------------------------------------------------

    def _find_providers(self) -> None:
        module = self.modules.get(AUTO_BRIDGE[0])
        cls = self._global(module, AUTO_BRIDGE[1]) if module is not None else None
        if not isinstance(cls, ClassObject):
            return
        for method in huggingface.PROVIDER_METHODS:
            function, _ = lookup(self.machine, cls, method)
            if not isinstance(function, Function):
                continue
            for architecture in (None, *dict.fromkeys(name for _, name in ARCHITECTURES)):
                self.machine.begin(())
                found = huggingface.provider_template(self.machine, function, architecture)
                self.machine.finish()
                anything = self.providers.get(f"{method} ")
                if isinstance(found, Instance) and (anything is None or _classes(found) != _classes(anything)):
                    self.providers[f"{method} {architecture or ''}"] = found

    def _encoded_providers(self) -> dict[str, Any]:
        encoder = Encoder(self.machine, self.home, self.places, {})
        return {key: ["value", encoder.encode(provider)] for key, provider in self.providers.items()}

    # -- modules ------------------------------------------------------------------------------------------------------

    def _module(self, module: Module) -> dict[str, Any]:
        found = {}
        encoder = Encoder(self.machine, self.home, self.places, self.providers)
        for name in self._names(module, set()):
            if name.startswith("__") and name != "__version__":
                continue
            entry = self._entry(encoder, module, name, self._global(module, name))
            if entry is not None:
                found[name] = entry
        return found

    def _names(self, module: Module, seen: set[str]) -> list[str]:
        if module.name in seen:
            return []
        seen.add(module.name)
        self.machine.path.steps = 0
        ensure_ran(self.machine, module)
        names = [name for name in module.fields if isinstance(name, str)]
        for star in module.stars:
            if isinstance(star, Module):
                names += [name for name in self._names(star, seen) if not name.startswith("_")]
        return list(dict.fromkeys(names))

    def _entry(self, encoder: Encoder, module: Module, name: str, value: Object) -> Any:
        if isinstance(value, Module):
            return ["module", value.name] if value.name in self.modules else None
        if isinstance(value, (ClassObject, Function)):
            home = self.home(value)
            if home is None:
                return None
            if home != (module.name, name):
                return ["from", *home]
            made = self._class(encoder, value) if isinstance(value, ClassObject) else self._function(encoder, value)
            return None if made is None else ["class" if isinstance(value, ClassObject) else "function", made]
        if isinstance(value, (*CONSTANTS, tuple, ListObject, DictObject, SetObject, Instance, Partial)):
            node = encoder.encode(value)
            return None if isinstance(node, list) and node[0] == "?" else ["value", node]
        return None

    # -- functions ----------------------------------------------------------------------------------------------------

    def _function(self, encoder: Encoder, function: Function) -> Any:
        if not _is_summarised(function.module.name):
            return None
        made = self._summary(encoder, function)
        if made is not None and "outcome" in made and not ("cases" in made or says_something(made["outcome"])):
            return self._bounded(function)
        return made

    def _summary(self, encoder: Encoder, function: Function, owner: ClassObject | None = None) -> Any:
        """What a call does, where that can be worked out; else what it may change at most; None if nothing is known."""
        if not _is_plain(function):
            return None
        bound = self.bounds.of(function)
        made = self._worked_out(encoder, function, owner, bound)
        if made is None:
            return self._bounded(function)
        # What is added to a list that an argument holds, evaluating a function without its arguments does not see.
        if bound is not None and (bound.contents or "forgets" in json.dumps(made) or "broken" in made):
            made["bound"] = bound.described()
        return made

    def _bounded(self, function: Function) -> Any:
        """What a function may change at most; None where that is not known."""
        bound = self.bounds.of(function) if _is_plain(function) else None
        if bound is None:
            return None
        described: dict[str, Any] = {"bound": bound.described()}
        if bound.result not in (None, UNKNOWN):
            described["parameters"] = _parameters(function)
        return described

    def _worked_out(self, encoder: Encoder, function: Function, owner: ClassObject | None, bound: Bound | None) -> Any:
        if owner is not None and self.bounds.classes.decide(function, owner):
            return None
        subject = function_subject(encoder, function, owner)
        # Most functions of a release work on tensors. A method that only looks is worth knowing all the same.
        writes = bound is not None and bool(bound.names)
        if owner is None and not _configures(function) and not writes and not self._quietly(lambda: promises(subject)):
            return None
        found = self._quietly(lambda: summarise(subject))
        return None if found is None else self._described(encoder, function, subject, writes, *found)

    def _described(
        self, encoder: Encoder, function: Function, subject: Subject, writes: bool, outcome: Any, broken: list[str]
    ) -> Any:
        arguments = function.node.args
        parameters: list[Any] = [
            [p.name, p.kind, ["required"] if p.default is MISSING else encoder.encode(p.default)]
            for p in subject.parameters
            if p.kind != "**"
        ]
        if arguments.vararg is not None:
            parameters.append([arguments.vararg.arg, "*", ["required"]])
        if arguments.kwarg is not None:
            parameters.append([arguments.kwarg.arg, "**", ["required"]])
        described: dict[str, Any] = {"parameters": parameters, "outcome": outcome}
        if broken:
            described["broken"] = broken
        told = writes or says_something(outcome) or _configures(function)
        cases = self._cases(subject, function, outcome, writes) if told else {}
        if cases:
            described["cases"] = cases
        keys = [p.name for p in subject.parameters if p.kind == "**"]
        return described | {"keys": keys} if keys else described

    def _cases(self, subject: Subject, function: Function, outcome: Any, writes: bool) -> dict[str, Any]:
        """Outcomes for the values of single parameters that the code itself tells apart.

        Of a function that writes into its arguments (`writes`), those may be any objects.
        """
        required = [parameter.name for parameter in subject.parameters if parameter.required]
        found = {}
        for parameter in subject.parameters:
            if parameter.kind == "**" or (required and required != [parameter.name] and not writes):
                continue
            cases = []
            for value in self._values(function, parameter, writes):
                one = self._quietly(functools.partial(outcome_with, subject, parameter.name, value))
                if one is not None and one != outcome:
                    cases.append([value, one])
            if cases:
                found[parameter.name] = cases
        return found

    def _values(self, function: Function, parameter: Parameter, writes: bool) -> list[Object]:
        if isinstance(parameter.default, bool):
            return [not parameter.default]
        if parameter.required or isinstance(parameter.default, str) or (writes and parameter.default is None):
            return [word for word in words(self.machine, function, parameter.name) if word != parameter.default]
        return []

    def _quietly(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except (Raised, CannotJoin, OutOfSteps, RecursionError):
            return None
        finally:
            self.machine.finish()

    # -- classes ------------------------------------------------------------------------------------------------------

    def _class(self, encoder: Encoder, cls: ClassObject) -> Any:
        machine = self.machine
        kind = self._kind(cls)
        made: dict[str, Any] = {"kind": kind}
        parents = [node for node in map(encoder.encode, bases(machine, cls)) if node != ["ext", "object"]]
        if parents:
            made["bases"] = parents
        if kind == "enum":
            made["attributes"] = {name: encoder.encode(m.value) for name, m in enum_members(machine, cls).items()}
            return made
        own = namespace(machine, cls)
        if kind in ("dataclass", "namedtuple"):
            made["fields"] = self._fields(encoder, cls)
        if kind == "dataclass" and is_frozen(machine, cls):
            made["frozen"] = True
        wanted = kind == "dataclass" and _is_summarised(cls.module.name)
        attributes, methods, properties, setters, kinds = {}, {}, {}, {}, {}
        if OPAQUE & own.keys() and kind != "dataclass":
            made["opaque"] = True
        for name, value in own.items():
            if not isinstance(name, str) or (name.startswith("__") and name != "__call__"):
                continue
            if isinstance(value, Function):
                methods[name] = self._summary(encoder, value, cls) if wanted else self._bounded(value)
            elif isinstance(value, Descriptor):
                if value.kind == "property":
                    assert isinstance(value.function, Function)
                    properties[name] = self._summary(encoder, value.function, cls) if wanted else None
                    if isinstance(value.setter, Function):
                        setters[name] = self._summary(encoder, value.setter, cls) if wanted else None
                else:
                    methods[name] = self._bounded(value.function) if isinstance(value.function, Function) else None
                    kinds[name] = value.kind
            elif isinstance(value, CONSTANTS) and name not in {spec[0] for spec in made.get("fields", ())}:
                attributes[name] = encoder.encode(value)
        parts = {"attributes": attributes, "methods": methods, "properties": properties, "setters": setters}
        parts["kinds"] = kinds
        made |= {key: found for key, found in parts.items() if found}
        if kind == "dataclass":
            self._hooks(encoder, cls, made)
        return made

    def _kind(self, cls: ClassObject) -> str:
        machine = self.machine
        if is_enum(machine, cls):
            return "enum"
        if is_dataclass(machine, cls):
            return "dataclass"
        if has_base(machine, cls, "typing.NamedTuple"):
            return "namedtuple"
        return "typeddict" if has_base(machine, cls, "typing.TypedDict", "typing_extensions.TypedDict") else "plain"

    def _fields(self, encoder: Encoder, cls: ClassObject) -> list[Any]:
        specs = own_fields(self.machine, cls)
        values = class_defaults(encoder, cls, specs)
        found = []
        for spec in specs:
            required = spec.default is MISSING and spec.factory is MISSING
            node: Node = ["required"] if required else values[spec.name]
            flags = ("" if spec.init else "i") + ("k" if spec.keyword_only else "")
            found.append([spec.name, node, flags] if flags else [spec.name, node])
        return found

    def _hooks(self, encoder: Encoder, cls: ClassObject, made: dict[str, Any]) -> None:
        hook, _ = lookup(self.machine, cls, "__post_init__")
        constructor, maker = lookup(self.machine, cls, "__init__")
        if isinstance(constructor, Function) and maker is cls:
            made |= {"kind": "plain", "opaque": True}
            return
        forwards = self._quietly(lambda: forwarding(self.machine, cls))
        if forwards is not None:
            made["forwards"] = list(astuple(forwards))
            return
        setter, _ = lookup(self.machine, cls, "__setattr__")
        if isinstance(hook, Function):
            made["made"] = self._quietly(lambda: self._constructed(encoder, cls))
            if made["made"] is None:
                made["made"] = self._quietly(lambda: self._perhaps_constructed(encoder, cls))
        if isinstance(setter, Function):
            sets = self._quietly(lambda: self._sets(cls))
            made["sets"] = sets

    def _constructed(self, encoder: Encoder, cls: ClassObject) -> dict[str, Node] | None:
        """What construction leaves in fields other than what was passed or declared."""
        defaults = class_defaults(encoder.elsewhere(), cls, fields_of(self.machine, cls))
        subject = self._field_subject(encoder, cls)
        if self._changed(subject) == set():
            return {}
        found = summarise(subject)
        if found is None or found[1]:
            return None
        result = found[0]["result"]
        result = result[2] if result[0] == "def" else result
        if result[0] != "obj":
            return None
        return {
            name: field[-1]
            for name, field in result[3].items()
            if field[-1] not in (["arg", name], ["pass", name, ["default"]])
            and bare(field[-1]) != bare(defaults.get(name))
        }

    def _perhaps_constructed(self, encoder: Encoder, cls: ClassObject) -> dict[str, Node] | None:
        """The fields that construction may change: as they are when nothing is passed, else not known.

        A size that is 0 when it is not passed has to be passed, whatever the class says.
        """
        hook, owner = lookup(self.machine, cls, "__post_init__")
        names = touched(self.machine, self.modules, cls, hook, owner) if isinstance(hook, Function) else None
        if names is None:
            return None
        subject = self._field_subject(encoder, cls)
        optional = {parameter.name for parameter in subject.parameters if not parameter.required}
        sizes = {p.name for p in subject.parameters if type(p.default) is int and p.default == 0}
        changed = [spec.name for spec in fields_of(self.machine, cls) if spec.name in names]
        for passed in (frozenset[str](), frozenset(sizes)):
            outcome = subject.outcome(passed)
            result = None if outcome is None else outcome[3]["result"][-1]
            if isinstance(result, list) and result[0] == "obj":
                others = sorted(optional - passed)
                return {name: ["dep", others, result[3].get(name, UNCHANGED)[-1]] for name in changed}
        return dict.fromkeys(changed, UNKNOWN)

    def _field_subject(self, encoder: Encoder, cls: ClassObject) -> Subject:
        names = []
        for spec in fields_of(self.machine, cls):
            if spec.init:
                required = spec.default is MISSING and spec.factory is MISSING
                default = MISSING if required or spec.factory is not MISSING else spec.default
                names.append((spec.name, required, default))
        return constructor_subject(encoder, cls, names)

    def _changed(self, subject: Subject) -> set[str] | None:
        """The fields that construction changes whatever is passed; None where that cannot be told."""
        outcome = subject.outcome(frozenset(parameter.name for parameter in subject.parameters))
        result = None if outcome is None else outcome[3]["result"][-1]
        if not isinstance(result, list) or result[0] != "obj":
            return None
        return {name for name, field in result[3].items() if field[-1] != ["arg", name]}

    def _sets(self, cls: ClassObject) -> dict[str, list[str]] | None:
        """Which fields a class's own `__setattr__` writes for each name, where it is not just that one."""
        names = [spec.name for spec in fields_of(self.machine, cls)]
        found = {}
        for name in names:
            written: set[str] = set()
            for probe in PROBES:
                self.machine.begin(())
                frame = Frame(cls.module)
                instance = instantiate(self.machine, cls, [], {}, None, frame, {})
                if not isinstance(instance, Instance):
                    return None
                before = dict(instance.fields)
                set_attribute(self.machine, instance, name, probe, None, frame)
                written |= {key for key, value in instance.fields.items() if value is not before.get(key, MISSING)}
                if any(instance.fields[key] is not probe for key in written):
                    return None
            if written - {name}:
                found[name] = sorted(written - {name})
        return found


def _is_plain(function: Function) -> bool:
    """Whether calling a function runs its code, and nothing else."""
    node = function.node
    return function.unwrapped is None and not function.is_async and isinstance(node, ast.FunctionDef)


def _parameters(function: Function) -> list[Any]:
    """The parameters, and which of them must be given; what the others are by default is not told."""
    arguments = function.node.args
    named = [(each.arg, "p") for each in arguments.posonlyargs] + [(each.arg, "a") for each in arguments.args]
    named += [(arguments.vararg.arg, "*")] if arguments.vararg else []
    named += [(each.arg, "k") for each in arguments.kwonlyargs]
    named += [(arguments.kwarg.arg, "**")] if arguments.kwarg else []
    return [[name, kind, UNKNOWN if name in function.defaults else ["required"]] for name, kind in named]


def _configures(function: Function) -> bool:
    """Whether a function says that it returns a configuration."""
    returns = getattr(function.node, "returns", None)
    return returns is not None and "Config" in ast.unparse(returns)


def _classes(provider: Instance) -> list[int]:
    options = provider.cls.options if isinstance(provider.cls, Choice) else (provider.cls,)
    return [id(cls) for cls in options]


def _is_summarised(module: str) -> bool:
    """Whether the functions of a module are worth a summary: Megatron-Core's build models, not configurations."""
    return module.startswith("megatron.bridge")
