"""Calls: what is called decides what happens."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import Side, join_sides
from mfsdp_lint.readers.python.eval.class_making import class_being_made
from mfsdp_lint.readers.python.eval.construction import construct, instantiate
from mfsdp_lint.readers.python.eval.functions import call_function, one_configuration
from mfsdp_lint.readers.python.eval.launching import is_launcher, launch
from mfsdp_lint.readers.python.eval.methods import method
from mfsdp_lint.readers.python.eval.nemo import keeps_arguments, run_of, task, trains
from mfsdp_lint.readers.python.eval.standard_objects import NotKnown
from mfsdp_lint.readers.python.eval.unfollowed import call_at, forget, unfollowed
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.state.calling import CALLERS, NO_FOCUS, Focus, call
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.joining import part_of_each
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import LIBRARY
from mfsdp_lint.readers.python.state.outcomes import Raised, Refused, kept
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import METHOD_OF
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    Descriptor,
    DictObject,
    External,
    Function,
    Instance,
    Native,
    Object,
    Option,
    Partial,
    Unknown,
    derived,
    obstacle_of,
)

HANDS_ON = {
    "builtins.dict", "builtins.setattr", "object.__setattr__", "dataclasses.replace", "copy.replace",
    "functools.partial", "types.SimpleNamespace", "argparse.Namespace", "typing.cast", "json.loads", "yaml.safe_load",
    "ast.literal_eval", "nemo_run.Config", "nemo_run.Partial",
}  # fmt: skip
"""Modelled functions that pass their arguments on as they are, or know by themselves what comes of options."""


def _call_model(
    machine: Machine,
    name: str,
    model: Any,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
) -> Object:
    options: list[Option] = []
    if Option in map(type, arguments) or (keywords and Option in map(type, keywords.values())):
        options = [value for value in (*arguments, *keywords.values()) if type(value) is Option]
    try:
        if not options or name in HANDS_ON:
            born = machine.clock
            found: Object = model(machine, arguments, keywords, node, frame)
            if type(found) is Unknown and found.obstacle is None and abs(found.born) > born:
                _blame(found, name, arguments, keywords, node, frame)
            return found
        arguments = [machine.settle(value) for value in arguments]
        keywords = {key: machine.settle(value) for key, value in keywords.items()}
        return derived(model(machine, arguments, keywords, node, frame), *options)
    except Raised:
        if machine.given is not None or all(option.default is not None for option in options):
            raise
        # Whoever starts the program has to give what has no default.
        return machine.unknown(", ".join(option.text for option in options), not_none=True)
    except NotKnown:
        return unfollowed(machine, name, arguments, keywords, node, frame)
    except (IndexError, TypeError, ValueError):
        # Other arguments than the model knows: by name, in the way of another version, or in error.
        for value in (*arguments, *keywords.values()):
            havoc(machine, value)
        return unfollowed(machine, name, arguments, keywords, node, frame)


def _blame(
    found: Unknown, name: str, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> None:
    """Say why what a modelled function gives is not known: one of its arguments is not, or else what it looks at."""
    given = (*arguments, *keywords.values())
    if any(isinstance(each, (Unknown, Choice)) for each in given):
        found.obstacle = obstacle_of(*given)
    elif not found.text.startswith("$"):
        found.obstacle = call_at(name, node, frame)


def _call_native(
    machine: Machine,
    native: Native,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    return _call_model(machine, native.name, native.call, arguments, keywords, node, frame)


def _call_external(
    machine: Machine,
    external: External,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    if is_launcher(external):
        return launch(machine, external.name, arguments, keywords, node, frame)
    if trains(external):
        return _train(machine, external, arguments, keywords, node, frame)
    if keeps_arguments(external):
        return task(machine, (external, *arguments, True), keywords, node, frame)
    modelled = LIBRARY.get(external.name)
    if modelled is not None:
        return _call_model(machine, external.name, modelled, arguments, keywords, node, frame)
    known = written(machine, external.name)
    if known is not MISSING:
        return call(machine, known, arguments, keywords, node, frame, focus)
    return unfollowed(machine, external.name, arguments, keywords, node, frame)


def _train(
    machine: Machine, function: Object, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    """Run a call of one of NeMo's functions that train."""
    return launch(machine, "train", [run_of(machine, function, arguments, keywords, node, frame)], {}, node, frame)


def _make(
    machine: Machine,
    cls: ClassObject,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    if keeps_arguments(cls) or (machine.converted and (frame.module, frame.function) in machine.converted):
        return task(machine, (cls, *arguments, True), keywords, node, frame)
    return instantiate(machine, cls, arguments, keywords, node, frame, focus)


def _call_bound(
    machine: Machine,
    bound: Bound,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    function, owner = bound.function, bound.owner
    if isinstance(function, str):
        return derived(method(machine, owner, function, arguments, keywords, node, frame), owner, *arguments)
    if isinstance(function, External):
        return _object_method(machine, function.name, owner, arguments, keywords, node, frame)
    return call(machine, function, [owner, *arguments], keywords, node, frame)


def _object_method(
    machine: Machine,
    name: str,
    owner: Object,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
) -> Object:
    if name == "type.__call__" and isinstance(owner, ClassObject):
        return construct(machine, owner, arguments, keywords, node, frame, NO_FOCUS)
    if name == "type.__new__":
        return class_being_made(machine, arguments)
    if name in ("object.__setattr__", "object.__getattribute__"):
        return LIBRARY[name](machine, [owner, *arguments], {}, node, frame)
    return None


def _call_partial(
    machine: Machine,
    partial: Partial,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    return call(
        machine,
        partial.function,
        [*partial.arguments, *arguments],
        {**partial.keywords, **keywords},
        node,
        frame,
        focus,
    )


def _call_one_of(
    machine: Machine,
    choice: Choice,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    # Only one of them is called: what each does, it may as well not have done.
    mark, born = len(machine.path.journal), machine.clock
    sides: list[Side] = []
    results: list[Object] = []
    failed: Raised | None = None
    for option in choice.options:
        result: Object = MISSING
        try:
            result = call(machine, option, arguments, keywords, node, frame)
        except Raised as error:
            machine.doubts += 1
            failed = kept(error) if failed is None or isinstance(failed, Refused) else failed
        else:
            sides.append((("return", result), machine.changes(mark)))
        results.append(result)
        machine.rollback(mark)
    if not sides:
        raise failed or Raised("TypeError", "not callable")
    found = join_sides(machine, sides, born, force=True)[1]
    if type(found) is Choice:
        found = part_of_each(machine, choice, results)
    return one_configuration(machine, found, ast.unparse(node.func) if isinstance(node, ast.Call) else "a call")


def _call_instance(
    machine: Machine,
    instance: Instance,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    if not isinstance(instance.cls, ClassObject):
        return unfollowed(machine, "", arguments, keywords, node, frame)
    return call(machine, get_attribute(machine, instance, "__call__", None, frame), arguments, keywords, node, frame)


def _call_descriptor(
    machine: Machine,
    descriptor: Descriptor,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    return call(machine, descriptor.function, arguments, keywords, node, frame)


def _call_unknown(
    machine: Machine,
    unknown: Unknown,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    settled = machine.settle(unknown)
    if settled is not unknown:
        return call(machine, settled, arguments, keywords, node, frame, focus)
    if METHOD_OF in unknown.fields:
        forget(machine, [unknown.fields[METHOD_OF]], node, frame)
    # Only what a call of a library gave is known by its name: any other unknown value may be called like a module.
    by_name, blamed = "()" in unknown.text, unknown.obstacle is not None
    return unfollowed(machine, unknown.text, arguments, keywords, node, frame, named=by_name, blamed=blamed)


def _not_callable(
    machine: Machine,
    value: Object,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    raise Raised("TypeError", f"'{type(value).__name__}' object is not callable")


def _call_anything(
    machine: Machine,
    value: Object,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Focus,
) -> Object:
    return unfollowed(machine, "", arguments, keywords, node, frame)


CALLERS.update(
    {
        Function: call_function,
        ClassObject: _make,
        Native: _call_native,
        External: _call_external,
        Bound: _call_bound,
        Partial: _call_partial,
        Choice: _call_one_of,
        Instance: _call_instance,
        Descriptor: _call_descriptor,
        Unknown: _call_unknown,
        **dict.fromkeys((str, int, float, type(None), tuple, DictObject), _not_callable),
        object: _call_anything,
    }
)
