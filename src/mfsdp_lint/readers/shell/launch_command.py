"""The words of a command → the Python program that it starts in the end, and the file of the tree that this is.

What stands in front of a program is not parsed option by option, as each release of each wrapper has others: the
program is the first word that is a Python file, or what `-m` names.

Jobs of a Ray cluster have the environment that the cluster was started in, and not that of the shell that submits them:
`ray start` starts the processes that jobs come from; what a job has beside that is in `--runtime-env-json`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice, pairwise

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Setting, Span
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.disk import walk
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.front_ends import commands
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.readers.command_lines import COMMAND_LINE, PYTHON, RANK_LAUNCHERS, is_launcher, submits_recipe
from mfsdp_lint.readers.given_words import HOLE, OF_WORKERS, Given, GivenWord
from mfsdp_lint.readers.images import files_of_image
from mfsdp_lint.readers.shell.script import (
    Text,
    around,
    behind,
    between,
    is_left_out,
    known,
    located,
    obstacle_in,
    of_file,
    option,
    plain,
)
from mfsdp_lint.readers.shell.state import ContainerFiles, State, Variable

SHELLS = ("bash", "sh", "zsh", "dash", "ksh")
_WRAPPERS = lazy_pattern(
    r"""
    env|sudo|time|nohup|exec|command|stdbuf|nice|ionice|timeout|setsid|uv|poetry|pipenv|conda|
    micromamba|pixi|hatch|srun|mpirun|mpiexec|horovodrun|orterun|prun|prterun|jsrun|lrun|aprun|ibrun|flux|
    sbatch|salloc|nsys|ncu|dlprof|rocprof|
    rocprofv3|nvprof|py-spy|numactl|taskset|qsub|bsub|msub|oarsub|docker|podman|nerdctl|singularity|apptainer|enroot|kubectl|
    torchrun|accelerate|deepspeed|ray|pdsh|ssh|xargs|watch|parallel|strace|perf|gdb|torchx|colossalai|
    bcprun|ft_launcher|tini|catchsegv|scalene|memray|coverage|clush|tmux|screen|su|script|flock
    """,
    re.VERBOSE,
)
"""Programs that start others."""

STARTS_NOTHING = lazy_pattern(
    r"awk|cat|chmod|cp|diff|find|git|grep|head|ls|mkdir|mv|pgrep|pip3?|pkill|rm|rsync|scp|sed|tail|tee|test|touch|wc|which"
)
"""Programs that are given a file's name, or a text."""

SCHEDULERS = ("sbatch", "qsub", "bsub", "msub", "oarsub")
"""Programs that hand a script to a scheduler: a file, or what they are given to read."""

_TAKE_COMMAND_LINE = ("bsub", "oarsub")
"""Those of them that take a command line as one word behind their options (bsub(1), oarsub(1))."""

_INHERIT = ("sbatch", "bsub")
"""Those of them whose jobs have the environment of the script (sbatch(1), bsub(1)); qsub(1B) passes it on with `-V`."""

_TAKES_SCRIPT = ("ssh", "pdsh", "clush", "tmux", "screen", "parallel", "watch", "su", "script", "flock")
"""Programs that hand a word of theirs to a shell."""

_OWN_ENVIRONMENT = ("ssh", "pdsh", "clush", "tmux", "su")
"""Those of them whose shell does not have the environment of the script, or not surely."""

_CONTAINERS = ("docker", "podman", "nerdctl", "kubectl", "ssh", "pdsh")
"""Programs that start others in another environment."""

_LAUNCHER_MODULES = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")

_RUNTIME = ("--runtime-env-json", "--runtime_env_json")
_VARIABLES_OF_RAY = lazy_pattern(r'"env_vars"\s*:\s*\{([^}]*)\}')
_PAIR_OF_JSON = lazy_pattern(r'"(?P<name>[A-Za-z_]\w*)"\s*:\s*"(?P<value>[^"\\]*)"')

_NO_PYTHON = ("--no-python", "--no_python")
"""Options of torch's launcher behind which another program than Python is named (torch/distributed/run.py)."""

_ASSIGNMENT = lazy_pattern(r"([A-Za-z_]\w*)=")
_SCRIPT = lazy_pattern(r"[^-\s=][^\s=]*\.(?:sh|bash)")
_PYTHON_FILE = lazy_pattern(r"[^\s=]*\.pyc?")

Environment = dict[str, "Text | None"]


@dataclass(slots=True)
class LaunchedProgram:
    """A Python program as it is started.

    `program` is the word that names it, `is_module` whether as a module; of a framework's own command (`megatron sft`)
    `command` has the words. `environment` is what the wrappers set (None: take away); with `fresh` nothing else is
    passed on. `nodes` and `per_node` are what torch's launcher is told.
    """

    program: Text
    is_module: bool
    arguments: list[Text]
    environment: Environment = field(default_factory=dict)
    fresh: bool = False
    nodes: Text | None = None
    per_node: Text | None = None
    command: str = ""


@dataclass(slots=True)
class InnerScript:
    """A script that another shell is given, as a text or as the name of its file; `shell` is its name if one is
    said, `named` the `$0` of a text.
    """

    text: Text | None
    file: Text | None
    arguments: list[Text]
    environment: Environment = field(default_factory=dict)
    fresh: bool = False
    shell: str = ""
    named: Text | None = None


@dataclass(frozen=True, slots=True)
class ShellLaunch:
    """A command as it is started: its words, what is known of its environment, and on which way.

    `environment` has the variables that were surely set (words) or taken away (None). `given` are the variables that
    who starts the script has to set for this way. `cut_off` are the words on lines of options behind it that it does
    not get, as the backslash in front of them is lost. `late` are variables that the script exports for it, and that it
    does not see: it is a job of a cluster that was started before. `requires` are the variables and arguments without
    which the script ends before. `outermost` is the command of the script itself that leads to it. `hands_on`:
    its program is at hand, and starts other programs. `container` is the file system that it sees, if that is not the
    tree.
    """

    started: LaunchedProgram
    span: Span
    environment: dict[str, Variable]
    when: tuple[str, ...]
    given: tuple[str, ...]
    folder: str | None
    cut_off: tuple[Text, ...] = ()
    late: tuple[tuple[str, Span], ...] = ()
    requires: tuple[str, ...] = ()
    outermost: Span | None = None
    hands_on: bool = False
    container: ContainerFiles | None = None


def started_by(
    words: Sequence[Text], body: Text | None = None, is_script: Callable[[Text], bool] = lambda word: False
) -> LaunchedProgram | InnerScript | None:
    """Find the program or inner script that a command starts in the end; None for any other command. `body` is the
    text that it is given to read, `is_script` tells whether a word names a file that is a script.

    A program that is not known here starts the one behind it if that is a launcher or Python; the environment that it
    gives it is not known.
    """
    environment: Environment = {}
    fresh = ranked = False
    nodes = per_node = behind_option = None
    at = 0
    if not may_start(_base(words[0])) and not is_script(words[0]):
        if STARTS_NOTHING.fullmatch(_base(words[0]) or "") or plain(words[0]).startswith("-"):
            return None
        at = next((n for n, word in enumerate(words) if is_launcher(_base(word) or "")), len(words))
        inner = _script_of_option(words[1:at])
        if inner is not None or at == len(words):
            return None if inner is None else InnerScript(inner, None, [], environment, True)
        fresh = True
        for number in range(1, at):
            _read_environment(words, number, environment)
    while at < len(words):
        name = _base(words[at])
        behind_shell = words[at + 1] if name in SHELLS and at + 1 < len(words) else ()
        if name in SHELLS and not _PYTHON_FILE.fullmatch(plain(behind_shell)):
            return _shell(name, words[at + 1 :], body, environment, fresh)
        if _SCRIPT.fullmatch(plain(words[at])) or is_script(words[at]):
            script = InnerScript(None, words[at], list(words[at + 1 :]), environment, fresh)
            if at == 0 or not _may_take_value(plain(words[at - 1])):
                return script
            behind_option = behind_option or script
        if name in SCHEDULERS and (job := _batch(words[at:], body, environment, is_script)) is not None:
            return job
        text = plain(words[at])
        module = known(words[at]) == "-m" and at + 1 < len(words)
        if module and plain(words[at + 1]) in _LAUNCHER_MODULES:
            ranked = ranked or plain(words[at + 1]) in RANK_LAUNCHERS
            at += 2
            continue
        if module and (known(words[at + 1]) or "").replace(".", "").replace("_", "").isalnum() and _may_run(words[:at]):
            return LaunchedProgram(words[at + 1], True, list(words[at + 2 :]), environment, fresh, nodes, per_node)
        if _PYTHON_FILE.fullmatch(text) and not text.startswith("-"):
            return LaunchedProgram(words[at], False, list(words[at + 1 :]), environment, fresh, nodes, per_node)
        command = f"{name} {known(words[at + 1]) or ''}" if at + 1 < len(words) else ""
        if command in commands():
            return LaunchedProgram(words[at], False, list(words[at + 2 :]), environment, fresh, command=command)
        if command and name in commands():
            return LaunchedProgram(words[at], False, list(words[at + 1 :]), environment, fresh, command=name)
        if name in _TAKES_SCRIPT and (text_at := _script_among(words[at + 1 :])) is not None:
            return InnerScript(text_at, None, [], environment, fresh or name in _OWN_ENVIRONMENT)
        ranked = ranked or name in RANK_LAUNCHERS
        fresh = fresh or name in _CONTAINERS
        _read_environment(words, at, environment)
        if ranked and (given := _option(words, at, ("--nnodes",))):
            nodes = given
        if ranked and (given := _option(words, at, ("--nproc_per_node", "--nproc-per-node"))):
            per_node = given
        at += 1
    # (A container's program has options whose values are scripts, and an image that says what starts.)
    return None if fresh else behind_option


def _may_take_value(before: str) -> bool:
    """Tell whether a word is an option that the next word may be the value of."""
    return before.startswith("-") and "=" not in before and before not in _NO_PYTHON


def _script_among(words: Sequence[Text]) -> Text | None:
    """Return the word that is a command with its own words, as in `ssh HOST "cd /x && torchrun …"`."""
    return next((word for word in words if not plain(word).startswith("-") and " " in plain(word).strip()), None)


def _script_of_option(words: Sequence[Text]) -> Text | None:
    """Return the command line that an option has as its value (`--command "torchrun …"`)."""
    for number, word in enumerate(words):
        name = re.match(r"--?[\w-]+=", plain(word))
        if name is None and not (number and re.fullmatch(r"--?[\w-]+", plain(words[number - 1]))):
            continue
        text = behind(word, name.end() if name else 0)
        if COMMAND_LINE.search(plain(text)):
            return text
    return None


def may_start(name: str | None) -> bool:
    """Tell whether a command may start another one; a command whose name is not known may."""
    if name is None or name in SHELLS or name in _first_words():
        return True
    return any(kind.fullmatch(name) for kind in (_WRAPPERS, PYTHON, _PYTHON_FILE, _SCRIPT))


@cache
def _first_words() -> frozenset[str]:
    return frozenset(each.partition(" ")[0] for each in commands())


def _may_run(before: Sequence[Text]) -> bool:
    """Tell whether `-m` belongs to Python (or torchrun), and to no other program."""
    names = [_base(word) for word in before]
    return any(
        name and (PYTHON.fullmatch(name) or name in RANK_LAUNCHERS or name in ("accelerate", "uv")) for name in names
    ) or any(not plain(word).strip(HOLE) for word in before)


def _base(word: Text) -> str | None:
    """Return the name of a program without its folder, even an unknown folder."""
    name = plain(word).rpartition("/")[2]
    return None if HOLE in name else name


def _option(words: Sequence[Text], at: int, names: Sequence[str]) -> Text | None:
    """Return the value of the option at an index: the next word, or the text behind `=`."""
    text = plain(words[at])
    if text in names:
        return words[at + 1] if at + 1 < len(words) else None
    name, equals, _ = text.partition("=")
    return behind(words[at], len(name) + 1) if equals and name in names else None


_OF_SLURM = ("srun", "sbatch", "salloc")
_OF_HPC = ("apptainer", "singularity")
_SEVERAL_AT_ONCE = (*_OF_HPC, "torchx")
"""Programs whose `--env` takes variables with commas between them (apptainer-exec(1), torchx/components/dist.py)."""

_CLEAN = ("--cleanenv", "-e", "--containall", "-C")
"""Options of apptainer and singularity with which nothing is inherited (apptainer-exec(1))."""

_UNSETS = ("-u", "--unset")
_NOTHING_INHERITED = ("-", "-i", "--ignore-environment")
"""Options of `env` that begin with an empty environment."""


def _read_environment(words: Sequence[Text], at: int, environment: Environment) -> None:
    """Read `env A=b -u C`, `-e A=b`, `-E A=b`, `--env A=b`, `-x A=b`, `--export=ALL,A=b`, `--runtime-env-json={…}`."""
    runtime = _option(words, at, _RUNTIME)
    if runtime is not None:
        _runtime(runtime, environment)
        return
    text = plain(words[at])
    previous = plain(words[at - 1]) if at else ""
    if text in _NOTHING_INHERITED and _base(words[at - 1] if at else words[at]) == "env":
        environment.update(dict.fromkeys(table().variables))  # whatever the script, or its caller, has set
    if previous in _UNSETS and text.isidentifier():
        environment[text] = None
    before = {_base(word) for word in words[:at]}
    if text in _CLEAN and not before.isdisjoint(_OF_HPC):
        for name in table().variables:
            environment.setdefault(name, None)
    if previous == "-env" and "bsub" in before:
        _of_lsf(words[at], environment)
        return
    several = ("--export", "--env") if not before.isdisjoint(_SEVERAL_AT_ONCE) else ("--export",)
    exported = _option(words, at, several)
    if exported is not None and not text.startswith("--export "):
        if text.startswith("--export") and not before.isdisjoint(_OF_SLURM):
            _left_out(plain(exported).split(","), "ALL", environment)
        _exports(exported, environment)
        return
    word = _option(words, at, ("--env",)) if text.startswith("--env=") else words[at]
    found = None if word is None else _ASSIGNMENT.match(plain(word))
    wrapped = (
        (previous in ("-e", "-E", "--env", "-x") and previous not in several)
        or text.startswith("--env=")
        or _only_assignments(words, at)
    )
    if found and wrapped and word is not None:
        environment[found[1]] = behind(word, found.end())


_ENV_FILE = ("--env-file",)
_LINE_OF_ENV_FILE = lazy_pattern(r"(?m)^[ \t]*(?P<said>[^\s=#][^\n=]*=[^\r\n]*)")
"""A variable in a file that Docker reads: the value is the rest of the line (docker/cli, pkg/kvfile/kvfile.go)."""


def with_env_files(words: list[Text], read: Callable[[Text], Text | None]) -> list[Text]:
    """Return a command with `-e` for each variable of the files that `--env-file` names to a container's program; what
    the command itself gives counts more, wherever it stands.
    """
    at = next((n for n, word in enumerate(words) if _base(word) in _RUNS_CONTAINERS), len(words))
    names = [_option(words, n, _ENV_FILE) for n in range(at, len(words))]
    given: list[Text] = []
    for text in (read(name) for name in names if name is not None):
        for found in _LINE_OF_ENV_FILE.finditer(plain(text or ())):
            said = between(text or (), *found.span("said"))
            given += [(replace(said[0], text="-e"),), said]
    return [*words[: at + 2], *given, *words[at + 2 :]] if given else words


_RUNS_CONTAINERS = ("docker", "podman", "nerdctl")


_MOUNT = ("docker", "podman", "nerdctl", "apptainer", "singularity", "enroot", "srun")
_MOUNTS = ("-v", "--volume", "--mount", "-B", "--bind", "--container-mounts")
_FOLDERS = ("-w", "--workdir", "--pwd", "--container-workdir")
"""Options for the file system of a container: docker-run(1), podman-run(1), apptainer(1), NVIDIA/pyxis for srun."""

_BOUND = lazy_pattern(r"(?P<source>[^:,]*):(?P<target>/[^:,]*)(?::\w+)?")
_NAMED = lazy_pattern(r"(?:.*,)?(?:source|src)=(?P<source>[^,]*),(?:target|dst|destination)=(?P<target>/[^,]*)(?:,.*)?")


def container_of(words: Sequence[Text]) -> ContainerFiles | None:
    """Return the file system that a container is given paths of the tree in; None for any other command."""
    mounts: list[tuple[str, str]] = []
    folder = "/"
    first = next((number for number, word in enumerate(words) if _base(word) in _MOUNT), len(words))
    for number in range(first + 1, len(words)):
        given, place = _option(words, number, _MOUNTS), known(_option(words, number, _FOLDERS) or ()) or ""
        said = located(given or ()) or ""
        named = _NAMED.fullmatch(said)
        bound = [named] if named else filter(None, map(_BOUND.fullmatch, said.split(",")))
        mounts += [(posixpath.normpath(each["target"]), each["source"] or ".") for each in bound]
        folder = place if place.startswith("/") else folder
    return ContainerFiles(folder, tuple(mounts)) if mounts else None


def _runtime(word: Text, environment: Environment) -> None:
    """Read the environment of a Ray job, `{"env_vars": {"A": "b"}}`; if a part is not known, the rest still is."""
    section = _VARIABLES_OF_RAY.search(plain(word))
    for found in _PAIR_OF_JSON.finditer(plain(word), *section.span(1)) if section else ():
        environment[found["name"]] = between(word, *found.span("value"))
        environment[f"{OF_WORKERS}{found['name']}"] = environment[found["name"]]


def _only_assignments(words: Sequence[Text], at: int) -> bool:
    """Tell whether a word is an assignment right behind `env`, its options and other assignments."""
    while at > 0:
        at -= 1
        text = plain(words[at])
        if _base(words[at]) in ("env", "sudo"):
            return True
        previous = plain(words[at - 1]) if at else ""
        if not (_ASSIGNMENT.match(text) or text.startswith("-") or previous in _UNSETS):
            return False
    return False


def _left_out(named: Sequence[str], every: str, environment: Environment) -> None:
    """Take away the variables that a scheduler does not pass on: all but those that are named, without the word for
    `every` one (srun(1), bsub(1)).
    """
    if every not in named and not any(HOLE in each for each in named):
        environment.update(dict.fromkeys(each for each in table().variables if each not in named))


def _of_lsf(word: Text, environment: Environment) -> None:
    """Read `bsub -env "all, ~A, B=value"` (bsub(1))."""
    parts = [each.strip() for each in plain(word).split(",")]
    _left_out(parts, "all", environment)
    environment.update(dict.fromkeys(each[1:] for each in parts if each.startswith("~")))
    _exports(word, environment)


def passed_on(words: Sequence[Text], environment: Mapping[str, Variable]) -> dict[str, Variable]:
    """Return the variables of a script that a container or a job gets although it inherits none, or gets by another
    name: `docker run -e NAME`, `qsub -v NAME,…`, `APPTAINERENV_NAME=…` (docker-run(1), qsub(1B), apptainer-exec(1)).
    """
    programs = {_base(word) for word in words}
    found: dict[str, Variable] = {}
    if not programs.isdisjoint(_OWN_ENVIRONMENT):
        return found
    if not programs.isdisjoint((*_RUNS_CONTAINERS, "qsub")):
        names = ("-v",) if "qsub" in programs else ("-e", "--env")
        values = (_option(words, number, names) for number in range(len(words)))
        asked = (name for value in values if value is not None for name in plain(value).split(","))
        found |= {name: environment[name] for name in asked if name in environment}
    for name, variable in environment.items() if not programs.isdisjoint(_OF_HPC) else ():
        inner = _OF_CONTAINER.fullmatch(name)
        found |= {inner[1]: variable} if inner else {}
    taken_away = {plain(word) for before, word in pairwise(words) if plain(before) in _UNSETS}
    return {name: variable for name, variable in found.items() if name not in taken_away}


def variables_of(environment: Environment, passed: Mapping[str, Variable]) -> dict[str, Variable]:
    """Return the variables that a command gives or takes away, but for what is passed on in spite of that."""
    return {
        name: passed.get(name, Variable(None, unset=True)) if text is None else Variable((text,), exported=True)
        for name, text in environment.items()
    }


_OF_CONTAINER = lazy_pattern(r"(?:APPTAINERENV|SINGULARITYENV)_(\w+)")


def _exports(word: Text, environment: Environment) -> None:
    at = 0
    for part in plain(word).split(","):
        blanks = len(part) - len(part.lstrip())
        found = _ASSIGNMENT.match(part.lstrip())
        if found:
            environment[found[1]] = between(word, at + blanks + found.end(), at + len(part))
        at += len(part) + 1


def _shell(
    name: str, words: Sequence[Text], body: Text | None, environment: Environment, fresh: bool
) -> InnerScript | None:
    """Read `bash -c TEXT NAME ARGUMENT …`, `bash FILE`, and `bash <<EOF`; None for `bash -n`, which only reads."""
    at, is_text = 0, False
    while at < len(words) and (text := plain(words[at])).startswith(("-", "+")):
        if re.fullmatch(r"-\w*n\w*", text):
            return None
        is_text = is_text or bool(re.fullmatch(r"-\w*c\w*", text))
        at += 2 if _SHELL_OPTION_WITH_VALUE.fullmatch(text) else 1
    rest = words[at:]
    if is_text:
        named = rest[1] if len(rest) > 1 else None
        return InnerScript(rest[0], None, list(rest[2:]), environment, fresh, name, named) if rest else None
    if rest:
        return InnerScript(None, rest[0], list(rest[1:]), environment, fresh, name)
    return InnerScript(body, None, [], environment, fresh, name) if body is not None else None


_SHELL_OPTION_WITH_VALUE = lazy_pattern(r"[-+]\w*[oO]|--(?:rcfile|init-file)")
"""Options of bash with a value behind them (bash(1)), where these end a word of several."""

_BATCH_FILE = lazy_pattern(r".*\.(?:sh|bash|sbatch|slurm|sub|job|pbs|lsf|bsub|sge)")


def _batch(
    words: Sequence[Text], body: Text | None, environment: Environment, is_script: Callable[[Text], bool]
) -> InnerScript | None:
    """Read `sbatch FILE`, `sbatch --wrap TEXT`, `sbatch <<EOF`, `bsub "TEXT"`; None where a command follows (`bsub
    torchrun …`).
    """
    fresh = _base(words[0]) not in _INHERIT and not any(known(word) == "-V" for word in words)
    # (A resource request with blanks in it is followed by the command, or the job is read from a file.)
    line = words[-1] if _base(words[0]) in _TAKE_COMMAND_LINE and " " in plain(words[-1]).strip() else None
    wrapped = None
    for number, word in enumerate(words[1:], 1):
        if is_launcher(_base(word) or ""):
            return None
        _read_environment(words, number, environment)
        if plain(words[number - 1]) == "-v":
            _exports(word, environment)
        wrapped = _option(words, number, ("--wrap",)) or wrapped
        is_file = not plain(word).startswith("-") and (_BATCH_FILE.fullmatch(plain(word)) or is_script(word))
        if wrapped is None and is_file and word is not line:
            return InnerScript(None, word, list(words[number + 1 :]), environment, fresh)
    text = wrapped or body or line
    return InnerScript(text, None, [], environment, fresh) if text is not None else None


def starts_ray_cluster(words: Sequence[Text]) -> bool:
    """Tell whether a command starts the cluster's first node, where its jobs run."""
    return _says(words, "ray", "start") and any(known(word) == "--head" for word in words)


def submits_ray_job(words: Sequence[Text]) -> bool:
    """Tell whether a command hands a job to a cluster."""
    return _says(words, "ray", "job", "submit")


def exported_late(state: State, environment: Mapping[str, Variable]) -> tuple[tuple[str, Span], ...]:
    """Return the variables that a script has exported since it started the cluster, and that a job does not have."""
    if state.cluster is None:
        return ()
    return tuple(
        (name, each.written.span)
        for name, each in state.variables.items()
        if each.exported and each.written is not None and name not in environment
    )


def _says(words: Sequence[Text], *names: str) -> bool:
    return [known(word) for word in words[: len(names)]] == list(names)


def text_of_file(name: Text, script: str, sources: Sources, state: State) -> Text | None:
    """Return the text of a script file; None where the file is not found, or its text is not known."""
    said = plain(name)
    if (written := state.written_as(name)) is not None:
        return state.files[written]
    path = path_of(located(name), script, sources, state.folder, state.container)
    if path is None:  # (of data, the end of a path elsewhere is the name of any file)
        path = (_elsewhere if _BATCH_FILE.fullmatch(said) else _in_image)(name, script, sources)
    text = None if path is None else sources.text_or_none(path)
    return None if path is None or text is None else of_file(path, text)


_MOST_FILES = 32
_MOST_FOLDERS = 64


def texts_of_files(name: Text, script: str, sources: Sources, state: State) -> list[Text]:
    """Return the texts of the tree's script files that a name may mean of which a part is not known."""
    said = _as_seen(name)
    if "/" not in said.partition(HOLE)[0] or _BATCH_FILE.fullmatch(said) is None:
        return []
    texts = [(path, sources.text_or_none(path)) for path in files_meant(name, script, state.folder)]
    return [of_file(path, text) for path, text in texts if text]


def files_meant(name: Text, script: str, folder: str | None) -> list[str]:
    """Return the tree's files that a name may mean of which a part is not known: those in the folder, or with the
    beginning, that it says itself. There are none where they are many.
    """
    said = _as_seen(name)
    inside, slash, begin = said.partition(HOLE)[0].rpartition("/")
    written = "".join(piece.text for piece in name if not piece.stands).partition(HOLE)[0]
    if not (slash or begin) or not re.search(r"\w", written):
        return []
    parts = re.split(f"{HOLE}+", begin + said[len(inside) + len(slash) + len(begin) :])
    fits = re.compile(".+".join(map(re.escape, parts)))
    for place in (*([] if folder is None else [folder]), *above(script)):
        root = posixpath.normpath(posixpath.join(place, inside))
        inner = islice(walk(root), _MOST_FOLDERS)
        paths = [posixpath.normpath(posixpath.join(at, each)) for at, _, names in inner for each in names]
        # (A script does not read itself.)
        own = {posixpath.normpath(each) for each in (script, *(piece.path for piece in name))}
        found = sorted(each for each in paths if each not in own and fits.fullmatch(posixpath.relpath(each, root)))
        if found:
            return found if len(found) <= _MOST_FILES else []
    return []


def _as_seen(name: Text) -> str:
    return "".join(piece.stands or piece.text for piece in name)


def path_of(
    named: str | None, script: str, sources: Sources, folder: str | None, container: ContainerFiles | None = None
) -> str | None:
    """Find the file that a path in a script names: where a container has it from, else from the folder that the script
    changed to, lies in, or above.
    """
    if not named:
        return None
    for path in () if container is None else container.paths(posixpath.join(folder or "", named)):
        if (found := path_of(path, script, sources, None)) is not None:
            return found
    for place in (*([] if folder is None else [folder]), *above(script)):
        path = posixpath.normpath(posixpath.join(place, named))
        if path != posixpath.normpath(script) and sources.exists(path):
            return path
    return None


def _elsewhere(named: Text, script: str, sources: Sources) -> str | None:
    """Find the file of the tree that is named from a root which is not here (`/workspace/project/recipes/x.py`): where
    an image of the project has it from, else the one that the longest end of the path names from the tree's root. A
    name without its folder may be any file's.
    """
    said = posixpath.normpath(plain(named))
    if not said.startswith(_ROOT_ELSEWHERE):
        return None
    if (found := _in_image(named, script, sources)) is not None:
        return found
    parts = said.lstrip("/").split("/")
    ends = ("/".join(parts[start:]) for start in range(len(parts) - 1))
    paths = (posixpath.normpath(posixpath.join(above(script)[-1], end)) for end in ends if HOLE not in end)
    return next((each for each in paths if each != posixpath.normpath(script) and sources.exists(each)), None)


_ROOT_ELSEWHERE = ("/", "~/", HOLE)


def _in_image(named: Text, script: str, sources: Sources) -> str | None:
    """Find the file of the tree that an image of the project has under this path."""
    said = posixpath.normpath(plain(named))
    for image in (posixpath.join(folder, name) for folder in above(script) for name in _IMAGES):
        text = sources.text_or_none(image) if said.startswith(_ROOT_ELSEWHERE) and sources.exists(image) else None
        for path in () if text is None else files_of_image(text).paths(said):
            if (found := path_of(path, script, sources, None)) is not None:
                return found
    return None


_IMAGES = ("Dockerfile", "Containerfile", "docker/Dockerfile")
"""Where a project has the file that its image is built from; the folder above is what it is built with."""

_ROOTS = ("", "src")
"""Folders that modules are imported from, below the one that a program is started in."""


def program_of(launch: ShellLaunch, script: str, sources: Sources) -> str | None:
    """Find the file of the tree that a launch of this script starts."""
    program = launch.started.program
    if not launch.started.is_module:
        here = path_of(located(program), script, sources, launch.folder, launch.container)
        return here or _elsewhere(program, script, sources)
    name = (known(program) or "").replace(".", "/")
    files = (posixpath.join(root, each) for root in _ROOTS for each in (f"{name}.py", f"{name}/__main__.py"))
    found = (path_of(each, script, sources, launch.folder) for each in files if name)
    return next((each for each in found if each is not None), None)


def submits_job(found: LaunchedProgram) -> bool:
    """Tell whether a program is the script of Bridge that submits a job to Slurm."""
    return submits_recipe(_base(found.program) or "", map(plain, found.arguments))


def as_job(found: LaunchedProgram, environment: dict[str, Variable]) -> tuple[LaunchedProgram, dict[str, Variable]]:
    """Return what that script gives the job: the number of ranks, and of its own variables those that it names."""
    words = found.arguments

    def values(*names: str) -> list[Text]:
        return [value for at in range(len(words)) if (value := _option(words, at, names)) is not None]

    nodes, per_node = values("--nodes"), values("--gpus-per-node", "--gpus_per_node")
    found = replace(found, nodes=nodes[-1] if nodes else None, per_node=per_node[-1] if per_node else None)
    # (Who takes a variable away has to take away its name, as the script refuses names that are not set.)
    named = {plain(word): word[0] for word in values("--env")}
    return found, {name: replace(environment[name], written=at) for name, at in named.items() if name in environment}


def given_by(launch: ShellLaunch, environment: tuple[Setting, ...], ranks: Setting | None) -> Given:
    """Return the arguments, the environment and the number of ranks that a launch gives its program."""
    number = ranks.value.value if ranks is not None and isinstance(ranks.value, Known) else None
    words = tuple(map(_given_word, launch.started.arguments))
    return Given(words, environment, number if isinstance(number, int) else None)


def _given_word(text: Text) -> GivenWord:
    said = plain(text)
    name, equals, _ = said.partition("=")
    focus = around(behind(text, len(name) + 1)) if equals else None
    origin = Origin(around(text), "assigned", focus, option=option(text), obstacle=obstacle_in(text))
    if said.strip(HOLE) or not said or not any(piece.splits for piece in text):
        return GivenWord(said, origin)
    nothing = is_left_out(text)
    return GivenWord(said, origin, several=not nothing, nothing=nothing)
