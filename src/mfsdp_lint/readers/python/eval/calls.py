"""Calls: from the expression to the function and its arguments, and the way to call each kind of value."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import Side, join_sides
from mfsdp_lint.readers.python.eval.classes import lookup
from mfsdp_lint.readers.python.eval.configurations import keeps_arguments, run_of, task, trains
from mfsdp_lint.readers.python.eval.construction import class_being_made, construct, instantiate
from mfsdp_lint.readers.python.eval.containers import as_mapping
from mfsdp_lint.readers.python.eval.functions import call_function, one_configuration
from mfsdp_lint.readers.python.eval.iteration import elements, uncertain
from mfsdp_lint.readers.python.eval.launching import is_launcher, launch
from mfsdp_lint.readers.python.eval.methods import method
from mfsdp_lint.readers.python.eval.standard_objects import NotKnown
from mfsdp_lint.readers.python.eval.unfollowed import call_at, forget, unfollowed
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.state.calling import CALLERS, EVALUATORS, evaluate, invoke
from mfsdp_lint.readers.python.state.forgetting import forget_methods, havoc
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import LIBRARY, Model
from mfsdp_lint.readers.python.state.paths import Raised, Refused, kept
from mfsdp_lint.readers.python.state.truth import part_of_each
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.markers import HAZY, METHOD_OF
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    ConfigTree,
    Descriptor,
    DictObject,
    External,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Option,
    Partial,
    Super,
    Unknown,
    derived,
    obstacle_of,
)

_HOLDERS = (DictObject, ListObject, Instance, ConfigTree)
"""Kinds of values that know who wrote their parts."""


def evaluate_call(machine: Machine, node: ast.Call, frame: Frame) -> Object:
    """Return the value of a call. Raises Raised where the program would."""
    owner, function = _called(machine, node.func, frame)
    if (type(function) is External and function.name == "super") or (
        type(node.func) is ast.Name and node.func.id == "super"
    ):
        return _super(machine, node, frame, function)
    arguments: list[Object] = []
    for item in node.args:
        if type(item) is ast.Starred:
            value = evaluate(machine, item.value, frame)
            items = elements(machine, value, frame)
            if items is None or any(map(uncertain, items)):
                arguments += items or [value]
                return _call_with_unknown(machine, node, item, frame, owner, function, arguments)
            arguments += items
        else:
            arguments.append(EVALUATORS[type(item)](machine, item, frame))
    keywords: dict[str, Object] = {}
    focus: dict[str, Any] = {}
    by_option = False
    for keyword in node.keywords:
        said = keyword.value
        value = EVALUATORS[type(said)](machine, said, frame)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
            focus[keyword.arg] = keyword
        else:
            by_option |= type(value) is Option
            _spread(machine, as_mapping(machine, value, node, frame), keywords, focus, frame)
    if type(function) is Unknown:
        _forget_owner(machine, owner, node, frame)
    try:
        result = invoke(machine, function, Call(arguments, keywords, node, frame, focus))
    except Raised as error:
        if type(error) is Refused and error.node is None:
            error.spread, error.by_option = any(each.arg is None for each in node.keywords), by_option
        error.passes(frame.module, node, focus.get(error.keyword))
        raise
    if type(result) in _HOLDERS:
        machine.gave[node] = result
    return result


def _called(machine: Machine, node: ast.expr, frame: Frame) -> tuple[Object, Object]:
    """Return the called value, and before it the object that it may be a method of (None if it is no attribute)."""
    if not isinstance(node, ast.Attribute):
        return None, evaluate(machine, node, frame)
    owner = evaluate(machine, node.value, frame)
    return owner, get_attribute(machine, owner, node.attr, node, frame)


def _forget_owner(machine: Machine, owner: Object, node: ast.Call, frame: Frame) -> None:
    """Forget an object of unknown class after a method call: the program's own method may change the object."""
    options = owner.options if isinstance(owner, Choice) else (owner,)
    owners: list[Object] = [option for option in map(machine.settle, options) if isinstance(option, Unknown)]
    if owners and isinstance(node.func, ast.Attribute) and forget_methods(machine, node.func.attr):
        forget(machine, owners, node, frame)


def _spread(machine: Machine, value: Object, keywords: dict[str, Object], focus: dict[str, Any], frame: Frame) -> None:
    value = machine.settle(value)
    if isinstance(value, DictObject):
        hazy = bool(value.writes.get(HAZY))
        for key, item in value.fields.items():
            if isinstance(key, str):
                # Whoever changed it out of sight may have taken an entry away as well.
                keywords[key] = Choice((item, MISSING)) if hazy and isinstance(item, Unknown) else item
                write = value.writes.get(key)
                if write is not None and write is not True and write.module is frame.module:
                    focus[key] = write.focus or write.node
        if hazy:
            keywords["**"] = value
    else:
        keywords["**"] = value


def _call_with_unknown(
    machine: Machine,
    node: ast.Call,
    last: ast.expr,
    frame: Frame,
    owner: Object,
    function: Object,
    arguments: list[Object],
) -> Object:
    """Evaluate a call whose number of arguments is not known; those up to `last` are evaluated already."""
    arguments += (evaluate(machine, item, frame) for item in node.args[node.args.index(last) + 1 :])
    keywords = {keyword.arg or "**": evaluate(machine, keyword.value, frame) for keyword in node.keywords}
    _forget_owner(machine, owner, node, frame)
    forget(machine, [function, *_makers(machine, function)], node, frame)
    return unfollowed(machine, ast.unparse(node.func), Call(arguments, keywords, node, frame), blamed=False)


def _makers(machine: Machine, cls: Object) -> list[Object]:
    """List the code that runs when a class is called."""
    names = ("__new__", "__init__", "__post_init__") if isinstance(cls, ClassObject) else ()
    return [lookup(machine, cls, name)[0] for name in names]


def _super(machine: Machine, node: ast.Call, frame: Frame, function: Object) -> Object:
    if len(node.args) == 2:
        return Super(evaluate(machine, node.args[0], frame), evaluate(machine, node.args[1], frame))
    here: Frame | None = frame
    while here is not None and here.cls is None:
        here = here.enclosing
    if here is None or not here.fields:
        return machine.unknown("super()")
    owner = next(iter(here.fields.values()))
    return Super(here.cls, owner)


HANDS_ON = {
    "builtins.dict", "builtins.setattr", "object.__setattr__", "dataclasses.replace", "copy.replace",
    "functools.partial", "types.SimpleNamespace", "argparse.Namespace", "typing.cast", "json.loads", "yaml.safe_load",
    "ast.literal_eval", "nemo_run.Config", "nemo_run.Partial",
}  # fmt: skip
"""Modelled functions that pass their arguments on as they are, or know by themselves what comes of options."""


def _call_model(machine: Machine, name: str, model: Model, call: Call) -> Object:
    given = (*call.arguments, *call.keywords.values())
    options = [value for value in given if type(value) is Option]
    try:
        if not options or name in HANDS_ON:
            born = machine.clock
            found = model(machine, call)
            if type(found) is Unknown and found.obstacle is None and abs(found.born) > born:
                _blame(found, name, call)
            return found
        arguments = [machine.settle(value) for value in call.arguments]
        call = call.passing(arguments, {key: machine.settle(value) for key, value in call.keywords.items()})
        return derived(model(machine, call), *options)
    except Raised:
        if machine.given is not None or all(option.default is not None for option in options):
            raise
        # Whoever starts the program has to give what has no default.
        return machine.unknown(", ".join(option.text for option in options), not_none=True)
    except NotKnown:
        return unfollowed(machine, name, call)
    except (IndexError, TypeError, ValueError):
        # Other arguments than the model knows: by name, in the way of another version, or in error.
        for value in (*call.arguments, *call.keywords.values()):
            havoc(machine, value)
        return unfollowed(machine, name, call)


def _blame(found: Unknown, name: str, call: Call) -> None:
    """Say why what a modelled function gives is not known: one of its arguments is not, or else what it looks at."""
    given = (*call.arguments, *call.keywords.values())
    if any(isinstance(each, (Unknown, Choice)) for each in given):
        found.obstacle = obstacle_of(*given)
    elif not found.text.startswith("$"):
        found.obstacle = call_at(name, call.node, call.frame)


def _call_native(machine: Machine, native: Native, call: Call) -> Object:
    return _call_model(machine, native.name, native.call, call)


def _call_external(machine: Machine, external: External, call: Call) -> Object:
    if is_launcher(external):
        return launch(machine, external.name, call)
    if trains(external):
        return _train(machine, external, call)
    if keeps_arguments(external):
        return task(machine, (external, *call.arguments, True), call.keywords, call.node, call.frame)
    modelled = LIBRARY.get(external.name)
    if modelled is not None:
        return _call_model(machine, external.name, modelled, call)
    known = written(machine, external.name)
    if known is not MISSING:
        return invoke(machine, known, call)
    return unfollowed(machine, external.name, call)


def _train(machine: Machine, function: Object, call: Call) -> Object:
    """Run a call of one of NeMo's functions that train."""
    return launch(machine, "train", call.passing([run_of(machine, function, call)]))


def _make(machine: Machine, cls: ClassObject, call: Call) -> Object:
    if keeps_arguments(cls) or (machine.converted and (call.frame.module, call.frame.function) in machine.converted):
        return task(machine, (cls, *call.arguments, True), call.keywords, call.node, call.frame)
    return instantiate(machine, cls, call)


def _call_bound(machine: Machine, bound: Bound, call: Call) -> Object:
    function, owner = bound.function, bound.owner
    if isinstance(function, str):
        return derived(method(machine, owner, function, call), owner, *call.arguments)
    if isinstance(function, External):
        return _object_method(machine, function.name, owner, call)
    return invoke(machine, function, call.passing([owner, *call.arguments], call.keywords))


def _object_method(machine: Machine, name: str, owner: Object, call: Call) -> Object:
    if name == "type.__call__" and isinstance(owner, ClassObject):
        return construct(machine, owner, call.passing(call.arguments, call.keywords))
    if name == "type.__new__":
        return class_being_made(machine, call.arguments)
    if name in ("object.__setattr__", "object.__getattribute__"):
        return LIBRARY[name](machine, call.passing([owner, *call.arguments]))
    return None


def _call_partial(machine: Machine, partial: Partial, call: Call) -> Object:
    given = [*partial.arguments, *call.arguments]
    return invoke(
        machine,
        partial.function,
        call._replace(arguments=given, keywords={**partial.keywords, **call.keywords}),
    )


def _call_one_of(machine: Machine, choice: Choice, call: Call) -> Object:
    # Only one of them is called: what each does, it may as well not have done.
    mark, born = len(machine.path.journal), machine.clock
    sides: list[Side] = []
    results: list[Object] = []
    failed: Raised | None = None
    for option in choice.options:
        result: Object = MISSING
        try:
            result = invoke(machine, option, call)
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
    return one_configuration(
        machine, found, ast.unparse(call.node.func) if isinstance(call.node, ast.Call) else "a call"
    )


def _call_instance(machine: Machine, instance: Instance, call: Call) -> Object:
    if not isinstance(instance.cls, ClassObject):
        return unfollowed(machine, "", call)
    return invoke(machine, get_attribute(machine, instance, "__call__", None, call.frame), call)


def _call_descriptor(machine: Machine, descriptor: Descriptor, call: Call) -> Object:
    return invoke(machine, descriptor.function, call)


def _call_unknown(machine: Machine, unknown: Unknown, call: Call) -> Object:
    settled = machine.settle(unknown)
    if settled is not unknown:
        return invoke(machine, settled, call)
    if METHOD_OF in unknown.fields:
        forget(machine, [unknown.fields[METHOD_OF]], call.node, call.frame)
    # Only what a call of a library gave is known by its name: any other unknown value may be called like a module.
    by_name, blamed = "()" in unknown.text, unknown.obstacle is not None
    return unfollowed(machine, unknown.text, call, named=by_name, blamed=blamed)


def _not_callable(machine: Machine, value: Object, call: Call) -> Object:
    raise Raised("TypeError", f"'{type(value).__name__}' object is not callable")


def _call_anything(machine: Machine, value: Object, call: Call) -> Object:
    return unfollowed(machine, "", call)


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
