"""Calls that run later: coroutines of asyncio, and tasks of nemo_run.

A coroutine runs at once and to its end. A task holds a function and its arguments, which are its attributes until it
runs (`task.config.ddp.use_megatron_fsdp = True`). The place where it runs does not matter here: it runs at once.
"""

from __future__ import annotations

from mfsdp_lint.readers.python.eval.configurations import configures_run, held_by, task
from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.eval.unfollowed import launch, unfollowed
from mfsdp_lint.readers.python.state.calling import Coroutine, invoke, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import Function, ListObject, Native, Object, Unknown


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


@models("nemo_run.Partial", "nemo_run.Config")
def _task(interp: Interpreter, call: Call) -> Object:
    if not call.arguments or "**" in call.keywords:
        return unfollowed(interp, "nemo_run.Partial", call)
    makes = getattr(getattr(call.node, "func", None), "attr", "") == "Config"
    return task(interp, (*call.arguments, makes), call.keywords, call.node, call.frame)


def _built(interp: Interpreter, value: Object, call: Call) -> Object:
    """Build the object that a `Config` describes; return anything else as it is."""
    if isinstance(value, Unknown) and (held := held_by(value)) and held[-1]:
        return _result_of_task(interp, value, call)
    return value


def _result_of_task(interp: Interpreter, held: Unknown, call: Call) -> Object:
    function, *given, _ = held_by(held)
    keywords = {name: value for name, value in held.fields.items() if isinstance(name, str)}
    given = [_built(interp, value, call) for value in given]
    keywords = {name: _built(interp, value, call) for name, value in keywords.items()}
    return invoke(interp, function, call.passing(given, keywords))


@models("nemo_run.run", "nemo_run.build")
def _run_task(interp: Interpreter, call: Call) -> Object:
    given = call.argument(0, "fn_or_script")
    if configures_run(given):
        return launch(interp, "nemo_run.run", call.passing([given]))
    if isinstance(given, Unknown) and held_by(given):
        return _result_of_task(interp, given, call)
    return unfollowed(interp, "nemo_run.run", call)


@models("nemo_run.autoconvert")
def _autoconvert(interp: Interpreter, call: Call) -> Object:
    def convert(interp: Interpreter, call: Call) -> Object:
        function = call.arguments[0]
        if isinstance(function, Function):
            interp.converted.add((function.module, function.name))
        return function

    return convert(interp, call) if call.arguments else Native(f"{MODELLED}nemo_run.autoconvert", convert)


@models("nemo.lightning.Trainer.fit")
def _fit(interp: Interpreter, call: Call) -> Object:
    trainer, *given = call.arguments
    handed = dict(zip(("model", "data"), given, strict=False)) | call.keywords | {"trainer": trainer}
    return launch(interp, "Trainer.fit", call.passing([task(interp, (None, False), handed, call.node, call.frame)]))


@models("nemo_run.Experiment")
def _experiment(interp: Interpreter, call: Call) -> Object:
    made: Unknown = interp.unknown("experiment", not_none=True)

    def add(interp: Interpreter, call: Call) -> Object:
        tasks = getattr(call.arguments[0], "items", None) if call.arguments else None
        for each in tasks or call.arguments[:1]:
            _run_task(interp, call.passing([each]))
        return interp.unknown("added", not_none=True)

    nothing = Native("Experiment.run", lambda interp, call: None)
    made.fields.update({"add": Native("Experiment.add", add), "run": nothing})
    made.fields["__enter__"] = Native("Experiment.__enter__", lambda interp, call: made)
    return made
