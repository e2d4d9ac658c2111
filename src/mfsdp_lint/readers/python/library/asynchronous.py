"""Models of asyncio: a coroutine runs at once and to its end."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.calling import call
from mfsdp_lint.readers.python.state.generators import Coroutine
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import ListObject, Native, Object, Unknown


@models("asyncio.run", "anyio.run", "trio.run", "uvloop.run")
def _run(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    first = arguments[0] if arguments else keywords.get("main")
    if isinstance(first, Coroutine):
        return first.result()
    return unfollowed(machine, "asyncio.run", arguments, keywords, node, frame)


@models("asyncio.wait_for", "asyncio.shield", "asyncio.create_task", "asyncio.ensure_future")
def _same(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    """Return the coroutine that the call is given, with its result: a task runs at once, awaited or not."""
    first = arguments[0] if arguments else None
    if isinstance(first, Coroutine):
        first.result()
        return first
    return unfollowed(machine, "asyncio.wait_for", arguments, keywords, node, frame)


@models("asyncio.gather")
def _gather(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    awaited = [each for each in arguments if isinstance(each, Coroutine)]
    if len(awaited) < len(arguments):
        return unfollowed(machine, "asyncio.gather", arguments, keywords, node, frame)
    return Coroutine(machine, lambda: ListObject([each.result() for each in awaited], machine.tick()))


@models("asyncio.sleep")
def _sleep(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    return Coroutine(machine, lambda: arguments[1] if len(arguments) > 1 else keywords.get("result"))


@models("asyncio.to_thread")
def _to_thread(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    return Coroutine(machine, lambda: call(machine, arguments[0], arguments[1:], keywords, node, frame))


@models("asyncio.get_event_loop", "asyncio.new_event_loop", "asyncio.get_running_loop")
def _loop(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    loop: Unknown = machine.unknown("loop", not_none=True)
    loop.fields["run_until_complete"] = Native("loop.run_until_complete", _run)
    loop.fields["create_task"] = Native("loop.create_task", _same)
    return loop
