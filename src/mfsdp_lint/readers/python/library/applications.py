"""Command-line programs made of functions: click, typer, fire (hydra: see hydra.py).

A parameter that comes from the command line is its option's default, as with argparse (see command_line.py); a
parameter without a default is unknown. In a launch with words all are unknown: how these libraries take words is not
modelled.
"""

from __future__ import annotations

from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.library.command_line import said_in
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.values.frames import Call
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Function,
    Native,
    Object,
    Option,
    Partial,
)


@models("click.command", "rich_click.command", "typer.run", "fire.Fire")
def _program(interp: Interpreter, call: Call) -> Object:
    """Model `@command()` and `@command`, which make a program of a function, and `run(function)`, which starts it."""
    name = getattr(call.node, "func", call.node)
    starts = getattr(name, "attr", getattr(name, "id", "")) in ("run", "Fire")
    function = call.arguments[0] if call.arguments and isinstance(call.arguments[0], (Function, Partial)) else None
    if starts:
        return interp.unknown("run") if function is None else _started(interp, function, call)
    if function is not None:
        return _made(function)
    return Native(f"{MODELLED}command", lambda interp, call: _made(call.arguments[0]))


def _made(function: Object) -> Object:
    def start(interp: Interpreter, call: Call) -> Object:
        known = not call.arguments or call.arguments[0] is None
        return _started(interp, function, call, known)

    return Native("a program", start) if isinstance(function, (Function, Partial)) else function


def _started(interp: Interpreter, function: Object, call: Call, known: bool = True) -> Object:
    """Call the function with the defaults of its options; with unknown values where options are given (not `known`)."""
    known = known and not interp.started_with()
    inner = function.function if isinstance(function, Partial) else function
    given = dict(function.keywords) if isinstance(function, Partial) else {}
    positional = list(function.arguments) if isinstance(function, Partial) else []
    for name, value in given.items():
        if not known:
            given[name] = interp.unknown(name)
        elif isinstance(value, Option) and value.text in interp.turned_on:
            given[name] = Option(interp.tick(), value.text, True)
    if isinstance(inner, Function):
        parameters = inner.node.args
        names = [each.arg for each in (*parameters.posonlyargs, *parameters.args)][len(positional) :]
        for name in (*names, *(each.arg for each in parameters.kwonlyargs)):
            if name not in given and (name not in inner.defaults or not known):
                given[name] = interp.unknown(name)
    return invoke(interp, inner, call.passing(positional, given))


@models("click.option", "click.argument", "rich_click.option", "rich_click.argument")
def _option(interp: Interpreter, call: Call) -> Object:
    """Return a decorator that binds one argument of the function to an option."""
    known = [name for name in call.arguments if isinstance(name, str)]
    destination = _destination(known)

    def decorate(interp: Interpreter, decorated: Call) -> Object:
        function = decorated.arguments[0]
        if destination is None or not isinstance(function, (Function, Partial)):
            return function
        value = said_in(interp, click_option(interp, known, call.keywords), "default", call)
        if isinstance(value, Option) and value.default is False:
            interp.switch(call.frame.module.path, value.text)
        if isinstance(function, Partial):
            return Partial(function.function, function.arguments, {**function.keywords, destination: value})
        return Partial(function, [], {destination: value})

    return Native(f"{MODELLED}option", decorate)


def _destination(names: list[str]) -> str | None:
    """Return the parameter that an option goes to (as in click): a name without dashes, or the first with two."""
    plain = [name for name in names if name.isidentifier()]
    if plain:
        return plain[0].lower()
    dashed = sorted((name.partition("/")[0].strip() for name in names), key=lambda name: not name.startswith("--"))
    return dashed[0].lstrip("-").replace("-", "_").lower() if dashed else None


def click_option(interp: Interpreter, names: list[str], options: dict[str, Object]) -> Object:
    """Return the value of a click option that the command line does not give."""
    text = next((name for name in names if name.startswith("--")), names[0] if names else "").partition("/")[0]
    is_argument = not text.startswith("-")
    if "**" in options or {"prompt", "callback", "cls"} & options.keys():
        return Option(interp.tick(), text)
    if options.get("required") is True or (is_argument and "default" not in options and "required" not in options):
        return Option(interp.tick(), text, not_none=True)
    is_flag = options.get("is_flag") is True or any("/" in name for name in names)
    default = options.get("default", MISSING)
    if default is MISSING:
        default = False if is_flag else 0 if options.get("count") is True else None
        default = () if options.get("multiple") is True else default
    elif isinstance(default, str) and getattr(options.get("type"), "name", "builtins.str") != "builtins.str":
        return Option(interp.tick(), text)
    if default == () or isinstance(default, CONSTANTS):
        return Option(interp.tick(), text, default) if isinstance(default, CONSTANTS) else default
    return Option(interp.tick(), text)


@models("click.pass_context", "click.pass_obj")
def _with_context(interp: Interpreter, call: Call) -> Object:
    function = call.argument(0)
    if not isinstance(function, (Function, Partial)):
        return function
    context = interp.unknown("context", not_none=True)
    if isinstance(function, Partial):
        return Partial(function.function, [context, *function.arguments], function.keywords)
    return Partial(function, [context], {})


@models("typer.Option", "typer.Argument")
def _typer_option(interp: Interpreter, call: Call) -> Object:
    default = call.argument(0, "default", ...)
    names = [name for name in call.arguments[1:] if isinstance(name, str)]
    text = names[0].partition("/")[0] if names else "an option"
    if default is ... or not isinstance(default, CONSTANTS) or {"prompt", "callback"} & call.keywords.keys():
        return Option(interp.tick(), text)
    return said_in(interp, Option(interp.tick(), text, default), "default", call, first=True)
