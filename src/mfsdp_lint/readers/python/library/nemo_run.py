"""Models of nemo_run: tasks that hold a function and its arguments, and the calls that run them.

A task's arguments are its attributes until it runs (`task.config.ddp.use_megatron_fsdp = True`). The place where it
runs does not matter here: it runs at once.
"""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.eval.launching import launch
from mfsdp_lint.readers.python.eval.nemo import configures_run, held_by, task
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.calling import call
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import Function, Native, Object, Unknown


@models("nemo_run.Partial", "nemo_run.Config")
def _task(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    if not arguments or "**" in keywords:
        return unfollowed(machine, "nemo_run.Partial", arguments, keywords, node, frame)
    makes = getattr(getattr(node, "func", None), "attr", "") == "Config"
    return task(machine, (*arguments, makes), keywords, node, frame)


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
    return call(machine, function, given, keywords, node, frame)


@models("nemo_run.run", "nemo_run.build")
def _run(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    given = arguments[0] if arguments else keywords.get("fn_or_script")
    if configures_run(given):
        return launch(machine, "nemo_run.run", [given], {}, node, frame)
    if isinstance(given, Unknown) and held_by(given):
        return _done(machine, given, node, frame)
    return unfollowed(machine, "nemo_run.run", arguments, keywords, node, frame)


@models("nemo_run.autoconvert")
def _autoconvert(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    def convert(machine: Machine, given: list[Object], _: Any, node: Any, frame: Frame) -> Object:
        function = given[0]
        if isinstance(function, Function):
            machine.converted.add((function.module, function.name))
        return function

    decorator = Native(f"{MODELLED}nemo_run.autoconvert", convert)
    return convert(machine, arguments, {}, node, frame) if arguments else decorator


@models("nemo.lightning.Trainer.fit")
def _fit(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    trainer, *given = arguments
    handed = dict(zip(("model", "data"), given, strict=False)) | keywords | {"trainer": trainer}
    return launch(machine, "Trainer.fit", [task(machine, (None, False), handed, node, frame)], {}, node, frame)


@models("nemo_run.Experiment")
def _experiment(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    made: Unknown = machine.unknown("experiment", not_none=True)

    def add(machine: Machine, given: list[Object], options: dict[str, Object], node: Any, frame: Frame) -> Object:
        tasks = getattr(given[0], "items", None) if given else None
        for each in tasks or given[:1]:
            _run(machine, [each], {}, node, frame)
        return machine.unknown("added", not_none=True)

    nothing = Native("Experiment.run", lambda *_: None)
    made.fields.update({"add": Native("Experiment.add", add), "run": nothing})
    made.fields["__enter__"] = Native("Experiment.__enter__", lambda *_: made)
    return made
