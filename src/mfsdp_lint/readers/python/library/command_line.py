"""argparse: a script's options as they are when it is started without any, or with the words that it is given.

A value that comes from an option is the option's default; the command line may change it, which the value knows
(objects.Option). Where the command line is known, the value knows the word that says it.

Values of argparse's options where the command line is known.
"""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.given_words import GivenWord
from mfsdp_lint.readers.python.library.argument_words import NotFollowed, Number, Spec, Use, take
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.started import word, word_of, words
from mfsdp_lint.readers.python.state.texts import LOOKS, Text, behind, place
from mfsdp_lint.readers.python.values.frames import Call, Frame
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

_WITHOUT_WORDS = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")
_KNOWN = (*_WITHOUT_WORDS, "store", "append", "extend")
_EITHER = "argparse.BooleanOptionalAction"
_NUMBERS = {"argparse.REMAINDER": "...", "argparse.PARSER": "+"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """An option as `add_argument` declares it: how it takes words, and how it turns them into a value."""

    spec: Spec
    type: Object
    const: Object


def declaration(names: list[Object], options: dict[str, Object], destination: str) -> Declaration | None:
    """Return the declaration of an option; None where the evaluator does not follow it."""
    texts = tuple(name for name in names if isinstance(name, str) and name.startswith("-"))
    action = options.get("action", "store")
    action = _EITHER if getattr(action, "name", "") == _EITHER else action
    number = options.get("nargs")
    number = _NUMBERS.get(getattr(number, "name", ""), number)
    if "**" in options or action not in (*_KNOWN, _EITHER) or not isinstance(number, (int, str, type(None))):
        return None
    if action == _EITHER:
        texts += tuple(f"--no-{name[2:]}" for name in texts if name.startswith("--"))
    taken: Number = 0 if action in (*_WITHOUT_WORDS, _EITHER) else number
    return Declaration(Spec(texts, destination, taken, str(action)), options.get("type"), options.get("const"))


def words_given(machine: Machine, given: list[Object]) -> tuple[GivenWord, ...] | None:
    """Return the words that a parser reads: the command line's, or those of a list. None where they are not known."""
    if not given or given[0] is None:
        return machine.started_with()
    items = given[0].items if isinstance(given[0], ListObject) else None
    found = tuple(map(word_of, items or ()))
    return tuple(each for each in found if each is not None) if items and None not in found else None


def from_words(
    machine: Machine, specs: DictObject, said: tuple[GivenWord, ...], abbreviated: bool, node: Any, frame: Frame
) -> tuple[dict[str, Object], list[GivenWord]] | None:
    """Return the values of the given options, by their attributes, and the words that no option takes.

    Return None where the words cannot be assigned to options. Raises Raised where argparse refuses the words.
    """
    every: dict[Any, Any] = specs.fields
    declared: dict[Spec, Declaration] = {each.spec: each for each in every.values()}
    try:
        taken = take(list(declared), said, abbreviated)
    except NotFollowed:
        return None
    values: dict[str, Object] = {}
    for use in taken.uses:
        place = use.spec.destination
        values[place] = _value(machine, declared[use.spec], use, values.get(place, MISSING), node, frame)
    return values, taken.rest


def _value(machine: Machine, declared: Declaration, use: Use, former: Object, node: Any, frame: Frame) -> Object:
    match use.spec.action:
        case "store_true":
            return _flag(machine, use, True, frame)
        case "store_false":
            return _flag(machine, use, False, frame)
        case action if action == _EITHER:
            return _flag(machine, use, not use.name.startswith("--no-"), frame)
        case "store_const":
            return declared.const
        case "store":
            made = [_converted(machine, declared.type, each, node, frame) for each in use.words]
            if use.spec.number in (None, "?"):
                return made[0] if made else declared.const
            return ListObject(made, machine.tick())
        case "append" | "extend" if use.spec.action == "extend" or use.spec.number is None:
            made = [_converted(machine, declared.type, each, node, frame) for each in use.words]
            before = former.items if isinstance(former, ListObject) and former.items is not None else []
            return ListObject([*before, *made], machine.tick())
    return machine.unknown(use.name)


def _flag(machine: Machine, use: Use, value: bool, frame: Frame) -> Object:
    return value if use.flag is None else word(machine, use.flag, frame, value)


def _converted(machine: Machine, kind: Object, said: GivenWord, node: Any, frame: Frame) -> Object:
    """Convert a word with the option's type."""
    plain = word(machine, said, frame)
    if kind is None or said.known is None or getattr(kind, "name", "") == "builtins.str":
        return plain
    try:
        made = machine.settle(invoke(machine, kind, Call([said.known], {}, node, frame)))
    except Raised as error:
        if error.name in ("ValueError", "TypeError", "ArgumentTypeError"):
            raise Raised("SystemExit", f"invalid value: {said.known!r}") from None
        raise
    return word(machine, said, frame, made) if isinstance(made, CONSTANTS) and made is not None else made


WITHOUT_VALUE = {"store_true": False, "store_false": True}
NOT_STORED = {"help", "version"}
SUPPRESS = External("argparse.SUPPRESS")


@models("argparse.ArgumentParser")
def _parser(machine: Machine, call: Call) -> Object:
    defaults, specs = DictObject({}, machine.tick()), DictObject({}, machine.tick())
    _inherit(machine, defaults, specs, call.keywords)
    if call.keywords.keys() & {"**", "argument_default"}:
        machine.record(defaults, HAZY, True)
    if call.keywords.keys() & {"**", "prefix_chars", "fromfile_prefix_chars"}:
        machine.record(specs, HAZY, True)
    return _adding_to(machine, defaults, specs, abbreviated=call.keywords.get("allow_abbrev") is not False)


def _inherit(machine: Machine, defaults: DictObject, specs: DictObject, keywords: dict[str, Object]) -> None:
    """Copy the options of a parser's `parents`, which several commands may share."""
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
    """Make a parser, or a group of one: it puts its options into `defaults` and their declarations into `specs`.

    Other methods of the parser are unknown. The options of a `command`, one of several, exist only where that command
    is given. With `one_of`, one of the group's options must be given: it is not known which.
    """

    def group(machine: Machine, call: Call) -> Object:
        return _adding_to(machine, defaults, specs, command, call.keywords.get("required", False) is not False)

    def commands(machine: Machine, call: Call) -> Object:
        destination = call.keywords.get("dest")
        if isinstance(destination, str):
            machine.put(defaults, destination, Option(machine.tick(), "a command"))
        # Which attributes there are depends on the command.
        machine.record(defaults, HAZY, True)
        machine.record(specs, HAZY, True)
        made = machine.unknown("commands", not_none=True)
        made.fields["add_parser"] = Native("argparse.add_parser", add_parser)
        return made

    def add_parser(machine: Machine, call: Call) -> Object:
        _inherit(machine, defaults, specs, call.keywords)
        return _adding_to(machine, defaults, specs, True)

    def add(machine: Machine, call: Call) -> Object:
        names, options, node, frame = call.arguments, call.keywords, call.node, call.frame
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

    def set_defaults(machine: Machine, call: Call) -> Object:
        for name, value in call.keywords.items():
            if command:
                value = machine.unknown(name)
            former = defaults.fields.get(name)
            if isinstance(former, Option) and isinstance(value, CONSTANTS):
                value = said_in(machine, Option(machine.tick(), former.text, value), name, call.node, call.frame)
            machine.put(defaults, name, value)
        return None

    def parse(machine: Machine, call: Call) -> Object:
        return parse_known(machine, call)[0]

    def parse_known(machine: Machine, call: Call) -> tuple[Unknown, ListObject]:
        given = call.arguments
        said = words_given(machine, given)
        if said is None:
            rest: Any = None if given and given[0] is not None else []
            return _namespace(machine, defaults, given), ListObject(rest, machine.tick())
        # (What a module holds is for every start of the program.)
        unclear = specs.writes.get(HAZY) or machine.module_level
        found = None if unclear else from_words(machine, specs, said, abbreviated, call.node, call.frame)
        if found is None:
            return machine.unknown("args", not_none=True), ListObject(None, machine.tick())
        values, over = found
        made = _namespace(machine, defaults, [])
        made.fields.update(values)
        return made, words(machine, over, call.frame)

    made = machine.unknown("parser", not_none=True)
    methods: dict[str, Model] = {
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
    """Return the attribute that argparse stores an option under (CPython's `_get_optional_kwargs`)."""
    if isinstance(options.get("dest"), str):
        return str(options["dest"])
    known = [name for name in names if isinstance(name, str)]
    if not known or len(known) < len(names):
        return None
    long = next((name for name in known if name.startswith("--")), known[0])
    return long.lstrip("-").replace("-", "_") if long.startswith("-") else long


def _option(machine: Machine, names: list[Object], options: dict[str, Object]) -> Object:
    """Return an option's value: an Option knows its name, and the evaluator treats it like its default."""
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
    """Make an option know where its default is written: the argument of this name, or the whole call.

    With `first`, the first positional argument can give it as well.
    """
    if isinstance(option, Option) and isinstance(node, ast.Call):
        whole = node.args[0] if first and node.args else node
        argument = next((each for each in node.keywords if each.arg == keyword), whole)
        machine.looks = LOOKS
        text = Text(argument, frame)
        option.said = place(text) if argument is node else behind(machine, text)[-1]
    return option


def _shared(machine: Machine, former: Object, option: Object) -> Object:
    """Join several options for one attribute: the first gives the default (CPython's `parse_known_args`)."""
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
