"""Tasks and scripts of nemo_run, and the executors that start them.

A task holds a function and its arguments, which are its attributes until it runs (`task.config.ddp.use_megatron_fsdp =
True`). The place where it runs does not matter here: it runs at once, with the variables of its executor.

Source: github.com/NVIDIA-NeMo/Run, nemo_run/run/torchx_backend/packaging.py: the variables of an executor give way to
those of a script; with the launcher `torchrun`, that takes the place of `python`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mfsdp_lint.readers.command_lines import exports
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.configurations import class_of, configures_run, held_by, task
from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.eval.unfollowed import launch, unfollowed
from mfsdp_lint.readers.python.library.subprocesses import restart
from mfsdp_lint.readers.python.state.calling import Model, invoke, models
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Command, Said
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import STARTS
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    DictObject,
    External,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Unknown,
)


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


_EXECUTORS = {
    "SlurmExecutor": ("nodes", "ntasks_per_node"),
    "LocalExecutor": ("nodes", "ntasks_per_node"),
    "DockerExecutor": ("", "ntasks_per_node"),
    "SkypilotExecutor": ("num_nodes", "gpus_per_node"),
    "SkypilotJobsExecutor": ("num_nodes", "gpus_per_node"),
    "KubeflowExecutor": ("num_nodes", "gpus_per_node"),
    "DGXCloudExecutor": ("nodes", "gpus_per_node"),
    "LeptonExecutor": ("nodes", "gpus_per_node"),
}
"""Executors: the arguments that say the number of nodes, and of ranks on each."""


def _executor(name: str) -> Model:
    """Return the model of a class of executors: its arguments are its attributes."""

    def model(interp: Interpreter, call: Call) -> Object:
        made = task(interp, (External(name), False), call.keywords, call.node, call.frame)
        if "**" not in call.keywords:
            made.fields.setdefault("env_vars", DictObject({}, interp.tick()))
        made.fields["clone"] = Native(f"{name}.clone", lambda interp, call: deep_copy(interp, made))
        return made

    return model


for _name in _EXECUTORS:
    models(f"nemo_run.{_name}")(_executor(f"nemo_run.{_name}"))


def _variables(interp: Interpreter, executor: Object) -> DictObject | None:
    """Return the variables that an executor gives what it starts; None where they are not known.

    The lines of set-up stand behind them in a job of Slurm (nemo_run/core/execution/templates/slurm.sh.j2).
    """
    found = executor.fields.get("env_vars") if isinstance(executor, Unknown) else None
    if not isinstance(executor, Unknown) or not isinstance(found, DictObject):
        return None
    lines = executor.fields.get("setup_lines")
    if not isinstance(lines, str):
        return found
    last = {name: value for name, value, _ in exports(lines)}
    exported = {name: interp.unknown(name) if value is None else value for name, value in last.items()}
    both = DictObject({**found.fields, **exported}, found.born)
    both.writes = {**found.writes, **dict.fromkeys(exported, executor.writes.get("setup_lines"))}
    return both


def _submit(interp: Interpreter, given: Object, executor: Object, plugins: Object, call: Call) -> Object:
    """Run a task, or start a script, on an executor, which plugins may change before."""
    if plugins is not None:
        executor = deep_copy(interp, executor)
        for each in (plugins.items or [plugins]) if isinstance(plugins, ListObject) else [plugins]:
            if isinstance(each, Instance):
                setup = get_attribute(interp, each, "setup", call.node, call.frame)
                invoke(interp, setup, call.passing([given, executor]))
            else:
                forget_reachable(interp, executor)
    if isinstance(given, Unknown) and STARTS in given.fields:
        _restart(interp, given, executor)
        return interp.unknown("job", not_none=True)
    with _set_by(interp, executor):
        return _run_task(interp, call.passing([given]))


def _restart(interp: Interpreter, script: Unknown, executor: Object) -> None:
    variables, own = _variables(interp, executor), script.fields.get("env")
    known = [each for each in (variables, own) if isinstance(each, DictObject)]
    given = DictObject({}, interp.tick())
    for each in known:
        given.fields.update(each.fields)
        given.writes.update(each.writes)
    inherits = executor is None or class_of(executor) == "LocalExecutor"
    for command in script.fields[STARTS]:
        first = _launcher(interp, executor) if command.words and command.words[0].value == "python" else []
        restart(interp, command, given, first, list(_added_words(interp, script, command)), inherits=inherits)


def _added_words(interp: Interpreter, script: Unknown, command: Command) -> Iterator[Said]:
    """Yield the words that were added to those that a script was made with."""
    words = script.fields.get("args")
    if not isinstance(words, ListObject) or not command.words:
        return
    if words.items is None:
        yield Said(interp.unknown("words"), None, several=True)
        return
    in_front = sum(each in script.fields for each in ("path", "entrypoint")) + (
        interp.settle(script.fields.get("m")) is True
    )
    for each in words.items[max(0, len(command.words) - max(2, in_front)) :]:
        yield Said(interp.settle(each), None)


def _launcher(interp: Interpreter, executor: Object) -> list[Said]:
    """Return the words that take the place of `python`; none where it stays."""
    if not isinstance(executor, Unknown) or executor.fields.get("launcher") != "torchrun":
        return []
    of_nodes, of_ranks = _EXECUTORS.get(class_of(executor), ("", ""))
    nodes, ranks = (interp.settle(executor.fields.get(each, 1)) for each in (of_nodes, of_ranks))
    if ranks == 1:
        ranks = interp.settle(executor.fields.get("gpus_per_node", 1))
    found = [Said("torchrun", None)]
    for flag, number in (("--nnodes", nodes), ("--nproc-per-node", ranks)):
        value = str(number) if type(number) is int else interp.unknown(flag)
        found += [Said(flag, None), Said(value, None)]
    return found


@contextmanager
def _set_by(interp: Interpreter, executor: Object) -> Iterator[None]:
    """Set the variables of an executor for what runs meanwhile."""
    environment, given = interp.path.environment, _variables(interp, executor) or DictObject({}, interp.tick())
    names = [each for each in given.fields if isinstance(each, str)]
    before = [(name, environment.fields.get(name, MISSING), environment.writes.get(name)) for name in names]
    for name in names:
        interp.put(environment, name, given.fields[name])
        interp.record(environment, name, given.writes.get(name))
    yield
    for name, value, write in before:
        if value is MISSING:
            interp.drop(environment, name)
        else:
            interp.put(environment, name, value)
        interp.record(environment, name, write)


@models("nemo_run.run")
def _run(interp: Interpreter, call: Call) -> Object:
    given, executor = interp.settle(call.argument(0, "fn_or_script")), interp.settle(call.argument(1, "executor"))
    plugins = interp.settle(call.argument(2, "plugins"))
    is_script = isinstance(given, Unknown) and STARTS in given.fields
    if not is_script and not configures_run(given) and not (isinstance(given, Unknown) and held_by(given)):
        return unfollowed(interp, "nemo_run.run", call)
    return _submit(interp, given, executor, plugins, call)


@models("nemo_run.build")
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
    usual = call.argument(1, "executor")

    def add(interp: Interpreter, call: Call) -> Object:
        given = interp.settle(call.argument(0, "task"))
        executor = interp.settle(call.argument(1, "executor")) or interp.settle(usual)
        plugins = interp.settle(call.argument(3, "plugins"))
        tasks: Sequence[Object] = (given.items or ()) if isinstance(given, ListObject) else [given]
        executors = executor.items or () if isinstance(executor, ListObject) else [executor] * len(tasks)
        for number, each in enumerate(map(interp.settle, tasks)):
            on = interp.settle(executors[number]) if number < len(executors) else interp.unknown("executor")
            _submit(interp, each, on, plugins, call)
        return interp.unknown("added", not_none=True)

    nothing = Native("Experiment.run", lambda interp, call: None)
    made.fields.update({"add": Native("Experiment.add", add), "run": nothing, "dryrun": nothing})
    made.fields["__enter__"] = Native("Experiment.__enter__", lambda interp, call: made)
    return made
