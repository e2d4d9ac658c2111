"""Calls: from the expression to the function and its arguments, and the way to call each kind of value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from mfsdp_lint.megatron.vocabulary import framework_of
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import Side, join_sides, one_key
from mfsdp_lint.readers.python.eval.classes import lookup
from mfsdp_lint.readers.python.eval.configurations import (
    is_launcher,
    keeps_arguments,
    run_of,
    run_of_framework,
    task,
    trains,
)
from mfsdp_lint.readers.python.eval.construction import class_being_made, construct, instantiate
from mfsdp_lint.readers.python.eval.containers import as_mapping
from mfsdp_lint.readers.python.eval.functions import call_function, one_configuration
from mfsdp_lint.readers.python.eval.iteration import elements
from mfsdp_lint.readers.python.eval.methods import method
from mfsdp_lint.readers.python.eval.standard_objects import NotKnown
from mfsdp_lint.readers.python.eval.unfollowed import call_at, call_elsewhere, forget, launch, unfollowed
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.state.calling import CALLERS, EVALUATORS, LIBRARY, NOTICED, Model, evaluate, invoke
from mfsdp_lint.readers.python.state.forgetting import forget_methods, forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import ANY, FORK_LIMIT, Raised, RefusedCall, kept
from mfsdp_lint.readers.python.state.truth import part_of_each
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED, METHOD_OF, ROW_OF
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    Choice,
    ClassObject,
    ConfigTree,
    Descriptor,
    DictObject,
    EnumMember,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Option,
    Partial,
    Super,
    Unknown,
    Write,
    blame,
    derived,
    obstacle_of,
    uncertain,
)

_HOLDERS = (DictObject, ListObject, Instance, ConfigTree)
"""Kinds of values that know who wrote their parts."""


_call: Callable[[type[Call], tuple[Any, ...]], Call] = tuple.__new__
"""Makes the commonest record without the checks of `Call(…)`."""


def evaluate_call(interp: Interpreter, node: ast.Call, frame: Frame) -> Object:
    """Return the value of a call. Raises Raised where the program would."""
    owner, function = _called(interp, node.func, frame)
    if (type(function) is External and function.name == "super") or (
        type(node.func) is ast.Name and node.func.id == "super"
    ):
        return _super(interp, node, frame, function)
    arguments: list[Object] = []
    for item in node.args:
        if type(item) is ast.Starred:
            value = evaluate(interp, item.value, frame)
            items = elements(interp, value, frame)
            if items is None or any(map(uncertain, items)):
                arguments += items or [value]
                return _call_with_unknown(interp, node, item, frame, owner, function, arguments)
            arguments += items
        else:
            arguments.append(EVALUATORS[type(item)](interp, item, frame))
    keywords: dict[str, Object] = {}
    focus: dict[str, Any] = {}
    by_option = False
    for keyword in node.keywords:
        said = keyword.value
        value = EVALUATORS[type(said)](interp, said, frame)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
            focus[keyword.arg] = keyword
        else:
            by_option |= type(value) is Option
            _spread(interp, as_mapping(interp, value, node, frame), keywords, focus, frame)
    if type(function) is Unknown:
        _forget_owner(interp, owner, node, frame)
        name = node.func.attr if type(node.func) is ast.Attribute else ""
        called = call_elsewhere(interp, owner, name, Call(arguments, keywords, node, frame, focus))
        if called is not MISSING:
            return called
        if name == "remote":
            arguments = [_as_handed_on(interp, each) for each in arguments]
            keywords = {key: _as_handed_on(interp, each) for key, each in keywords.items()}
    try:
        result = CALLERS[type(function)](interp, function, _call(Call, (arguments, keywords, node, frame, focus)))
    except Raised as error:
        if type(error) is RefusedCall and error.node is None:
            if full := _of_neighbour(interp, function):
                return unfollowed(interp, full, _call(Call, (arguments, keywords, node, frame, focus)))
            error.spread, error.by_option = any(each.arg is None for each in node.keywords), by_option
        given = focus.get(error.keyword)
        error.passes(frame.module, node, given.place_in(frame.module) if isinstance(given, Write) else given)
        raise
    if type(result) in _HOLDERS:
        interp.gave[node] = result
    return result


def _of_neighbour(interp: Interpreter, called: Object) -> str:
    """Return the dotted name of a callable of upstream's, where it is that of another release than the one that is
    judged, which may take other arguments; "" for any other value.
    """
    if not isinstance(called, (Function, ClassObject)) or called.module.upstream is None:
        return ""
    return f"{called.module.name}.{called.name}" if interp.knowledge.is_of_neighbour else ""


def _called(interp: Interpreter, node: ast.expr, frame: Frame) -> tuple[Object, Object]:
    """Return the called value, and before it the object that it may be a method of (None if it is no attribute)."""
    if not isinstance(node, ast.Attribute):
        return None, evaluate(interp, node, frame)
    owner = evaluate(interp, node.value, frame)
    return owner, get_attribute(interp, owner, node.attr, node, frame)


def _as_handed_on(interp: Interpreter, value: Object) -> Object:
    """Return a list of plain values as another process is given it, which cannot change the one here: Ray and Modal
    hand on copies (docs.ray.io, ray-core/objects/serialization; modal.com/docs/reference/modal.Function, `remote`).
    """
    items = value.items if type(value) is ListObject else None
    is_plain = items is not None and all(isinstance(each, CONSTANTS) for each in items)
    return ListObject(list(items or ()), interp.tick()) if is_plain else value


def _forget_owner(interp: Interpreter, owner: Object, node: ast.Call, frame: Frame) -> None:
    """Forget an object of unknown class after a method call: the program's own method may change the object."""
    options = owner.options if isinstance(owner, Choice) else (owner,)
    owners: list[Object] = [option for option in map(interp.settle, options) if isinstance(option, Unknown)]
    if owners and isinstance(node.func, ast.Attribute) and forget_methods(interp, node.func.attr):
        forget(interp, owners, node, frame)


def _spread(
    interp: Interpreter, value: Object, keywords: dict[str, Object], focus: dict[str, Any], frame: Frame
) -> None:
    value = interp.settle(value)
    if isinstance(value, DictObject):
        hazy = bool(value.writes.get(MAY_HAVE_CHANGED))
        for key, item in value.fields.items():
            if isinstance(key, str):
                # Whoever changed it out of sight may have taken an entry away as well.
                keywords[key] = Choice((item, MISSING)) if hazy and isinstance(item, Unknown) else item
                write = value.writes.get(key)
                if type(write) is Write:
                    focus[key] = write
        if hazy:
            keywords["**"] = value
    else:
        keywords["**"] = value


def _call_with_unknown(
    interp: Interpreter,
    node: ast.Call,
    last: ast.expr,
    frame: Frame,
    owner: Object,
    function: Object,
    arguments: list[Object],
) -> Object:
    """Evaluate a call whose number of arguments is not known; those up to `last` are evaluated already."""
    arguments += (evaluate(interp, item, frame) for item in node.args[node.args.index(last) + 1 :])
    keywords = {keyword.arg or "**": evaluate(interp, keyword.value, frame) for keyword in node.keywords}
    _forget_owner(interp, owner, node, frame)
    forget(interp, [function, *_makers(interp, function)], node, frame)
    return unfollowed(interp, ast.unparse(node.func), Call(arguments, keywords, node, frame), blamed=False)


def _makers(interp: Interpreter, cls: Object) -> list[Object]:
    """List the code that runs when a class is called."""
    names = ("__new__", "__init__", "__post_init__") if isinstance(cls, ClassObject) else ()
    return [lookup(interp, cls, name)[0] for name in names]


def _super(interp: Interpreter, node: ast.Call, frame: Frame, function: Object) -> Object:
    if len(node.args) == 2:
        return Super(evaluate(interp, node.args[0], frame), evaluate(interp, node.args[1], frame))
    here: Frame | None = frame
    while here is not None and here.cls is None:
        here = here.enclosing
    if here is None or not here.fields:
        return interp.unknown("super()")
    owner = next(iter(here.fields.values()))
    return Super(here.cls, owner)


HANDS_ON = {
    "builtins.dict", "builtins.setattr", "object.__setattr__", "dataclasses.replace", "copy.replace",
    "functools.partial", "types.SimpleNamespace", "argparse.Namespace", "typing.cast", "json.loads", "yaml.safe_load",
    "ast.literal_eval", "nemo_run.Config", "nemo_run.Partial",
}  # fmt: skip
"""Modelled functions that pass their arguments on as they are, or know by themselves what comes of options."""


_READING = frozenset(("builtins.open", "io.open", "pathlib.Path", "pathlib.Path.read_text", "omegaconf.OmegaConf.load"))
"""Functions that are given the path of a file to read, or hand it on."""


def _call_model(interp: Interpreter, name: str, model: Model, call: Call) -> Object:
    given = call.values
    options = [value for value in given if type(value) is Option]
    try:
        if name in _READING and name != "pathlib.Path" and any(each.default in (None, MISSING) for each in options):
            interp.dependencies.asks_file.add(call.frame.module)
        tries_files = interp.tries_files and name in _READING and any(each.default is None for each in options)
        if not options or name in HANDS_ON or tries_files:
            born = interp.clock
            found = model(interp, call)
            if type(found) is Unknown and found.obstacle is None and abs(found.born) > born:
                _blame(found, name, call)
            elif isinstance(found, ListObject) and found.items is None and abs(found.born) > born:
                blame(found, obstacle_of(*given))
            return found
        arguments = [interp.settle(value) for value in call.arguments]
        call = call.passing(arguments, {key: interp.settle(value) for key, value in call.keywords.items()})
        return derived(model(interp, call), *options)
    except Raised:
        if interp.given is not None or all(option.default is not None for option in options):
            raise
        # Whoever starts the program has to give what has no default.
        return interp.unknown(", ".join(option.text for option in options), not_none=True)
    except NotKnown:
        return unfollowed(interp, name, call)
    except (IndexError, TypeError, ValueError):
        # Other arguments than the model knows: by name, in the way of another version, or in error.
        for value in call.values:
            forget_reachable(interp, value)
        return unfollowed(interp, name, call)


def _blame(found: Unknown, name: str, call: Call) -> None:
    """Say why what a modelled function gives is not known: one of its arguments is not, or else what it looks at."""
    given = call.values
    if any(isinstance(each, (Unknown, Choice)) for each in given):
        found.obstacle = obstacle_of(*given)
    elif not found.text.startswith("$"):
        found.obstacle = call_at(name, call.node, call.frame)


def _call_external(interp: Interpreter, external: External, call: Call) -> Object:
    if framework_of(external.name):
        run = run_of_framework(interp, external, call)
        return launch(interp, external.name, call.passing([run, *call.values]))
    if is_launcher(external):
        return launch(interp, external.name, call)
    if trains(external):
        return launch(interp, "train", call.passing([run_of(interp, external, call)]))
    if keeps_arguments(external):
        return task(interp, (external, *call.arguments, True), call.keywords, call.node, call.frame)
    if external.name in NOTICED:
        NOTICED[external.name](interp, call)
    modelled = LIBRARY.get(external.name)
    if modelled is not None:
        return _call_model(interp, external.name, modelled, call)
    known = written(interp, external.name)
    if known is not MISSING:
        return invoke(interp, known, call)
    return unfollowed(interp, external.name, call)


def _make(interp: Interpreter, cls: ClassObject, call: Call) -> Object:
    if keeps_arguments(cls) or (interp.converted and (call.frame.module, call.frame.function) in interp.converted):
        return task(interp, (cls, *call.arguments, True), call.keywords, call.node, call.frame)
    return instantiate(interp, cls, call)


def _pieces_of_text(interp: Interpreter, text: Object, found: Object, pieces: Sequence[Object], call: Call) -> Object:
    """Let the pieces of a text know where the text is written."""
    if type(text) is Option and text.said is not None:
        pieces = [derived(piece, text) for piece in pieces]
        return tuple(pieces) if isinstance(found, tuple) else ListObject(list(pieces), interp.tick())
    if pieces and isinstance(call.node, ast.Call) and isinstance(call.node.func, ast.Attribute):
        focus = call.node.func.value
        interp.tell_pieces(pieces, [interp.note(focus, call.frame, focus, "assigned", text, None)] * len(pieces))
    return found


def _call_bound(interp: Interpreter, bound: Bound, call: Call) -> Object:
    function, owner = bound.function, bound.owner
    if isinstance(function, str):
        found = method(interp, owner, function, call)
        pieces = found.items if type(found) is ListObject else found
        if isinstance(interp.settle(owner), str) and isinstance(pieces, (list, tuple)):
            return _pieces_of_text(interp, owner, found, pieces, call)
        return derived(found, owner, *call.arguments)
    if isinstance(function, External):
        if function.name == "type.__call__" and isinstance(owner, ClassObject):
            return construct(interp, owner, call.passing(call.arguments, call.keywords))
        if function.name == "type.__new__":
            return class_being_made(interp, call.arguments)
        if function.name in ("object.__setattr__", "object.__getattribute__"):
            return LIBRARY[function.name](interp, call.passing([owner, *call.arguments]))
        return None
    return invoke(interp, function, call.passing([owner, *call.arguments], call.keywords))


def _call_partial(interp: Interpreter, partial: Partial, call: Call) -> Object:
    given = [*partial.arguments, *call.arguments]
    return invoke(
        interp,
        partial.function,
        call._replace(arguments=given, keywords={**partial.keywords, **call.keywords}),
    )


def _call_one_of(interp: Interpreter, choice: Choice, call: Call) -> Object:
    # Only one of them is called: what each does, it may as well not have done.
    mark, born = len(interp.path.journal), interp.clock
    sides: list[Side] = []
    results: list[Object] = []
    failed: Raised | None = None
    for option in choice.options:
        result: Object = MISSING
        try:
            result = invoke(interp, option, call)
        except Raised as error:
            interp.doubts += 1
            failed = kept(error) if failed is None or isinstance(failed, RefusedCall) else failed
        else:
            sides.append((("return", result), interp.changes(mark)))
        results.append(result)
        interp.rollback(mark)
    if not sides:
        raise failed or Raised("TypeError", "not callable")
    found = join_sides(interp, sides, born, force=True)[1]
    if type(found) is Choice:
        found = part_of_each(interp, choice, results)
    return one_configuration(
        interp, found, ast.unparse(call.node.func) if isinstance(call.node, ast.Call) else "a call"
    )


def _call_instance(interp: Interpreter, instance: Instance | EnumMember, call: Call) -> Object:
    if not isinstance(instance.cls, ClassObject):
        return unfollowed(interp, "", call)
    return invoke(interp, get_attribute(interp, instance, "__call__", None, call.frame), call)


def _call_unknown(interp: Interpreter, unknown: Unknown, call: Call) -> Object:
    settled = interp.settle(unknown)
    if settled is not unknown:
        return invoke(interp, settled, call)
    if ROW_OF in unknown.fields:
        key, text, rows = unknown.fields[ROW_OF]
        meant = one_key(interp, key, tuple(rows), text, FORK_LIMIT)
        if meant is not key:
            return invoke(interp, rows[meant], call)
    if METHOD_OF in unknown.fields:
        forget(interp, [unknown.fields[METHOD_OF]], call.node, call.frame)
    # Only what a call of a library gave is known by its name: any other unknown value may be called like a module.
    by_name, blamed = "()" in unknown.text, unknown.obstacle is not None
    if not by_name:
        interp.dependencies.raises.add(ANY)
    return unfollowed(interp, unknown.text, call, named=by_name, blamed=blamed)


def _not_callable(interp: Interpreter, value: Object, call: Call) -> Object:
    raise Raised("TypeError", f"'{type(value).__name__}' object is not callable")


CALLERS.update(
    {
        Function: call_function,
        ClassObject: _make,
        Native: lambda interp, native, call: _call_model(interp, native.name, native.call, call),
        External: _call_external,
        Bound: _call_bound,
        Partial: _call_partial,
        Choice: _call_one_of,
        Instance: _call_instance,
        EnumMember: _call_instance,
        Descriptor: lambda interp, descriptor, call: invoke(interp, descriptor.function, call),
        Unknown: _call_unknown,
        **dict.fromkeys((str, int, float, type(None), tuple, DictObject), _not_callable),
        object: lambda interp, value, call: unfollowed(interp, "", call),
    }
)
