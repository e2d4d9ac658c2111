"""Faults put into the linter's own functions: each fails wherever it works on one file of a run, and only there.

A function works on a file if one of its arguments is the file's path, or an object that belongs to the file, or a
collection that holds such an object; a function without such arguments works on the file that its nearest caller with
such arguments works on. What tells the fault itself is left to work.
"""

from __future__ import annotations

import builtins
import gc
import io
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from types import CodeType, FrameType, FunctionType
from typing import Any

import mfsdp_lint
from mfsdp_lint.cli import main
from mfsdp_lint.commands import check
from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.engine.judge import Linter
from mfsdp_lint.inputs import faults
from mfsdp_lint.inputs.sources import Problem
from tests.inputs.test_notebooks import notebook

PYTHON = dedent("""\
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

    TYPES = {"format": "torch_dist"}


    def on(cfg, fsdp: bool = True):
        cfg.dist.use_megatron_fsdp = fsdp
        return cfg


    def recipe(precision: str = "bf16", fsdp: bool = True):
        cfg = on(llama3_8b_pretrain_config(), fsdp)
        if precision == "bf16":
            cfg.checkpoint.ckpt_format = TYPES["format"]
        return cfg


    def lost(cfg_of):
        cfg = cfg_of()
        cfg.ddp.use_megatron_fsdp = True  # mfsdp: ignore[MFSDP101] nothing is here
        return cfg
""")
FILES: Mapping[str, str] = {
    "py": PYTHON,
    "yaml": "dist:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist  # mfsdp: ignore[MFSDP3] why\n",
    "sh": "export CUDA_DEVICE_MAX_CONNECTIONS=1\nif [ -n \"$A\" ]; then B=1; fi\n"
    "torchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format torch_dist --save /x --tensor-model-parallel-size 1\n",
    "ipynb": notebook(PYTHON, "cfg = recipe()\n"),
}  # fmt: skip
NAMES = tuple(f"{name}.{kind}" for name in ("bad", "good") for kind in FILES)
HELD = ("path", "span", "recipe", "finding", "entry", "module", "hit", "comment", "origin")
PACKAGE = os.path.dirname(mfsdp_lint.__file__)
COMMAND = ("--no-cache", "--target-bridge", "0.3.1", "--output-format", "concise", "--show-unfollowed", ".")


class Injected(Exception):
    """A mistake of ours."""


@dataclass
class Told:
    """The output of a run, and its exit code."""

    code: int
    lines: tuple[str, ...]
    errors: str

    def about(self, name: str) -> list[str]:
        return [line for line in self.lines if line.startswith(f"{name}:")]


def write_files() -> None:
    for name in NAMES:
        Path(name).write_text(FILES[name.partition(".")[2]], encoding="utf-8")


def run() -> Told:
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        code = main(list(COMMAND))
    return Told(code, tuple(out.getvalue().splitlines()), errors.getvalue())


def functions() -> list[FunctionType]:
    """The package's functions that a run calls from the moment when it begins to read until the report is told.

    Those that calls make (`<locals>`) are left out: of one name there are as many as modules are loaded, rules read, …
    """
    begun, called = False, dict[int, CodeType]()  # by identity: functions of two modules may have equal code

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal begun
        begun = begun or frame.f_code is Linter.__call__.__code__
        if begun and event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            called[id(frame.f_code)] = frame.f_code

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        gc.unfreeze()  # what the command froze is not listed
    own = (faults.__file__, check.__file__)
    found = [
        each
        for each in gc.get_objects()
        if type(each) is FunctionType
        and id(each.__code__) in called
        and each.__code__.co_filename not in own
        and "<locals>" not in each.__qualname__
        and not hasattr(each, "__wrapped__")  # has the name of another
    ]
    return sorted({name_of(each): each for each in found}.values(), key=name_of)


def name_of(function: FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"


@dataclass
class Injection:
    """Functions that fail where they work on a file, or only note that they would: `reached` are their names."""

    bad: str
    fails: bool
    begun: bool = False
    reached: set[str] = field(default_factory=set)
    originals: dict[str, FunctionType] = field(default_factory=dict)

    def __call__(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        frame = sys._getframe(2)
        if (
            self.begun
            and (self.fails or name not in self.reached)
            and self._works_on_it((*arguments, *named.values()), frame)
        ):
            self.reached.add(name)
            if self.fails:
                raise Injected(name)
        return self.originals[name](*arguments, **named)

    def _works_on_it(self, values: tuple[Any, ...], caller: FrameType | None) -> bool:
        files = files_of_arguments(values)
        callers = list(_callers(caller)) if self.bad in files else []
        if not files:
            for frame in _callers(caller):
                callers.append(frame)
                count = frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount
                files = files_of_arguments([frame.f_locals.get(each) for each in frame.f_code.co_varnames[:count]])
                if files:
                    break
            if files != {self.bad}:
                return False
            callers += _callers(callers[-1].f_back)
        return self.bad in files and not any(
            tells_a_fault(each) for frame in callers for each in frame.f_locals.values()
        )


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            yield frame
        frame = frame.f_back


def tells_a_fault(value: object) -> bool:
    if isinstance(value, Problem):
        return value.kind == "internal"
    return isinstance(value, Finding) and value.code == "MFSDP905"


def files_of_arguments(values: Sequence[object]) -> set[str]:
    """The files that a call works on: those of its single objects, else those of the collections that it is given."""
    single = [each for each in values if not isinstance(each, (tuple, list, set, frozenset, dict))]
    return files_of(single) or files_of(values)


def files_of(value: object, depth: int = 3) -> set[str]:
    """The files of the run that a value belongs to."""
    if isinstance(value, str):
        name = os.path.basename(value)
        return {name} if name in NAMES and value in (name, os.path.abspath(name)) else set()
    if tells_a_fault(value) or (isinstance(value, Span) and value.column == value.end_column) or depth == 0:
        return set()
    if isinstance(value, (tuple, list, set, frozenset, dict)):
        return set().union(*(files_of(each, depth - 1) for each in list(value)[:50]))
    cls = type(value)
    if cls.__module__.startswith("mfsdp_lint") and not hasattr(cls, "__getattr__"):
        # (What a property works out is not held.)
        held = [getattr(value, name, None) for name in HELD if not isinstance(getattr(cls, name, None), property)]
        return set().union(*(files_of(each, depth - 1) for each in held if not isinstance(each, (list, dict))))
    return set()


@contextmanager
def injected(injection: Injection, chosen: list[FunctionType]) -> Iterator[None]:
    """Has functions go through an injection: their code is exchanged, so that everybody who knows them is concerned."""
    builtins._injection = injection  # type: ignore[attr-defined]
    begin = Linter.__call__
    kept = [(each, each.__code__, each.__defaults__, each.__kwdefaults__) for each in chosen]

    def begins(*arguments: Any, **named: Any) -> Any:
        injection.begun = True
        return begin(*arguments, **named)

    for each, code, defaults, keyword_defaults in kept:
        name = name_of(each)
        same = FunctionType(code, each.__globals__, each.__name__, defaults, each.__closure__)
        same.__kwdefaults__ = keyword_defaults
        injection.originals[name] = same
        each.__code__ = _going_through(name, code.co_freevars)
        each.__defaults__ = each.__kwdefaults__ = None
    Linter.__call__ = begins  # type: ignore[method-assign]
    try:
        yield
    finally:
        Linter.__call__ = begin  # type: ignore[method-assign]
        for each, code, defaults, keyword_defaults in kept:
            each.__code__, each.__defaults__, each.__kwdefaults__ = code, defaults, keyword_defaults
        del builtins._injection  # type: ignore[attr-defined]


def _going_through(name: str, free: tuple[str, ...]) -> CodeType:
    """The code of a function that hands on whatever it is given, and closes over the same names."""
    text = f"def outer({', '.join(free)}):\n def inner(*arguments, **named):\n"
    text += f"  if False: {', '.join(free)}\n" if free else ""
    text += f"  return _injection({name!r}, arguments, named)\n return inner\n"
    made: dict[str, Any] = {}
    exec(text, made)
    code: CodeType = made["outer"](*free).__code__
    return code


def reaching(bad: str, every: list[FunctionType]) -> list[FunctionType]:
    """The functions that work on a file."""
    noting = Injection(bad, fails=False)
    with injected(noting, every):
        run()
    return [each for each in every if name_of(each) in noting.reached]


def wrong_with(function: FunctionType, bad: str, usual: Told) -> str | None:
    """Return the loss by a function's fault; empty where it is told at its file, and all others are judged as usual.

    None where the function does not work on the file.
    """
    injection = Injection(bad, fails=True)
    with injected(injection, [function]):
        told = run()
    if not injection.reached:
        return None
    if told.code != 1 or "internal error" in told.errors.replace("MFSDP905", ""):
        return f"exit code {told.code}: {told.errors.strip()[-300:]}"
    for name in NAMES:
        if name != bad and told.about(name) != usual.about(name):
            return f"{name}: {json.dumps(told.about(name))} instead of {json.dumps(usual.about(name))}"
    if not any(" MFSDP905 " in line for line in told.about(bad)):
        return "nobody is told of the fault"
    return ""
