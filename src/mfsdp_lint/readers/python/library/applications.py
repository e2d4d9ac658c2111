"""Command-line programs made of functions and classes: click, typer, fire, absl, tyro, jsonargparse, transformers'
HfArgumentParser (hydra: see hydra.py).

A parameter that comes from the command line is its option's default, as with argparse (see command_line.py); a
parameter without a default is unknown. In a launch, the words give the others (program_words.py); where they are not
followed, all are unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import TypeGuard

from mfsdp_lint.readers.given_words import GivenWord
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.classes import fields_of, has_fields, lookup
from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.library.command_line import given_word, said_in
from mfsdp_lint.readers.python.library.program_words import (
    Annotations,
    annotations_of,
    assigned,
    class_named,
    declared_by,
    of_click,
    of_fields,
    of_fire,
    of_flag,
    of_values,
)
from mfsdp_lint.readers.python.state.calling import Model, invoke, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.texts import LOOKS, Text, behind
from mfsdp_lint.readers.python.state.texts import written as where_written
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import SPECS
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    ClassObject,
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
    PathObject,
    Unknown,
)


@models("click.command", "rich_click.command", "typer.run", "fire.Fire")
def _program(interp: Interpreter, call: Call) -> Object:
    """Model `@command()` and `@command`, which make a program of a function, and `run(function)`, which starts it."""
    called = getattr(call.node, "func", call.node)
    name = getattr(called, "attr", getattr(called, "id", ""))
    function = call.arguments[0] if call.arguments and isinstance(call.arguments[0], (Function, Partial)) else None
    if name == "Fire":
        return _fire(interp, call)
    if name == "run":
        return interp.unknown("run") if function is None else _started(interp, function, call)
    if function is not None:
        return _made(function)
    return Native(f"{MODELLED}command", lambda interp, call: _made(call.arguments[0]))


def _fire(interp: Interpreter, call: Call) -> Object:
    """Model `fire.Fire(component)`: a function, or the method of a class or entry of a dictionary that a word names."""
    component, words = interp.settle(call.argument(0, "component")), interp.started_with()
    taken = of_fire(interp, words, call.frame) if words else None
    if taken is None:
        is_function = isinstance(component, (Function, Partial))
        return _started(interp, component, call) if is_function else interp.unknown("run")
    positional, keywords = taken
    if isinstance(component, (ClassObject, DictObject)):
        name = interp.settle(positional.pop(0)) if positional else None
        if not isinstance(name, str):
            return interp.unknown("run")
        if isinstance(component, DictObject):
            component = component.fields.get(name, MISSING)
        else:
            made = lookup(interp, component, "__init__")[0]
            own = {each: keywords.pop(each) for each in list(keywords) if _takes(made, each)}
            owner = invoke(interp, component, call.passing([], own))
            component = get_attribute(interp, owner, name.replace("-", "_"), call.node, call.frame)
    if component is MISSING or isinstance(component, Unknown):
        return interp.unknown("run")
    return invoke(interp, component, call.passing(positional, keywords))


def _takes(function: Object, name: str) -> bool:
    parameters = function.node.args if isinstance(function, Function) else None
    return parameters is not None and name in [each.arg for each in (*parameters.args[1:], *parameters.kwonlyargs)]


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
        return _started(interp, function, call, context=None if above is None else _context(interp, above, call))

    return Native("a program", start) if isinstance(function, (Function, Partial)) else function


@models("click.run_in", "typer.run_in")
def _run_in(interp: Interpreter, call: Call) -> Object:
    context, function = call.arguments
    return _started(interp, function, call, context=context) if isinstance(function, (Function, Partial)) else None


@models("click.name_of", "typer.name_of")
def _name_of(interp: Interpreter, call: Call) -> Object:
    """Return the name of a command that no name was given: that of its function, with dashes."""
    function = call.argument(0)
    inner = function.function if isinstance(function, Partial) else function
    return getattr(inner, "name", "").lower().replace("_", "-")


models("transformers.is_started")(lambda interp, call: bool(interp.started_with()))
models("click.object_of_caller")(lambda interp, call: interp.unknown("obj", not_none=True))


@models("click.start_group", "typer.start_group")
def _start_group(interp: Interpreter, call: Call) -> Object:
    """Start the command of a group that the words of a launch name; its callback runs before, with the words for it."""
    group = interp.settle(call.argument(0))
    words = interp.started_with()
    return None if words is None or not isinstance(group, Instance) else _enter(interp, group, None, list(words), call)


def _enter(interp: Interpreter, group: Instance, above: Object, words: list[GivenWord], call: Call) -> Object:
    callback = interp.settle(group.fields.get("_callback"))
    commands = interp.settle(group.fields.get("_commands"))
    every = commands.fields if isinstance(commands, DictObject) else {}
    declared = declared_by(interp, callback) if isinstance(callback, (Function, Partial)) else []
    context: Object = None
    if isinstance(group.cls, ClassObject) and group.cls.name == "Group":
        context = _context(interp, above, call)
    if callback is None and len(every) == 1 and not isinstance(next(iter(every.values())), Instance):
        return _started(interp, next(iter(every.values())), call, context=context)
    found = None if declared is None else assigned(interp, declared, words, call, rest=True)
    name = found[1][0].known if found is not None and found[1] else None
    command = every.get(name, MISSING)
    if found is None or command is MISSING:
        return interp.unknown("a command")
    if isinstance(callback, (Function, Partial)):
        _started(interp, callback, call, context=context, values=found[0])
    if isinstance(command, Instance):
        return _enter(interp, command, context, found[1][1:], call)
    inner = None if context is None else _context(interp, context, call)
    return _started(interp, command, call, context=inner, words=found[1][1:])


def _context(interp: Interpreter, above: Object, call: Call) -> Object:
    """Make click's context of a command below another one's, None for the outermost."""
    return invoke(interp, written(interp, "click.Context"), call.passing([above]))


def _started(
    interp: Interpreter,
    function: Object,
    call: Call,
    known: bool = True,
    context: Object = None,
    words: Sequence[GivenWord] | None = None,
    values: dict[str, Object] | None = None,
) -> Object:
    """Call the function with the `values` that the words of the launch give its options, and the defaults of others.

    With unknown values where words are given that are not followed (not `known`).
    """
    words = interp.started_with() if words is None else words
    if values is None and known and words and isinstance(function, (Function, Partial)):
        declared = declared_by(interp, function)
        found = None if declared is None else assigned(interp, declared, words, call)
        values, known = (None, False) if found is None else (found[0], True)
    values = values or {}
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
    given |= values
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
        if isinstance(value, Unknown) and (declared := of_click(known, call.keywords, destination)) is not None:
            value.fields[SPECS] = declared
        if isinstance(value, Option) and value.default is False:
            interp.switch(call.frame.module.path, value.text)
        if isinstance(function, Partial):
            return Partial(function.function, function.arguments, {**function.keywords, destination: value})
        return Partial(function, [], {destination: value})

    return Native(f"{MODELLED}option", decorate)


@models("click.Path", "rich_click.Path")
def _path_type(interp: Interpreter, call: Call) -> Object:
    """Return the type that the paths of an option have in the end."""
    return interp.settle(call.argument(7, "path_type")) or External("builtins.str")


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
    if (
        is_argument
        and options.get("nargs") == -1
        and not {"**", "default", "required", "callback", "cls"} & options.keys()
    ):
        return Option(interp.tick(), text, not_none=True) if interp.started_with() else ()
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
    return default if _is_for_nobody(interp, default) else Option(interp.tick(), text)


def _is_for_nobody(interp: Interpreter, default: Object) -> TypeGuard[EnumMember | PathObject]:
    """Tell whether a default, which is no plain value, holds since the program is given no words."""
    return isinstance(default, (EnumMember, PathObject)) and not interp.started_with()


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
    open_ended = default is ... or not isinstance(default, CONSTANTS) or {"prompt", "callback"} & call.keywords.keys()
    if _is_for_nobody(interp, default) and not {"prompt", "callback"} & call.keywords.keys():
        return default
    made: Object = Option(interp.tick(), text)
    if not open_ended:
        made = said_in(interp, Option(interp.tick(), text, default), "default", call, first=True)
    if isinstance(made, Option):
        made.fields[SPECS] = (getattr(getattr(call.node, "func", None), "attr", "") == "Argument", *names)
    return made


@models("absl.app.run")
def _run_main(interp: Interpreter, call: Call) -> Object:
    _parse_flags(interp, call)
    words = ListObject(None, interp.tick())
    return invoke(interp, call.argument(0, "main"), call.passing([words]))


@models("absl.flags.parsed")
def _parse_flags(interp: Interpreter, call: Call) -> Object:
    """Give the flags that are defined the values that the words of the launch say, and the others their defaults."""
    known, words = written(interp, "absl.flags.FLAGS"), interp.started_with()
    if not isinstance(known, Instance) or not words:
        return None
    flags = known.writes.get(SPECS, ())
    found = assigned(interp, [one for holder in flags for one in holder.fields[SPECS]], words, call)
    if found is None:
        return None
    for holder in flags:
        name = holder.fields["name"]
        value = found[0].get(name, holder.fields["default"])
        interp.put(known, name, value)
        interp.put(holder, "value", value)
        interp.record(holder, "value", interp.note(call.node, call.frame, None, "argument", value, None))
    return None


def _define_flag(interp: Interpreter, call: Call, kind: str) -> Object:
    """Define a flag of absl: an attribute of `flags.FLAGS`, and an object with its value."""
    name = interp.settle(call.argument(0, "name"))
    if not isinstance(name, str):
        return interp.unknown("flag", not_none=True)
    text, default = f"--{name}", interp.settle(call.argument(1, "default"))
    value = _option_at(interp, text, default, _argument(call, 1, "default"), call)
    known = written(interp, "absl.flags.FLAGS")
    holder = interp.unknown("flag", not_none=True)
    holder.fields |= {"value": value, "name": name, "default": default, SPECS: of_flag(kind, name)}
    if isinstance(known, Instance):
        interp.put(known, name, value)
        interp.record(known, SPECS, (*known.writes.get(SPECS, ()), holder))
    said = _argument(call, 1, "default")
    holder.writes["value"] = interp.note(call.node, call.frame, said, "argument", value, None)
    return holder


for _kind in (
    "string", "boolean", "bool", "integer", "float", "enum", "enum_class", "list", "spaceseplist", "multi_string",
    "multi_integer", "multi_float", "multi_enum", "multi_enum_class",
):  # fmt: skip
    models(f"absl.flags.DEFINE_{_kind}")(partial(_define_flag, kind=_kind))


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


@models("transformers.objects_of_words")
def _of_words(interp: Interpreter, call: Call) -> Object:
    """Make the objects of HfArgumentParser of words that it is given, or that the program is started with."""
    classes = interp.settle(call.argument(1))
    items = classes.items if isinstance(classes, ListObject) else None
    words = given_words(interp, call.argument(0), call)
    declared = [of_fields(interp, each) for each in items or () if isinstance(each, ClassObject)]
    if items is None or len(declared) < len(items) or None in declared or words is None:
        return tuple(interp.unknown("options", not_none=True) for _ in items or ())
    every = [one for each in declared for one in each or ()]
    found = assigned(interp, every, words, call)
    if found is None:
        return tuple(interp.unknown("options", not_none=True) for _ in items)
    made = []
    for cls, options in zip(items, declared, strict=True):
        names = [one.spec.destination for one in options or ()]
        own = {name: found[0][name] for name in names if name in found[0]}
        made.append(invoke(interp, cls, call.passing([], own)))
    return tuple(made)


def given_words(interp: Interpreter, given: Object, call: Call) -> list[GivenWord] | None:
    """Return the words that a program is started with, or is `given` as a list; None where they are not known."""
    given = interp.settle(given)
    if given is None:
        return list(interp.started_with() or ())
    texts = given.items if isinstance(given, ListObject) else given if isinstance(given, tuple) else None
    words = [given_word(interp, item, place, call) for place, item in enumerate(texts or ())]
    return None if texts is None or None in words else [each for each in words if each is not None]


@models(
    "tyro.cli", "jsonargparse.CLI", "jsonargparse.auto_cli", "draccus.parse", "pyrallis.parse", "simple_parsing.parse",
    "transformers.options_of", "jsonargparse.options_of",
)  # fmt: skip
def _of_class(interp: Interpreter, call: Call) -> Object:
    """Make an object of a class, each field an option, or call a function with the values of its options."""
    target = interp.settle(call.argument(0, "config_class", call.keywords.get("components")))
    default = interp.settle(call.keywords.get("default"))
    inner = target.function if isinstance(target, Partial) else target
    if isinstance(inner, Function):
        options, values = annotations_of(interp, inner), dict(inner.defaults)
    elif isinstance(target, ClassObject) and has_fields(interp, target) and isinstance(default, Instance | None):
        made = _with_options(interp, target, "", call) if default is None else default
        options, values = {"": (None, call.frame)}, {"": made}
    else:
        return interp.unknown("options", not_none=True)
    given = _given_options(interp, options, values, call)
    values = {name: _opened(interp, value, name, given, call) for name, value in values.items()}
    values |= {name: value for name, value in (given or {}).items() if name in options}
    return values[""] if "" in values else _started(interp, Partial(target, [], values), call, words=())


def _given_options(
    interp: Interpreter, options: Annotations, values: dict[str, Object], call: Call
) -> dict[str, Object] | None:
    """Return the values that words give options, by their dotted names; None where the words are not followed."""
    others = {"**", "config_path", "set_defaults", "default_config_files"} & call.keywords.keys()
    if others or len(call.arguments) > 1:
        return None
    words = given_words(interp, call.keywords.get("args"), call)
    if not words:
        return {} if words is not None else None
    found = assigned(interp, list(of_values(interp, options, values)), words, call)
    return None if found is None else found[0]


def _with_options(interp: Interpreter, cls: ClassObject, prefix: str, call: Call) -> Object:
    """Make an object of a class, with options for the fields that have no default."""
    lacking: dict[str, Object] = {}
    annotations = annotations_of(interp, cls)
    for spec in fields_of(interp, cls):
        if spec.init and spec.default is MISSING and spec.factory is MISSING:
            annotation, frame = annotations.get(spec.name, (None, call.frame))
            inner = class_named(interp, annotation, frame)
            text = f"{prefix}{spec.name}"
            lacking[spec.name] = Option(interp.tick(), f"--{text}")
            if inner is not None and has_fields(interp, inner):
                lacking[spec.name] = _with_options(interp, inner, f"{text}.", call)
    return invoke(interp, cls, call.passing([], lacking))


def _opened(interp: Interpreter, value: Object, name: str, given: dict[str, Object] | None, call: Call) -> Object:
    """Make options of a value, or of the fields of an object and of the objects in it, with the values that words give.

    No option is known where the words are not followed (`given` is None).
    """
    if isinstance(value, Instance) and has_fields(interp, value.cls):
        made = Instance(value.cls, interp.tick(), value.made)
        made.fields, made.writes = dict(value.fields), dict(value.writes)
        for spec in fields_of(interp, value.cls):
            full = f"{name}.{spec.name}".removeprefix(".")
            made.fields[spec.name] = _opened(interp, value.fields.get(spec.name), full, given, call)
            places = where_written(value, spec.name)
            option = made.fields[spec.name]
            if given and full in given:
                said = option.said if type(option) is Option else None
                made.writes[spec.name] = interp.note(
                    said[1] if said else call.node, call.frame, None, "argument", option, None
                )
            elif type(option) is Option and option.default is not MISSING and places:
                option.said = places[-1]
        return made
    if given and name in given:
        return given[name]
    if given is None:
        return Option(interp.tick(), f"--{name}")
    if not isinstance(value, CONSTANTS):
        return value
    return value if interp.started_with() else _option_at(interp, f"--{name}", value, None, call)
