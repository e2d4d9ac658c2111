"""Configurations among all objects of a program; those of NeMo 2, and the calls that keep what they are given.

A task of nemo_run (`run.Config(nl.Trainer, strategy=…)`) and an object of one of NeMo's own classes
(`nl.Trainer(strategy=…)`) say the same, so that both are tasks here. `nl.MegatronStrategy` is where Megatron is
configured, and a trainer has it. The profile `nemo` (front_ends/data) says how NeMo uses it.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from mfsdp_lint.megatron.vocabulary import LAUNCHERS, SECTIONS, framework_of
from mfsdp_lint.readers.python.eval.classes import WRITTEN, class_names
from mfsdp_lint.readers.python.eval.path_objects import text_of, text_of_path
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.code import NO_FOCUS, Call, Focus
from mfsdp_lint.readers.python.values.markers import ARGUMENTS, MAY_HAVE_CHANGED, TASK, UNKNOWN_KEYS
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ClassObject,
    ConfigTree,
    DictObject,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Object,
    Partial,
    Unknown,
)

STRATEGY = "MegatronStrategy"
TRAINER = "Trainer"

_PACKAGE = "nemo."
_CLASSES = frozenset(
    {STRATEGY, TRAINER, "MegatronMixedPrecision", "MegatronOptimizerModule", "MegatronCommOverlapCallback"}
)
"""Classes of which a configuration is made. Their own code is not followed."""

_SHORT = frozenset(name.rpartition(".")[2] for name in LAUNCHERS)

_TRAINING = frozenset({"train", "pretrain", "finetune"})
_PARAMETERS = ("model", "data", "trainer", "log", "resume", "optim")
"""Those of `train` (nemo/collections/llm/api.py:74 at 8cfedd72), which the others begin with as well."""


def held_by(value: Object) -> tuple[Object, ...]:
    """Return the contents of a task: a function or a class, its positional arguments in order, and whether it is to be
    called at once. Returns nothing for a value that is no task, and where several sides of a condition have made
    different tasks.
    """
    found = value.fields.get(TASK) if isinstance(value, Unknown) else None
    return found if isinstance(found, tuple) else ()


def class_of(value: Object) -> str:
    """Return the name of the class that a task is to make, or of an object's class; "" where that is not known."""
    made: Any = value
    if isinstance(value, Unknown) and TASK in value.fields:
        made = next(iter(held_by(value)), None)
    elif isinstance(value, Instance):
        made = value.cls
    if isinstance(made, External):
        return made.name.rpartition(".")[2]
    return made.name if isinstance(made, ClassObject) else ""


def keeps_arguments(function: Object) -> bool:
    """Tell whether a call makes an object of one of NeMo's classes, its source at hand or not."""
    if isinstance(function, External):
        return function.name.startswith(_PACKAGE) and function.name.rpartition(".")[2] in _CLASSES
    return isinstance(function, ClassObject) and function.name in _CLASSES and function.module.name.startswith(_PACKAGE)


def is_launcher(value: Object) -> bool:
    """Tell whether a value is one of upstream's launchers, its source at hand or not, or a function of a framework that
    runs with its arguments.
    """
    if isinstance(value, Function):
        return value.name in _SHORT and f"{value.module.name}.{value.name}" in LAUNCHERS
    return isinstance(value, External) and (value.name in LAUNCHERS or bool(framework_of(value.name)))


def trains(function: Object) -> bool:
    """Tell whether a function trains with its arguments, as NeMo's `llm.pretrain` does."""
    if isinstance(function, External):
        package, _, name = function.name.rpartition(".")
    elif isinstance(function, Function):
        package, name = function.module.name, function.name
    else:
        return False
    return name in _TRAINING and package.removesuffix(".api") in ("nemo.collections.llm", "nemo.collections.vlm")


def task(
    interp: Interpreter,
    held: tuple[Object, ...],
    keywords: Mapping[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus = NO_FOCUS,
) -> Unknown:
    """Make a task: a value that holds a function or a class, with its arguments as attributes. `held` is as in TASK."""
    made = interp.unknown("task", not_none=True)
    made.fields[TASK] = held
    made.writes[TASK] = interp.note(node, frame, None, "default", None, None)
    if len(held) > 2 or "**" in keywords:
        made.fields[MAY_HAVE_CHANGED] = True
    said = {each.arg: each for each in node.keywords if each.arg} if isinstance(node, ast.Call) else {}
    for name, value in keywords.items():
        if name == "**":
            continue
        made.fields[name] = value
        made.writes[name] = interp.note(node, frame, focus.get(name, said.get(name)), "argument", value, None)
    if class_of(made) == STRATEGY or framework_called(made):
        interp.found_configuration()
    return made


_LEADING = 4
"""Arguments by position that are no keys: the model, its optimizer, the mesh and a dimension of it."""


def run_of_framework(interp: Interpreter, function: External, call: Call) -> Unknown:
    """Return the arguments of a framework's function, as the configuration of its run."""
    found = task(interp, (function, False), call.keywords, call.node, call.frame, call.focus)
    if len(call.arguments) > _LEADING:
        found.fields[MAY_HAVE_CHANGED] = True
    return found


def framework_called(value: Object) -> str:
    """Return the framework whose function was called with these arguments; "" for any other value."""
    function = next(iter(held_by(value)), None)
    return framework_of(function.name) if isinstance(function, External) else ""


def run_of(interp: Interpreter, function: Object, call: Call) -> Unknown:
    """Return the arguments of a function that trains, as one configuration."""
    named = dict(zip(_PARAMETERS, call.arguments, strict=False)) | call.keywords
    return task(interp, (function, False), named, call.node, call.frame)


def strategy_of(value: Object) -> Object:
    """Return the strategy of a configuration, or of a trainer; None where there is none."""
    if not isinstance(value, Unknown):
        return None
    trainer = value.fields.get("trainer", value if class_of(value) == TRAINER else None)
    return trainer.fields.get("strategy") if isinstance(trainer, Unknown) else None


def is_run(value: Object) -> bool:
    """Tell whether a value configures a run: its contents lead to a strategy for Megatron, or are the arguments of a
    framework's function.
    """
    if type(value) is not Unknown or TASK not in value.fields:
        return False
    return STRATEGY in (class_of(value), class_of(strategy_of(value))) or bool(framework_called(value))


def changes_run(value: Object) -> bool:
    """Tell whether the strategy of an unknown object was written to: a run that is configured elsewhere."""
    if type(value) is not Unknown or not isinstance(value.fields.get("trainer"), Unknown):
        return False
    strategy = strategy_of(value)
    if not isinstance(strategy, Unknown):
        return False
    ddp = strategy.fields.get("ddp")
    return bool(strategy.writes) or (isinstance(ddp, Unknown) and bool(ddp.writes))


def configures_run(value: Object) -> bool:
    """Tell whether a value is a configuration of NeMo, whole or in part."""
    return is_run(value) or changes_run(value)


CONTAINER = "ConfigContainer"


_LOADERS = {"from_yaml": "yaml_path", "from_dict": "config_dict"}
"""The methods that make a configuration, each with the name of what it is given."""
_BASE = "_ConfigContainerBase"


def loader_of(interp: Interpreter, function: Function, call: Call) -> Object:
    """Return the model of a method of Bridge's configurations that makes one of a file of the tree, or of a dictionary;
    MISSING for any other function, and where nothing is known of these.

    Source: training/utils/config_utils.py, 0.2.0 to head.
    """
    cls = function.cls
    if function.name not in _LOADERS or not isinstance(cls, ClassObject) or cls.name not in (CONTAINER, _BASE):
        return MISSING
    given = interp.settle(call.argument(1, _LOADERS[function.name]))
    if function.name == "from_yaml":
        path = text_of_path(given)
        try:
            found = None if path is None else text_of(interp, path, call.frame.module)
        except FileNotFoundError:
            return MISSING
        is_known = found is not None and "_target_" in found[1]
    else:
        is_known = isinstance(given, DictObject) and "_target_" in given.fields
    return WRITTEN[0](interp, f"hydra.utils.container_{function.name}") if is_known else MISSING


def is_container(interp: Interpreter, value: Object) -> bool:
    """Tell whether an object configures a run: Megatron-Bridge's ConfigContainer, a subclass of it, a run of NeMo."""
    if not isinstance(value, Instance) or isinstance(value.cls, Choice):
        return is_run(value)
    return any(name.rpartition(".")[2] == CONTAINER for name in class_names(interp, value.cls))


def changed_from_outside(value: Object) -> bool:
    """Tell whether settings were written into an unknown object: it is a configuration that comes from elsewhere."""
    if not isinstance(value, Unknown) or isinstance(value, ConfigTree) or ARGUMENTS in value.fields:
        return False
    if TASK in value.fields:  # what it was given are its own arguments, and nobody's settings
        return changes_run(value)
    return (
        changes_run(value)
        or any(
            name in SECTIONS and isinstance(part, (Unknown, DictObject)) and bool(part.writes)
            for name, part in value.fields.items()
            if isinstance(name, str)
        )
        or any(name in SECTIONS for name in value.writes if isinstance(name, str))
    )


def parts(value: Object) -> Iterable[tuple[Hashable, Object]]:
    """Return the parts of a value that holds others, each with its key, index or name: a collection, an object of the
    program, a call that is made later.
    """
    match value:
        case tuple():
            return enumerate(value)
        case ListObject():
            return enumerate(value.items or ())
        case DictObject():
            return (*value.fields.items(), *enumerate(value.writes.get(UNKNOWN_KEYS, ())))
        case Instance(cls=ClassObject(module=module)) if module.is_project:
            return value.fields.items()
        case Unknown():
            return ((name, part) for name, part in value.fields.items() if isinstance(part, (Instance, ListObject)))
        case Partial():
            return (*enumerate(value.arguments), *value.keywords.items())
    return ()


def holds_container(interp: Interpreter, value: Object, seen: set[int] | None = None) -> bool:
    """Tell whether a value is a configuration, or holds one."""
    seen = set() if seen is None else seen
    if id(value) in seen or is_container(interp, value):
        return id(value) not in seen
    seen.add(id(value))
    return any(holds_container(interp, part, seen) for _, part in parts(value))
