"""The introspect tier: upstream's start-up validation in a process of its own, all its refusals, and what these say of
each finding.

With a source tree of Megatron-LM, the validation is that of its own command line, `validate_args`.
"""

from __future__ import annotations

import json
import os
import selectors
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import Known
from mfsdp_lint.dryrun import evidence
from mfsdp_lint.dryrun.containment import Contained
from mfsdp_lint.dryrun.evidence import TIER, confirmed_by, controls_of, inconclusive, is_of, pinned, with_a_checkpoint
from mfsdp_lint.dryrun.outcome import DONE, Failure, PlainSettings, RunOutcome, failure_from
from mfsdp_lint.dryrun.subject import KnownSettings
from mfsdp_lint.inputs.detect import with_core
from mfsdp_lint.inputs.detect.declared import ProjectFolders
from mfsdp_lint.inputs.detect.present import CORE, core_at
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.megatron.versions import MEGATRON_CORE, Target, UnknownVersion, nearest
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT, opposite
from mfsdp_lint.rules.check import Violation


class NoAnswer(Exception):
    """The process is gone, or was too slow; the message says which."""


class Validator:
    """Asks the process. `stood_in` are the packages that it does without, `pretended` those that it takes to be there.

    The process has the command line of the Megatron-LM in `tree`, if any: it is asked in the names of its flags.
    """

    def __init__(self, process: Any, timeout: float, tree: Tree | None) -> None:
        self._process, self._timeout, self._core = process, timeout, tree.target.core if tree else ""
        self._rest, self._asked = b"", 0
        what = tree.label if tree else "megatron-bridge"
        ready = self._read(f"importing {what} took more than {timeout:g} s")
        self.stood_in = tuple(ready["stood_in"])
        self.pretended = tuple(ready["pretended"])
        if failure := failure_from(ready["error"]):
            place = f" ({failure.where[-1]})" if failure.where else ""
            raise NoAnswer(f"{what} cannot be imported: {failure.message}{place}")

    def ask(self, settings: PlainSettings, given: KnownSettings) -> RunOutcome:
        """Ask validation about settings that were once those of `given`. Raises NoAnswer."""
        started = time.monotonic()
        self._asked += 1
        asked = question(settings, given.settings, self._core) if self._core else {"settings": dict(settings)}
        asked |= {"id": self._asked, "world_size": given.world_size}
        try:
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise NoAnswer("the process of start-up validation ended without an answer; --keep keeps its log") from None
        answer = self._read(f"no answer after {self._timeout:g} s")
        config, changed = answer.get("config", {}), answer.get("changed", {})
        if self._core:
            config = {path: value for name, said in config.items() for path, value in _meant(name, said)}
            changed = {
                path: [before, after]
                for name, values in changed.items()
                for (path, before), (_, after) in zip(*(list(_meant(name, value)) for value in values), strict=True)
            }
        failure = failure_from(answer["error"])
        return RunOutcome(
            stage=answer["stage"] if failure else DONE,
            failure=failure,
            no_field=tuple(answer.get("no_field", ())),
            left_out=tuple(answer.get("left_out", ())),
            changed=changed,
            config=config,
            seen=answer.get("seen", {}),
            seconds=time.monotonic() - started,
        )

    def _read(self, late: str) -> dict[str, Any]:
        deadline = time.monotonic() + self._timeout
        while b"\n" not in self._rest:
            with selectors.DefaultSelector() as selector:
                selector.register(self._process.stdout, selectors.EVENT_READ)
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise NoAnswer(late)
            piece = self._process.stdout.read1(65536)
            if not piece or len(self._rest) > 1 << 24:
                raise NoAnswer("the process of start-up validation ended without an answer; --keep keeps its log")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def validator(launch: Contained, target: Target, timeout: float, tree: Tree | None = None) -> Iterator[Validator]:
    """Start the process; the first answer takes as long as its imports. Raises NoAnswer.

    Where there is no Transformer Engine, validation is told that there is that of the target's release.
    """
    arguments = [nearest(target.bridge).te, *([os.path.abspath(tree.directory)] if tree else [])]
    process = launch.start(launch.command("validate", *arguments), output="validate.log", talk=True)
    try:
        yield Validator(process, timeout, tree)
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
    """Return the tree in a directory, to be imported with this version of torch, if there is one. Raises UsageError."""
    if not os.path.isfile(os.path.join(directory, ARGUMENTS)):
        raise UsageError(f"--megatron-lm: {directory} has no {ARGUMENTS}: name a checkout of Megatron-LM")
    found = core_at(ProjectFolders(()), os.path.join(directory, CORE))
    try:
        core = MEGATRON_CORE.version(found.older or found.core or "") if found else ""
    except UnknownVersion as error:
        raise UsageError(f"--megatron-lm: {directory}: {error}") from None
    if not core:
        raise UsageError(f"--megatron-lm: {directory}/{CORE} does not say which version it is")
    return Tree(directory, replace(with_core(core, directory), torch=torch and torch.partition("+")[0]))


def question(settings: PlainSettings, original: PlainSettings, core: str) -> dict[str, Any]:
    """Return the attributes of the parsed arguments that settings correspond to, as worker/validate.py takes them.

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
    # A flag that a recipe gives though only other versions of Megatron-LM have it, the parser shall refuse.
    foreign = {}
    by_name = {flag.lstrip("-").replace("-", "_"): flag for flag in reversed(list(known.every_flag))}
    for path in flags:
        section, _, name = path.partition(".")
        flag = by_name.get(name) if section == "args" and known.entry(path) is None else None
        if flag is not None and known.flag(flag, core) is None:
            foreign[path] = flag
    return {"settings": said, "attributes": {path: _attributes(path, core) for path in flags}, "foreign": foreign}


def _attributes(path: str, core: str) -> list[str]:
    """Return the attribute names that a setting may have; the names of this version's flags are first."""
    known = table()
    entry = known.entry(path)
    section, _, name = path.partition(".")
    names = entry.attributes if entry is not None else (name,) if section == "args" else ()
    return sorted(names, key=lambda name: name not in known.attributes(core))


def _meant(attribute: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the settings that an attribute of the parsed arguments sets, each with its value."""
    entries = table().by_attribute(attribute)
    for entry in entries:
        reverse = opposite(Known(value)) if entry.inverted else Known(value)
        yield entry.path, reverse.value if isinstance(reverse, Known) else value
    if not entries:
        yield f"args.{attribute}", value


Ask = Callable[[PlainSettings], RunOutcome]
"""Asks validation about settings."""

Judge = Callable[[PlainSettings], Sequence[Violation]]
"""Returns the violations of settings."""

_MOST_REFUSALS = 20


@dataclass(frozen=True, slots=True)
class Refusal:
    """Error of validation, the finding that foresaw it, and the settings that were refused."""

    failure: Failure
    violation: Violation | None
    settings: PlainSettings


@dataclass(frozen=True, slots=True)
class Validation:
    """All refusals, one after the other with each mistake taken out, the settings at the end, and their outcome."""

    refusals: tuple[Refusal, ...]
    settings: PlainSettings
    last: RunOutcome


def validate(settings: PlainSettings, violations: Sequence[Violation], ask: Ask, judge: Judge) -> Validation:
    """Remove mistake after mistake until validation passes, or refuses something that no rule knows."""
    outcome = ask(settings)
    refusals: list[Refusal] = []
    while outcome.failure is not None and outcome.conclusive and len(refusals) < _MOST_REFUSALS:
        failure = outcome.failure
        # The classes' defaults may be what is wrong, of which the settings say nothing.
        known = [*violations, *judge({**outcome.config, **settings})]
        foreseen = [violation for violation in known if is_of(violation, failure)]
        # The first of these findings that can be removed.
        tries = ((violation, _without(violation, failure, settings, violations, ask)) for violation in foreseen)
        violation, without = next(((each, found) for each, found in tries if found), (next(iter(foreseen), None), None))
        refusals.append(Refusal(failure, violation, settings))
        if without is None:
            break
        settings, outcome = without
    return Validation(tuple(refusals), settings, outcome)


def _without(
    violation: Violation, failure: Failure, settings: PlainSettings, others: Sequence[Violation], ask: Ask
) -> tuple[PlainSettings, RunOutcome] | None:
    """Return the settings without a mistake, and validation's new outcome; the other mistakes stay in, if possible."""
    mistakes = {path for other in others if other.rule is not violation.rule for path in other.witnesses}
    controls = sorted(controls_of(violation), key=lambda control: len(control.paths & mistakes))
    for control in controls:
        changed = control.applied(settings)
        if changed != settings:
            outcome = ask(changed)
            if outcome.failure is None or outcome.failure.message != failure.message:
                return changed, outcome
    return None


def confirm(violation: Violation, came_to: Validation, ask: Ask) -> Confirmation:
    """Decide one finding by start-up validation."""
    case = violation.case
    if case.showing.shows is not None:
        # It raises nothing: validation with the mistake, and without, decides it.
        if not came_to.last.passed:
            return inconclusive(f"start-up refuses something else before: {came_to.last.told}")
        bad = pinned(violation, came_to.settings)
        good = next((control.applied(bad) for control in controls_of(violation)), bad)
        if good == bad:
            return inconclusive(evidence.NO_CONTROL)
        return evidence.confirm_by_observation(violation, TIER, (bad, ask(bad)), (good, ask(good)))
    if case.error is None:
        return inconclusive("the rule knows no sign of it in this version")
    refusal = next((each for each in came_to.refusals if is_of(violation, each.failure)), None)
    if refusal is not None and came_to.last.passed:
        return Confirmation("confirmed", TIER, refusal.failure.message)
    if refusal is not None:
        return inconclusive(
            f"start-up refuses it without the mistake too: {came_to.last.told}", refusal.failure.message
        )
    if not came_to.last.passed:
        return inconclusive(f"start-up refuses something else before: {came_to.last.told}")
    # Another fix has removed it on the way, or it waits for a save.
    settings = with_a_checkpoint(violation, pinned(violation, came_to.settings))
    outcome = ask(settings)
    if not outcome.conclusive:
        return inconclusive(outcome.told)
    if not_given := sorted(outcome.not_given & set(violation.witnesses)):
        return inconclusive(f"this version has no {not_given[0]}, or not with this value")
    if outcome.failure is None:
        return Confirmation("refuted", TIER, "start-up validation let it pass")
    if not is_of(violation, outcome.failure):
        return inconclusive(f"the error is not the rule's: {outcome.failure.message}")
    without = _without(violation, outcome.failure, settings, (), ask)
    if without is None or not without[1].passed:
        return inconclusive(
            f"start-up refuses it without the mistake too: {(without[1] if without else outcome).told}", outcome.told
        )
    return confirmed_by(violation, TIER, outcome.failure.message)
