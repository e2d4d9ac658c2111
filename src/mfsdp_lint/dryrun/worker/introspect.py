"""Answers, one line of JSON for each on standard input, what upstream's start-up validation says of settings.

Importing takes seconds, validating a millisecond; so one process answers every question.
"""

import copy
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

from . import stubs
from .build import CannotBuild, build
from .failure import failure
from .pretend import pretend

ENVIRONMENT = "env."


def main(arguments: Sequence[str]) -> None:
    """Reads questions until standard input closes. Whatever upstream prints goes to standard error.

    `arguments`: the version of Transformer Engine to pretend where there is none.
    """
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    with redirect_stdout(sys.stderr):
        _answer(answers, {"ready": True, **_prepare(arguments[0])})
        for line in sys.stdin:
            _answer(answers, validate(json.loads(line)))


def _answer(stream: Any, answer: Mapping[str, Any]) -> None:
    stream.write(json.dumps(answer, default=str) + "\n")
    stream.flush()


def _prepare(transformer_engine: str) -> dict[str, Any]:
    """Imports everything, and says what is stood in for and pretended, or why nothing can be asked."""
    try:
        stood_in = stubs.import_upstream()
        import megatron.bridge.training.config  # noqa: F401

        pretended = pretend(transformer_engine)
    except Exception as error:
        return {"error": failure(error), "stood_in": [], "pretended": []}
    return {"error": None, "stood_in": list(stood_in), "pretended": pretended}


def validate(question: Mapping[str, Any]) -> dict[str, Any]:
    """One question: `settings`, and `world_size` for how many ranks."""
    settings = question["settings"]
    answer: dict[str, Any] = {"id": question["id"], "stage": "build", "error": None}
    with _environment(settings, question["world_size"]):
        try:
            built = build(settings)
            answer |= {"stage": "startup", "no_field": built.no_field, "left_out": built.left_out}
            before = answer["config"] = _plain(built.config)
            _validate(built.config)
            answer["config"] = {}
            answer["changed"] = _changes(before, _plain(built.config))
        except CannotBuild as error:
            answer["error"] = {"type": "CannotBuild", "text": str(error), "where": []}
        except Exception as error:
            answer["error"] = failure(error)
    return answer


def _validate(config: Any) -> None:
    import torch
    from megatron.bridge.training.config import runtime_config_update

    try:
        runtime_config_update(config)
    finally:
        torch.use_deterministic_algorithms(False)  # which validation may switch on for the whole process


@contextmanager
def _environment(settings: Mapping[str, Any], world_size: int) -> Iterator[None]:
    """The environment variables that the settings speak of, and the number of ranks."""
    before = dict(os.environ)
    for path, value in settings.items():
        if path.startswith(ENVIRONMENT):
            name = path[len(ENVIRONMENT) :]
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = str(value)
    os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(world_size)}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


_SCALARS = (bool, int, float, str, type(None))


def _plain(config: Any) -> dict[str, Any]:
    """The settings of a configuration that are plain values."""
    found = {}
    for section, part in vars(config).items():
        for name, value in getattr(part, "__dict__", {}).items():
            if isinstance(value, _SCALARS) and not name.startswith("_"):
                found[f"{section}.{name}"] = copy.copy(value)
    return found


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {path: [before[path], value] for path, value in after.items() if path in before and before[path] != value}
