"""A program that is started with words and variables that are known, in the evaluator's terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mfsdp_lint.core.recipe import Setting
from mfsdp_lint.core.values import Known
from mfsdp_lint.readers.given_words import HOLE, Given, GivenWord
from mfsdp_lint.readers.python.values.code import Call, Frame
from mfsdp_lint.readers.python.values.markers import WORD
from mfsdp_lint.readers.python.values.objects import DictObject, ListObject, Native, Object, Option, Unknown, Write

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.state.calling import Model
    from mfsdp_lint.readers.python.state.interpreter import Interpreter


def environment(given: Given | None, outside: Sequence[Setting], tick: Callable[[], int]) -> DictObject:
    """Return the known variables that a program is started with: those from `outside`, where nobody is known to start
    it.
    """
    found = DictObject({}, tick())
    if given is not None and given.ranks is not None:
        found.fields["WORLD_SIZE"] = str(given.ranks)
    for setting in outside if given is None else given.environment:
        name = setting.path.partition(".")[2]
        value: Object = Unknown(tick(), f"${name}", True)
        if isinstance(setting.value, Known):
            value = None if setting.value.value is None else str(setting.value.value)
        found.fields[name] = value
        found.writes[name] = Write(None, setting.origin, None, "", "environment", value, tick(), None)  # type: ignore[arg-type]  # of data it is the origin, and no node
    return found


def word(interp: Interpreter, said: GivenWord, frame: Frame, value: Object = None) -> Unknown:
    """Return a program's value for a word: its text, or the `value` made of it; it knows where the word is written."""
    known = said.known
    if known is None:
        made = interp.unknown(said.text.replace(HOLE, "…"), not_none=True)
        made.obstacle = None if said.origin.obstacle is None else (frame.module, said.origin, frame.function)
        made.fields["startswith"] = Native("str.startswith", _startswith(said.text.partition(HOLE)[0]))
    else:
        place = (frame.module, said.origin, frame.function)
        made = Option(interp.tick(), said.origin.option, known if value is None else value, True, place)
    made.fields[WORD] = said
    return made


def _startswith(start: str) -> Model:
    """Return `startswith` of a text that begins with `start`, and goes on in a way that is not known."""

    def answer(interp: Interpreter, call: Call) -> Object:
        wanted = interp.settle(call.arguments[0]) if len(call.arguments) == 1 else None
        if isinstance(wanted, str) and (len(wanted) <= len(start) or not wanted.startswith(start)):
            return start.startswith(wanted)
        return interp.unknown("startswith()", not_none=True)

    return answer


def holds(value: Object, part: Object) -> bool:
    """Tell whether a partly known text surely contains this part."""
    said = word_of(value)
    return said is not None and isinstance(part, str) and any(part in known for known in said.text.split(HOLE))


def words(interp: Interpreter, said: Sequence[GivenWord], frame: Frame) -> ListObject:
    """Return a list of words; a list of unknown elements where one of them may be several."""
    if any(each.several for each in said):
        return ListObject(None, interp.tick())
    return ListObject([word(interp, each, frame) for each in said if not each.nothing], interp.tick())


def argv(interp: Interpreter, frame: Frame) -> ListObject | None:
    """Return `sys.argv` of a program that is started with known words; None where it is not, or they are not known."""
    given = interp.started_with()
    if given is None or any(each.several for each in given):
        return None
    return ListObject([interp.unknown("sys.argv[0]", not_none=True), *words(interp, given, frame).items], interp.tick())


def word_of(value: Object) -> GivenWord | None:
    """Return the word that a value is, where the program was started with it; None for other values."""
    found = value.fields.get(WORD) if isinstance(value, Unknown) else None
    return found if isinstance(found, GivenWord) else None
