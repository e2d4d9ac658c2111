"""The introspect tier: one process that answers what upstream's start-up validation says of settings."""

from __future__ import annotations

import json
import selectors
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from mfsdp_lint.dryrun.containment import Contained
from mfsdp_lint.dryrun.outcome import DONE, Failure, Outcome, PlainSettings, failure_from
from mfsdp_lint.dryrun.plain import Given

_LONGEST_ANSWER = 1 << 24


class NoAnswer(Exception):
    """The process is gone, or was too slow; the message says which."""


class Asked(Protocol):
    """Process that answers for start-up validation. `stood_in` and `pretended` are as those of Validator."""

    @property
    def stood_in(self) -> tuple[str, ...]: ...

    @property
    def pretended(self) -> tuple[str, ...]: ...

    def ask(self, settings: PlainSettings, given: Given) -> Outcome:
        """Ask validation about settings that were once those of `given`. Raises NoAnswer."""


class Validator:
    """Asks the process. `stood_in` are the packages that it does without, `pretended` what it takes to be there."""

    def __init__(self, process: Any, timeout: float, what: str = "megatron-bridge") -> None:
        self._process = process
        self._timeout = timeout
        self._rest = b""
        self._asked = 0
        ready = self._read(timeout, f"importing {what} took more than {timeout:g} s")
        self.stood_in = tuple(ready["stood_in"])
        self.pretended = tuple(ready["pretended"])
        if failure := failure_from(ready["error"]):
            place = f" ({failure.where[-1]})" if failure.where else ""
            raise NoAnswer(f"{what} cannot be imported: {failure.message}{place}")

    def ask(self, settings: PlainSettings, given: Given) -> Outcome:
        """Ask Megatron-Bridge's validation. Raises NoAnswer."""
        return self.answer({"settings": dict(settings)}, given.world_size)

    def answer(self, asked: Mapping[str, Any], world_size: int) -> Outcome:
        """Ask the process, for so many ranks. Raises NoAnswer."""
        started = time.monotonic()
        self._asked += 1
        question = {"id": self._asked, **asked, "world_size": world_size}
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise NoAnswer("the process that validates has ended") from None
        answer = self._read(self._timeout, f"no answer after {self._timeout:g} s")
        failure: Failure | None = failure_from(answer["error"])
        return Outcome(
            stage=answer["stage"] if failure else DONE,
            failure=failure,
            no_field=tuple(answer.get("no_field", ())),
            left_out=tuple(answer.get("left_out", ())),
            changed=answer.get("changed", {}),
            config=answer.get("config", {}),
            seen=answer.get("seen", {}),
            seconds=time.monotonic() - started,
        )

    def _read(self, timeout: float, late: str) -> dict[str, Any]:
        deadline = time.monotonic() + timeout
        while b"\n" not in self._rest:
            with selectors.DefaultSelector() as selector:
                selector.register(self._process.stdout, selectors.EVENT_READ)
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise NoAnswer(late)
            piece = self._process.stdout.read1(65536)
            if not piece or len(self._rest) > _LONGEST_ANSWER:
                raise NoAnswer("the process that validates has ended")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def validator(launch: Contained, transformer_engine: str, timeout: float) -> Iterator[Validator]:
    """Start the process; the first answer takes as long as its imports. Raises NoAnswer.

    Where there is no Transformer Engine, validation is told that there is this version.
    """
    with talking(launch, "introspect", transformer_engine, timeout=timeout) as process:
        yield process


@contextmanager
def talking(
    launch: Contained, module: str, *arguments: str, timeout: float, what: str = "megatron-bridge"
) -> Iterator[Validator]:
    """Start a module of the worker that validates with `what`. Raises NoAnswer."""
    process = launch.start(launch.command(module, *arguments), output=f"{module}.log", talk=True)
    try:
        yield Validator(process, timeout, what)
    finally:
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):  # what was not sent yet is sent now, to nobody
                pipe.close()
        process.kill()
        process.wait()
