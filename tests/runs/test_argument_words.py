"""Words go to options as CPython's own argparse gives them."""

from __future__ import annotations

import argparse
import random
from contextlib import suppress

import pytest

from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.readers.given_words import GivenWord
from mfsdp_lint.readers.python.library.command_line import NotFollowed, Spec, take
from mfsdp_lint.readers.python.state.paths import Raised

HERE = Origin(Span("launch.sh", 1, 1, 1, 1), "assigned")
OPTIONS = (
    Spec(("--tp", "-t"), "tp"),
    Spec(("--fsdp",), "fsdp", 0, "store_true"),
    Spec(("--files",), "files", "*"),
    Spec(("--maybe",), "maybe", "?"),
    Spec(("--two",), "two", 2),
    Spec(("--config-file",), "config_file"),
)
WORDS = (
    *("--tp", "-t", "--tp=4", "-t4", "--fsdp", "--files", "--maybe", "--maybe=", "--two", "--config-file", "--conf=x"),
    *("--conf", "--unknown", "-u", "--unknown=1", "4", "-1", "a.b=1", "~a.b", "x y", "-x y", "", "-", "--"),
)


def by_argparse(words: list[str], arguments: tuple[Spec, ...] = ()) -> object:
    """What argparse makes of them; None where it refuses."""
    parser = argparse.ArgumentParser(exit_on_error=False, add_help=False)
    for spec in arguments:
        parser.add_argument(spec.destination, nargs=spec.number)
    for spec in OPTIONS:
        how = {"action": "store_true"} if spec.action == "store_true" else {"nargs": spec.number}
        parser.add_argument(*spec.names, dest=spec.destination, **how)
    try:
        values, rest = parser.parse_known_args(words)
    except (argparse.ArgumentError, SystemExit):
        return None
    return {name: value for name, value in vars(values).items() if value not in (None, False, [])}, rest


def by_us(words: list[str], arguments: tuple[Spec, ...] = ()) -> object:
    """The same by what the evaluator takes."""
    try:
        taken = take((*OPTIONS, *arguments), [GivenWord(word, HERE) for word in words])
    except Raised:
        return None
    values: dict[str, object] = {}
    for use in taken.uses:
        texts = [word.text for word in use.words]
        one = texts[0] if texts else None
        values[use.spec.destination] = (
            True if use.spec.number == 0 else one if use.spec.number in (None, "?") else texts
        )
    return {name: value for name, value in values.items() if value not in (None, [])}, [
        word.text for word in taken.rest
    ]


@pytest.mark.parametrize("seed", range(20))
def test_words_are_taken_as_argparse_takes_them(seed: int) -> None:
    pick = random.Random(seed)
    for _ in range(150):
        words = [pick.choice(WORDS) for _ in range(pick.randint(0, 7))]
        assert by_us(words) == by_argparse(words), words


@pytest.mark.parametrize(
    "arguments",
    [
        (Spec((), "rest", "*"),),
        (Spec((), "one"),),
        (Spec((), "one"), Spec((), "rest", "*")),
        (Spec((), "perhaps", "?"),),
        (Spec((), "rest", "..."),),
    ],
)
def test_positional_arguments_are_taken_likewise_or_not_at_all(arguments: tuple[Spec, ...]) -> None:
    pick, told = random.Random(1), 0
    for _ in range(1_000):
        words = [pick.choice(WORDS) for _ in range(pick.randint(0, 7))]
        expected = by_argparse(words, arguments)
        with suppress(NotFollowed):
            if expected is not None:
                assert by_us(words, arguments) == expected, words
                told += 1
    assert told > 200
