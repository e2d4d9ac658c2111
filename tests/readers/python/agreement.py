"""Does what the evaluator says of a program agree with what the program does?"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import os
import sys
import types
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.recipe import Recipe, Variant
from mfsdp_lint.sources import Sources
from mfsdp_lint.values import Known, NotNone, OneOf, Value
from tests.readers.python.programs import VALUES, Program

PATH = "recipes/sample.py"
FOLDER = "/somewhere/else"
SYMBOL = "<CWD>"
LONGEST_RUN = 50_000
"""Lines that a program may run."""
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
    answers = {key: _choice(kind, turn, index) for index, (key, kind) in enumerate(program.probed.items())}
    arguments = {name: _choice(kind, turn, index + 1) for index, (name, kind) in enumerate(program.unknown.items())}
    outside: Any = types.ModuleType("outside_world")
    outside.probe = lambda key: _copied(answers[key])
    outside.shake = lambda subject: _shaken(subject, turn)
    variables = {"NCCL_A": "set"} if turn % 2 and not program.decided else {}
    with (
        mock.patch.dict(sys.modules, {"outside_world": outside, "sample": types.ModuleType("sample")}),
        mock.patch.dict(os.environ, variables, clear=True),
        mock.patch.object(os, "getcwd", return_value=FOLDER),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        names: dict[str, Any] = {"__name__": "sample"}
        before = sys.gettrace()
        sys.settrace(_patience())
        try:
            exec(compile(program.text, PATH, "exec"), names)
            return _facts(names["recipe"](**arguments))
        except Exception:
            return None
        finally:
            sys.settrace(before)


def _patience() -> Any:
    """A trace function that ends a program which runs on and on (a list that grows while it is walked)."""
    lines = itertools.count()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        if next(lines) > LONGEST_RUN:
            raise TimeoutError
        return trace

    return trace


def _choice(kind: str, turn: int, index: int) -> Any:
    values = VALUES[kind]
    return _copied(values[(turn * (index + 1) + index * (turn > 1)) % len(values)])


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


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
