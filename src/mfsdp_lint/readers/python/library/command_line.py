"""argparse: a script's options as they are when it is started without any, or with the words that it is given.

A value that comes from an option is the option's default; the command line may change it, which the value knows
(objects.Option). Where the command line is known, the value knows the word that says it. Words are assigned to options
as `_parse_known_args` of CPython 3.12 does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.given_words import HOLE, GivenWord
from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.state.calling import Model, invoke, models
from mfsdp_lint.readers.python.state.deciding import part
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.texts import LOOKS, Text, behind, handed_on, place
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.state.variables import own_argv, word, word_of, words
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import ACCEPTS, MAY_HAVE_CHANGED, OPTIONS, SPECS, WHOLE
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    ClassObject,
    DictObject,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Native,
    Object,
    Option,
    Partial,
    PathObject,
    Unknown,
    is_symbolic,
)

Number = int | str | None
"""How many words an option takes: so many, "?", "*", "+", "..." (all that follow), or None: one."""

_NEGATIVE = lazy_pattern(r"-\d+$|-\d*\.\d+$")


class NotFollowed(Exception):
    """A command line whose words cannot be assigned to options with certainty."""


@dataclass(frozen=True, slots=True)
class Spec:
    """An option, or a positional argument (without names): where it goes and how many words it takes.

    One that takes none may still have a value behind a `=` in its own word.
    """

    names: tuple[str, ...]
    destination: str
    number: Number = None
    action: str = "store"


@dataclass(frozen=True, slots=True)
class Use:
    """An option as it is given, by which name, with its words. `flag` is the word that names it."""

    spec: Spec
    name: str
    words: tuple[GivenWord, ...]
    flag: GivenWord | None = None


@dataclass(slots=True)
class Taken:
    """The uses that were read from the words, in their order, and the words that nothing takes."""

    uses: list[Use] = field(default_factory=list)
    rest: list[GivenWord] = field(default_factory=list)


def take(specs: Sequence[Spec], words: Sequence[GivenWord], abbreviated: bool = True) -> Taken:
    """Give each word to an option or argument. Raises NotFollowed, and Raised where argparse refuses them."""
    return _Taking(specs, words, abbreviated).all()


class _Taking:
    def __init__(self, specs: Sequence[Spec], words: Sequence[GivenWord], abbreviated: bool) -> None:
        self.options: Mapping[str, Spec] = {name: spec for spec in specs for name in spec.names}
        self.positional = [spec for spec in specs if not spec.names]
        self.words = words
        self.abbreviated = abbreviated
        self.taken = Taken()
        self.at = 0
        self.began = False

    def all(self) -> Taken:
        if self.positional and any(word.text == "--" for word in self.words):
            raise NotFollowed  # releases of Python differ in who has the dashes
        while self.at < len(self.words):
            word = self.words[self.at]
            if word.nothing:
                self.at += 1
                continue
            found = None if self._is_argument(self.at) else self._named(word)
            if found is not None:
                self.at += 1
                self._option(*found, word)
            elif self._is_argument(self.at):
                self._arguments()
            else:
                self.at += 1
                self.taken.rest.append(word)
        return self.taken

    def _is_argument(self, at: int) -> bool:
        """Tell whether a word is no option, known or not (`_parse_optional`)."""
        text = self.words[at].text
        if any(word.text == "--" for word in self.words[:at]) or not text.startswith("-") or text == "-":
            return True
        if text == "--" or self._named(self.words[at]) is not None:
            return False
        numbers = _NEGATIVE.match(text) and not any(_NEGATIVE.match(name) for name in self.options)
        return bool(numbers) or " " in text

    def _named(self, word: GivenWord) -> tuple[Spec, str, GivenWord | None] | None:
        """Return the option that a word names, and the value within the word."""
        name, equals, _ = word.text.partition("=")
        if HOLE in name:
            raise NotFollowed
        if word.text in self.options:
            return self.options[word.text], word.text, None
        value = _cut(word, len(name) + 1) if equals else None
        if name in self.options:
            return self.options[name], name, value
        if name.startswith("--"):
            meant = [each for each in self.options if self.abbreviated and each.startswith(name) and name != "--"]
            if len({id(self.options[each]) for each in meant}) > 1:
                raise Raised("SystemExit", f"ambiguous option: {name}")
            return (self.options[meant[0]], meant[0], value) if meant else None
        short = word.text[:2]
        return (self.options[short], short, _cut(word, 2)) if short in self.options and len(word.text) > 2 else None

    def _option(self, spec: Spec, name: str, value: GivenWord | None, flag: GivenWord) -> None:
        if value is not None:
            self.taken.uses.append(Use(spec, name, (value,), flag))
            return
        found = list(self._following(spec.number))
        if (spec.number in (None, "+") and not found) or (isinstance(spec.number, int) and len(found) < spec.number):
            raise Raised("SystemExit", f"argument {name}: expected an argument")
        self.taken.uses.append(Use(spec, name, tuple(found), flag))

    def _following(self, number: Number) -> Iterator[GivenWord]:
        most = 1 if number in (None, "?") else number if isinstance(number, int) else len(self.words)
        for _ in range(most):
            if self.at >= len(self.words) or (number != "..." and not self._is_value(self.at)):
                return
            word = self.words[self.at]
            if number in (None, "?") or isinstance(number, int) or not word.nothing:
                self._is_one(word, number)
                yield word
            self.at += 1

    def _is_one(self, word: GivenWord, number: Number) -> None:
        """Check that a word that may be several fills a single place. Raises NotFollowed where it does not."""
        if word.several and number is not None:
            raise NotFollowed

    def _is_value(self, at: int) -> bool:
        return self.words[at].text != "--" and self._is_argument(at)

    def _arguments(self) -> None:
        """Give the next words that are no options to the positional arguments, in their order."""
        if self.positional and self.began and self.positional[0].number in ("*", "?", "..."):
            raise NotFollowed  # releases of Python differ in whether the words before were all that it takes
        self.began = True
        while self.positional and self.at < len(self.words) and self._is_argument(self.at):
            spec = self.positional.pop(0)
            found = tuple(self._following(spec.number))
            self.taken.uses.append(Use(spec, spec.destination, found))
        while self.at < len(self.words) and self._is_argument(self.at):
            word = self.words[self.at]
            self._is_one(word, 0)
            self.taken.rest += [] if word.nothing else [word]
            self.at += 1


def _cut(word: GivenWord, start: int) -> GivenWord:
    """Return the part of a word behind an offset."""
    return replace(word, text=word.text[start:])


_WITHOUT_WORDS = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")
_KNOWN = (*_WITHOUT_WORDS, "store", "append", "extend")
_EITHER = "argparse.BooleanOptionalAction"
_NUMBERS = {"argparse.REMAINDER": "...", "argparse.PARSER": "+"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """An option as `add_argument` declares it: how it takes words, and how it turns them into a value. `act` calls an
    action of the program's own with that value.
    """

    spec: Spec
    type: Object
    const: Object
    act: Callable[[Use, dict[str, Object], Object, Call], None] | None = None


def _number(options: dict[str, Object]) -> Object:
    """Return how many words an option takes, as it says; `argparse.REMAINDER` and the like are texts."""
    number = options.get("nargs")
    return _NUMBERS.get(getattr(number, "name", ""), number)


def declaration(names: list[Object], options: dict[str, Object], destination: str) -> Declaration | None:
    """Return the declaration of an option; None where the evaluator does not follow it."""
    texts = tuple(name for name in names if isinstance(name, str) and name.startswith("-"))
    action = options.get("action", "store")
    action = _EITHER if getattr(action, "name", "") == _EITHER else action
    number = _number(options)
    if "**" in options or action not in (*_KNOWN, _EITHER) or not isinstance(number, (int, str, type(None))):
        return None
    if action == _EITHER:
        texts += tuple(f"--no-{name[2:]}" for name in texts if name.startswith("--"))
    taken: Number = 0 if action in (*_WITHOUT_WORDS, _EITHER) else number
    return Declaration(Spec(texts, destination, taken, str(action)), options.get("type"), options.get("const"))


def from_words(
    interp: Interpreter, specs: DictObject, said: Sequence[Any], abbreviated: bool, call: Call
) -> tuple[dict[str, Object], list[GivenWord]] | None:
    """Return the values of the given options, by their attributes, and the words that no option takes.

    Return None where the words cannot be assigned to options. Raises Raised where argparse refuses the words.
    """
    every: dict[Any, Any] = specs.fields
    declared: dict[Spec, Declaration] = {}
    on_one_side: set[Spec] = set()  # it is not known whether the program declares these
    for entry in every.values():
        options = entry.options if isinstance(entry, Choice) else (entry,)
        found = {option.spec: option for option in options if isinstance(option, Declaration)}
        if any(not isinstance(option, Declaration) and option is not MISSING for option in options):
            return None
        declared |= found
        on_one_side |= found.keys() if isinstance(entry, Choice) else set()
    if any(not spec.names for spec in on_one_side):
        return None
    values: dict[str, Object] = {}
    try:
        taken = take(list(declared), said, abbreviated)
        if any(use.spec in on_one_side for use in taken.uses):
            return None
        for use in taken.uses:
            place, each = use.spec.destination, declared[use.spec]
            made = _value(interp, each, use, values.get(place, MISSING), call)
            if each.act is not None:
                each.act(use, values, made, call)
            else:
                values[place] = made
    except NotFollowed:
        return None
    return values, taken.rest


def _value(interp: Interpreter, declared: Declaration, use: Use, former: Object, call: Call) -> Object:
    match use.spec.action:
        case "store_true":
            return _flag(interp, use, True, call.frame)
        case "store_false":
            return _flag(interp, use, False, call.frame)
        case action if action == _EITHER:
            return _flag(interp, use, not use.name.startswith("--no-"), call.frame)
        case "store_const":
            return declared.const
        case "store":
            made = [_converted(interp, declared.type, each, call) for each in use.words]
            if not made and declared.const is True:
                return _flag(interp, use, True, call.frame)
            if use.spec.number in (None, "?", 0):
                return made[0] if made else declared.const
            return ListObject(made, interp.tick())
        case "append" | "extend" if use.spec.action == "extend" or use.spec.number is None:
            made = [_converted(interp, declared.type, each, call) for each in use.words]
            before = former.items if isinstance(former, ListObject) and former.items is not None else []
            return ListObject([*before, *made], interp.tick())
    return interp.unknown(use.name)


def _flag(interp: Interpreter, use: Use, value: bool, frame: Frame) -> Object:
    return value if use.flag is None else word(interp, use.flag, frame, value)


def _converted(interp: Interpreter, kind: Object, said: GivenWord, call: Call) -> Object:
    """Convert a word with the option's type."""
    plain = word(interp, said, call.frame)
    if kind is None or said.known is None or getattr(kind, "name", "") == "builtins.str":
        return plain
    try:
        made = interp.settle(invoke(interp, kind, call.passing([said.known])))
    except Raised as error:
        if error.name in ("ValueError", "TypeError", "ArgumentTypeError"):
            raise Raised("SystemExit", f"invalid value: {said.known!r}") from None
        raise
    return word(interp, said, call.frame, made) if isinstance(made, CONSTANTS) and made is not None else made


WITHOUT_VALUE = {"store_true": False, "store_false": True}
NOT_STORED = {"help", "version"}
SUPPRESS = External("argparse.SUPPRESS")


@models("argparse.ArgumentParser")
def _parser(interp: Interpreter, call: Call) -> Object:
    defaults = DictObject({}, interp.tick())
    own = _Own(DictObject({}, interp.tick()), DictObject({}, interp.tick()))
    _inherit(interp, defaults, own.specs, call.keywords)
    _inherit(interp, own.defaults, own.specs, call.keywords)
    if call.keywords.keys() & {"**", "argument_default"}:
        interp.record(defaults, MAY_HAVE_CHANGED, True)
        interp.record(own.defaults, MAY_HAVE_CHANGED, True)
    if call.keywords.keys() & {"**", "prefix_chars", "fromfile_prefix_chars"}:
        interp.record(own.specs, MAY_HAVE_CHANGED, True)
    return _adding_to(interp, defaults, own, abbreviated=call.keywords.get("allow_abbrev") is not False)


def _inherit(interp: Interpreter, defaults: DictObject, specs: DictObject, keywords: dict[str, Object]) -> None:
    """Copy the options of a parser's `parents`, which several commands may share."""
    for parent in getattr(keywords.get("parents"), "items", None) or ():
        theirs = parent.fields.get(OPTIONS) if isinstance(parent, Unknown) else None
        if not isinstance(theirs, DictObject):
            interp.record(defaults, MAY_HAVE_CHANGED, True)
            interp.record(specs, MAY_HAVE_CHANGED, True)
            continue
        for name, spec in parent.fields[SPECS].fields.items():
            interp.put(specs, name, spec)
        for name, option in theirs.fields.items():
            former = defaults.fields.get(name, option)
            same = former is option
            interp.put(defaults, name, option if same else Option(interp.tick(), getattr(option, "text", "")))
        if theirs.writes.get(MAY_HAVE_CHANGED):
            interp.record(defaults, MAY_HAVE_CHANGED, True)


@dataclass(slots=True)
class _Own:
    """The options that a parser has without those of its commands, and its commands by name, where it has some.

    `destination` is where the name of the command that is given goes.
    """

    defaults: DictObject
    specs: DictObject
    commands: DictObject | None = None
    destination: str = ""


def _adding_to(
    interp: Interpreter,
    defaults: DictObject,
    own: _Own,
    command: bool = False,
    one_of: bool = False,
    abbreviated: bool = True,
) -> Unknown:
    """Make a parser, or a group of one: it puts its options into its `own`, and into the `defaults` of all commands.

    Other methods of the parser are unknown. The options of a `command`, one of several, exist only where that command
    is given. With `one_of`, one of the group's options must be given: it is not known which.
    """

    def group(interp: Interpreter, call: Call) -> Object:
        required = call.keywords.get("required", False) is not False
        return _adding_to(interp, defaults, own, command, required)

    def commands(interp: Interpreter, call: Call) -> Object:
        destination = call.keywords.get("dest")
        if isinstance(destination, str):
            interp.put(defaults, destination, Option(interp.tick(), "a command"))
        # Which attributes there are depends on the command.
        interp.record(defaults, MAY_HAVE_CHANGED, True)
        own.commands = DictObject({}, interp.tick())
        own.destination = destination if isinstance(destination, str) else ""
        made = interp.unknown("commands", not_none=True)
        made.fields["add_parser"] = Native("argparse.add_parser", add_parser)
        return made

    def add_parser(interp: Interpreter, call: Call) -> Object:
        its = _Own(DictObject({}, interp.tick()), DictObject({}, interp.tick()))
        _inherit(interp, defaults, its.specs, call.keywords)
        _inherit(interp, its.defaults, its.specs, call.keywords)
        name = interp.settle(call.argument(0, "name"))
        if own.commands is not None and isinstance(name, str) and "aliases" not in call.keywords:
            interp.put(own.commands, name, its)
        elif own.commands is not None:
            interp.record(own.commands, MAY_HAVE_CHANGED, True)
        return _adding_to(interp, defaults, its, True)

    def add(interp: Interpreter, call: Call) -> Object:
        names, options, frame = call.arguments, call.keywords, call.frame
        destination = _destination(names, options)
        own_action = None if destination is None else _own_action(interp, names, options, destination, call)
        if own_action is not None:
            options = {name: value for name, value in own_action.fields.items() if value is not None}
        interp.switches.setdefault(frame.module.path, {})
        if destination is None or "**" in options or options.get("default") == SUPPRESS:
            interp.record(defaults, MAY_HAVE_CHANGED, True)
            interp.record(own.defaults, MAY_HAVE_CHANGED, True)
        declared = None if destination is None else declaration(names, options, destination)
        if declared is None:
            interp.record(own.specs, MAY_HAVE_CHANGED, True)
        else:
            if own_action is not None:
                declared = replace(declared, act=partial(_act, interp, own_action, made, own.defaults))
            interp.put(own.specs, declared.spec.names or destination, declared)
        if destination is not None and options.get("action") not in NOT_STORED:
            former = defaults.fields.get(destination, MISSING)
            option = _option(interp, names, options, call)
            text, is_off = getattr(option, "text", ""), isinstance(option, Option) and option.default is False
            if is_off and interp.switch(frame.module.path, text):
                option = Option(interp.tick(), text, True)
            if one_of:
                option = Option(interp.tick(), text)
            option = said_in(interp, option, "default", call)
            accepts = None if one_of else _accepted(interp, options, frame)
            if isinstance(option, Option) and accepts is not None:
                option.fields[ACCEPTS] = accepts
            for name, value in interp.chosen:
                option = Option(interp.tick(), text, value) if name == text else option
            interp.put(
                own.defaults, destination, _shared(interp, own.defaults.fields.get(destination, MISSING), option)
            )
            if command and former is not MISSING:
                # Which of the two gives the default depends on the command.
                option = former = Option(interp.tick(), text)
            interp.put(defaults, destination, _shared(interp, former, option))
        return interp.unknown("option", not_none=True)

    def set_defaults(interp: Interpreter, call: Call) -> Object:
        for name, value in call.keywords.items():
            interp.put(own.defaults, name, value)
            focus = call.focus.get(name)
            interp.record(defaults, name, interp.note(call.node, call.frame, focus, "argument", value, None))
            if command and isinstance(value, (Function, Partial)):
                # Each command may be the one: what is called is one of their functions.
                others = defaults.fields.get(name, MISSING)
                value = value if others is MISSING else join(interp, [others, value])
            elif command:
                value = interp.unknown(name)
            former = defaults.fields.get(name)
            if isinstance(former, Option) and isinstance(value, CONSTANTS):
                value = said_in(interp, Option(interp.tick(), former.text, value), name, call)
            interp.put(defaults, name, value)
        return None

    def parse(interp: Interpreter, call: Call) -> Object:
        return parse_known(interp, call)[0]

    def parse_known(interp: Interpreter, call: Call) -> tuple[Unknown, ListObject]:
        given = interp.settle(call.argument(0, "args"))
        items = given.items if isinstance(given, ListObject) else None
        said: Sequence[GivenWord | None] | None = None
        if given is None:
            said = words_of_start(interp, call)
        elif items is not None:
            said = [given_word(interp, item, place, call) for place, item in enumerate(items)]
        if not said and interp.started_with() is None and (given is None or items is not None):
            made = _namespace(interp, defaults)
            _keep_from(made, interp.settle(call.argument(1, "namespace")))
            return made, ListObject([], interp.tick())
        # (What a module holds is for every start of the program.)
        found = None
        if said is not None and None not in said and not interp.module_level:
            found = _of_commands(interp, own, [each for each in said if each is not None], abbreviated, call)
        if found is None:
            return interp.unknown("args", not_none=True), ListObject(None, interp.tick())
        values, over = found
        made = _namespace(interp, own.defaults)
        _keep_from(made, interp.settle(call.argument(1, "namespace")))
        made.fields.update(values)
        return made, words(interp, over, call.frame)

    def refuse(interp: Interpreter, call: Call) -> Object:
        said = interp.settle(call.argument(0, "message"))
        raise Raised("SystemExit", said if isinstance(said, str) else "its arguments are refused")

    def leave(interp: Interpreter, call: Call) -> Object:
        raise Raised("SystemExit", "")

    made = interp.unknown("parser", not_none=True)
    methods: dict[str, Model] = {
        "add_argument": add,
        "add_argument_group": group,
        "add_mutually_exclusive_group": group,
        "add_subparsers": commands,
        "set_defaults": set_defaults,
        "parse_args": parse,
        "parse_known_args": parse_known,
        "error": refuse,
        "exit": leave,
    }
    made.fields.update({name: Native(f"argparse.{name}", method) for name, method in methods.items()})
    made.fields[OPTIONS] = defaults
    made.fields[SPECS] = own.specs
    return made


def _own_action(
    interp: Interpreter, names: list[Object], options: dict[str, Object], destination: str, call: Call
) -> Instance | None:
    """Make the action of an option that has one of the program's own; its fields say how the option is declared."""
    cls = interp.settle(options.get("action"))
    if not isinstance(cls, ClassObject) or "**" in options:
        return None
    given = {name: value for name, value in options.items() if name not in ("action", "dest")}
    keywords = {"option_strings": ListObject(list(names), interp.tick()), "dest": destination, **given}
    action = interp.settle(invoke(interp, cls, call.passing([], keywords)))
    return action if isinstance(action, Instance) and action.fields.keys() >= _OF_ACTIONS else None


_OF_ACTIONS = {"option_strings", "dest", "nargs", "const", "default", "type"}


def _act(
    interp: Interpreter,
    action: Instance,
    parser: Object,
    defaults: DictObject,
    use: Use,
    values: dict[str, Object],
    said: Object,
    call: Call,
) -> None:
    """Call an action of the program's own; it adds to the `values` that words have given so far.

    Raises NotFollowed where it is not known which attributes it has set. A constant that it sets is said by the word.
    """
    namespace = _namespace(interp, defaults)
    namespace.fields.update(values)
    before = dict(namespace.fields)
    name = use.name if use.spec.names else None
    invoke(interp, action, call.passing([parser, namespace, said, name]))
    if not before.keys() <= namespace.fields.keys() or namespace.writes.get(MAY_HAVE_CHANGED):
        raise NotFollowed
    by = use.words[-1] if use.words else use.flag
    for attribute, value in namespace.fields.items():
        if value is not before.get(attribute, MISSING):
            says = by is not None and by.known is not None and isinstance(value, CONSTANTS) and value is not None
            values[attribute] = word(interp, by, call.frame, value) if by is not None and says else value


_COMMAND = Spec((), "", "...")
"""The name of a command, with all words behind it."""


def _of_commands(
    interp: Interpreter, own: _Own, said: Sequence[GivenWord], abbreviated: bool, call: Call
) -> tuple[dict[str, Object], list[GivenWord]] | None:
    """Return what `from_words` does, for a parser that may have commands: with the options of the one that is named."""
    if own.specs.writes.get(MAY_HAVE_CHANGED):
        return None
    if own.commands is None:
        return from_words(interp, own.specs, said, abbreviated, call)
    every: dict[Any, Any] = {**own.specs.fields, "": Declaration(_COMMAND, None, None)}
    specs = DictObject(every, interp.tick())
    found = from_words(interp, specs, said, abbreviated, call)
    behind = found[0].pop("", None) if found is not None else None
    named = [word_of(each) for each in getattr(behind, "items", None) or ()]
    if found is None or not named or None in named or own.commands.writes.get(MAY_HAVE_CHANGED):
        return None
    first, *rest = [each for each in named if each is not None]
    its = own.commands.fields.get(first.known)
    if not isinstance(its, _Own):
        return None
    inner = _of_commands(interp, its, rest, abbreviated, call)
    if inner is None:
        return None
    values = {**found[0], **its.defaults.fields, **inner[0]}
    if own.destination:
        values[own.destination] = word(interp, first, call.frame)
    return values, [*found[1], *inner[1]]


def _keep_from(made: Unknown, namespace: Object) -> None:
    """Keep the attributes of a namespace that the words are parsed into: defaults do not replace them."""
    if isinstance(namespace, Instance):
        made.fields.update(namespace.fields)
    elif namespace is not None:
        made.fields.clear()


def words_of_start(interp: Interpreter, call: Call) -> Sequence[GivenWord | None] | None:
    """Return the words that a parser finds by itself: those that the program has put into `sys.argv`, or is started
    with. Return None where nobody gives any, and None for each word that is not known.
    """
    own = own_argv(interp)
    if own is MISSING:
        return interp.started_with()
    if not isinstance(own, ListObject) or own.items is None:
        return [None]
    return [given_word(interp, item, place, call, own) for place, item in enumerate(own.items)][1:]


def given_word(
    interp: Interpreter, item: Object, place: int, call: Call, whole: ListObject | None = None
) -> GivenWord | None:
    """Return a word of a list that a program parses; of a text of its own, the word stands where the text does."""
    known = word_of(item)
    item = interp.settle(item)
    if known is not None or not isinstance(item, str) or is_symbolic(item):
        return known
    node = _argument_text(call) if whole is None else None
    interp.looks = LOOKS
    piece = interp.piece(whole, place)
    found = handed_on(piece) if piece is not None else ()
    found = found or (part(interp, Text(node, call.frame), place) if node is not None else ())
    found = found or (() if node is None else behind(interp, Text(node, call.frame)))
    module, said, _ = found[-1] if found else (call.frame.module, call.node, "")
    if isinstance(said, Origin):
        return GivenWord(item, said)
    span = span_of(interp, module, said)
    return None if span is None else GivenWord(item, Origin(span, "assigned", span))


def span_of(interp: Interpreter, module: Module | None, node: object) -> Span | None:
    """Return the span of a node; None where the text of its module is not at hand."""
    try:
        return Lines(interp.finder.sources.text(module.path)).of_node(module.path, node)  # type: ignore[union-attr, arg-type]
    except (Unreadable, AttributeError):
        return None


def _argument_text(call: Call) -> ast.AST | None:
    """Return the text of the list of words that `parse_args` is given."""
    if not isinstance(call.node, ast.Call):
        return None
    named = next((each.value for each in call.node.keywords if each.arg == "args"), None)
    return named if named is not None or not call.node.args else call.node.args[0]


def _destination(names: list[Object], options: dict[str, Object]) -> str | None:
    """Return the attribute that argparse stores an option under (CPython's `_get_optional_kwargs`)."""
    if isinstance(options.get("dest"), str):
        return str(options["dest"])
    known = [name for name in names if isinstance(name, str)]
    if not known or len(known) < len(names):
        return None
    long = next((name for name in known if name.startswith("--")), known[0])
    return long.lstrip("-").replace("-", "_") if long.startswith("-") else long


def _option(interp: Interpreter, names: list[Object], options: dict[str, Object], call: Call) -> Object:
    """Return an option's value: an Option knows its name, and the evaluator treats it like its default."""
    known = [name for name in names if isinstance(name, str)]
    text = next((name for name in known if name.startswith("--")), known[0] if known else "")
    if "**" in options or options.get("required") is True or options.get("default") == SUPPRESS:
        return Option(interp.tick(), text)
    number = _number(options)
    if text and not text.startswith("-") and (number == "..." or (number == "*" and options.get("default") is None)):
        return ListObject([], interp.tick())  # (CPython's `_get_values`)
    if not text.startswith("-") and number not in ("?", "*"):
        return Option(interp.tick(), text, not_none=True)
    if "default" in options:
        default = options["default"]
        if isinstance(default, str) and options.get("type") is not None:
            default = _default_of_type(interp, options["type"], default, call)
            if isinstance(default, Unknown) and type(default) is not PathObject:
                return Option(interp.tick(), text)
    else:
        action = options.get("action")
        default = WITHOUT_VALUE.get(action) if isinstance(action, str) else None
    # (What can be changed in place is no option's alone.)
    return Option(interp.tick(), text, default) if isinstance(default, CONSTANTS) else default


_ACCEPTED_AS_GIVEN = {"required", "choices", "help", "metavar", "dest", "type"}


def _accepted(
    interp: Interpreter, options: dict[str, Object], frame: Frame
) -> tuple[type, tuple[Object, ...] | None] | None:
    """Return the type of the values that an option takes as they are given, and those that it takes if not any; None
    where it may make something else of them, or has a value where it is not given.
    """
    kind = {"builtins.str": str, "builtins.int": int}.get(getattr(options.get("type"), "name", "builtins.str"))
    choices = iterate(interp, options["choices"], frame) if "choices" in options else None
    if kind is None or not options.keys() <= _ACCEPTED_AS_GIVEN or ("choices" in options and choices is None):
        return None
    return kind, None if choices is None else tuple(choices)


def _default_of_type(interp: Interpreter, kind: Object, default: str, call: Call) -> Object:
    """Convert a default that is text, as `parse_known_args` does; unknown where that fails, or is not followed."""
    try:
        return interp.settle(invoke(interp, kind, call.passing([default])))
    except Raised:
        return interp.unknown("")


def said_in(interp: Interpreter, option: Object, keyword: str, call: Call, first: bool = False) -> Object:
    """Make an option know where its default is written: the argument of this name, or the whole call.

    With `first`, the first positional argument can give it as well.
    """
    if isinstance(option, Option) and isinstance(call.node, ast.Call):
        whole = call.node.args[0] if first and call.node.args else call.node
        argument = next((each for each in call.node.keywords if each.arg == keyword), whole)
        interp.looks = LOOKS
        text = Text(argument, call.frame)
        option.said = place(text) if argument is call.node else behind(interp, text)[-1]
    return option


def _shared(interp: Interpreter, former: Object, option: Object) -> Object:
    """Join several options for one attribute: the first gives the default (CPython's `parse_known_args`)."""
    if not isinstance(former, Option) or not isinstance(option, Option):
        return option if former is MISSING else former
    return Option(interp.tick(), f"{former.text}, {option.text}", former.default, former.not_none, former.said)


def _namespace(interp: Interpreter, defaults: DictObject) -> Unknown:
    made = interp.unknown("args", not_none=True)
    made.fields.update(defaults.fields)
    if not defaults.writes.get(MAY_HAVE_CHANGED):
        made.fields[WHOLE] = True
    return made
