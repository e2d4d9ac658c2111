"""What the options of argparse come to where the command line is known."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.given_words import GivenWord
from mfsdp_lint.readers.python.library.argument_words import NotFollowed, Number, Spec, Use, take
from mfsdp_lint.readers.python.state.calling import call
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.state.started import word, word_of
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import CONSTANTS, MISSING, DictObject, ListObject, Object

_WITHOUT_WORDS = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")
_KNOWN = (*_WITHOUT_WORDS, "store", "append", "extend")
_EITHER = "argparse.BooleanOptionalAction"
_NUMBERS = {"argparse.REMAINDER": "...", "argparse.PARSER": "+"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """What `add_argument` says of an option: how it takes words, and what it makes of them."""

    spec: Spec
    type: Object
    const: Object


def declaration(names: list[Object], options: dict[str, Object], destination: str) -> Declaration | None:
    """The declaration of an option; None where it is not followed."""
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
    """The words that a parser reads: those of the command line, or of a list of them. None where they are not known."""
    if not given or given[0] is None:
        return machine.started_with()
    items = given[0].items if isinstance(given[0], ListObject) else None
    found = tuple(map(word_of, items or ()))
    return tuple(each for each in found if each is not None) if items and None not in found else None


def from_words(
    machine: Machine, specs: DictObject, said: tuple[GivenWord, ...], abbreviated: bool, node: Any, frame: Frame
) -> tuple[dict[str, Object], list[GivenWord]] | None:
    """The values of the options that are given, by their attributes, and the words that no option takes.

    None where that cannot be told. Raises Raised where argparse refuses the words.
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
    """A word as the option's type makes it."""
    plain = word(machine, said, frame)
    if kind is None or said.known is None or getattr(kind, "name", "") == "builtins.str":
        return plain
    try:
        made = machine.settle(call(machine, kind, [said.known], {}, node, frame))
    except Raised as error:
        if error.name in ("ValueError", "TypeError", "ArgumentTypeError"):
            raise Raised("SystemExit", f"invalid value: {said.known!r}") from None
        raise
    return word(machine, said, frame, made) if isinstance(made, CONSTANTS) and made is not None else made
