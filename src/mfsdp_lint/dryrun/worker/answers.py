"""Questions on standard input, one line of JSON each, and as many answers: how a process that validates is talked to.

Importing takes seconds, validating a millisecond; so one process answers every question.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

from . import variables

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
    before = dict(os.environ)
    variables.apply(settings, os.environ)
    os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(world_size)}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values that differ after from before, each with both."""
    return {name: [before[name], value] for name, value in after.items() if name in before and before[name] != value}
