"""Verdicts of the rules and of start-up on configurations with no file behind them: the library's front door.

A launcher that calls the guard before it trains gets one error with all mistakes, instead of upstream's first
assertion.

Nothing of a configuration is imported or called: an object is walked by its fields. Enum members are their name, dtypes
their name ("torch.bfloat16"), functions `<function module.name>`, tuples lists; `ddp.__class__` is the dotted name of
the class of `ddp`. What has no such spelling is only known to be set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from mfsdp_lint.core.finding import SEVERITIES, Finding, Severity
from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.recipe import NamedWrite, Origin, Setting, Settings, Span, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Plain, Scalar, Value
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.front_ends import front_end as front_end_named
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE
from mfsdp_lint.megatron.versions import Target, nearest, resolve_target
from mfsdp_lint.rules.index import RuleIndex, SettingsViews, agenda
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Case, Rule, stronger
from mfsdp_lint.rules.writes import broken

CONFIGURATION = "<configuration>"
"""The path of what lies in no file."""

GIVEN = Origin(Span(CONFIGURATION, 1, 1, 1, 1), "assigned")
"""The origin of every given setting."""

ENVIRONMENT = "env."
VARIABLES = "env_vars"
"""The recipe's own defaults for environment variables: one setting, whose value is a dictionary."""

_TWINS = {"rerun_state_machine.check_for_nan_in_loss": "ddp.check_for_nan_in_grad"}
"""Settings that a selection of fields leaves out, with the one that tells: one flag of Megatron-LM's command line
(check_for_nan_in_loss_and_grad) stands for both, and recipes switch them together."""

_OF_INFERENCE = frozenset({"model.inference_cuda_graph_scope"})
"""Fields of the model that training leaves unset, but start-up looks at."""

_SCALARS = frozenset({bool, str, int, float, type(None)})
_DEEPEST = 8
_MOST_ITEMS = 10_000


class NotAConfiguration(ValueError):
    """A value that no settings can be read from."""


def variant_of(configuration: object, *, world_size: int | None = None, partial_environment: bool = False) -> Variant:
    """Read the settings of a mapping (dotted names, nested mappings, or both) or of an object with fields.

    A setting that is not given is unknown (but see _TWINS and _OF_INFERENCE), and so is the number of ranks. An
    environment variable that is not given is unset, or with `partial_environment` unknown. Raises NotAConfiguration.
    """
    parts = _parts(configuration)
    values: dict[str, Value | Scalar] = dict(parts)  # type: ignore[arg-type]  # most are scalars, which stay
    if world_size is not None:
        values.setdefault(WORLD_SIZE, world_size)
    for name in [name for name, given in parts.items() if type(given) not in _SCALARS]:
        del values[name]
        for path, value in _below(name, parts[name], 0, ()):
            # What is given twice, by its path and in its section, is what is given last.
            if path not in values or (value != NOT_NONE and _is_before(path, name, parts)):
                values[path] = value
    for section in _sections(tuple(values)):
        # What has a name or is None has no fields: those that are given are left over from what it was before.
        of_section = values.setdefault(section, NOT_NONE)
        if section != VARIABLES and (type(of_section) in _SCALARS or isinstance(of_section, Known)):
            values = {path: value for path, value in values.items() if not path.startswith(f"{section}.")}
    return Variant(GivenSettings(values, partial_environment))


@lru_cache(maxsize=64)
def _sections(paths: tuple[str, ...]) -> frozenset[str]:
    """Return the sections of the given settings.

    It is cached: a caller with many configurations gives the same settings each time.
    """
    return frozenset(path.partition(".")[0] for path in paths if "." in path) - {"env", "run"}


@lru_cache(maxsize=64)
def _named_writes(paths: tuple[str, ...]) -> tuple[NamedWrite, ...]:
    """Return the writes of the given settings, cached as their sections are."""
    return tuple(NamedWrite(path, GIVEN) for path in paths)


class GivenSettings(Settings):
    """Settings by path, which nobody is known to have written. A scalar stands for itself until it is asked for."""

    __slots__ = ("_given", "_known", "_partial_environment")

    def __init__(self, given: Mapping[str, Value | Scalar], partial_environment: bool) -> None:
        self._given = given
        self._known: dict[str, Value] = {}
        self._partial_environment = partial_environment

    def value(self, path: str) -> Value:
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._value(path)
        return known

    def get(self, path: str) -> Setting | None:
        return Setting(path, self.value(path)) if path in self._given else None

    def _value(self, path: str) -> Value:
        if path in self._given:
            given = self._given[path]
            return Known(given) if type(given) in _SCALARS else given  # type: ignore[arg-type, return-value]
        if path.startswith(ENVIRONMENT):
            return UNKNOWN if self._partial_environment else NONE
        if path in _OF_INFERENCE:
            return NONE
        return self.value(_TWINS[path]) if path in _TWINS else UNKNOWN

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def named(self) -> tuple[NamedWrite, ...]:
        return _named_writes(tuple(self._given))


def _parts(configuration: object) -> Mapping[str, object]:
    """Return the parts of a configuration, by name. Raises NotAConfiguration."""
    parts = configuration if isinstance(configuration, Mapping) else fields_of(configuration)
    if parts is None:
        raise NotAConfiguration(f"expected a mapping of settings or a configuration, not {_named(type(configuration))}")
    for name in parts:
        if not isinstance(name, str) or not name:
            raise NotAConfiguration(f"{name!r} is not the name of a setting")
    return parts


def _is_before(path: str, name: str, parts: Mapping[str, object]) -> bool:
    """Tell whether one of two parts is given before the other; the part before gives a path that is no part itself."""
    return path not in parts or next(each for each in parts if each in (path, name)) == path


def _below(path: str, value: object, depth: int, above: tuple[int, ...]) -> Iterator[tuple[str, Value]]:
    plain = plain_of(value, depth)
    if plain is not None and (not isinstance(value, Mapping) or path == VARIABLES):
        yield path, plain
        return
    if path != "env":  # the section of the environment is no setting
        # A mapping below a section may be a value that upstream looks keys up in, as well as a configuration.
        yield path, plain if plain is not None and "." in path else NOT_NONE
    if depth == _DEEPEST or id(value) in above:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(key, str):
                yield from _below(f"{path}.{key}", inner, depth + 1, (*above, id(value)))
    elif (found := fields_of(value)) is not None:
        yield f"{path}.__class__", Known(_named(type(value)))
        for key, inner in found.items():
            yield from _below(f"{path}.{key}", inner, depth + 1, (*above, id(value)))


def fields_of(value: object) -> Mapping[str, object] | None:
    """Return the parts of an object: its dataclass fields, and other attributes written into it; None without any.

    The dry run's worker, which can import nothing of ours, walks by the same rule (dryrun/worker/execute.py).
    """
    if isinstance(value, type):
        return None
    own: dict[str, object] = getattr(value, "__dict__", {})
    names = [field.name for field in fields(value)] if is_dataclass(value) else []
    if not names and not own:
        return None
    found = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return found | {name: each for name, each in own.items() if not name.startswith("_")}


def plain_of(value: object, depth: int = 0) -> Value | None:
    """Return a value without fields of its own as a plain value; None for one with fields, or without a spelling."""
    match value:
        case Enum():
            return Known(value.name)
        case None | bool() | int() | float() | str():
            return Known(value)
        case FunctionType() | BuiltinFunctionType() | MethodType():
            return Known(f"<function {value.__module__}.{value.__qualname__}>")
        case list() | tuple() | set() | frozenset() | Mapping():
            return _container(value, depth)
    kind = type(value)
    return Known(str(value)) if (kind.__module__, kind.__name__) == ("torch", "dtype") else None


def _container(value: Any, depth: int) -> Value | None:
    if depth >= _DEEPEST or len(value) > _MOST_ITEMS:
        return NOT_NONE
    items: list[Plain] = []
    for item in value.values() if isinstance(value, Mapping) else value:
        known = plain_of(item, depth + 1)
        if not isinstance(known, Known):
            return NOT_NONE
        items.append(known.value)
    return Known(dict(zip(map(str, value), items, strict=True)) if isinstance(value, Mapping) else items)


def _named(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings on a configuration, worst first, and the settings that start-up changes.

    `will_run` has the new value of each setting that is given, and known to be changed.
    """

    findings: tuple[Finding, ...]
    will_run: Mapping[str, Plain]


def judge(
    configuration: object,
    *,
    target: Target | str | None = None,
    world_size: int | None = None,
    partial_environment: bool = False,
    front_end: FrontEnd | str = BRIDGE,
) -> Verdict:
    """Judge a mapping of settings (dotted or nested) or a live `ConfigContainer`, of which nothing is imported or run.

    `target` is a Megatron-Bridge version ("0.4.2", "0.5", "head"); without one, the newest on the package index. A
    setting that is not given is unknown. An environment variable (`env.NAME`) that is not given is unset, or unknown
    with `partial_environment`: pass `{"env": dict(os.environ), …}` for what the run will see. `front_end` is
    "megatron-lm" for settings of Megatron-LM's own command line.

    Raises NotAConfiguration, UnknownVersion and UnknownFrontEnd (all ValueError).
    """
    known = target if isinstance(target, Target) else resolve_target(target)
    variant = variant_of(configuration, world_size=world_size, partial_environment=partial_environment)
    who = front_end if isinstance(front_end, FrontEnd) else front_end_named(front_end)
    return bench(known, who)(variant)


@cache
def bench(target: Target, front_end: FrontEnd = BRIDGE) -> Callable[[Variant], Verdict]:
    """Return the judge at a target, by the rules that are on by default.

    Where the target names no Transformer Engine, it is the one that the Megatron-Bridge release pins.
    """
    rules = [rule for rule in load_rules() if rule.is_on]
    site = Site(target if target.te else replace(target, te=nearest(target.bridge).te), front_end)
    questions, above = agenda(rules, site), stronger(rules)
    return lambda variant: _verdict(SettingsViews(variant, site), questions, above)


def _verdict(views: SettingsViews, questions: RuleIndex, above: Mapping[str, frozenset[str]]) -> Verdict:
    fired = {rule.code: (rule, case) for rule, case in questions.broken(views)}
    findings = [
        _finding(rule, case, views.of(case.sees)) for rule, case in fired.values() if above[rule.code].isdisjoint(fired)
    ]
    for rule in questions.of_writes:
        findings += [_finding(rule, case, seen) for case, seen, _ in broken(rule, views, lambda _: True)]
    return Verdict(
        tuple(sorted(findings, key=lambda found: (SEVERITIES.index(found.severity), found.code, found.message))),
        {path: new.after.value for path, new in views.resolution.changed().items() if isinstance(new.after, Known)},
    )


def _finding(rule: Rule, case: Case, seen: Variant) -> Finding:
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=case.severity,
        stage=case.stage,
        message=case.message.of(seen),
        span=GIVEN.span,
        consequence=case.consequence.of(seen),
        raises=case.error.of(seen) if case.error else None,
        enforced_by=case.enforcer,
    )


class Refused(ValueError):
    """A configuration that must not run. `findings` are why, the worst first; the message tells each."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        count = "1 problem" if len(findings) == 1 else f"{len(findings)} problems"
        super().__init__("\n".join([f"mfsdp-lint: {count}", *map(_told, findings)]))


def guard(
    configuration: object,
    *,
    target: Target | str | None = None,
    world_size: int | None = None,
    front_end: FrontEnd | str = BRIDGE,
    fail_on: Severity = "error",
) -> Verdict:
    """Judge a configuration as `judge` does; environment variables that are not given are unknown.

    Returns the verdict where no finding is as severe as `fail_on`. Raises Refused, and the errors that `judge` raises.
    """
    verdict = judge(configuration, target=target, world_size=world_size, partial_environment=True, front_end=front_end)
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    found = [finding for finding in verdict.findings if finding.severity in failing]
    if found:
        raise Refused(found)
    return verdict


def _told(finding: Finding) -> str:
    happens = f": {finding.consequence}" if finding.consequence else ""
    return f"  {finding.severity} {finding.code} {finding.message}{happens}"
