"""Exposed switches: parameters, options and variables with which FSDP is turned on; the defaults leave it off.

The recipe is evaluated once more with each of them on; the result is kept beside the recipe without it.
Which may decide a switch is found by the text alone, before anything is evaluated: a parameter reaches a switch where
a value made from it is written under a switch's name, where a condition on it is above such a write (or above a call
of a function that has one), or where it is passed on to a parameter that reaches a switch. A variable of the
environment may decide a switch where a function that asks for it, or that has a condition on it, names a switch;
where a function that names a switch uses the result of such a function, or a name that a module sets under such a
condition. The answer is "perhaps": evaluating the recipe shows whether the switch really changes.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Known, Plain, spell
from mfsdp_lint.inputs.imports import closure
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.readers.python.entries import entries, running
from mfsdp_lint.readers.python.entries.entries import Entry, open_parameters
from mfsdp_lint.readers.python.entries.running import Evaluation, Found
from mfsdp_lint.readers.python.eval.classes import fields_of, has_base, mro
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.state.calling import evaluate
from mfsdp_lint.readers.python.state.interpreter import Interpreter, remembered
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.trees import children, functions_in, names_in, nodes_in
from mfsdp_lint.readers.python.values.objects import MISSING, ClassObject, Frame, Function, Module, Object, Partial

_NAMES = frozenset(path.rpartition(".")[2] for path in SWITCHES)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@remembered(meanwhile=False)
def reaches(interp: Interpreter, function: Function, parameter: str) -> bool:
    """Tell whether a parameter of a function (or a key of its `**kwargs`) may decide an FSDP switch."""
    interp.inspected.add(function)  # its text decides, whether it is called or not
    tracked = _tracked(function.node, _bound_name(function.node.args, parameter))
    for node in _telling(function.node):
        if _decides(interp, function, node, tracked) or any(_uses(value, tracked) for value in _written(node)):
            return True
        if isinstance(node, ast.Call) and _passed_on(interp, function, node, parameter, tracked):
            return True
    return False


def _decides(interp: Interpreter, function: Function, node: ast.AST, tracked: set[str]) -> bool:
    """Tell whether a node is a condition on a tracked name, above code that names a switch."""
    test = _condition(node)
    if test is None or not _uses(test, tracked):
        return False
    # Behind `if not flag: return` all the rest depends on it.
    leaves = any(isinstance(inner, _LEAVES) for inner in ast.walk(node))
    return _switches(interp, function, function.node if leaves else node)


def _bound_name(parameters: ast.arguments, name: str) -> str | None:
    """Return the local name that an argument is bound to: the parameter's, or that of `**kwargs`."""
    named = (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)
    if any(parameter.arg == name for parameter in named):
        return name
    return parameters.kwarg.arg if parameters.kwarg is not None else None


def _tracked(node: ast.AST, name: str | None) -> set[str]:
    """Return the local names whose value may come from `name`."""
    tracked = set() if name is None else {name}
    before = -1
    while len(tracked) > before:
        before = len(tracked)
        for names, value in _bindings(node):
            if _uses(value, tracked):
                tracked |= names
    return tracked


@lru_cache(maxsize=256)
def _nodes(function: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(nodes_in(function))


@lru_cache(maxsize=256)
def _telling(function: ast.AST) -> tuple[ast.AST, ...]:
    """Return the nodes that may tell whether a name decides a switch: conditions, writes of switches, and calls."""
    return tuple(
        node
        for node in _nodes(function)
        if isinstance(node, ast.Call) or _condition(node) is not None or any(True for _ in _written(node))
    )


@lru_cache(maxsize=256)
def _bindings(function: ast.AST) -> tuple[tuple[frozenset[str], ast.expr], ...]:
    """Return the names that a function binds in each of its assignments, with the bound expression."""
    found = []
    for node in _nodes(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                found.append((frozenset[str]().union(*map(_names, targets)), value))
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.AugAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
            ):
                found.append((_names(target), value))
    return tuple(found)


def _names(target: ast.AST) -> frozenset[str]:
    stored = (node for node in nodes_in(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return frozenset(node.id for node in stored)


def _uses(node: ast.AST, tracked: set[str]) -> bool:
    return not names_in(node).isdisjoint(tracked)


def _condition(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.If() | ast.IfExp() | ast.While() | ast.Assert():
            return node.test
        case ast.Match():
            return node.subject
        case ast.BoolOp():
            return node
        case _:
            return None


def _written(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the values that a node writes under the name of a switch."""
    match node:
        case ast.keyword(arg=name, value=value) if name in _NAMES:
            yield value
        case ast.Assign(targets=targets, value=value) if any(_is_switch(target) for target in targets):
            yield value
        case ast.AugAssign(target=target, value=value) | ast.AnnAssign(target=target, value=ast.expr() as value) if (
            _is_switch(target)
        ):
            yield value
        case ast.Dict(keys=keys, values=values):
            yield from (value for key, value in zip(keys, values, strict=True) if key and _is_switch(key))
        case ast.Call(args=args) if any(_is_switch(argument) for argument in args):
            yield from args


def _is_switch(node: ast.AST) -> bool:
    """Tell whether a node names a switch: an attribute, an argument or an entry of this name."""
    match node:
        case ast.Attribute(attr=name) | ast.keyword(arg=name) | ast.Constant(value=str(name)):
            return name in _NAMES
        case ast.Subscript(slice=inner):
            return _is_switch(inner)
        case _:
            return False


@remembered(meanwhile=False)
def _switches(interp: Interpreter, function: Function, node: ast.AST) -> bool:
    """Tell whether a piece of a function names a switch, or calls a function that does."""
    interp.inspected.add(function)
    nodes = nodes_in(node)
    if any(map(_is_switch, nodes)):
        return True
    called = (_called(interp, function.module, inner) for inner in nodes if isinstance(inner, ast.Call))
    return any(isinstance(one, Function) and _switches(interp, one, one.node) for one in called)


def _called(interp: Interpreter, module: Module, call: ast.Call) -> Object:
    target: Object = None
    match call.func:
        case ast.Name(id=name):
            target = resolve_global(interp, module, name)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            holder = resolve_global(interp, module, owner)
            target = resolve_global(interp, holder, name) if isinstance(holder, Module) else None
    return target.function if isinstance(target, Partial) else target


def _passed_on(interp: Interpreter, function: Function, call: ast.Call, parameter: str, tracked: set[str]) -> bool:
    names = [keyword.arg or parameter for keyword in call.keywords if _uses(keyword.value, tracked)]
    positions = [number for number, argument in enumerate(call.args) if _uses(argument, tracked)]
    if not names and not positions:
        return False
    target = _called(interp, function.module, call)
    if isinstance(target, ClassObject):
        fields = [spec.name for spec in fields_of(interp, target)]
        return any(fields[number] in _NAMES for number in positions if number < len(fields))
    if not isinstance(target, Function):
        return False
    parameters = target.node.args
    positional = [each.arg for each in (*parameters.posonlyargs, *parameters.args)]
    names += [positional[number] for number in positions if number < len(positional)]
    return any(reaches(interp, target, name) for name in names)


_ON = Known(True)

MOST_OPTIONS = 16
"""Options of a command line that are tried."""


def with_exposed(interp: Interpreter, evaluation: Evaluation, spans: Spans) -> tuple[list[Found], set[Function]]:
    """Return the recipes with their variants where a caller turns on a switch that a parameter or an option exposes,
    and the functions that ran for these.
    """
    entry, found = evaluation.entry, evaluation.found
    ran: set[Function] = set()
    if not found:
        return found, ran
    exposed: list[list[Variant]] = [[] for _ in found]
    for option in evaluation.switches(interp)[:MOST_OPTIONS]:
        other = running.evaluate(interp, entry, spans, turned_on=option)
        ran |= other.dependencies.functions
        for each, then, variants in zip(found, other.found, exposed, strict=False):
            variants += _turned_on(each.recipe, then.recipe, option, option)
    function = entry.function
    for name, value in _candidates(interp, entry) if function is not None else ():
        open_to = [function is not None and not _is_judged(function, name, each.recipe) for each in found]
        if not any(open_to):
            continue
        called = replace(entry, arguments={**(entry.arguments or {}), name: value})
        other = running.evaluate(interp, called, spans)
        ran |= other.dependencies.functions
        for each, then, variants, is_open in zip(found, other.found, exposed, open_to, strict=False):
            if is_open:
                variants += _turned_on(each.recipe, then.recipe, f"{name}={spell(value)}", name)
    every = [
        replace(each, recipe=replace(each.recipe, exposed=tuple(variants))) if variants else each
        for each, variants in zip(found, exposed, strict=True)
    ]
    return every, ran


def _is_judged(function: Function, name: str, recipe: Recipe) -> bool:
    """Tell whether an own execution path of the recipe has a switch on because of a parameter that is not known."""
    if name in function.defaults:
        return False
    return any(variant.value(path) == _ON for variant in recipe.variants for path in SWITCHES)


def _turned_on(recipe: Recipe, then: Recipe, words: str, name: str) -> Iterator[Variant]:
    for variant in then.variants:
        if any(variant.value(path) == _ON and recipe.setting(path).value != _ON for path in SWITCHES):
            yield replace(variant, when=(words, *variant.when), exposed=(name,))


def _candidates(interp: Interpreter, entry: Entry) -> Iterator[tuple[str, Plain]]:
    """Yield the parameters that may be an exposed switch, each with a value that turns it on."""
    assert entry.function is not None
    function = entry.function
    parameters = function.node.args
    annotated = {each.arg: each.annotation for each in (*parameters.args, *parameters.kwonlyargs)}
    for name in open_parameters(entry):
        if name in (entry.arguments or {}) or name not in annotated:
            continue
        default = interp.settle(entries.default(entry, name))
        values = tuple(_values(interp, function, name, default, annotated[name]))
        if values and reaches(interp, function, name):
            yield from ((name, value) for value in values if value != default)
    for name in declared_keywords(interp, function):
        if name not in annotated and name not in (entry.arguments or {}) and reaches(interp, function, name):
            yield name, True


def _values(
    interp: Interpreter, function: Function, name: str, default: object, annotation: ast.expr | None
) -> Iterator[Plain]:
    """Yield True for a switch, by its default or annotation; for a choice by name, the texts it is compared with."""
    if default is False or (is_boolean(annotation) and (default is None or default is MISSING)):
        yield True
    elif default is None or isinstance(default, str):
        texts = dict.fromkeys(text for node in _comparisons(interp, function) for text in _compared(node, name))
        yield from texts or ((True,) if default is None and annotation is None else ())


def is_boolean(annotation: ast.AST | None) -> bool:
    """Tell whether an annotation says that a parameter is a switch."""
    return annotation is not None and any(
        (isinstance(node, ast.Name) and node.id == "bool")
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and "bool" in node.value)
        for node in ast.walk(annotation)
    )


@remembered()
def _comparisons(interp: Interpreter, function: Function) -> list[ast.AST]:
    return [node for node in _nodes(function.node) if isinstance(node, (ast.Compare, ast.Match))]


def _compared(node: ast.AST, name: str) -> Iterator[str]:
    """Yield the texts that a parameter is compared with."""
    match node:
        case ast.Compare(left=ast.Name(id=left), comparators=comparators) if left == name:
            where: list[ast.AST] = list(comparators)
        case ast.Match(subject=ast.Name(id=subject), cases=cases) if subject == name:
            where = [case.pattern for case in cases]
        case _:
            return
    for each in where:
        yield from _texts_in(each)


def declared_keywords(interp: Interpreter, function: Function) -> Iterator[str]:
    """Yield the boolean keywords that `**kwargs: Unpack[SomeTypedDict]` declares."""
    match function.node.args.kwarg:
        case ast.arg(annotation=ast.Subscript(value=ast.Name(id="Unpack") | ast.Attribute(attr="Unpack"), slice=inner)):
            pass
        case _:
            return
    try:
        declared = evaluate(interp, inner, function.closure or Frame(function.module))
    except Raised:
        return
    if not isinstance(declared, ClassObject) or not has_base(
        interp, declared, "typing.TypedDict", "typing_extensions.TypedDict"
    ):
        return
    for cls in mro(interp, declared):
        for node in cls.node.body if isinstance(cls, ClassObject) and cls.node is not None else ():
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and is_boolean(node.annotation):
                yield node.target.id


_VARIABLE_NAMES = frozenset(path.rpartition(".")[2] for path in SWITCHES)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def with_variables(interp: Interpreter, evaluation: Evaluation, found: Iterable[Found]) -> list[Found]:
    """Add to recipes of an entry point the variables that may decide a switch."""
    variables = {}
    modules = evaluation.modules if interp.asked_for else {}
    uses = interp.finder.uses
    # A variable reaches an entry point that has called functions of a module which asks for it, or imports that module.
    reached = {
        *(each.path for each in modules),
        *(closure((evaluation.entry.module.path,), lambda path: uses.get(path, ())) if modules else ()),
    }
    for name, scopes in interp.asked_for.items():
        asking = [
            scope for scope, module in scopes.items() if module.path in reached and name[1:] not in _only_refused(scope)
        ]
        if asking and _may_switch(interp, asking, modules):
            texts = dict.fromkeys(text for scope in asking for text in _compared_with(scope, name[1:]))
            variables[name[1:]] = tuple(texts)
    if not variables:
        return list(found)
    return [replace(each, recipe=replace(each.recipe, variables=variables)) for each in found]


@lru_cache(maxsize=256)
def _only_refused(scope: ast.AST) -> frozenset[str]:
    """Return the names that a function or a module's top level has only to end the run: they switch nothing.

    Each value to be tried is one more reading of all files that ask, and validation asks for many variables.
    """
    nodes = _within(scope)
    refusals = [
        node
        for node in nodes
        if isinstance(node, ast.Assert)
        or (isinstance(node, ast.If) and not node.orelse and all(isinstance(each, ast.Raise) for each in node.body))
    ]
    within = {id(inner) for node in refusals for inner in ast.walk(node)}
    names = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    refused, others = (
        {str(node.value) for node in names if (id(node) in within) is inside} for inside in (True, False)
    )
    return frozenset(refused - others)


def _may_switch(interp: Interpreter, asking: Iterable[ast.AST], modules: Iterable[Module]) -> bool:
    given: set[str] = set()
    for scope in asking:
        if _may_set_switch(scope):
            return True
        given |= {scope.name} if isinstance(scope, _SCOPES) else _set_under_conditions(scope)
    return any(not given.isdisjoint(words) for module in modules for words in _words_beside_switches(interp, module))


@remembered()
def _words_beside_switches(interp: Interpreter, module: Module) -> tuple[frozenset[str], ...]:
    """Return the words of each function of a module, and of its top level, that may set a switch."""
    text = interp.finder.sources.text_or_none(module.path) or ""
    return words_of_scopes(module.tree) if names_switch(text) else ()


def names_switch(text: str) -> bool:
    """Tell whether a text has the name of a switch."""
    return any(name in text for name in _VARIABLE_NAMES)


@lru_cache(maxsize=1024)
def words_of_scopes(tree: ast.Module | ast.stmt) -> tuple[frozenset[str], ...]:
    """Return the words of each function of a piece of code, and of its top level, that may set a switch."""
    return tuple(_words(each) for each in dict.fromkeys((*functions_in(tree), tree)) if _may_set_switch(each))


@lru_cache(maxsize=4096)
def _may_set_switch(scope: ast.AST) -> bool:
    """Tell whether a function or a module's top level names a switch other than to read it, or to hand its value on.

    The library's own code asks whether a switch is on in many places that also look at the environment.
    """
    for node in _within(scope):
        match node:
            case ast.keyword(arg=str(word), value=ast.Attribute(attr=same)) if word == same:
                continue
            case ast.Attribute(attr=word, ctx=ast.Store()) | ast.Name(id=word) | ast.keyword(arg=str(word)):
                pass
            case ast.Constant(value=str(word)):
                pass
            case _:
                continue
        if word.rpartition(".")[2] in _VARIABLE_NAMES:
            return True
    return False


def _within(scope: ast.AST) -> list[ast.AST]:
    """Return the nodes of a function, or of a module's top level, but what is inside of functions and classes there."""
    return nodes_in(*children(scope), without=_SCOPES)


@lru_cache(maxsize=4096)
def _words(scope: ast.AST) -> frozenset[str]:
    """Return the names and texts in a function or a module's top level."""
    found: set[str] = set()
    for node in _within(scope):
        match node:
            case (
                ast.Name(id=word)
                | ast.Attribute(attr=word)
                | ast.keyword(arg=str(word))
                | ast.Constant(value=str(word))
            ):
                found.add(word.rpartition(".")[2])
    return frozenset(found)


@lru_cache(maxsize=256)
def _set_under_conditions(module: ast.AST) -> frozenset[str]:
    """Return the names that a module's top level binds under conditions."""
    found: set[str] = set()
    for node in _within(module):
        if isinstance(node, ast.If):
            names = (each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
            found.update(each.id for each in names)
    return frozenset(found)


def _compared_with(scope: ast.AST, name: str) -> tuple[str, ...]:
    """Return the texts that a function or a module's top level may compare a variable with.

    They are those of the conditions that ask for it, or of all its conditions where it is asked for elsewhere.
    """
    conditions, texts = _conditions(scope)
    asking = [condition for condition in conditions if name in condition]
    is_asked_there = texts.get(name, 0) == sum(condition.count(name) for condition in asking) > 0
    told = (text for condition in (asking if is_asked_there else conditions) for text in condition)
    return tuple(dict.fromkeys(text for text in told if text != name))


@lru_cache(maxsize=256)
def _conditions(scope: ast.AST) -> tuple[Sequence[tuple[str, ...]], Mapping[str, int]]:
    """Return the texts of each condition of a function or a module's top level, and how often it has each text, but for
    those under which it sets something (`os.environ["NAME"] = …`).
    """
    nodes = _within(scope)
    conditions = [tuple(_texts_in(node)) for node in nodes if isinstance(node, (ast.Compare, ast.match_case))]
    set_there = {
        id(node.slice) for node in nodes if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
    }
    texts = (node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return conditions, Counter(str(node.value) for node in texts if id(node) not in set_there)


def _texts_in(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
