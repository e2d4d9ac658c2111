"""Rows of tables by a key that is not known, as in `SIZES[args.size]`: a configuration is looked at with each of them.

A setting is one of several values there, of which no rule could speak; yet whoever writes such a table means every row.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from mfsdp_lint.megatron.vocabulary import NAMES
from mfsdp_lint.readers.python.eval.operators import contains, equal
from mfsdp_lint.readers.python.export.origins import plain_value
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Facts
from mfsdp_lint.readers.python.state.truth import narrow
from mfsdp_lint.readers.python.values.markers import ABOUT, CHOICES, QUESTION
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    Frame,
    Instance,
    Module,
    Object,
    PickedBy,
    Unknown,
)

MOST_WAYS = 16
"""Ways in which one configuration is looked at. The rows of a table that would make more stay one of several."""

Way = tuple[tuple[str, ...], Facts]
"""Conditions that are taken as given, in words, and the facts with them."""


def ways(interp: Interpreter, root: Object) -> Sequence[Way]:
    """Return the ways in which a configuration is looked at: one, or one for each key of tables that its settings are
    from, where keys have different values for those that matter.
    """
    found: Sequence[Way] = [((), interp.path.facts)]
    if not interp.tells_rows:
        return found
    taken = list(_taken(interp, root))
    for key in dict.fromkeys(by.key for by, _ in taken):
        of_key = [(by, value) for by, value in taken if by.key is key]
        more = [
            ((*words, *said), facts) for words, known in found for said, facts in _with_each_key(interp, of_key, known)
        ]
        found = more if len(more) <= MOST_WAYS else found
    return found


def _taken(interp: Interpreter, root: Object) -> Iterator[tuple[PickedBy, Choice]]:
    """Yield the settings that matter and come from a row, each with the key by which it is chosen."""
    root = interp.settle(root)
    sections = (interp.settle(each) for each in root.fields.values()) if isinstance(root, Instance) else ()
    for owner in (root, *sections):
        for name, value in owner.fields.items() if isinstance(owner, (Instance, DictObject)) else ():
            if type(value) is Choice and value.is_selection and name in NAMES:
                by = value.picked_by(*value.options)
                if by is not None and interp.settle(by.key) is by.key:
                    yield by, value


def _with_each_key(interp: Interpreter, taken: Sequence[tuple[PickedBy, Choice]], facts: Facts) -> Iterator[Way]:
    """Yield the facts with each of the keys that give different values; keys that are alike go together."""
    key, text, every = taken[0][0]
    alike: dict[str, list[tuple[Object, Facts]]] = {}
    choices = key.fields.get(CHOICES, every)
    possible = {each: _may_be(interp, key, each, facts) for each in every if each in choices}
    for each in () if None in possible.values() else possible:
        if possible[each] and all(each in by.values for by, _ in taken):
            with interp.knowing(facts.copy()) as here:
                interp.learn("is", key, each)
                said = repr([plain_value(interp, value) for _, value in taken])
            alike.setdefault(said, []).append((each, here))
    for rows in alike.values():
        here = rows[0][1]
        if len(rows) > 1:
            with interp.knowing(here):
                values = [interp.settle(value) for _, value in taken]
            with interp.knowing(facts.copy()) as here:
                for (_, choice), value in zip(taken, values, strict=True):
                    narrow(interp, choice, [value])
        yield ((PickedBy(key, text, tuple(each for each, _ in rows)).words,) if len(alike) > 1 else ()), here
    if not alike:
        yield (), facts


def _may_be(interp: Interpreter, key: Unknown, value: Object, facts: Facts) -> bool | None:
    """Tell whether a key may have a value, by what was decided on the path; None where something else was decided,
    which may follow from the key.
    """
    asked = {id(found): question for question, found in key.fields.items() if isinstance(found, Unknown)}
    for (kind, number), decided in facts.fields.items():
        question, subject = asked.get(number), facts.kept[number]
        if kind == "is" and type(subject) is Choice:
            by = subject.picked_by(*(decided.options if type(decided) is Choice else (decided,)))
            if by is None or (by.key is key and value not in by.values):
                return None if by is None else False
        if kind != "truth":
            continue
        if not isinstance(question, tuple) or question[0] is not QUESTION or not isinstance(subject, Unknown):
            return None
        about = subject.fields.get(ABOUT, MISSING)
        answer = None
        if question[1] in ("Eq", "Is"):
            answer = equal(interp, value, about)
        elif question[1] == "In":
            answer = contains(interp, about, value, Frame(Module("", "", ast.Module([], []))))
        if answer is not decided:
            return None if answer is None else False
    return True
