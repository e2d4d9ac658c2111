"""Programs that a program starts: `subprocess`, `os.system`, `os.execvp`. None is started here."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.imports import STDLIB
from mfsdp_lint.readers.command_lines import COMMAND_LINE, IMPORT, is_launcher
from mfsdp_lint.readers.given_words import HOLE, OF_WORKERS
from mfsdp_lint.readers.python.eval.containers import absorbed_writes
from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.eval.huggingface import AUTO_BRIDGE
from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.eval.path_objects import overwrite, text_of_path
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.calling import Model, invoke, models
from mfsdp_lint.readers.python.state.deciding import argument, imported
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Command, Said
from mfsdp_lint.readers.python.state.texts import Text, holder, peek, top
from mfsdp_lint.readers.python.state.variables import inherited_environment, is_environment, no_word, own_argv, words
from mfsdp_lint.readers.python.values.code import Call, calls_to
from mfsdp_lint.readers.python.values.markers import ARGV, MAY_HAVE_CHANGED, STARTS
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    ClassObject,
    DictObject,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Option,
    PartlyKnown,
    Unknown,
    Write,
    is_constant,
)

_DEEPEST = 8
"""Lists within lists, and names for them, that the words of a command are looked for in."""


def _subprocess(name: str) -> Model:
    """Return the model of a function that takes the arguments of `Popen`."""

    def model(interp: Interpreter, call: Call) -> Object:
        given, text = call.argument(0, "args"), _argument(call, 0, "args")
        shell = interp.settle(call.keywords.get("shell", False))
        environment = _environment(interp, call.keywords.get("env"))
        if "**" not in call.keywords and isinstance(shell, bool) and isinstance(environment, DictObject | None):
            folder = interp.settle(call.keywords.get("cwd"))
            words = _words(interp, given, text, call.frame)
            stated = _stated_at(interp, text, call)
            body = Said(interp.settle(call.keywords.get("input")), _named(call, "input"))
            _refuse_other_kinds(interp, words if isinstance(given, (ListObject, tuple)) else [], environment)
            if shell and words:
                _start(interp, stated, [], words[0], environment, folder)
            elif not shell:
                _start(interp, stated, words, None, environment, folder, body=body if body.text else None)
        return unfollowed(interp, name, call)

    return model


for _name in ("run", "call", "check_call", "check_output", "Popen"):
    models(f"subprocess.{_name}")(_subprocess(f"subprocess.{_name}"))


def _system(name: str) -> Model:
    """Return the model of a function that gives a shell a text."""

    def model(interp: Interpreter, call: Call) -> Object:
        if call.arguments:
            _start(interp, call, [], Said(interp.settle(call.arguments[0]), _argument(call, 0, "command")))
        return unfollowed(interp, name, call)

    return model


for _name in ("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"):
    models(_name)(_system(_name))


def _exec(name: str) -> Model:
    """Return the model of a function that replaces the program by another: `os.execv` takes a list of words."""

    def model(interp: Interpreter, call: Call) -> Object:
        environment = _environment(interp, call.argument(2) if name.endswith("e") else None)
        if len(call.arguments) > 1 and isinstance(environment, DictObject | None):
            program = Said(interp.settle(call.arguments[0]), _argument(call, 0, "file"))
            words = _words(interp, call.arguments[1], _argument(call, 1, "args"), call.frame)
            _refuse_other_kinds(interp, words, environment)
            # The first word is the name that the program goes by.
            _start(interp, call, [program, *words[1:]] if words else [], None, environment)
        return unfollowed(interp, name, call)

    return model


for _name in ("os.execv", "os.execvp", "os.execve", "os.execvpe"):
    models(_name)(_exec(_name))


def _launcher(name: str) -> Model:
    """Return the model of a launcher's own function, which takes the words of its command line."""

    def model(interp: Interpreter, call: Call) -> Object:
        given, text = call.argument(0, "args"), _argument(call, 0, "args")
        if isinstance(given, (ListObject, tuple)):
            _start(interp, call, [Said("torchrun", None), *_words(interp, given, text, call.frame)], None)
        elif given is None:
            _start(interp, call, [Said("torchrun", None), *_own_words(interp, call)], None)
        return unfollowed(interp, name, call)

    return model


def runs_as_program(interp: Interpreter, call: Call, program: Sequence[Object], run_name: Object) -> bool:
    """Report a file or module that a program runs in its own process, as `python` does with its words; tell whether it
    is run so.
    """
    if interp.settle(run_name) != "__main__":
        return False
    named = [Said(interp.settle(each), None) for each in program]
    _start(interp, call, [Said("python", None), *named, *_own_words(interp, call)], None)
    return True


def _own_words(interp: Interpreter, call: Call) -> list[Said]:
    """Return the words behind the first of `sys.argv` as they are now."""
    own, write = own_argv(interp), interp.path.environment.writes.get(ARGV)
    if own is MISSING:
        return [Said(each, None) for each in words(interp, interp.started_with() or (), call.frame).items or ()]
    given = write.node.value if isinstance(write, Write) and isinstance(write.node, ast.Assign) else None
    is_here = isinstance(write, Write) and (write.module, write.function) == (call.frame.module, call.frame.function)
    return _words(interp, own, Text(given, call.frame) if given is not None and is_here else None, call.frame)[1:]


for _name in ("torch.distributed.run.main", "torch.distributed.launch.main"):
    models(_name)(_launcher(_name))


_ONLY_SAYS = frozenset(
    (
        *("print", "info", "debug", "warning", "warn", "error", "critical", "exception", "log"),
        *("write", "writelines", "echo", "secho", "rule", "status", "success"),
        *("append", "add_argument", "extend", "split", "join", "format", "update", "dump", "dumps"),
    )
)
"""Names of calls that print, or keep, their arguments."""

_STARTING = lazy_pattern(r"(?:asyncio|os)\.\w*(?:subprocess|exec|spawn)\w*")
"""Functions of the standard library that start what their arguments are."""

_ENVIRONMENT = lazy_pattern(r"(?:\w+_)?env(?:s|ironment|_vars|ironment_variables)?")


def start_out_of_sight(interp: Interpreter, name: str, call: Call) -> None:
    """Report the commands that a call of code that is not at hand is given: a line for a shell, a list of words, or a
    launcher with the words behind it. The environment that they get is not known, but for the variables given here.
    """
    if _IMPORTS.fullmatch(name):
        _import(interp, call)
        return
    if name.rpartition(".")[2] in _ONLY_SAYS or (name.partition(".")[0] in STDLIB and not _STARTING.fullmatch(name)):
        return
    given = [(interp.settle(value), _argument(call, n, "")) for n, value in enumerate(call.arguments)]
    named = {key: interp.settle(value) for key, value in call.keywords.items()}
    _start_what_is_said(interp, call, given, named)
    for each in _mappings(interp, [*(value for value, _ in given), *named.values()]):
        inner = {str(key): interp.settle(value) for key, value in each.fields.items()}
        if any(isinstance(inner.get(key), (ListObject, tuple)) for key in ("command", "args")):
            _start_what_is_said(interp, call, [], inner)


_IMPORTS = lazy_pattern(r"megatron\.bridge\.(?:.*\.)?(?:import_ckpt|save_megatron_model)")
"""Functions of Bridge that write the checkpoint of a model of Hugging Face."""


def _import(interp: Interpreter, call: Call) -> None:
    """Report that a model of Hugging Face is imported, as Bridge's program for that is started."""
    first = call.argument(0)
    bound = first.cls if isinstance(first, Instance) else first  # a method's own class, or object
    given = call.arguments[isinstance(bound, ClassObject) and bound.name == AUTO_BRIDGE :]
    folder = call.keywords.get("megatron_path", call.keywords.get("path", given[1] if len(given) > 1 else None))
    format_given = call.keywords.get("ckpt_format")
    words = [*IMPORT, "--megatron-path", folder, *(() if format_given is None else ("--ckpt-format", format_given))]
    _start(interp, call, [Said(interp.settle(each), None) for each in words], None)


def _mappings(interp: Interpreter, values: Sequence[Object]) -> Iterator[DictObject]:
    """Yield the mappings in data that a call is given: a manifest of Kubernetes has its containers deep within."""
    waiting = [(value, _DEEPEST) for value in values]
    while waiting:
        value, depth = waiting.pop(0)
        inner: Iterable[Object] = ()
        if isinstance(value, DictObject):
            yield value
            inner = value.fields.values()
        elif isinstance(value, (ListObject, tuple)):
            inner = value if isinstance(value, tuple) else value.items or ()
        waiting += [(interp.settle(each), depth - 1) for each in inner if depth]


def _start_what_is_said(
    interp: Interpreter, call: Call, given: list[tuple[Object, Text | None]], named: Mapping[str, Object]
) -> None:
    """Report the commands among positional and named values, with the environment that is named beside them."""
    environment = _given_environment(interp, named)
    start = partial(_start, interp, call, variables=_added_to(interp, environment))
    parts = [named.get("command"), named.get("args", named.get("arguments"))]
    if all(isinstance(each, (ListObject, tuple)) for each in parts):
        texts = [_named(call, "command"), _named(call, "args") or _named(call, "arguments")]
        start(
            [word for part, text in zip(parts, texts, strict=True) for word in _words(interp, part, text, call.frame)],
            None,
        )
        return
    words = [Said(value, text) for value, text in given]
    first = next((n for n, word in enumerate(words) if _is_launcher(word.value)), None)
    if first is not None and len(words) > first + 1:
        again = words[first + 1].value == words[first].value  # the name that the program goes by
        start(words[first + again :], None)
        return
    given += [(value, _named(call, key)) for key, value in named.items() if not _ENVIRONMENT.fullmatch(key)]
    program = next((Said(value, text) for value, text in given if _is_launcher(value)), None)
    for value, text in given:
        if _is_command(value):
            start([], Said(value, text))
        elif isinstance(value, (ListObject, tuple)):
            said = _words(interp, value, text, call.frame)
            lines = [each for each in said if _is_command(each.value)]
            if lines and not _is_launcher(said[0].value):
                for each in lines:
                    start([], each)
            elif any(_is_launcher(each.value) for each in said):
                start(said, None)
            elif program is not None and said:
                start([program, *said], None)


def _text_in(value: Object) -> str:
    return value if isinstance(value, str) else value.said if isinstance(value, PartlyKnown) else ""


def _is_command(value: Object) -> bool:
    return bool(COMMAND_LINE.search(_text_in(value)))


def _is_launcher(value: Object) -> bool:
    if isinstance(value, External):
        return value.name == "sys.executable"
    return is_launcher(_text_in(value).rpartition("/")[2])


def _given_environment(interp: Interpreter, named: Mapping[str, Object]) -> DictObject:
    """Return the variables that a call gives, also one level down (`runtime_env={"env_vars": …}`), or in a list."""
    for key, value in named.items():
        if _ENVIRONMENT.fullmatch(key) and isinstance(value, ListObject):
            return _listed_variables(interp, value)
        if _ENVIRONMENT.fullmatch(key) and isinstance(value, DictObject):
            inner = [interp.settle(each) for name, each in value.fields.items() if _ENVIRONMENT.fullmatch(str(name))]
            found = next((each for each in inner if isinstance(each, DictObject)), value)
            return _of_job(interp, found) if key == "runtime_env" else found
    return DictObject({}, interp.tick())


def _listed_variables(interp: Interpreter, variables: ListObject) -> DictObject:
    """Return the variables in a list of mappings (`[{"name": NAME, "value": VALUE}]`), or of such objects; what else is
    in the list may be others.
    """
    made = DictObject({}, interp.tick())
    made.writes[MAY_HAVE_CHANGED] = True
    for each in map(interp.settle, variables.items or ()):
        if isinstance(each, (DictObject, Unknown)) and isinstance(name := interp.settle(each.fields.get("name")), str):
            made.fields[name] = interp.settle(each.fields.get("value", interp.unknown(name)))
            made.writes[name] = each.writes.get("value")
    return made


@models(
    *(
        f"{package}.client.{module}V1EnvVar"
        for package in ("kubernetes", "kubernetes_asyncio")
        for module in ("", "models.")
    )
)
def _variable_of_container(interp: Interpreter, call: Call) -> Object:
    """Return a variable of a container.

    github.com/kubernetes-client/python, kubernetes/client/models/v1_env_var.py
    """
    made = interp.unknown("V1EnvVar()", not_none=True)
    for place, name in enumerate(("name", "value")):
        value = interp.settle(call.argument(place, name))
        if value is not None:
            made.fields[name] = value
            said = _argument(call, place, name)
            focus = None if said is None else said.node
            made.writes[name] = interp.note(call.node, call.frame, focus, "argument", value, None)
    return made


def _of_job(interp: Interpreter, variables: DictObject) -> DictObject:
    """Return the variables of a job's driver, with those that all of the job's processes have."""
    made = DictObject(dict(variables.fields), interp.tick())
    made.writes = dict(variables.writes)
    for name, value in variables.fields.items():
        made.fields[f"{OF_WORKERS}{name}"] = value
        made.writes[f"{OF_WORKERS}{name}"] = variables.writes.get(name)
    return made


class _Holder(NamedTuple):
    """A class whose objects are started later, by somebody else: the arguments that say how.

    `script` is a line, or a text, for a shell; `words` are those of a command, in lists or one by one, the first of
    them with `first` for its default. `options` are a mapping whose entries are words behind the others (`--key
    value`). `adds`: the environment is added to that of the program which starts it, not what replaces it; in a
    container there is another one. `templated`: Jinja fills texts in before.
    """

    names: tuple[str, ...]
    script: str = ""
    words: tuple[str, ...] = ()
    first: str = ""
    environment: str = ""
    folder: str = ""
    options: str = ""
    adds: bool = False
    templated: bool = False


_HOLDERS: Mapping[str, _Holder] = {
    # airflow.apache.org/docs/apache-airflow-providers-standard, operators/bash.html
    "BashOperator": _Holder((), script="bash_command", environment="env", folder="cwd", templated=True),
    # airflow.apache.org/docs/apache-airflow-providers-cncf-kubernetes, operators.html
    "KubernetesPodOperator": _Holder(
        (), words=("cmds", "arguments"), environment="env_vars", adds=True, templated=True
    ),
    # airflow.apache.org/docs/apache-airflow-providers-docker, DockerOperator
    "DockerOperator": _Holder((), script="command", environment="environment", adds=True, templated=True),
    # airflow.apache.org/docs/apache-airflow-providers-ssh, SSHOperator
    "SSHOperator": _Holder((), script="command", environment="environment", adds=True, templated=True),
    # github.com/NVIDIA-NeMo/Run, nemo_run/config.py, class Script
    "Script": _Holder(
        ("path", "inline", "args", "env", "entrypoint", "m"),
        script="inline",
        words=("entrypoint", "path", "args"),
        first="bash",
        environment="env",
        adds=True,
    ),
    # github.com/pytorch/torchx, torchx/specs/api.py, class Role
    "Role": _Holder((), words=("entrypoint", "args"), environment="env", adds=True),
    # github.com/aws/sagemaker-python-sdk, src/sagemaker/estimator.py, class Framework
    "PyTorch": _Holder(
        ("entry_point",),
        words=("entry_point",),
        first="python",
        environment="environment",
        folder="source_dir",
        options="hyperparameters",
        adds=True,
    ),
}


def _holder(name: str, holder: _Holder) -> Model:
    """Return the model of such a class: its object is taken to be started."""

    def model(interp: Interpreter, call: Call) -> Object:
        given = dict(zip(holder.names, call.arguments, strict=False)) | call.keywords
        environment = _own_environment(interp, given.get(holder.environment), given, adds=holder.adds)
        if isinstance(environment, DictObject | None):
            folder = interp.settle(given.get(holder.folder))
            line = interp.settle(given.get(holder.script))
            text = partial(_named_argument, call, holder)
            start = partial(_start, interp, call, variables=environment, folder=folder, templated=holder.templated)
            started = None
            if isinstance(line, (ListObject, tuple)):
                started = start(_words(interp, line, text(holder.script), call.frame), None)
            elif line not in (None, ""):
                started = start([], Said(line, text(holder.script)))
            elif holder.words:
                words = [Said(holder.first, None)] if holder.first and _needs_program(interp, holder, given) else []
                for each in holder.words:
                    if each == "path" and interp.settle(given.get("m")) is True:
                        words.append(Said("-m", None))
                    if each in given:
                        words += _words(interp, given[each], text(each), call.frame)
                words += _options(interp, given.get(holder.options))
                started = start(words, None)
            # (Nobody needs to guess which of the arguments say what is started.)
            made = interp.unknown(f"{name}()", not_none=True)
            made.fields[STARTS] = (started,) if started is not None else ()
            made.fields[holder.environment] = given.get(holder.environment) or DictObject({}, interp.tick())
            made.fields.update({each: given[each] for each in holder.words if each in given})
            return made
        return unfollowed(interp, name, call)

    return model


def _needs_program(interp: Interpreter, holder: _Holder, given: Mapping[str, Object]) -> bool:
    """Tell whether the words of a command begin without the program: none is named, or only its script is."""
    first = interp.settle(given.get(holder.words[0]))
    return first is None or (len(holder.words) == 1 and _text_in(first).endswith(".py"))


def _options(interp: Interpreter, given: Object) -> Iterator[Said]:
    """Yield the words of options that stand in a mapping; several that are not known where it may hold others."""
    given = interp.settle(given)
    if not isinstance(given, DictObject):
        if given is not None:
            yield Said(interp.unknown("options"), None, several=True)
        return
    for name, value in given.fields.items():
        yield Said(f"--{name}", None)
        value = interp.settle(value)
        yield Said(str(value) if isinstance(value, (bool, int, float)) else value, None)
    if given.writes.get(MAY_HAVE_CHANGED):
        yield Said(interp.unknown("options"), None, several=True)


@models("airflow.decorators.task.bash", "airflow.sdk.task.bash")
def _bash_task(interp: Interpreter, call: Call) -> Object:
    """Return a task of Airflow: what its function returns is a script.

    airflow.apache.org/docs/apache-airflow-providers-standard, operators/bash.html
    """

    def task(function: Object, options: Mapping[str, Object]) -> Object:
        def model(interp: Interpreter, call: Call) -> Object:
            line = interp.settle(invoke(interp, function, call))
            environment = _own_environment(interp, options.get("env"), options)
            if isinstance(environment, DictObject | None):
                folder = interp.settle(options.get("cwd"))
                said = Said(line, _returned(function, call.frame))
                _start(interp, call, [], said, environment, folder, templated=True)
            return interp.unknown("task", not_none=True)

        return Native(f"{MODELLED}airflow.task", model)

    if call.arguments:
        return task(call.arguments[0], {})
    options = dict(call.keywords)
    return Native(f"{MODELLED}airflow.task.bash", lambda interp, inner: task(inner.arguments[0], options))


def _returned(function: Object, frame: Frame) -> Text | None:
    """Return the expression that a function of the same file returns; None where there are several."""
    if not isinstance(function, Function) or function.module is not frame.module:
        return None
    found = [each for each in ast.walk(function.node) if isinstance(each, ast.Return) and each.value is not None]
    return Text(found[0].value, frame) if len(found) == 1 and found[0].value is not None else None


def _named_argument(call: Call, holder: _Holder, name: str) -> Text | None:
    position = holder.names.index(name) if name in holder.names else len(call.arguments)
    return _argument(call, position, name)


def _own_environment(interp: Interpreter, own: Object, given: Mapping[str, Object], *, adds: bool = False) -> Object:
    """Return the environment of a task: its `own`, which may be added to that of the program which starts it."""
    own = interp.settle(own)
    own = _listed_variables(interp, own) if isinstance(own, ListObject) else own
    added = adds or interp.settle(given.get("append_env")) is True
    return _added_to(interp, own) if added and isinstance(own, DictObject) else own


def _added_to(interp: Interpreter, own: DictObject) -> DictObject:
    """Return the variables of a program with others that are added; what else it inherits is not known."""
    outer = inherited_environment(interp)
    made = DictObject({**outer.fields, **own.fields}, interp.tick())
    made.writes = {**absorbed_writes(outer, own), MAY_HAVE_CHANGED: True}
    return made


for _module, _name in (
    ("airflow.operators.bash", "BashOperator"),
    ("airflow.operators.bash_operator", "BashOperator"),
    ("airflow.providers.standard.operators.bash", "BashOperator"),
    ("airflow.providers.cncf.kubernetes.operators.pod", "KubernetesPodOperator"),
    ("airflow.providers.cncf.kubernetes.operators.kubernetes_pod", "KubernetesPodOperator"),
    ("airflow.providers.docker.operators.docker", "DockerOperator"),
    ("airflow.providers.ssh.operators.ssh", "SSHOperator"),
    ("nemo_run", "Script"),
    ("nemo_run.config", "Script"),
    ("torchx.specs", "Role"),
    ("torchx.specs.api", "Role"),
    ("sagemaker.pytorch", "PyTorch"),
    ("sagemaker.pytorch.estimator", "PyTorch"),
):
    models(f"{_module}.{_name}")(_holder(f"{_module}.{_name}", _HOLDERS[_name]))


def _environment(interp: Interpreter, value: Object) -> Object:
    """Return the environment that a program is given; None for that of the program which starts it."""
    value = interp.settle(value)
    return None if is_environment(value) else value


def _start(
    interp: Interpreter,
    call: Call,
    words: list[Said],
    line: Said | None,
    variables: Object = None,
    folder: Object = None,
    *,
    templated: bool = False,
    body: Said | None = None,
    writes: Object = None,
    adds: bool = False,
) -> Command | None:
    """Report a program that is started, with everything as it is now: by words, or by a line for a shell. Return the
    start.

    With `writes`, report the file that is written instead, with the line for its text.
    """
    if not words and line is None:
        return None
    copied = _as_it_is(interp, variables)
    calls = ((call.frame.module, call.node, call.frame.function), *calls_to(call.frame))
    when = interp.path.when
    started = Command(words, line, copied, folder, calls, when, templated, body, writes, adds)
    interp.starting(started)
    return started


def _as_it_is(interp: Interpreter, variables: Object) -> DictObject:
    """Return a copy of an environment; of that of this program, with others that are not known."""
    seen = variables if isinstance(variables, DictObject) else inherited_environment(interp)
    copied = DictObject({name: interp.settle(value) for name, value in seen.fields.items()}, interp.tick())
    copied.writes = dict(seen.writes)
    if not isinstance(variables, DictObject):
        copied.writes[MAY_HAVE_CHANGED] = True
    return copied


def restart(
    interp: Interpreter,
    command: Command,
    variables: DictObject,
    first: Sequence[Said],
    more: Sequence[Said],
    *,
    inherits: bool,
) -> None:
    """Start a program otherwise than it was taken to be started: with these variables, `first` for its first word,
    and more words behind the others.
    """
    environment = _added_to(interp, variables) if inherits else _as_it_is(interp, variables)
    environment.writes[MAY_HAVE_CHANGED] = True
    words = [*(first or command.words[:1]), *command.words[1:], *more] if command.words else []
    interp.starting(replace(command, words=words, environment=environment), instead_of=command)


@models("pathlib.Path.write_text")
def _write_text(interp: Interpreter, call: Call) -> Object:
    path, *given = call.arguments
    return _write(interp, call, path, given[0] if given else call.keywords.get("data"))


def _write(interp: Interpreter, call: Call, path: Object, data: Object, *, adds: bool = False) -> Object:
    """Follow the writing of a text into a file."""
    named = text_of_path(interp.settle(path))
    if named is not None:
        overwrite(interp, named, call.frame.module)
        text = Text(call.node.args[0], call.frame) if isinstance(call.node, ast.Call) and call.node.args else None
        _start(interp, call, [], Said(interp.settle(data), text), writes=interp.settle(path), adds=adds)
    return interp.unknown("", not_none=True)


def written_file(interp: Interpreter, path: Object, call: Call) -> Object:
    """Return a file that is opened for writing."""
    made = interp.unknown("file", not_none=True)
    _start(interp, call, [], Said("", None), writes=interp.settle(path))
    methods: dict[str, Model] = {
        "write": lambda interp, call: _write(interp, call, path, call.argument(0), adds=True),
        "close": lambda interp, call: None,
        "__enter__": lambda interp, call: made,
    }
    made.fields.update({name: Native(f"io.{name}", method) for name, method in methods.items()})
    return made


def _refuse_other_kinds(interp: Interpreter, words: Sequence[Said], environment: DictObject | None) -> None:
    """Raise what Python raises where a program is started with a word or a variable that is no text."""
    variables = () if environment is None else environment.fields.values()
    for value in (*(each.value for each in words), *variables):
        # (Whoever starts this one may give an option another value than its default.)
        if not isinstance(value, Option) and (error := no_word(interp, value)) is not None:
            raise error


def _stated_at(interp: Interpreter, text: Text | None, call: Call) -> Call:
    """Return the call that states the command: the caller's, where a function only hands on its argument."""
    while text is not None and isinstance(text.node, ast.Name) and holder(call.frame, text.node.id) is call.frame:
        text = argument(interp, call.frame, text.node.id)
        if text is None or call.frame.caller is None or text.frame is not call.frame.caller:
            break
        call = call._replace(node=call.frame.node, frame=call.frame.caller)
    return call


def _argument(call: Call, position: int, name: str) -> Text | None:
    """Return the expression of an argument."""
    if not isinstance(call.node, ast.Call) or any(isinstance(each, ast.Starred) for each in call.node.args):
        return None
    found = call.expression(position)
    return _named(call, name) if found is None else Text(found, call.frame)


def literals(text: Text) -> list[Text]:
    """Return the texts that an expression is made of, as far as they are written in its file and under names."""
    found: list[Text] = []
    waiting, seen = [text], set()
    while waiting and len(found) < _MOST_LITERALS:
        node, frame = waiting.pop(0)
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                found.append(Text(each, frame))
            owner = holder(frame, each.id) if isinstance(each, ast.Name) else None
            if owner is None or not isinstance(each, ast.Name) or (id(owner), each.id) in seen:
                continue
            seen.add((id(owner), each.id))
            own = owner if isinstance(owner, Frame) else top(owner)
            for bound, (_, bound_in) in owner.bindings.get(each.id, {}).items():
                if isinstance(bound, ast.expr | ast.AugAssign):
                    waiting.append(Text(bound.value if isinstance(bound, ast.AugAssign) else bound, bound_in or own))
    return found


_MOST_LITERALS = 500


def _named(call: Call, name: str) -> Text | None:
    keywords = call.node.keywords if isinstance(call.node, ast.Call) else []
    return next((Text(each.value, call.frame) for each in keywords if each.arg == name), None)


def _words(interp: Interpreter, given: Object, text: Text | None, frame: Frame) -> list[Said]:
    """Return the words of a command; none where they are not known."""
    given = interp.settle(given)
    if not isinstance(given, (ListObject, tuple)):
        return ([] if isinstance(given, str) else _written(interp, text)) or [Said(given, text)]
    found = iterate(interp, given, frame)
    if found is None:
        return _written(interp, text)
    items = [interp.settle(item) for item in found]
    texts = list(takewhile(_agrees, zip(items, _elements(interp, text, _DEEPEST), strict=False)))
    seen = [each for _, each in texts] + [None] * (len(items) - len(texts))
    return [Said(item, each) for item, each in zip(items, seen, strict=True)]


def _written(interp: Interpreter, text: Text | None) -> list[Said]:
    """Return the known words of a list of unknown length: those that its literal shows, and several others.

    The others stand where the literal has a list within it, or were added behind it.
    """
    is_name = text is not None and isinstance(text.node, ast.Name)
    if text is not None and isinstance(text.node, ast.Name):
        owner = holder(text.frame, text.node.id)
        bound = [] if owner is None else list(owner.bindings.get(text.node.id, ()))
        is_added_to = bool(bound) and all(isinstance(each, ast.AugAssign) for each in bound[1:])
        text = Text(bound[0], text.frame) if is_added_to else None
    if text is None or not isinstance(text.node, (ast.List, ast.Tuple)):
        return []
    found = [
        Said(_shown(interp, each, text.frame), Text(each, text.frame), several=isinstance(each, ast.Starred))
        for each in text.node.elts
    ]
    if any(each.several for each in found):
        return found
    return [*found, Said(interp.unknown("words"), text, several=True)] if is_name else []


def _shown(interp: Interpreter, node: ast.expr, frame: Frame) -> Object:
    """Return the value that an expression shows: a constant, or a text of which parts are written in it."""
    constant = interp.settle(peek(interp, node, frame))
    if is_constant(constant):
        return constant
    said = _parts(node)
    return PartlyKnown(interp.tick(), said) if said.strip(HOLE) else interp.unknown("word", not_none=True)


def _parts(node: ast.expr) -> str:
    """Return the parts of a text that are written in an expression, with a HOLE for each of the others."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_parts, parts))
        case ast.BinOp(left=left, op=ast.Add() | ast.Div() as op, right=right):
            return _parts(left) + "/" * isinstance(op, ast.Div) + _parts(right)
        case ast.Call(func=ast.Name(id="str"), args=[of]):
            return _parts(of)
    return HOLE


def _agrees(said: tuple[Object, Text | None]) -> bool:
    """Tell whether an expression may well be the text of an element."""
    item, text = said
    return text is None or not isinstance(text.node, ast.Constant) or text.node.value == item


def _elements(interp: Interpreter, text: Text | None, depth: int) -> list[Text | None]:
    """Return the expressions of a list's elements, as far as they are seen; more may have been added behind them."""
    if text is None or not depth:
        return []
    node, frame = text
    if isinstance(node, ast.Name):
        return _elements_of_name(interp, node.id, frame, depth - 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        first = _all_elements(interp, Text(node.left, frame), depth - 1)
        return [] if first is None else first + _elements(interp, Text(node.right, frame), depth - 1)
    found: list[Text | None] = []
    for each in node.elts if isinstance(node, (ast.List, ast.Tuple)) else ():
        if isinstance(each, ast.Starred):
            several = _all_elements(interp, Text(each.value, frame), depth - 1)
            if several is None:
                return found
            found += several
        else:
            found.append(Text(each, frame))
    return found


def _elements_of_name(interp: Interpreter, name: str, frame: Frame, depth: int) -> list[Text | None]:
    """Return the expressions of the elements of a list that has a name, with the elements that `+=` adds to it."""
    owner = holder(frame, name)
    if owner is None:
        return []
    given = argument(interp, owner, name) if isinstance(owner, Frame) else None
    own = owner if isinstance(owner, Frame) else top(owner)
    found = _elements(interp, given, depth)
    for node, (_, bound_in) in owner.bindings.get(name, {}).items():
        added = isinstance(node, ast.AugAssign)
        text = imported(interp, node, name) if isinstance(node, ast.ImportFrom) else None
        elements = _elements(interp, text or Text(node.value if added else node, bound_in or own), depth)
        found = found + elements if added else elements
    return found


def _all_elements(interp: Interpreter, text: Text, depth: int) -> list[Text | None] | None:
    """Return the expressions of all elements of a list that another follows; None where its length is not seen."""
    found = _elements(interp, text, depth)
    if isinstance(text.node, (ast.List, ast.Tuple)):
        starred = any(isinstance(each, ast.Starred) for each in text.node.elts)
        return None if starred else found
    value = interp.settle(peek(interp, text.node, text.frame))
    items = value.items if isinstance(value, ListObject) else value
    if not isinstance(items, (list, tuple)):
        return None
    return [*found[: len(items)], *[None] * (len(items) - len(found))]
