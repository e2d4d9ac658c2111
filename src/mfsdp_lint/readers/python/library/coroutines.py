"""Coroutines of asyncio: each runs at once and to its end."""

from __future__ import annotations

from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.calling import Coroutine, invoke, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import ListObject, Native, Object, Unknown


@models("asyncio.run", "anyio.run", "trio.run", "uvloop.run")
def _run_coroutine(interp: Interpreter, call: Call) -> Object:
    first = call.argument(0, "main")
    if isinstance(first, Coroutine):
        return first.result()
    return unfollowed(interp, "asyncio.run", call)


@models("asyncio.wait_for", "asyncio.shield", "asyncio.create_task", "asyncio.ensure_future")
def _same(interp: Interpreter, call: Call) -> Object:
    """Return the coroutine that the call is given, with its result: a task runs at once, awaited or not."""
    first = call.argument(0)
    if isinstance(first, Coroutine):
        first.result()
        return first
    return unfollowed(interp, "asyncio.wait_for", call)


@models("asyncio.gather")
def _gather(interp: Interpreter, call: Call) -> Object:
    awaited = [each for each in call.arguments if isinstance(each, Coroutine)]
    if len(awaited) < len(call.arguments):
        return unfollowed(interp, "asyncio.gather", call)
    return Coroutine(interp, lambda: ListObject([each.result() for each in awaited], interp.tick()))


models("asyncio.sleep")(lambda interp, call: Coroutine(interp, lambda: call.argument(1, "result")))
models("asyncio.to_thread")(
    lambda interp, call: Coroutine(
        interp, lambda: invoke(interp, call.arguments[0], call.passing(call.arguments[1:], call.keywords))
    )
)


@models("asyncio.get_event_loop", "asyncio.new_event_loop", "asyncio.get_running_loop")
def _loop(interp: Interpreter, call: Call) -> Object:
    loop: Unknown = interp.unknown("loop", not_none=True)
    loop.fields["run_until_complete"] = Native("loop.run_until_complete", _run_coroutine)
    loop.fields["create_task"] = Native("loop.create_task", _same)
    return loop
