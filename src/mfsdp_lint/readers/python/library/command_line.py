"""argparse: a script's options as they are when it is started without any, or with the words that it is given.

A value that comes from an option is the option's default; the command line may change it, which the value knows
(objects.Option). Where the command line is known, the value knows the word that says it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.library.argument_values import declaration, from_words, words_given
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.state.started import words
from mfsdp_lint.readers.python.state.texts import Text, behind
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import HAZY, OPTIONS, SPECS, WHOLE
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    DictObject,
    External,
    ListObject,
    Native,
    Object,
    Option,
    Unknown,
)

WITHOUT_VALUE = {"store_true": False, "store_false": True}
NOT_STORED = {"help", "version"}
SUPPRESS = External("argparse.SUPPRESS")


@models("argparse.ArgumentParser")
def _parser(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    defaults, specs = DictObject({}, machine.tick()), DictObject({}, machine.tick())
    _inherit(machine, defaults, specs, keywords)
    if keywords.keys() & {"**", "argument_default"}:
        machine.record(defaults, HAZY, True)
    if keywords.keys() & {"**", "prefix_chars", "fromfile_prefix_chars"}:
        machine.record(specs, HAZY, True)
    return _adding_to(machine, defaults, specs, abbreviated=keywords.get("allow_abbrev") is not False)


def _inherit(machine: Machine, defaults: DictObject, specs: DictObject, keywords: dict[str, Object]) -> None:
    """What a parser has from its `parents`, which several commands may share."""
    for parent in getattr(keywords.get("parents"), "items", None) or ():
        theirs = parent.fields.get(OPTIONS) if isinstance(parent, Unknown) else None
        if not isinstance(theirs, DictObject):
            machine.record(defaults, HAZY, True)
            machine.record(specs, HAZY, True)
            continue
        for name, spec in parent.fields[SPECS].fields.items():
            machine.put(specs, name, spec)
        for name, option in theirs.fields.items():
            former = defaults.fields.get(name, option)
            same = former is option
            machine.put(defaults, name, option if same else Option(machine.tick(), getattr(option, "text", "")))
        if theirs.writes.get(HAZY):
            machine.record(defaults, HAZY, True)


def _adding_to(
    machine: Machine,
    defaults: DictObject,
    specs: DictObject,
    command: bool = False,
    one_of: bool = False,
    abbreviated: bool = True,
) -> Unknown:
    """A parser, or a group of one, whose options go into `defaults`, and how they take words into `specs`. What else
    it can do is not known.

    The options of a `command`, one of several, are there where it is the one that is given. `one_of` the options must
    be given: which one is not known.
    """

    def group(machine: Machine, _: list[Object], options: dict[str, Object], node: Any, frame: Frame) -> Object:
        return _adding_to(machine, defaults, specs, command, options.get("required", False) is not False)

    def commands(machine: Machine, _: Any, options: dict[str, Object], *__: Any) -> Object:
        if isinstance(options.get("dest"), str):
            machine.put(defaults, options["dest"], Option(machine.tick(), "a command"))
        # Which attributes there are depends on the command.
        machine.record(defaults, HAZY, True)
        machine.record(specs, HAZY, True)
        made = machine.unknown("commands", not_none=True)
        made.fields["add_parser"] = Native("argparse.add_parser", add_parser)
        return made

    def add_parser(machine: Machine, _: Any, options: dict[str, Object], *__: Any) -> Object:
        _inherit(machine, defaults, specs, options)
        return _adding_to(machine, defaults, specs, True)

    def add(machine: Machine, names: list[Object], options: dict[str, Object], node: Any, frame: Frame) -> Object:
        destination = _destination(names, options)
        machine.switches.setdefault(frame.module.path, {})
        if destination is None or "**" in options or options.get("default") == SUPPRESS:
            machine.record(defaults, HAZY, True)
        declared = None if destination is None else declaration(names, options, destination)
        if declared is None:
            machine.record(specs, HAZY, True)
        else:
            machine.put(specs, declared.spec.names or destination, declared)
        if destination is not None and options.get("action") not in NOT_STORED:
            former = defaults.fields.get(destination, MISSING)
            option = _option(machine, names, options)
            if (
                isinstance(option, Option)
                and option.default is False
                and machine.switch(frame.module.path, option.text)
            ):
                option = Option(machine.tick(), option.text, True)
            if one_of:
                option = Option(machine.tick(), getattr(option, "text", ""))
            option = said_in(machine, option, "default", node, frame)
            if command and former is not MISSING:
                # Which of the two gives the default depends on the command.
                option = former = Option(machine.tick(), getattr(option, "text", ""))
            machine.put(defaults, destination, _shared(machine, former, option))
        return machine.unknown("option", not_none=True)

    def set_defaults(machine: Machine, _: list[Object], values: dict[str, Object], node: Any, frame: Frame) -> Object:
        for name, value in values.items():
            if command:
                value = machine.unknown(name)
            former = defaults.fields.get(name)
            if isinstance(former, Option) and isinstance(value, CONSTANTS):
                value = said_in(machine, Option(machine.tick(), former.text, value), name, node, frame)
            machine.put(defaults, name, value)
        return None

    def parse(machine: Machine, given: list[Object], _: Any, node: Any, frame: Frame) -> Object:
        return parse_known(machine, given, _, node, frame)[0]

    def parse_known(
        machine: Machine, given: list[Object], _: Any, node: Any, frame: Frame
    ) -> tuple[Unknown, ListObject]:
        said = words_given(machine, given)
        if said is None:
            rest: Any = None if given and given[0] is not None else []
            return _namespace(machine, defaults, given), ListObject(rest, machine.tick())
        # (What a module holds is for every start of the program.)
        unclear = specs.writes.get(HAZY) or machine.module_level
        found = None if unclear else from_words(machine, specs, said, abbreviated, node, frame)
        if found is None:
            return machine.unknown("args", not_none=True), ListObject(None, machine.tick())
        values, over = found
        made = _namespace(machine, defaults, [])
        made.fields.update(values)
        return made, words(machine, over, frame)

    made = machine.unknown("parser", not_none=True)
    methods: dict[str, Callable[..., Object]] = {
        "add_argument": add,
        "add_argument_group": group,
        "add_mutually_exclusive_group": group,
        "add_subparsers": commands,
        "set_defaults": set_defaults,
        "parse_args": parse,
        "parse_known_args": parse_known,
    }
    made.fields.update({name: Native(f"argparse.{name}", method) for name, method in methods.items()})
    made.fields[OPTIONS] = defaults
    made.fields[SPECS] = specs
    return made


def _destination(names: list[Object], options: dict[str, Object]) -> str | None:
    """The attribute that an option is stored under, as argparse derives it (CPython's `_get_optional_kwargs`)."""
    if isinstance(options.get("dest"), str):
        return str(options["dest"])
    known = [name for name in names if isinstance(name, str)]
    if not known or len(known) < len(names):
        return None
    long = next((name for name in known if name.startswith("--")), known[0])
    return long.lstrip("-").replace("-", "_") if long.startswith("-") else long


def _option(machine: Machine, names: list[Object], options: dict[str, Object]) -> Object:
    """What an option gives: something that the evaluator cannot tell from its default, and that knows its name."""
    known = [name for name in names if isinstance(name, str)]
    text = next((name for name in known if name.startswith("--")), known[0] if known else "")
    if "**" in options or options.get("required") is True or options.get("default") == SUPPRESS:
        return Option(machine.tick(), text)
    if not text.startswith("-") and options.get("nargs") not in ("?", "*"):
        return Option(machine.tick(), text, not_none=True)
    if "default" in options:
        default = options["default"]
        # A default that is text goes through the option's type.
        converted = isinstance(default, str) and "type" in options
        if converted and getattr(options.get("type"), "name", "") != "builtins.str":
            return Option(machine.tick(), text)
    else:
        action = options.get("action")
        default = WITHOUT_VALUE.get(action) if isinstance(action, str) else None
    # (What can be changed in place is no option's alone.)
    return Option(machine.tick(), text, default) if isinstance(default, CONSTANTS) else default


def said_in(machine: Machine, option: Object, keyword: str, node: Any, frame: Frame, first: bool = False) -> Object:
    """An option that knows where its default is written: the argument of this name, or the whole call.

    With `first`, the first positional argument can give it as well.
    """
    if isinstance(option, Option) and isinstance(node, ast.Call):
        whole = node.args[0] if first and node.args else node
        argument = next((each for each in node.keywords if each.arg == keyword), whole)
        option.said = behind(machine, Text(argument, frame))[-1]
    return option


def _shared(machine: Machine, former: Object, option: Object) -> Object:
    """Of several options for one attribute, the first gives the default (CPython's `parse_known_args`)."""
    if not isinstance(former, Option) or not isinstance(option, Option):
        return option if former is MISSING else former
    return Option(machine.tick(), f"{former.text}, {option.text}", former.default, former.not_none, former.said)


def _namespace(machine: Machine, defaults: DictObject, given: list[Object]) -> Unknown:
    made = machine.unknown("args", not_none=True)
    if given and given[0] is not None:
        return made
    made.fields.update(defaults.fields)
    if not defaults.writes.get(HAZY):
        made.fields[WHOLE] = True
    return made
