"""Keys of tables that whoever starts the program gives as they are: an argument, an option, a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mfsdp_lint.core.values import Scalar
from mfsdp_lint.megatron.vocabulary import NAMES
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.markers import ACCEPTS
from mfsdp_lint.readers.python.values.objects import Choice, DictObject, Instance, Object, Option, PickedBy, Unknown


class GivenAs(NamedTuple):
    """The way in which a key is given: as an argument (its name), an option (its text) or a word (its number)."""

    name: str | int
    is_argument: bool


class Keys(NamedTuple):
    """The text of a key in the program, and what it may be given of the keys that the table has."""

    text: str
    values: tuple[Scalar, ...]


def keys_of(interp: Interpreter, root: Object, arguments: Sequence[Unknown]) -> Iterator[tuple[GivenAs, Keys]]:
    """Yield the keys by which settings of a configuration are chosen, where the program gets them as they are given.

    `arguments` are the unknown ones that its function is called with.
    """
    for by in _rows_of(interp, root):
        given = _given(interp, by.key, arguments)
        if given is None:
            continue
        values = tuple([each for each in by.values if isinstance(each, Scalar) and _takes(by.key, given, each)])
        # (Whoever calls a function may give it a key of any kind.)
        if values and (len(values) == len(by.values) or not given.is_argument):
            yield given, Keys(by.text, values)


def _rows_of(interp: Interpreter, root: Object) -> Iterator[PickedBy]:
    """Yield what chooses the settings that matter and come from a row."""
    root = interp.settle(root)
    sections = (interp.settle(each) for each in root.fields.values()) if isinstance(root, Instance) else ()
    for owner in (root, *sections):
        for name, value in owner.fields.items() if isinstance(owner, (Instance, DictObject)) else ():
            if type(value) is Choice and value.is_selection and name in NAMES:
                by = value.picked_by(*value.options)
                if by is not None:
                    yield by


def _given(interp: Interpreter, key: Unknown, arguments: Sequence[Unknown]) -> GivenAs | None:
    if any(key is each for each in arguments):
        return GivenAs(key.text, True)
    if type(key) is Option:
        return GivenAs(key.text, False) if ACCEPTS in key.fields else None
    return next((GivenAs(number, False) for number, word in interp.words.items() if word is key), None)


def _takes(key: Unknown, given: GivenAs, value: Scalar) -> bool:
    """Tell whether a key may be given a value: an argument anything, a word of the command line a text."""
    if type(key) is Option and not given.is_argument:
        kind, choices = key.fields[ACCEPTS]
        return type(value) is kind and (choices is None or value in choices)
    return given.is_argument or type(value) is str
