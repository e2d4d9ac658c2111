"""Models of asyncio: a coroutine runs at once and to its end."""

from __future__ import annotations

from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.generators import Coroutine
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.values.frames import Call
from mfsdp_lint.readers.python.values.objects import ListObject, Native, Object, Unknown


@models("asyncio.run", "anyio.run", "trio.run", "uvloop.run")
def _run(machine: Machine, call: Call) -> Object:
    first = call.arguments[0] if call.arguments else call.keywords.get("main")
    if isinstance(first, Coroutine):
        return first.result()
    return unfollowed(machine, "asyncio.run", call)


@models("asyncio.wait_for", "asyncio.shield", "asyncio.create_task", "asyncio.ensure_future")
def _same(machine: Machine, call: Call) -> Object:
    """Return the coroutine that the call is given, with its result: a task runs at once, awaited or not."""
    first = call.arguments[0] if call.arguments else None
    if isinstance(first, Coroutine):
        first.result()
        return first
    return unfollowed(machine, "asyncio.wait_for", call)


@models("asyncio.gather")
def _gather(machine: Machine, call: Call) -> Object:
    awaited = [each for each in call.arguments if isinstance(each, Coroutine)]
    if len(awaited) < len(call.arguments):
        return unfollowed(machine, "asyncio.gather", call)
    return Coroutine(machine, lambda: ListObject([each.result() for each in awaited], machine.tick()))


@models("asyncio.sleep")
def _sleep(machine: Machine, call: Call) -> Object:
    return Coroutine(machine, lambda: call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("result"))


@models("asyncio.to_thread")
def _to_thread(machine: Machine, call: Call) -> Object:
    return Coroutine(
        machine, lambda: invoke(machine, call.arguments[0], call.passing(call.arguments[1:], call.keywords))
    )


@models("asyncio.get_event_loop", "asyncio.new_event_loop", "asyncio.get_running_loop")
def _loop(machine: Machine, call: Call) -> Object:
    loop: Unknown = machine.unknown("loop", not_none=True)
    loop.fields["run_until_complete"] = Native("loop.run_until_complete", _run)
    loop.fields["create_task"] = Native("loop.create_task", _same)
    return loop
