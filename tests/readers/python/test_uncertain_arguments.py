"""Keyword arguments of which it is not known whether they are given."""

# ruff: noqa: E501 (a program a line)

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.values import Known
from tests.readers.python.upstream_recipes import BASE, values


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def raised(text: str, capsys: pytest.CaptureFixture[str]) -> bool:
    Path("a.py").write_text(BASE + text, encoding="utf-8")
    main(["check", "a.py", "--target-bridge", "0.6.0", "--output-format", "concise", "--no-cache"])
    return "MFSDP904" in capsys.readouterr().out


TOP = "import functools, inspect\nfrom outside import good, clean\nKW = {'bogus': 3}\n"
FILTERED = {
    "by the signature": "base(**{k: v for k, v in KW.items() if k in inspect.signature(base).parameters})",
    "by what is not known": "base(**{k: v for k, v in KW.items() if good(k)})",
    "merged": "base(**{**{k: v for k, v in KW.items() if good(k)}})",
    "by an operator": "base(**({k: v for k, v in KW.items() if good(k)} | {}))",
    "copied": "base(**{k: v for k, v in KW.items() if good(k)}.copy())",
    "by a list of names": "base(**{k: 1 for k in [k for k in KW if good(k)]})",
    "by the names of the code": "base(**{k: v for k, v in KW.items() if k in base.__code__.co_varnames})",
    "by the argument names": "base(**{k: v for k, v in KW.items() if k in inspect.getfullargspec(base).args})",
    "held by a partial": "functools.partial(base, **{k: v for k, v in KW.items() if good(k)})()",
}


@pytest.mark.parametrize("made", FILTERED.values(), ids=FILTERED.keys())
def test_an_argument_that_may_be_missing_is_not_refused(made: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not raised(f"{TOP}\ndef recipe():\n    return {made}\n", capsys)


def test_an_entry_may_be_gone_after_code_out_of_sight(capsys: pytest.CaptureFixture[str]) -> None:
    assert not raised(f"{TOP}\ndef recipe():\n    kw = {{'bogus': 3}}\n    clean(kw)\n    return base(**kw)\n", capsys)


def test_an_argument_that_is_certainly_given_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert raised(f"{TOP}\ndef recipe():\n    return base(**{{**KW}})\n", capsys)


MAKE = "import json, functools\ndef make(iters, name):\n    cfg = base()\n    cfg.train.train_iters = iters\n    return cfg\n"
GIVEN = {
    "handed on": "def recipe(**user_kwargs):\n    return make(**user_kwargs)",
    "merged": "def recipe(**user_kwargs):\n    return make(**{'iters': 4, **user_kwargs})",
    "through another function": "def middle(**kw):\n    return make(**kw)\ndef recipe(**user_kwargs):\n    return middle(iters=3, **user_kwargs)",
    "held by a partial": "def recipe(**user_kwargs):\n    return functools.partial(make, **user_kwargs)()",
    "of a dictionary that may be left out": "def recipe(user_kwargs=None):\n    return make(**(user_kwargs or {}))",
}


@pytest.mark.parametrize("text", GIVEN.values(), ids=GIVEN.keys())
def test_what_a_caller_has_to_give_is_not_lacking(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not raised(MAKE + text, capsys)


def test_what_a_caller_has_to_give_is_unknown_and_the_rest_is_known() -> None:
    assert values(MAKE + GIVEN["merged"], "train.train_iters") == {Known(4)}
    assert Known(4) not in values(MAKE + GIVEN["handed on"], "train.train_iters")
    assert values(MAKE + GIVEN["handed on"], "ddp.use_megatron_fsdp") == {Known(False)}


def test_an_argument_that_nobody_can_give_is_lacking(capsys: pytest.CaptureFixture[str]) -> None:
    assert raised(f"{MAKE}def recipe(**user_kwargs):\n    return make(iters=3)\n", capsys)
    assert raised(f"{MAKE}def recipe():\n    return make(**{{'iters': 3}})\n", capsys)


SIGNATURES = {
    "an upstream function": ("list(inspect.signature(base).parameters) == []", True),
    "a function": ("list(inspect.signature(make).parameters) == ['iters', 'name']", True),
    "a default": ("inspect.signature(lambda a=3: a).parameters['a'].default == 3", True),
    "no default": ("inspect.signature(make).parameters['name'].default is inspect.Parameter.empty", True),
    "a dataclass": ("'save' in inspect.signature(CheckpointConfig).parameters", True),
    "no field of a dataclass": ("'bogus' in inspect.signature(CheckpointConfig).parameters", False),
    "argument names": ("inspect.getfullargspec(make).args == ['iters', 'name']", True),
}


@pytest.mark.parametrize(("question", "answer"), SIGNATURES.values(), ids=SIGNATURES.keys())
def test_signatures_are_known(question: str, answer: bool) -> None:
    text = f"import inspect\nfrom megatron.bridge.training.config import CheckpointConfig\n{MAKE}"
    text += f"def recipe():\n    cfg = base()\n    cfg.train.train_iters = 1 if {question} else 2\n    return cfg\n"
    assert values(text, "train.train_iters") == {Known(1 if answer else 2)}
