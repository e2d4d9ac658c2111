"""Entry points that yield no recipe though they make, change or launch a configuration, and the reason."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence

from mfsdp_lint.core.recipe import Kind, Origin, Unfollowed, Why
from mfsdp_lint.readers.python.entries.entries import (
    Entry,
    configures,
    definitions,
    is_test,
    launches,
    leads_to_configuration,
    leads_to_launch,
    leads_to_run,
    needs_arguments,
    open_parameters,
    reaches_upstream,
)
from mfsdp_lint.readers.python.entries.running import Ending, Evaluation
from mfsdp_lint.readers.python.eval.configurations import is_launcher
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import STEP_LIMIT, Raised, RefusedCall
from mfsdp_lint.readers.python.values.objects import Function, Module

TOLD: dict[Why, str] = {
    "limit": "it takes too many steps, or has too many ways through it, to be followed",
    "argument": "what it comes to depends on its arguments",
    "out of sight": "what it comes to depends on code that is not at hand",
    "kept": "the configuration that it makes is neither handed back nor launched",
    "not reached": "nothing that could be followed calls it",
}


def lost(interp: Interpreter, evaluation: Evaluation, spans: Spans) -> Unfollowed | None:
    """Explain why an entry point that was just evaluated yields no recipe; None where it configures nothing."""
    entry, endings = evaluation.entry, evaluation.endings
    if entry.function is not None and _loses_no_run(interp, entry, entry.function):
        return None
    if unjudged := evaluation.dependencies.unjudged:
        return _told(entry, "out of sight", f"it {' and '.join(sorted(unjudged))}, which no start-up checks")
    by_text = entry.function is not None and (_says_so(interp, entry, entry.function) or _fails(interp, evaluation))
    if not by_text and interp.path.limit < STEP_LIMIT:
        return None
    why = _why(entry, endings, evaluation.out_of_sight)
    error = endings[0] if why == "raises" else None
    if not isinstance(error, Raised):
        return _told(entry, why, TOLD[why])
    text = f"{error.name}: {error.text}" if error.text else error.name
    told = _told(entry, why, text)
    if error.module is None or error.module.written or error.node is None:
        return told
    span = spans.of(error.module, error.node)
    said = error.focus
    focus = None if said is None else said.span if isinstance(said, Origin) else spans.of(error.module, said)
    return Unfollowed(
        told.name,
        told.qualified_name,
        told.path,
        told.line,
        told.kind,
        why,
        text,
        span,
        focus,
        error.name,
        error.nearest,
        certain=isinstance(error, RefusedCall) and not (error.lacking and _may_be_given_more(entry, error)),
    )


def _loses_no_run(interp: Interpreter, entry: Entry, function: Function) -> bool:
    """Tell whether a function is no recipe by itself: a launcher, a test that launches nothing, or a helper that only
    changes what it is given.
    """
    if is_test(function.name):
        return not leads_to_launch(interp, function)
    return is_launcher(function) or (needs_arguments(entry) and not leads_to_run(interp, function))


def _says_so(interp: Interpreter, entry: Entry, function: Function) -> bool:
    """Tell whether an entry point has to do with configurations, by its text.

    A table holds functions of all kinds: a function that the table makes has to configure something by its own text,
    any other is reported under its own name.
    """
    if entry.cls is None and "." in entry.name:
        return entry.partial is None and configures(interp, function.module, function.node)
    return leads_to_configuration(interp, function)


def _fails(interp: Interpreter, evaluation: Evaluation) -> bool:
    """Tell whether a function of a file about training fails by itself, though it raises nothing on purpose: whether
    it configures something cannot be seen then.
    """
    entry, endings = evaluation.entry, evaluation.endings
    return (
        entry.cls is None
        and not needs_arguments(entry)
        and reaches_upstream(interp, entry.module)
        and bool(endings)
        and all(isinstance(each, Raised) and _is_no_purpose(each) for each in endings)
    )


def _is_no_purpose(error: Raised) -> bool:
    """Tell whether an expression of the program failed."""
    return not isinstance(error.node, ast.Raise) and error.module is not None and not error.module.written


def _why(entry: Entry, endings: Sequence[Ending], out_of_sight: bool) -> Why:
    if any(not isinstance(ending, Raised) and ending is not None for ending in endings):
        return "limit"
    if endings and None not in endings:
        # An object that somebody else makes may have what this one lacks.
        sure = entry.cls is None or any(isinstance(ending, Raised) and ending.keyword for ending in endings)
        return "raises" if sure else "argument"
    if out_of_sight:
        return "out of sight"
    return "argument" if entry.function is not None and needs_arguments(entry) else "kept"


def _may_be_given_more(entry: Entry, error: RefusedCall) -> bool:
    """Tell whether a call that lacks an argument may get it where the entry point is started with other values."""
    return error.by_option or (error.spread and entry.function is not None and bool(open_parameters(entry)))


def _told(entry: Entry, why: Why, message: str) -> Unfollowed:
    return Unfollowed(entry.name, entry.qualified_name, entry.module.path, entry.line, entry.kind, why, message)


def not_reached(interp: Interpreter, module: Module, told: Container[int]) -> Iterator[Unfollowed]:
    """Yield the functions of a file, and its top level, that configure something by their text, but were not followed.

    `told` are the lines of recipes, of functions that recipes call, and of functions already known to be lost.
    """
    inside: set[ast.AST] = set()
    for name, node in definitions(module):
        line = getattr(node, "lineno", 1)
        if node in inside or line in told or not configures(interp, module, node):
            continue
        if is_test(name.rpartition(".")[2]) and not launches(interp, module, node):
            continue
        inside.update(ast.walk(node) if name else ())
        short = name or module.name.rpartition(".")[2]
        qualified = f"{module.name}.{name}" if name else module.name
        kind: Kind = "function" if name else "script"
        yield Unfollowed(short, qualified, module.path, line, kind, "not reached", TOLD["not reached"])
