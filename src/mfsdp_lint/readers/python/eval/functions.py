"""Running the program's functions: binding arguments as Python does, and remembering what helpers return."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.readers.python.eval.branches import Side, every_path, join_sides, one_of, one_row
from mfsdp_lint.readers.python.eval.configurations import is_container, is_launcher, loader_of
from mfsdp_lint.readers.python.eval.huggingface import model_of
from mfsdp_lint.readers.python.eval.repeated_calls import CallRecord, repeated
from mfsdp_lint.readers.python.eval.unfollowed import is_upstream, launch, unfollowed
from mfsdp_lint.readers.python.state.calling import (
    LIBRARY,
    NOTICED,
    Coroutine,
    GeneratorCall,
    evaluate,
    invoke,
    run_block,
)
from mfsdp_lint.readers.python.state.copies import own, template
from mfsdp_lint.readers.python.state.effects import only_looks
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import FOLLOWED, Interpreter
from mfsdp_lint.readers.python.state.paths import (
    ANY,
    ASSIGNED,
    CALL_STEPS,
    DEPTH_LIMIT,
    FORK_LIMIT,
    CannotJoin,
    Dependencies,
    OutOfSteps,
    RefusedCall,
)
from mfsdp_lint.readers.python.state.texts import LOOKS, Text, behind, said_by
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ClassObject,
    DictObject,
    EnumMember,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Object,
    Option,
    Place,
    Unknown,
    is_constant,
    obstacle_of,
    uncertain,
)


def unexpected(called: str, keyword: str, names: list[str]) -> RefusedCall:
    """Return the error that Python raises where a callable with parameters of these `names` gets another keyword."""
    meant = next(iter(nearest(keyword, names)), "")
    return RefusedCall(f"{called}() got an unexpected keyword argument '{keyword}'", keyword, meant)


def evaluate_defaults(interp: Interpreter, function: Function, parameters: ast.arguments, frame: Frame) -> None:
    """Evaluate the default values of a function's parameters where the function is defined."""
    named = [*parameters.posonlyargs, *parameters.args]
    for parameter, default in zip(named[len(named) - len(parameters.defaults) :], parameters.defaults, strict=True):
        function.defaults[parameter.arg] = evaluate(interp, default, frame)
    for parameter, keyword_default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
        if keyword_default is not None:
            function.defaults[parameter.arg] = evaluate(interp, keyword_default, frame)


def bind(interp: Interpreter, function: Function, call: Call, frame: Frame) -> None:
    """Bind a call's arguments to parameters as Python does; raises Raised("TypeError") where they do not fit."""
    signature = function.signature
    fields = frame.fields
    positional = signature.positional
    fields.update(zip(positional, call.arguments, strict=False))
    if signature.rest is not None:
        fields[signature.rest] = tuple(call.arguments[len(positional) :])
    elif (given := len(call.arguments)) > len(positional):
        raise RefusedCall(f"{function.name}() takes {len(positional)} positional arguments but {given} were given")
    rest: dict[Any, Object] = {}
    open_ended = function.given_by is not None
    for name, value in call.keywords.items():
        if name == "**":
            open_ended = True
        elif name in signature.named:
            if name in fields and uncertain(value):
                continue
            if name in fields:
                raise RefusedCall(f"{function.name}() got multiple values for argument '{name}'")
            fields[name] = value
        else:
            rest[name] = value
    _bind_rest(interp, function, call, rest, open_ended, frame)
    for name in signature.parameters:
        found = fields.get(name, MISSING)
        if found is not MISSING and not isinstance(found, Choice):
            continue
        if isinstance(found, Choice) and MISSING not in found.options:
            continue
        default = function.defaults.get(name, MISSING)
        if isinstance(found, Choice):
            options = [option for option in found.options if option is not MISSING]
            fields[name] = join(interp, options if default is MISSING else [*options, default])
        elif open_ended:
            fields[name] = interp.unknown(name, obstacle=function.given_by or obstacle_of(call.keywords.get("**")))
        elif default is MISSING:
            raise RefusedCall(f"{function.name}() missing required argument: '{name}'", lacking=(name,))
        else:
            fields[name] = default


def _bind_rest(
    interp: Interpreter,
    function: Function,
    call: Call,
    rest: dict[Any, Object],
    open_ended: bool,
    frame: Frame,
) -> None:
    parameters: ast.arguments = function.node.args
    if parameters.kwarg is not None:
        holder = DictObject(rest, interp.tick())
        for name in rest if function.module.is_project else ():
            if (said := call.focus.get(name)) is not None:
                holder.writes[name] = interp.note(call.node, call.frame, said, "argument", rest[name], None)
                interp.crossings += 1
        if open_ended:
            holder.writes[MAY_HAVE_CHANGED] = True
        frame.fields[parameters.kwarg.arg] = holder
    elif refused := [name for name, value in rest.items() if not uncertain(value)]:
        names = [each.arg for each in (*parameters.args, *parameters.kwonlyargs)]
        raise unexpected(function.name, str(refused[0]), names)
    else:
        interp.doubts += len(rest)


RECURSION_ON_UNKNOWN = 3

HUGGINGFACE = {"from_hf_pretrained", "from_hf_config", "from_auto_config", "to_megatron_provider", "get_model_config"}
"""Methods whose result depends on a model's configuration on the Hugging Face hub (see huggingface.py)."""


def call_user_function(interp: Interpreter, function: Function, call: Call) -> Object:
    """Run a function of the program, or give back what it returned for the same arguments before."""
    if function.name in HUGGINGFACE:
        modelled = model_of(function)
        if modelled is not None:
            return modelled(interp, function, call.arguments, call.node, call.frame)
    if function.constant is not MISSING and not call.keywords and _takes(function, len(call.arguments)):
        interp.step()
        interp.dependencies.functions.add(function)
        returning: Any = function.body[-1]
        interp.returned = call.node, ((function.module, returning.value, function.name),)
        return function.constant
    if interp.skimming and _says_nothing(function, call):
        return interp.unknown(f"{function.name}()")
    key = _memo_key(interp, function, call)
    if key is not None:
        if function in interp.forwarding:
            # What it writes is said by whoever calls it.
            key = (*key, said_by(interp, call.node, call.frame))
        remembered = interp.called.get(key, MISSING)
        if remembered is not MISSING and not (remembered[1].depends_on_start and interp.is_started):
            interp.returned = None if remembered[2] is None else (call.node, remembered[2])
            interp.dependencies.add(remembered[1])
            made: Object = remembered[0].make(interp, {})
            if interp.path.limit < interp.path.budget and is_container(interp, made):
                interp.found_configuration()
            return made
    record = None
    if key is None and (like := repeated(interp, function, call)) is not None:
        outcome = interp.called.get(like)
        if outcome is not None and outcome.fits(interp, call):
            found: Object = outcome.again(interp, call)
            return found
        record = CallRecord(interp, call, like)
    interp.step()
    interp.dependencies.functions.add(function)
    if interp.path.depth >= DEPTH_LIMIT:
        interp.path.given_up.add(function)  # what calls itself twice would be cut off at each of 2 ** 60 ends
    if function in interp.path.given_up or _recurs_without_end(interp, function, call):
        interp.dependencies.raises.add(ANY)
        return unfollowed(interp, function.name, call, blamed=not is_upstream(function.module))
    mark, forks, born = len(interp.path.journal), len(interp.path.taken), interp.clock + 1
    outer, unfollowed_before, crossings = interp.dependencies, interp.unfollowed, interp.crossings
    dependencies = interp.dependencies = Dependencies()
    dependencies.functions.add(function)
    interp.path.depth += 1
    try:
        if function.module.is_project and not (
            interp.path.trial or interp.module_level or len(interp.path.taken) >= FORK_LIMIT
        ):
            local, interp.path.local = interp.path.local, None
            try:
                result = run_function(interp, function, call)
            finally:
                interp.path.local = local
        else:
            # Too many paths to look at each by itself, or code that nobody asked about: joined when the call returns.
            found = every_path(interp, lambda: run_function(interp, function, call))
            result = one_configuration(interp, found, f"{function.name}()")
    except CannotJoin:
        interp.rollback(mark)
        dependencies.raises.add(ANY)
        result = unfollowed(interp, function.name, call, blamed=not is_upstream(function.module))
        _havoc_surroundings(interp, function)
    finally:
        interp.path.depth -= 1
        outer.add(dependencies)
        interp.dependencies = outer
    if (
        # (What is asked for itself is seldom asked for again.)
        key is not None
        and interp.path.depth
        and len(interp.path.taken) == forks
        and not isinstance(result, (GeneratorCall, Coroutine))
        and not interp.touched_older(mark, born)
        and not (dependencies.depends_on_start and interp.is_started)
        # (An unknown from outside may differ from call to call; what the call made is made anew for each.)
        and (interp.unfollowed == unfollowed_before or not isinstance(result, (Unknown, Choice)) or own(result, born))
    ):
        # Whoever asks later finds this, and no call that it could look into.
        places = _decided(interp, result, call.node)
        if interp.crossings > crossings and function not in interp.forwarding:
            interp.forwarding.add(function)
            key = (*key, said_by(interp, call.node, call.frame))
        interp.returned = None if places is None else (call.node, places)
        interp.called[key] = (template(result, born), dependencies, places)
    if record is not None and record.is_outcome(interp, result, dependencies):
        record.keep(interp, result, _decided(interp, result, call.node), dependencies)
    return result


def _decided(interp: Interpreter, result: Object, node: Any) -> tuple[Place, ...] | None:
    """Return the texts that decide the value a call has just returned; None if nobody asks for them or none does."""
    returned = interp.returned
    if returned is None or returned[0] is not node or not isinstance(result, FOLLOWED):
        return None
    if not isinstance(returned[1], Text):
        return returned[1]
    interp.looks = LOOKS
    return behind(interp, returned[1]) or None


def _takes(function: Function, count: int) -> bool:
    """Tell whether a function has exactly `count` parameters, all plain ones."""
    parameters: ast.arguments = function.node.args
    return len(parameters.args) == count and not (parameters.posonlyargs or parameters.kwonlyargs or parameters.kwarg)


def _says_nothing(function: Function, call: Call) -> bool:
    """Tell whether a plain function works on unknown values and constants alone, so that running it shows little.

    Only asked where a model's provider is made from a Hugging Face configuration that is not at hand.
    """
    values = call.values
    if function.cls is not None or function.closure is not None or _builds_arguments(function.node):
        return False
    return any(isinstance(value, Unknown) for value in values) and all(
        isinstance(value, Unknown) or is_constant(value) for value in values
    )


@cache
def _builds_arguments(definition: ast.AST) -> bool:
    return any(isinstance(node, (ast.Dict, ast.DictComp)) for node in ast.walk(definition))


def _recurs_without_end(interp: Interpreter, function: Function, call: Call) -> bool:
    """Tell whether a function calls itself again on something unknown: the end of that is not known either."""
    depth = 0
    here: Frame | None = call.frame
    while here is not None:
        depth += here.code is function
        here = here.caller
    if depth < RECURSION_ON_UNKNOWN:
        return False
    return any(isinstance(interp.settle(value), (Unknown, Choice)) for value in call.values)


def one_configuration(interp: Interpreter, value: Object, text: str) -> Object:
    """Choose one of several configurations that a call may return, one on each path: later writes go to it alone."""
    if not isinstance(value, Choice) or not all(is_container(interp, option) for option in value.options):
        return value
    if value.picked_by(value.options[0]) is not None:
        return one_row(interp, value)
    return one_of(interp, list(value.options), text)


def _havoc_surroundings(interp: Interpreter, function: Function) -> None:
    """Forget what an unfollowed call may have changed: the contents of a function's module and enclosing functions, and
    the names that functions of any module within its reach assign as global.
    """
    if only_looks(function):
        return
    seen: set[int] = set()
    here: Frame | None = function.closure
    surroundings = [function.module.fields]
    while here is not None:
        surroundings.append(here.fields)
        here = here.enclosing
    for fields in surroundings:
        for value in list(fields.values()):
            if isinstance(value, (Instance, DictObject, ListObject)):
                forget_reachable(interp, value, seen)
    forget_reachable(interp, interp.path.environment, seen)
    for path, names in interp.finder.relevance.assigned_within_reach(function.module.path):
        module = interp.finder.load_for(function.module.path, path)
        if module is not None:
            # (Most of them are never asked for a name, and do not run for this.)
            interp.put(interp.path.facts, (ASSIGNED, module.path), names)
            interp.path.may_assign = True


def _memo_key(interp: Interpreter, function: Function, call: Call) -> Any:
    if interp.module_level or interp.tracing or interp.path.changed_shared or function.closure is not None:
        return None
    for value in call.values:
        if not (is_constant(value) or isinstance(value, (Function, ClassObject, External, EnumMember, Option))):
            return None
    return function, interp.turned_on, interp.needed, interp.chosen, interp.tries_files, *_typed(call)


def _typed(call: Call) -> tuple[Any, ...]:
    """Return a call's arguments with their types: 1, 1.0 and True are equal, and not the same."""
    named = ((name, type(value), value) for name, value in call.keywords.items())
    return tuple([(type(value), value) for value in call.arguments]), tuple(named)


def call_cached(interp: Interpreter, function: Function, call: Call) -> Object:
    """Evaluate a call through `functools.cache`: equal arguments give the very same object as before."""
    settled = call.passing(
        [interp.settle(value) for value in call.arguments],
        {name: interp.settle(value) for name, value in call.keywords.items()},
    )
    if not all(map(is_constant, settled.values)):
        # It runs, or it was called with the same arguments before.
        mark, born = len(interp.path.journal), interp.clock
        result = call_user_function(interp, function, call)
        sides: list[Side] = [(("return", result), interp.changes(mark)), (("return", interp.unknown()), {})]
        interp.rollback(mark)
        joined: Object = join_sides(interp, sides, born, force=True)[1]
        return joined
    key = ("cached", id(function), *_typed(settled))
    found = interp.path.facts.fields.get(key, MISSING)
    if found is MISSING:
        found = call_user_function(interp, function, call)
        interp.path.facts.kept[id(function)] = function
        interp.put(interp.path.facts, key, found)
    return found


def run_function(interp: Interpreter, function: Function, call: Call) -> Object:
    """Run a function's body once; raises what the program raises."""
    inner = Frame(function.module, function.name, function.closure, call.frame, call.node, interp.tick())
    inner.cls = function.cls
    inner.code = function
    bind(interp, function, call, inner)
    if isinstance(function.node, ast.Lambda):
        return evaluate(interp, function.node.body, inner)
    if is_generator(function):
        if function.is_async:
            return interp.unknown(f"{function.name}()", not_none=True)

        def run(on_yield: Any) -> Object:
            inner.on_yield = on_yield
            try:
                return _run_body(interp, function, inner)
            finally:
                inner.on_yield = None  # it knows the generator, which knows the frame

        return GeneratorCall(interp, inner, run)
    if function.is_async:
        return Coroutine(interp, lambda: _run_body(interp, function, inner), tuple(inner.fields.values()))
    signal = run_block(interp, function.body, inner)  # (as `_run_body` does, without calling it)
    return signal[1] if signal is not None and signal[0] == "return" else None


def _run_body(interp: Interpreter, function: Function, frame: Frame) -> Object:
    """Run a function's statements in its frame; what it returns."""
    signal = run_block(interp, function.body, frame)
    return signal[1] if signal is not None and signal[0] == "return" else None


def is_generator(function: Function) -> bool:
    """Tell whether the function's own body (not that of a nested function) yields."""
    if function.is_generator is None:
        lines, node = function.module.yields, function.node
        perhaps = lines is None or any(node.lineno <= line <= (node.end_lineno or line) for line in lines)
        function.is_generator = perhaps and _yields(function.body)
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


_START_UP = frozenset(f"megatron.training.{name}" for name in ("arguments", "initialize", "training"))
"""The modules of Megatron-LM's start-up. What is known of their functions holds where the source is at hand as well."""


def call_function(interp: Interpreter, function: Function, call: Call) -> Object:
    """Run a function of the program, or give back what it returned for the same arguments before."""
    if is_launcher(function):
        return launch(interp, function.name, call)
    if isinstance(loader := loader_of(interp, function, call), Function):
        return call_user_function(interp, loader, call)
    if function.module.name in _START_UP and call.frame.module.name not in _START_UP:
        name = f"{function.module.name}.{function.name}"
        if name in NOTICED:
            NOTICED[name](interp, call)
        elif name in LIBRARY:
            return LIBRARY[name](interp, call)
    if function.unwrapped is not None:
        kind = function.unwrapped
        if kind == "cached":
            return call_cached(interp, function, call)
        if kind == "contextmanager":
            result = run_function(interp, function, call)
            if isinstance(result, GeneratorCall):
                result.managed = True
            return result
        return invoke(interp, kind, call)
    if call.frame.module.is_project and function.module is not call.frame.module:
        return _follow_elsewhere(interp, function, call)
    return call_user_function(interp, function, call)


def _follow_elsewhere(interp: Interpreter, function: Function, call: Call) -> Object:
    """Follow a call into another file if it takes few steps; a call not followed to its end is not followed at all."""
    path = interp.path
    if function not in path.given_up:
        mark, forks, steps = len(path.journal), len(path.taken), path.steps
        limit, budget = path.limit, path.budget
        own = path.budget = min(budget, steps + CALL_STEPS)
        path.limit = own if limit == budget else limit
        try:
            return call_user_function(interp, function, call)
        except OutOfSteps:
            if interp.module_level or (path.limit == own == budget):
                raise
            interp.rollback(mark)
            del path.taken[forks:]
            path.given_up.add(function)
            if path.limit != own:
                interp.forgive(steps)  # no configuration was made: it was not the one to try the patience
        finally:
            path.limit = budget if path.limit == own else limit
            path.budget = budget
    interp.dependencies.raises.add(ANY)
    result = unfollowed(interp, function.name, call, blamed=not is_upstream(function.module))
    _havoc_surroundings(interp, function)
    return result
