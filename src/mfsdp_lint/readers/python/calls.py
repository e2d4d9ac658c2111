"""Calls: binding arguments, running functions, remembering what helpers return."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from typing import Any

from mfsdp_lint.readers.python.branches import Side, merge
from mfsdp_lint.readers.python.classes import ClassObject, instantiate
from mfsdp_lint.readers.python.containers import GeneratorCall
from mfsdp_lint.readers.python.machine import (
    DEPTH_LIMIT,
    FORK_LIMIT,
    LOCAL_WAYS,
    CannotMerge,
    Frame,
    Machine,
    Raised,
    join,
    own,
    template,
)
from mfsdp_lint.readers.python.methods import method
from mfsdp_lint.readers.python.objects import (
    MISSING,
    Bound,
    Choice,
    Descriptor,
    DictObject,
    EnumMember,
    External,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Option,
    Partial,
    Unknown,
    derived,
    is_constant,
)

RECURSION_ON_UNKNOWN = 3
NO_FOCUS: Mapping[str, Any] = {}
HANDS_ON = {
    "builtins.dict", "builtins.setattr", "object.__setattr__", "dataclasses.replace", "copy.replace",
    "functools.partial", "types.SimpleNamespace", "argparse.Namespace", "typing.cast",
}  # fmt: skip
"""Modelled functions that pass their arguments on as they are."""
HUGGINGFACE = {"from_hf_pretrained", "from_hf_config", "from_auto_config", "to_megatron_provider", "get_model_config"}
"""Methods whose result depends on a model's configuration on the Hugging Face hub (see huggingface.py)."""


def call(
    machine: Machine,
    function: Object,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Mapping[str, Any] = NO_FOCUS,
) -> Object:
    """`function(*arguments, **keywords)`. Raises Raised where the program would."""
    if isinstance(function, Function):
        return call_function(machine, function, arguments, keywords, node, frame)
    if isinstance(function, ClassObject):
        return instantiate(machine, function, arguments, keywords, node, frame, focus)
    if isinstance(function, Native):
        return _call_model(machine, function.name, function.call, arguments, keywords, node, frame)
    if isinstance(function, Bound):
        return _call_bound(machine, function, arguments, keywords, node, frame)
    if isinstance(function, Partial):
        return _call_partial(machine, function, arguments, keywords, node, frame, focus)
    if isinstance(function, External):
        from mfsdp_lint.readers.python.library import LIBRARY

        modelled = LIBRARY.get(function.name)
        if modelled is not None:
            return _call_model(machine, function.name, modelled, arguments, keywords, node, frame)
        return unfollowed(machine, function.name, arguments, keywords, frame, node)
    if isinstance(function, Choice):
        return _call_one_of(machine, function, arguments, keywords, node, frame)
    if isinstance(function, Instance) and isinstance(function.cls, ClassObject):
        from mfsdp_lint.readers.python.attributes import get_attribute

        return call(machine, get_attribute(machine, function, "__call__", frame), arguments, keywords, node, frame)
    if isinstance(function, Descriptor):
        return call(machine, function.function, arguments, keywords, node, frame)
    if isinstance(function, (str, int, float, type(None), tuple, DictObject)):
        raise Raised("TypeError", f"'{type(function).__name__}' object is not callable")
    settled = machine.settle(function)
    if settled is not function:
        return call(machine, settled, arguments, keywords, node, frame, focus)
    return unfollowed(machine, getattr(function, "text", ""), arguments, keywords, frame, node)


def _call_model(
    machine: Machine,
    name: str,
    model: Any,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
) -> Object:
    options = [value for value in (*arguments, *keywords.values()) if type(value) is Option]
    if not options or name in HANDS_ON:
        return model(machine, arguments, keywords, frame, node)
    arguments = [machine.settle(value) for value in arguments]
    keywords = {key: machine.settle(value) for key, value in keywords.items()}
    return derived(model(machine, arguments, keywords, frame, node), *options)


def _call_bound(
    machine: Machine, bound: Bound, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    function, owner = bound.function, bound.owner
    if isinstance(function, str):
        return method(machine, owner, function, arguments, keywords, frame, node)
    if isinstance(function, External):
        return _object_method(machine, function.name, owner, arguments, frame, node)
    return call(machine, function, [owner, *arguments], keywords, node, frame)


def _object_method(
    machine: Machine, name: str, owner: Object, arguments: list[Object], frame: Frame, node: Any
) -> Object:
    if name in ("object.__setattr__", "object.__getattribute__"):
        from mfsdp_lint.readers.python.library.registry import LIBRARY

        return LIBRARY[name](machine, [owner, *arguments], {}, frame, node)
    return None


def _call_partial(
    machine: Machine,
    partial: Partial,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Mapping[str, Any],
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
    machine: Machine, choice: Choice, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    # Only one of them is called: what each does, it may as well not have done.
    mark, born = len(machine.journal), machine.clock
    sides: list[Side] = []
    for option in choice.options:
        try:
            result = call(machine, option, arguments, keywords, node, frame)
        except Raised:
            machine.abandon(mark)
        else:
            sides.append((("return", result), machine.changes(mark)))
        machine.rollback(mark)
    if not sides:
        raise Raised("TypeError", "not callable")
    found = merge(machine, sides, born, force=True)[1]
    return _one_configuration(machine, found, ast.unparse(node.func) if isinstance(node, ast.Call) else "a call")


def unfollowed(
    machine: Machine, name: str, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    """A call whose code is not at hand: its result is unknown, and so is everything it may have changed."""
    from mfsdp_lint.readers.python.library import changes_nothing

    machine.unfollowed += 1
    machine.doubts += 1
    if not changes_nothing(name):
        machine.launched.extend(_configurations(machine, name, [*arguments, *keywords.values()]))
        if machine.tracing:
            machine.suspect = machine.note(frame, node, None, "unfollowed", None, None)
        for value in [*arguments, *keywords.values()]:
            machine.havoc(value)
        machine.suspect = None
    return machine.unknown(f"{name}()")


def _configurations(machine: Machine, name: str, values: list[Object]) -> list[tuple[Object, Object]]:
    from mfsdp_lint.readers.python.entries import is_container

    return [
        (value, machine.copy(value)) for value in values if isinstance(value, Instance) and is_container(machine, value)
    ]


# -- functions of the program ---------------------------------------------------------------------------------------


def evaluate_defaults(machine: Machine, function: Function, parameters: ast.arguments, frame: Frame) -> None:
    """The default values of a function's parameters, evaluated where it is defined."""
    from mfsdp_lint.readers.python.expressions import evaluate

    named = [*parameters.posonlyargs, *parameters.args]
    for parameter, default in zip(named[len(named) - len(parameters.defaults) :], parameters.defaults, strict=True):
        function.defaults[parameter.arg] = evaluate(machine, default, frame)
    for parameter, keyword_default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
        if keyword_default is not None:
            function.defaults[parameter.arg] = evaluate(machine, keyword_default, frame)


def call_function(
    machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    """Run a function of the program, or give back what it returned for the same arguments before."""
    if function.unwrapped is not None:
        return _call_wrapped(machine, function, arguments, keywords, node, frame)
    return _follow(machine, function, arguments, keywords, node, frame)


def _follow(
    machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    if function.name in HUGGINGFACE:
        modelled = _huggingface_model(function)
        if modelled is not None:
            return modelled(machine, function, arguments, node, frame)
    if function.constant is not MISSING and not keywords and _takes(function, len(arguments)):
        machine.step()
        machine.called.add(function)
        return function.constant
    if machine.skimming and _says_nothing(function, arguments, keywords):
        return machine.unknown(f"{function.name}()")
    key = _memory_key(machine, function, arguments, keywords)
    if key is not None:
        remembered = machine.memory.get(key, MISSING)
        if remembered is not MISSING and not (remembered[2] and machine.environment.fields):
            result, called, _ = remembered
            machine.called.update(called)
            return result.make(machine, {})
    machine.step()
    machine.called.add(function)
    if machine.depth >= DEPTH_LIMIT or _recurs_without_end(machine, frame, function, arguments, keywords):
        return unfollowed(machine, function.name, arguments, keywords, frame, node)
    mark, forks, born = len(machine.journal), len(machine.taken), machine.clock + 1
    before, unfollowed_before, asked = machine.called, machine.unfollowed, machine.asked_environment
    machine.called = set()
    machine.depth += 1
    try:
        result = _run_all(machine, function, arguments, keywords, node, frame)
    except CannotMerge:
        machine.rollback(mark)
        result = unfollowed(machine, function.name, arguments, keywords, frame, node)
        _forget_surroundings(machine, function)
    finally:
        machine.depth -= 1
        called = machine.called
        before.update(called)
        machine.called = before
    if (
        # (What is asked for itself is seldom asked for again.)
        key is not None
        and machine.depth
        and len(machine.taken) == forks
        and not isinstance(result, GeneratorCall)
        and not machine.touched_older(mark, born)
        and (machine.unfollowed == unfollowed_before or not _uncertain(result) or own(result, born))
    ):
        machine.memory[key] = (template(result, born), called, machine.asked_environment > asked)
    return result


def _takes(function: Function, count: int) -> bool:
    """Whether a function has just as many parameters, all plain ones."""
    parameters: ast.arguments = function.node.args
    return len(parameters.args) == count and not (parameters.posonlyargs or parameters.kwonlyargs or parameters.kwarg)


def _says_nothing(function: Function, arguments: list[Object], keywords: dict[str, Object]) -> bool:
    """Whether a plain function works on unknown values and constants alone, so that little can come of running it.

    Only asked where a model's provider is made from a Hugging Face configuration that is not at hand.
    """
    values = (*arguments, *keywords.values())
    if function.cls is not None or function.closure is not None or _builds_arguments(function.node):
        return False
    return any(isinstance(value, Unknown) for value in values) and all(
        isinstance(value, Unknown) or is_constant(value) for value in values
    )


@cache
def _builds_arguments(definition: ast.AST) -> bool:
    return any(isinstance(node, (ast.Dict, ast.DictComp)) for node in ast.walk(definition))


def _recurs_without_end(
    machine: Machine, frame: Frame, function: Function, arguments: list[Object], keywords: dict[str, Object]
) -> bool:
    """Whether a function calls itself again on something unknown: where that would end is not known either."""
    depth = 0
    here: Frame | None = frame
    while here is not None:
        depth += here.code is function
        here = here.caller
    if depth < RECURSION_ON_UNKNOWN:
        return False
    return any(isinstance(machine.settle(value), (Unknown, Choice)) for value in (*arguments, *keywords.values()))


def _run_all(
    machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    if function.module.asked_for and not (machine.trial or machine.module_level or len(machine.taken) >= FORK_LIMIT):
        outer, machine.local = machine.local, None
        try:
            return _run(machine, function, arguments, keywords, node, frame)
        finally:
            machine.local = outer
    # Too many ways to look at each by itself, or code that nobody asked about: they are joined when this call returns.
    from mfsdp_lint.readers.python.branches import every_way

    found = every_way(machine, lambda: _run(machine, function, arguments, keywords, node, frame), LOCAL_WAYS)
    return _one_configuration(machine, found, f"{function.name}()")


def _one_configuration(machine: Machine, value: Object, text: str) -> Object:
    """Of several configurations that a call may return, one on each way: what is done to it is done to that one."""
    from mfsdp_lint.readers.python.branches import one_of
    from mfsdp_lint.readers.python.entries import is_container

    if not isinstance(value, Choice) or not all(is_container(machine, option) for option in value.options):
        return value
    return one_of(machine, list(value.options), text)


def _forget_surroundings(machine: Machine, function: Function) -> None:
    """A function that could not be followed may have changed what its module and the functions around it hold."""
    here: Frame | None = function.closure
    surroundings = [function.module.fields]
    while here is not None:
        surroundings.append(here.fields)
        here = here.enclosing
    for fields in surroundings:
        for value in list(fields.values()):
            if isinstance(value, (Instance, DictObject, ListObject)):
                machine.havoc(value)
    machine.havoc(machine.environment)


def _huggingface_model(function: Function) -> Any:
    from mfsdp_lint.readers.python.huggingface import model_of

    return model_of(function)


def _uncertain(result: Object) -> bool:
    # An unknown that came from outside may differ from call to call; two callers must not share it (what was made by
    # the call is made anew for each).
    return isinstance(result, (Unknown, Choice))


def _memory_key(machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object]) -> Any:
    if machine.module_level or machine.tracing or machine.changed_shared or function.closure is not None:
        return None
    for value in arguments:
        if not _memorable(value):
            return None
    for value in keywords.values():
        if not _memorable(value):
            return None
    return function, tuple(map(_typed, arguments)), tuple((name, _typed(value)) for name, value in keywords.items())


def _memorable(value: Object) -> bool:
    return is_constant(value) or isinstance(value, (Function, ClassObject, External, EnumMember, Option))


def _typed(value: Object) -> Any:
    return type(value), value


def _call_wrapped(
    machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    kind = function.unwrapped
    if kind == "cached":
        return _call_cached(machine, function, arguments, keywords, node, frame)
    if kind == "contextmanager":
        result = _run(machine, function, arguments, keywords, node, frame)
        if isinstance(result, GeneratorCall):
            result.managed = True
        return result
    return call(machine, kind, arguments, keywords, node, frame)


def _call_cached(
    machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    """A call through `functools.cache`: for equal arguments the very same object as before."""
    if not all(map(is_constant, (*arguments, *keywords.values()))):
        # It runs, or it was called with the same arguments before.
        mark, born = len(machine.journal), machine.clock
        result = _follow(machine, function, arguments, keywords, node, frame)
        sides: list[Side] = [(("return", result), machine.changes(mark)), (("return", machine.unknown()), {})]
        machine.rollback(mark)
        return merge(machine, sides, born, force=True)[1]
    key = ("cached", id(function), tuple(map(_typed, arguments)), tuple((n, _typed(v)) for n, v in keywords.items()))
    found = machine.facts.fields.get(key, MISSING)
    if found is MISSING:
        found = _follow(machine, function, arguments, keywords, node, frame)
        machine.facts.kept.append(function)
        machine.put(machine.facts, key, found)
    return found


def _run(
    machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    inner = Frame(function.module, function.name, function.closure, frame, node, machine.tick())
    inner.cls = function.cls
    inner.code = function
    bind(machine, function, arguments, keywords, inner)
    if isinstance(function.node, ast.Lambda):
        from mfsdp_lint.readers.python.expressions import evaluate

        return evaluate(machine, function.node.body, inner)
    if function.is_async:
        return machine.unknown(f"{function.name}()", not_none=True)
    if is_generator(function):
        return _generator(machine, function, inner)
    return run_body(machine, function, inner)


def run_body(machine: Machine, function: Function, frame: Frame) -> Object:
    """Run a function's statements in its frame; what it returns."""
    from mfsdp_lint.readers.python.blocks import run_block

    signal = run_block(machine, function.node.body, frame)
    return signal[1] if signal is not None and signal[0] == "return" else None


def _generator(machine: Machine, function: Function, frame: Frame) -> GeneratorCall:
    def run(on_yield: Any) -> Object:
        frame.on_yield = on_yield
        return run_body(machine, function, frame)

    return GeneratorCall(machine, frame, run)


def is_generator(function: Function) -> bool:
    """Whether the function's own body (not that of a nested function) yields."""
    if function.is_generator is None:
        function.is_generator = function.module.yields and _yields(function.node.body)
    return function.is_generator


def _yields(nodes: list[Any]) -> bool:
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(node))
    return False


def bind(
    machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object], frame: Frame
) -> None:
    """Bind call arguments to parameters as Python does; raises Raised("TypeError") where they do not fit."""
    parameters: ast.arguments = function.node.args
    fields = frame.fields
    positional = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    fields.update(zip(positional, arguments, strict=False))
    extra = arguments[len(positional) :]
    if parameters.vararg is not None:
        fields[parameters.vararg.arg] = tuple(extra)
    elif extra:
        raise Raised(
            "TypeError",
            f"{function.name}() takes {len(positional)} positional arguments but {len(arguments)} were given",
        )
    names = {*positional[len(parameters.posonlyargs) :], *(parameter.arg for parameter in parameters.kwonlyargs)}
    rest: dict[Any, Object] = {}
    open_ended = False
    for name, value in keywords.items():
        if name == "**":
            open_ended = True
        elif name in names:
            if name in fields:
                raise Raised("TypeError", f"{function.name}() got multiple values for argument '{name}'")
            fields[name] = value
        else:
            rest[name] = value
    _bind_rest(machine, function, parameters, rest, open_ended, frame)
    for name in (*positional, *(parameter.arg for parameter in parameters.kwonlyargs)):
        found = fields.get(name, MISSING)
        if found is not MISSING and not isinstance(found, Choice):
            continue
        if isinstance(found, Choice) and MISSING not in found.options:
            continue
        default = function.defaults.get(name, MISSING)
        if isinstance(found, Choice):
            options = [option for option in found.options if option is not MISSING]
            fields[name] = join(machine, options if default is MISSING else [*options, default])
        elif open_ended:
            fields[name] = machine.unknown(name)
        elif default is MISSING:
            raise Raised("TypeError", f"{function.name}() missing required argument: '{name}'")
        else:
            fields[name] = default


def _bind_rest(
    machine: Machine,
    function: Function,
    parameters: ast.arguments,
    rest: dict[Any, Object],
    open_ended: bool,
    frame: Frame,
) -> None:
    if parameters.kwarg is not None:
        holder = DictObject(rest, machine.tick())
        if open_ended:
            holder.writes["<hazy>"] = True
        frame.fields[parameters.kwarg.arg] = holder
    elif rest:
        raise Raised("TypeError", f"{function.name}() got an unexpected keyword argument '{next(iter(rest))}'")
