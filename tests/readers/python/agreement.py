"""Does what the evaluator says of a program agree with what the program does?"""

from __future__ import annotations

import copy
import dataclasses
import enum
import itertools
import os
import sys
import types
import warnings
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.values import Known, NotNone, OneOf, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python
from tests.readers.python.expressions import CONTAINER, SECTIONS
from tests.readers.python.programs import VALUES, Program

PATH = "recipes/sample.py"
FOLDER = "/somewhere/else"
SYMBOL = "<CWD>"
MOST_CALLS = 20_000
"""Calls that a program may make."""
RUNS = 4
"""How often a program with unknowns is run, each time with other values for them."""

Facts = Mapping[str, Any]
"""The settings that a run ended with."""


@dataclass
class Verdict:
    """What comparing one program showed."""

    compared: int = 0
    decided: int = 0
    runs: int = 0
    lost: bool = False
    disagreements: list[str] = field(default_factory=list)


def examine(program: Program) -> Verdict:
    """Run a program for a few values of its unknowns, evaluate it, and compare."""
    recipe = evaluate(program.text)
    verdict = Verdict()
    for turn in range(RUNS if not program.decided else 1):
        facts = execute(program, turn)
        if facts is None:
            continue
        verdict.runs += 1
        verdict.lost |= recipe is None
        verdict.compared += sum(counts(path, fact) for path, fact in facts.items())
        if recipe is not None:
            _compare(recipe, facts, f"run {turn}", verdict)
    return verdict


def evaluate(text: str) -> Recipe | None:
    """What the tool says of the function `recipe`; None where it says nothing."""
    read = read_python([PATH], Sources({PATH: text}))
    return next((recipe for recipe in read.recipes if recipe.name == "recipe"), None)


def snapshot(recipe: Recipe | None) -> Any:
    """All that a recipe says, to be compared with what it says another time."""
    if recipe is None:
        return None
    return [
        (variant.when, [(path, variant.value(path), _line(variant.origin(path))) for path in variant.settings])
        for variant in recipe.variants
    ]


def _line(origin: Any) -> int | None:
    return None if origin is None else origin.span.line


# -- the real run ---------------------------------------------------------------------------------------------------


def execute(program: Program, turn: int) -> Facts | None:
    """The settings that Python arrives at; None where the program raises."""
    names: dict[str, Any] = {"__name__": "sample"}
    unknown = [*program.unknown.items(), *program.probed.items()]
    places = {key: index for index, (key, _) in enumerate(unknown)}

    def made(key: str) -> Any:
        return _made(names, {**program.unknown, **program.probed}[key], turn, places[key])

    outside: Any = types.ModuleType("outside_world")
    outside.probe = made
    outside.perhaps = lambda function: function() if turn % 2 else None
    outside.chosen = lambda subjects: subjects[turn % 2]
    outside.shake = lambda subject: _shaken(subject, turn)
    variables = {"NCCL_A": "set"} if turn % 2 and not program.decided and not program.asks_environment else {}
    with (
        mock.patch.dict(sys.modules, {"outside_world": outside, "sample": types.ModuleType("sample")}),
        mock.patch.dict(os.environ, variables, clear=True),
        mock.patch.object(os, "getcwd", return_value=FOLDER),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        before = sys.gettrace()
        sys.settrace(_patience())
        try:
            exec(compile(program.text, PATH, "exec"), names)
            arguments = {name: made(name) for name in program.unknown}
            result = names["recipe"](**arguments)
            # A recipe that returns nothing is there to change what it was given.
            return _facts(arguments["cfg"] if result is None and "cfg" in arguments else result)
        except (Exception, _TooLong):
            return None
        finally:
            sys.settrace(before)


class _TooLong(BaseException):
    """A program makes more calls than it may (one that handles every `Exception` does not handle this)."""


def _patience() -> Any:
    """A trace function that ends a program which takes long: all of them end, but calls in loops in calls add up."""
    calls = itertools.count()

    def trace(frame: Any, event: str, argument: Any) -> None:
        if next(calls) > MOST_CALLS:
            raise _TooLong

    return trace


def _made(names: Mapping[str, Any], kind: str, turn: int, place: int) -> Any:
    """What an unknown of a type is in a run: something else in each run, and new each time that it is asked for."""
    value = VALUES[kind][zlib.crc32(f"{turn}/{place}".encode()) % len(VALUES[kind])]
    if kind == "kind":
        return names["Kind"][value]
    if isinstance(value, str) and (value in SECTIONS or value == "ConfigContainer"):
        return _configured(names, value, turn, place)
    return copy.copy(value)


def _configured(names: Mapping[str, Any], cls: str, turn: int, place: int) -> Any:
    """An object of a configuration class, as somebody else may have made it: none of the program's code is run."""
    made = object.__new__(names[cls])
    kinds = CONTAINER if cls == "ConfigContainer" else SECTIONS[cls]
    for position, (name, kind) in enumerate(kinds.items(), 7 * place):
        value = _configured(names, kind, turn, position) if kind in SECTIONS else _made(names, kind, turn, position)
        vars(made)[name] = value
    return made


def _shaken(subject: Any, turn: int) -> None:
    for position, (name, value) in enumerate(list(vars(subject).items())):
        if isinstance(value, (bool, int, str)) and position % 2 == turn % 2:
            object.__setattr__(subject, name, type(value)(3) if not isinstance(value, str) else "shaken")
        elif isinstance(value, list):
            value.append(99)


def _facts(config: Any) -> Facts:
    found = dict(_flat(config, "", 0))
    found.update({f"env.{name}": plain(value) for name, value in os.environ.items()})
    for name in ("NCCL_A", "NCCL_B", "CUDA_DEVICE_MAX_CONNECTIONS"):
        found.setdefault(f"env.{name}", None)
    return found


def _flat(owner: Any, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    made_up = [name for name in ("double", "label", "phantom", "limit") if depth and _has(owner, name)]
    for name in dict.fromkeys([*vars(owner), *made_up]):
        value = getattr(owner, name)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            if depth < 3:
                yield from _flat(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", plain(value)


def _has(owner: Any, name: str) -> bool:
    try:
        return hasattr(owner, name)
    except Exception:
        return False


def plain(value: Any) -> Any:
    """A value of the real run in the recipe's form."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, str):
        return value.replace(FOLDER, SYMBOL)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value), key=repr)
    if isinstance(value, dict):
        return {plain(str(key)): plain(item) for key, item in value.items()}
    return value


# -- comparing ------------------------------------------------------------------------------------------------------


def _compare(recipe: Recipe, facts: Facts, run: str, verdict: Verdict) -> None:
    wrong = [_wrong(variant, facts) for variant in recipe.variants]
    if all(wrong):
        verdict.disagreements.append(f"{run}: no variant agrees; nearest: {min(wrong, key=len)[:4]}")
    verdict.disagreements.extend(
        f"{run}: {path} is {fact!r}, not {recipe.setting(path).value} over all variants"
        for path, fact in facts.items()
        if not agrees(recipe.setting(path).value, fact)
    )
    fitting = recipe.variants[wrong.index(min(wrong, key=len))]
    verdict.decided += sum(
        isinstance(fitting.value(path), (Known, OneOf)) for path, fact in facts.items() if counts(path, fact)
    )


def _wrong(variant: Variant, facts: Facts) -> list[str]:
    return [
        f"{path} is {fact!r}, not {variant.value(path)}"
        for path, fact in facts.items()
        if not agrees(variant.value(path), fact)
    ]


def counts(path: str, fact: Any) -> bool:
    """Whether a setting is one that the program decides: a variable that it leaves unset is the machine's business."""
    return fact is not None or not path.startswith("env.")


def agrees(claim: Value, fact: Any) -> bool:
    """Whether what is claimed of a setting holds for the value that it really has."""
    match claim:
        case Known(value):
            return identical(value, fact)
        case OneOf(values):
            return any(identical(value, fact) for value in values)
        case NotNone():
            return fact is not None
        case _:
            return True


def identical(left: Any, right: Any) -> bool:
    """Equal, and of the same types all through (True is not 1, 1 is not 1.0)."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(identical, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(identical(left[key], right[key]) for key in left)
    return bool(left == right)
