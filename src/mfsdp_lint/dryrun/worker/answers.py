"""Questions on standard input, one line of JSON each, and as many answers: how a process that validates is talked to.

Importing takes seconds, validating a millisecond; so one process answers every question. All workers spell exceptions,
and set the environment variables of settings, as here.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

Answer = dict[str, Any]


def serve(prepare: Callable[[], Answer], validate: Callable[[Mapping[str, Any]], Answer]) -> None:
    """Send the result of `prepare`, then answer until standard input closes.

    Whatever upstream prints goes to standard error.
    """
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    with redirect_stdout(sys.stderr):
        _say(answers, {"ready": True, **prepare()})
        for line in sys.stdin:
            _say(answers, validate(json.loads(line)))


def _say(stream: Any, answer: Answer) -> None:
    stream.write(json.dumps(answer, default=str) + "\n")
    stream.flush()


@contextmanager
def environment(settings: Mapping[str, Any], world_size: int) -> Iterator[None]:
    """Set the environment variables of the settings, and the number of ranks, for a block."""
    with restored_environment():
        apply_variables(settings, os.environ)
        os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(world_size)}
        yield


@contextmanager
def restored_environment() -> Iterator[dict[str, str]]:
    """Give the environment as it is before a block; after the block, it is so again."""
    before = dict(os.environ)
    try:
        yield before
    finally:
        os.environ.clear()
        os.environ.update(before)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values that differ after from before, each with both."""
    return {name: [before[name], value] for name, value in after.items() if name in before and before[name] != value}


_FRAMES = 6
_LONGEST = 4000


def failure(error: BaseException) -> dict[str, Any]:
    """Describe an error: its type, its text, and the places on its way, the last one last.

    An assertion without a text is known by its source line, which replaces the text.
    """
    frames = traceback.extract_tb(error.__traceback__)
    text = str(error).strip()
    if not text and frames and isinstance(error, AssertionError):
        text = (frames[-1].line or "").strip()
    return {
        "type": type(error).__name__,
        "text": text[:_LONGEST],
        "where": [f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames[-_FRAMES:]],
    }


def _short(path: str) -> str:
    """Shorten a path to the part below the folder that packages are installed in."""
    _, found, rest = path.rpartition(f"site-packages{os.sep}")
    return rest if found else path


_PREFIX = "env."


def apply_variables(settings: Mapping[str, Any], environment: MutableMapping[str, str]) -> None:
    """Set and unset (None) the variables of the settings in an environment."""
    for path, value in settings.items():
        if not path.startswith(_PREFIX):
            continue
        name = path[len(_PREFIX) :]
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = str(value)
