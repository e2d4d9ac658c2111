"""Command-line programs made of functions and classes: click, typer, fire, absl, tyro, jsonargparse, transformers'
HfArgumentParser (hydra: see hydra.py).

A parameter that comes from the command line is its option's default, as with argparse (see command_line.py); a
parameter without a default is unknown. In a launch with words all are unknown: how these libraries take words is not
modelled.
"""

from __future__ import annotations

import ast

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.classes import fields_of, has_fields
from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.library.command_line import said_in
from mfsdp_lint.readers.python.state.calling import Model, invoke, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.texts import LOOKS, Text, behind
from mfsdp_lint.readers.python.state.texts import written as where_written
from mfsdp_lint.readers.python.values.code import Call, ClassObject
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    External,
    Function,
    Instance,
    ListObject,
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


@models("click.command_in", "typer.command_in")
def _command_of_group(interp: Interpreter, call: Call) -> Object:
    """Make a program of a function that runs behind its groups."""
    group, function = call.arguments

    def start(interp: Interpreter, call: Call) -> Object:
        enter = get_attribute(interp, group, "_entered", call.node, call.frame)
        above = invoke(interp, enter, call.passing([]))
        context = above if above is None else invoke(interp, written(interp, "click.Context"), call.passing([above]))
        return _started(interp, function, call, context=context)

    return Native("a program", start) if isinstance(function, (Function, Partial)) else function


@models("click.run_in", "typer.run_in")
def _run_in(interp: Interpreter, call: Call) -> Object:
    context, function = call.arguments
    return _started(interp, function, call, context=context) if isinstance(function, (Function, Partial)) else None


models("click.object_of_caller")(lambda interp, call: interp.unknown("obj", not_none=True))


def _started(interp: Interpreter, function: Object, call: Call, known: bool = True, context: Object = None) -> Object:
    """Call the function with the defaults of its options; with unknown values where options are given (not `known`)."""
    known = known and not interp.started_with()
    inner = function.function if isinstance(function, Partial) else function
    given = dict(function.keywords) if isinstance(function, Partial) else {}
    positional = list(function.arguments) if isinstance(function, Partial) else []
    if context is None and any(each in (_CONTEXT, _OBJECT) for each in positional):
        context = interp.unknown("context", not_none=True)
    for place, value in enumerate(positional):
        if value == _CONTEXT:
            positional[place] = context
        elif value == _OBJECT:
            positional[place] = get_attribute(interp, context, "obj", call.node, call.frame)
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


_CONTEXT, _OBJECT = External("click.current_context"), External("click.current_context.obj")
"""Stand where a command takes its context, or the context's object, until it is started."""


def _given(placeholder: External) -> Model:
    def model(interp: Interpreter, call: Call) -> Object:
        function = call.argument(0)
        if isinstance(function, Partial):
            return Partial(function.function, [placeholder, *function.arguments], function.keywords)
        return Partial(function, [placeholder], {}) if isinstance(function, Function) else function

    return model


models("click.pass_context", "rich_click.pass_context")(_given(_CONTEXT))
models("click.pass_obj", "rich_click.pass_obj")(_given(_OBJECT))


@models("typer.Option", "typer.Argument")
def _typer_option(interp: Interpreter, call: Call) -> Object:
    default = call.argument(0, "default", ...)
    names = [name for name in call.arguments[1:] if isinstance(name, str)]
    text = names[0].partition("/")[0] if names else "an option"
    if default is ... or not isinstance(default, CONSTANTS) or {"prompt", "callback"} & call.keywords.keys():
        return Option(interp.tick(), text)
    return said_in(interp, Option(interp.tick(), text, default), "default", call, first=True)


@models("absl.app.run")
def _run_main(interp: Interpreter, call: Call) -> Object:
    words = ListObject(None, interp.tick())
    return invoke(interp, call.argument(0, "main"), call.passing([words]))


def _define_flag(interp: Interpreter, call: Call) -> Object:
    """Define a flag of absl: an attribute of `flags.FLAGS`, and an object with its value."""
    name = interp.settle(call.argument(0, "name"))
    if not isinstance(name, str):
        return interp.unknown("flag", not_none=True)
    text, default = f"--{name}", interp.settle(call.argument(1, "default"))
    value = _option_at(interp, text, default, _argument(call, 1, "default"), call)
    known = written(interp, "absl.flags.FLAGS")
    if isinstance(known, Instance):
        interp.put(known, name, value)
    holder = interp.unknown("flag", not_none=True)
    holder.fields |= {"value": value, "name": name, "default": default}
    return holder


for _kind in (
    "string", "boolean", "bool", "integer", "float", "enum", "enum_class", "list", "spaceseplist", "multi_string",
    "multi_integer", "multi_float", "multi_enum", "multi_enum_class",
):  # fmt: skip
    models(f"absl.flags.DEFINE_{_kind}")(_define_flag)


def _argument(call: Call, place: int, name: str) -> ast.AST | None:
    """Return the text of an argument, by its place or name."""
    if not isinstance(call.node, ast.Call):
        return None
    named = next((each for each in call.node.keywords if each.arg == name), None)
    return named if named is not None or len(call.node.args) <= place else call.node.args[place]


def _option_at(interp: Interpreter, text: str, default: Object, said: ast.AST | None, call: Call) -> Object:
    """Return the value of an option whose default stands in a text of the program."""
    if not isinstance(default, CONSTANTS):
        return default
    if interp.started_with():
        return Option(interp.tick(), text)
    if default is False and interp.switch(call.frame.module.path, text):
        return Option(interp.tick(), text, True)
    option = Option(interp.tick(), text, default)
    if said is not None:
        interp.looks = LOOKS
        option.said = behind(interp, Text(said, call.frame))[-1]
    return option


@models(
    "tyro.cli", "jsonargparse.CLI", "jsonargparse.auto_cli", "draccus.parse", "pyrallis.parse", "simple_parsing.parse",
    "transformers.options_of",
)  # fmt: skip
def _of_class(interp: Interpreter, call: Call) -> Object:
    """Make an object of a class, each field an option, or call a function with the defaults of its options."""
    target = interp.settle(call.argument(0, "config_class", call.keywords.get("components")))
    if isinstance(target, (Function, Partial)):
        given = {name: _opened(interp, value, "", call) for name, value in _defaults(target).items()}
        return _started(interp, Partial(target, [], given), call)
    if not isinstance(target, ClassObject) or not has_fields(interp, target):
        return interp.unknown("options", not_none=True)
    lacking: dict[str, Object] = {
        spec.name: Option(interp.tick(), f"--{spec.name}")
        for spec in fields_of(interp, target)
        if spec.init and spec.default is MISSING and spec.factory is MISSING
    }
    return _opened(interp, invoke(interp, target, call.passing([], lacking)), "", call)


def _defaults(function: Function | Partial) -> dict[str, Object]:
    inner = function.function if isinstance(function, Partial) else function
    return dict(inner.defaults) if isinstance(inner, Function) else {}


def _opened(interp: Interpreter, value: Object, prefix: str, call: Call) -> Object:
    """Make options of the fields of an object, and of the objects in it."""
    if not isinstance(value, Instance) or not has_fields(interp, value.cls):
        return value
    made = Instance(value.cls, interp.tick(), value.made)
    made.fields, made.writes = dict(value.fields), dict(value.writes)
    for spec in fields_of(interp, value.cls):
        current, text = value.fields.get(spec.name), f"--{prefix}{spec.name}"
        if isinstance(current, CONSTANTS):
            places = where_written(value, spec.name)
            option = _option_at(interp, text, current, None, call)
            if isinstance(option, Option) and option.default is not MISSING and places:
                option.said = places[-1]
            made.fields[spec.name] = option
        else:
            made.fields[spec.name] = _opened(interp, current, f"{prefix}{spec.name}.", call)
    return made
