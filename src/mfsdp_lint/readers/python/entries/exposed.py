"""Exposed switches: parameters and options with which FSDP is turned on, though the recipe's defaults leave it off.

The recipe is evaluated once more with each of them on; what it comes to then is kept beside what it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Known, Plain, spell
from mfsdp_lint.readers.python.entries import entries, running
from mfsdp_lint.readers.python.entries.entries import Entry, open_parameters, option_files
from mfsdp_lint.readers.python.entries.reach import reaches
from mfsdp_lint.readers.python.entries.running import Found
from mfsdp_lint.readers.python.eval.classes import has_base, mro
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import evaluate
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import MISSING, Function
from mfsdp_lint.vocabulary import SWITCHES

_ON = Known(True)

MOST_OPTIONS = 16
"""Options of a command line that are tried."""


def with_exposed(machine: Machine, entry: Entry, found: list[Found], spans: Spans) -> list[Found]:
    """The recipes with what they come to when a caller turns on a switch that a parameter or an option exposes."""
    if not found:
        return found
    called = machine.called.copy()
    exposed: list[list[Variant]] = [[] for _ in found]
    for option in _options(machine, entry):
        given = _with_option(machine, entry, option, spans)
        for each, then, variants in zip(found, given, exposed, strict=False):
            variants += _turned_on(each.recipe, then.recipe, option, option)
    function = entry.function
    for name, value in _candidates(machine, entry) if function is not None else ():
        open_to = [function is not None and not _is_judged(function, name, each.recipe) for each in found]
        if not any(open_to):
            continue
        given = running.run(machine, replace(entry, arguments={**(entry.arguments or {}), name: value}), spans)
        for each, then, variants, is_open in zip(found, given, exposed, open_to, strict=False):
            if is_open:
                variants += _turned_on(each.recipe, then.recipe, f"{name}={spell(value)}", name)
    machine.called = called
    return [
        replace(each, recipe=replace(each.recipe, exposed=tuple(variants))) if variants else each
        for each, variants in zip(found, exposed, strict=True)
    ]


def _options(machine: Machine, entry: Entry) -> list[str]:
    """The options of the entry point's own command line that turn something on."""
    return [option for path in option_files(machine, entry) for option in machine.switches[path]][:MOST_OPTIONS]


def _with_option(machine: Machine, entry: Entry, option: str, spans: Spans) -> list[Found]:
    machine.turned_on = frozenset((option,))
    try:
        return running.run(machine, entry, spans)
    finally:
        machine.turned_on = frozenset()


def _is_judged(function: Function, name: str, recipe: Recipe) -> bool:
    """Whether one of the recipe's own execution paths has a switch on because of a parameter that is not known."""
    if name in function.defaults:
        return False
    return any(variant.value(path) == _ON for variant in recipe.variants for path in SWITCHES)


def _turned_on(recipe: Recipe, then: Recipe, words: str, name: str) -> Iterator[Variant]:
    for variant in then.variants:
        if any(variant.value(path) == _ON and recipe.setting(path).value != _ON for path in SWITCHES):
            yield replace(variant, when=(words, *variant.when), exposed=(name,))


def _candidates(machine: Machine, entry: Entry) -> Iterator[tuple[str, Plain]]:
    """The parameters that may be an exposed switch, each with a value that turns it on."""
    assert entry.function is not None
    function = entry.function
    parameters = function.node.args
    annotated = {each.arg: each.annotation for each in (*parameters.args, *parameters.kwonlyargs)}
    for name in open_parameters(entry):
        if name in (entry.arguments or {}) or name not in annotated:
            continue
        default = machine.settle(entries.default(entry, name))
        values = tuple(_values(machine, function, name, default, annotated[name]))
        if values and reaches(machine, function, name):
            yield from ((name, value) for value in values if value != default)
    for name in declared_keywords(machine, function):
        if name not in annotated and name not in (entry.arguments or {}) and reaches(machine, function, name):
            yield name, True


def _values(
    machine: Machine, function: Function, name: str, default: object, annotation: ast.expr | None
) -> Iterator[Plain]:
    """True for a switch, by its default or annotation; for a choice by name, the texts that it is compared with."""
    if default is False or (is_boolean(annotation) and (default is None or default is MISSING)):
        yield True
    elif default is None or isinstance(default, str):
        texts = dict.fromkeys(text for node in _comparisons(machine, function) for text in _compared(node, name))
        yield from texts or ((True,) if default is None and annotation is None else ())


def is_boolean(annotation: ast.AST | None) -> bool:
    """Whether an annotation says that a parameter is a switch."""
    return annotation is not None and any(
        (isinstance(node, ast.Name) and node.id == "bool")
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and "bool" in node.value)
        for node in ast.walk(annotation)
    )


def _comparisons(machine: Machine, function: Function) -> list[ast.AST]:
    key = ("comparisons", function)
    if key not in machine.memo:
        nodes = ast.walk(function.node)
        machine.memo[key] = [node for node in nodes if isinstance(node, (ast.Compare, ast.Match))]
    found: list[ast.AST] = machine.memo[key]
    return found


def _compared(node: ast.AST, name: str) -> Iterator[str]:
    """The texts that a parameter is compared with."""
    match node:
        case ast.Compare(left=ast.Name(id=left), comparators=comparators) if left == name:
            where: list[ast.AST] = list(comparators)
        case ast.Match(subject=ast.Name(id=subject), cases=cases) if subject == name:
            where = [case.pattern for case in cases]
        case _:
            return
    for each in where:
        for inner in ast.walk(each):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner.value


def declared_keywords(machine: Machine, function: Function) -> Iterator[str]:
    """The boolean keywords that `**kwargs: Unpack[SomeTypedDict]` declares."""
    match function.node.args.kwarg:
        case ast.arg(annotation=ast.Subscript(value=ast.Name(id="Unpack") | ast.Attribute(attr="Unpack"), slice=inner)):
            pass
        case _:
            return
    try:
        declared = evaluate(machine, inner, function.closure or Frame(function.module))
    except Raised:
        return
    if not isinstance(declared, ClassObject) or not has_base(
        machine, declared, "typing.TypedDict", "typing_extensions.TypedDict"
    ):
        return
    for cls in mro(machine, declared):
        for node in cls.node.body if isinstance(cls, ClassObject) and cls.node is not None else ():
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and is_boolean(node.annotation):
                yield node.target.id
