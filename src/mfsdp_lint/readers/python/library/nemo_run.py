"""Models of nemo_run: tasks that hold a function and its arguments, and the calls that run them.

A task's arguments are its attributes until it runs (`task.config.ddp.use_megatron_fsdp = True`). The place where it
runs does not matter here: it runs at once.
"""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.configurations import configures_run, held_by, task
from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.eval.launching import launch
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.objects import Function, Native, Object, Unknown


@models("nemo_run.Partial", "nemo_run.Config")
def _task(machine: Machine, call: Call) -> Object:
    if not call.arguments or "**" in call.keywords:
        return unfollowed(machine, "nemo_run.Partial", call)
    makes = getattr(getattr(call.node, "func", None), "attr", "") == "Config"
    return task(machine, (*call.arguments, makes), call.keywords, call.node, call.frame)


def _built(machine: Machine, value: Object, node: Any, frame: Frame) -> Object:
    """Build the object that a `Config` describes; return anything else as it is."""
    if isinstance(value, Unknown) and (held := held_by(value)) and held[-1]:
        return _done(machine, value, node, frame)
    return value


def _done(machine: Machine, held: Unknown, node: Any, frame: Frame) -> Object:
    function, *given, _ = held_by(held)
    keywords = {name: value for name, value in held.fields.items() if isinstance(name, str)}
    given = [_built(machine, value, node, frame) for value in given]
    keywords = {name: _built(machine, value, node, frame) for name, value in keywords.items()}
    return invoke(machine, function, Call(given, keywords, node, frame))


@models("nemo_run.run", "nemo_run.build")
def _run(machine: Machine, call: Call) -> Object:
    given = call.arguments[0] if call.arguments else call.keywords.get("fn_or_script")
    if configures_run(given):
        return launch(machine, "nemo_run.run", call.passing([given]))
    if isinstance(given, Unknown) and held_by(given):
        return _done(machine, given, call.node, call.frame)
    return unfollowed(machine, "nemo_run.run", call)


@models("nemo_run.autoconvert")
def _autoconvert(machine: Machine, call: Call) -> Object:
    def convert(machine: Machine, call: Call) -> Object:
        function = call.arguments[0]
        if isinstance(function, Function):
            machine.converted.add((function.module, function.name))
        return function

    decorator = Native(f"{MODELLED}nemo_run.autoconvert", convert)
    return convert(machine, call) if call.arguments else decorator


@models("nemo.lightning.Trainer.fit")
def _fit(machine: Machine, call: Call) -> Object:
    trainer, *given = call.arguments
    handed = dict(zip(("model", "data"), given, strict=False)) | call.keywords | {"trainer": trainer}
    return launch(machine, "Trainer.fit", call.passing([task(machine, (None, False), handed, call.node, call.frame)]))


@models("nemo_run.Experiment")
def _experiment(machine: Machine, call: Call) -> Object:
    made: Unknown = machine.unknown("experiment", not_none=True)

    def add(machine: Machine, call: Call) -> Object:
        tasks = getattr(call.arguments[0], "items", None) if call.arguments else None
        for each in tasks or call.arguments[:1]:
            _run(machine, call.passing([each]))
        return machine.unknown("added", not_none=True)

    nothing = Native("Experiment.run", lambda machine, call: None)
    made.fields.update({"add": Native("Experiment.add", add), "run": nothing})
    made.fields["__enter__"] = Native("Experiment.__enter__", lambda machine, call: made)
    return made
