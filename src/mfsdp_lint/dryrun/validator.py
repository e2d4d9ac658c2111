"""The introspect tier: one process that answers what upstream's start-up validation says of settings.

With a source tree of Megatron-LM, the validation is that of its own command line, `validate_args`.
"""

from __future__ import annotations

import json
import os
import selectors
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import Known
from mfsdp_lint.dryrun.containment import Contained
from mfsdp_lint.dryrun.outcome import DONE, Failure, PlainSettings, RunOutcome, failure_from
from mfsdp_lint.dryrun.subject import KnownSettings
from mfsdp_lint.inputs.detect import with_core
from mfsdp_lint.inputs.detect.places import ProjectFolders
from mfsdp_lint.inputs.detect.present import CORE, core_at
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.megatron.versions.target import Target, UnknownVersion, core_version, nearest
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT, opposite

_LONGEST_ANSWER = 1 << 24


class NoAnswer(Exception):
    """The process is gone, or was too slow; the message says which."""


class Validator:
    """Asks the process. `stood_in` are the packages that it does without, `pretended` those that it takes to be there.

    With `core`, the process has the command line of that Megatron-LM: it is asked in the names of its flags.
    """

    def __init__(self, process: Any, timeout: float, what: str, core: str) -> None:
        self._process = process
        self._core = core
        self._timeout = timeout
        self._rest = b""
        self._asked = 0
        ready = self._read(timeout, f"importing {what} took more than {timeout:g} s")
        self.stood_in = tuple(ready["stood_in"])
        self.pretended = tuple(ready["pretended"])
        if failure := failure_from(ready["error"]):
            place = f" ({failure.where[-1]})" if failure.where else ""
            raise NoAnswer(f"{what} cannot be imported: {failure.message}{place}")

    def ask(self, settings: PlainSettings, given: KnownSettings) -> RunOutcome:
        """Ask validation about settings that were once those of `given`. Raises NoAnswer."""
        if not self._core:
            return self._answer({"settings": dict(settings)}, given.world_size)
        outcome = self._answer(question(settings, given.settings, self._core), given.world_size)
        return replace(
            outcome,
            config={path: value for name, said in outcome.config.items() for path, value in _meant(name, said)},
            changed={
                path: [before, after]
                for name, values in outcome.changed.items()
                for (path, before), (_, after) in zip(*(list(_meant(name, value)) for value in values), strict=True)
            },
        )

    def _answer(self, asked: Mapping[str, Any], world_size: int) -> RunOutcome:
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
        return RunOutcome(
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


def validator(launch: Contained, transformer_engine: str, timeout: float) -> AbstractContextManager[Validator]:
    """Start the process; the first answer takes as long as its imports. Raises NoAnswer.

    Where there is no Transformer Engine, validation is told that there is this version.
    """
    return talking(launch, "introspect", transformer_engine, timeout=timeout)


@contextmanager
def talking(
    launch: Contained, module: str, *arguments: str, timeout: float, what: str = "megatron-bridge", core: str = ""
) -> Iterator[Validator]:
    """Start a module of the worker that validates with `what`. Raises NoAnswer."""
    process = launch.start(launch.command(module, *arguments), output=f"{module}.log", talk=True)
    try:
        yield Validator(process, timeout, what, core)
    finally:
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):  # what was not sent yet is sent now, to nobody
                pipe.close()
        process.kill()
        process.wait()


ARGUMENTS = "megatron/training/arguments.py"

_NOT_GIVEN = object()


@dataclass(frozen=True, slots=True)
class Tree:
    """A source tree of Megatron-LM, and the versions that recipes are judged for."""

    directory: str
    target: Target

    @property
    def label(self) -> str:
        """`Megatron-LM in ../Megatron-LM (megatron-core 0.16.1)`."""
        return f"Megatron-LM in {self.directory} (megatron-core {self.target.core})"


def tree_at(directory: str, torch: str | None = None) -> Tree:
    """Return the tree in a directory, to be imported with this version of torch. Raises UsageError where there is
    none.
    """
    if not os.path.isfile(os.path.join(directory, ARGUMENTS)):
        raise UsageError(f"--megatron-lm: {directory} has no {ARGUMENTS}: name a checkout of Megatron-LM")
    found = core_at(ProjectFolders(()), os.path.join(directory, CORE))
    try:
        core = core_version(found.older or found.core or "") if found else ""
    except UnknownVersion as error:
        raise UsageError(f"--megatron-lm: {directory}: {error}") from None
    if not core:
        raise UsageError(f"--megatron-lm: {directory}/{CORE} does not say which version it is")
    return Tree(directory, replace(with_core(core, directory), torch=torch and torch.partition("+")[0]))


def question(settings: PlainSettings, original: PlainSettings, core: str) -> dict[str, Any]:
    """Return the attributes of the parsed arguments that settings correspond to, as worker/validate_args.py takes
    them.

    Where one flag sets several settings and only some of them have changed, the others follow.
    """
    known = table()
    together: dict[str, list[str]] = {}
    for path in {**original, **settings}:
        together.setdefault(next(iter(_attributes(path, core)), path), []).append(path)
    said: dict[str, Any] = {}
    for paths in together.values():
        changed = [path for path in paths if settings.get(path, _NOT_GIVEN) != original.get(path, _NOT_GIVEN)]
        said |= {path: settings[path] for path in changed or paths if path in settings}
    flags = [path for path in said if not path.startswith(ENVIRONMENT)]
    for path in flags:
        entry = known.entry(path)
        if entry is not None and entry.inverted and isinstance(said[path], bool):
            said[path] = not said[path]
    return {
        "settings": said,
        "attributes": {path: _attributes(path, core) for path in flags},
        "foreign": {path: flag for path in flags if (flag := _of_another_version(path, core))},
    }


def _attributes(path: str, core: str) -> list[str]:
    """Return the attribute names that a setting may have; the names of this version's flags are first."""
    known = table()
    entry = known.entry(path)
    section, _, name = path.partition(".")
    names = entry.attributes if entry is not None else (name,) if section == "args" else ()
    return sorted(names, key=lambda name: name not in known.attributes(core))


def _of_another_version(path: str, core: str) -> str | None:
    """Return the flag that a recipe gives though only other versions of Megatron-LM have it: the parser shall refuse
    it.
    """
    known = table()
    section, _, name = path.partition(".")
    if section != "args" or known.entry(path) is not None:
        return None
    flag = next((flag for flag in known.every_flag if flag.lstrip("-").replace("-", "_") == name), None)
    return flag if flag is not None and known.flag(flag, core) is None else None


def _meant(attribute: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the settings that an attribute of the parsed arguments sets, each with its value."""
    entries = table().by_attribute(attribute)
    for entry in entries:
        reverse = opposite(Known(value)) if entry.inverted else Known(value)
        yield entry.path, reverse.value if isinstance(reverse, Known) else value
    if not entries:
        yield f"args.{attribute}", value


def command_lines(launch: Contained, tree: Tree, timeout: float) -> AbstractContextManager[Validator]:
    """Start the process; the first answer takes as long as its imports. Raises NoAnswer."""
    arguments = nearest(tree.target.bridge).te, os.path.abspath(tree.directory)
    return talking(launch, "validate_args", *arguments, timeout=timeout, what=tree.label, core=tree.target.core)
