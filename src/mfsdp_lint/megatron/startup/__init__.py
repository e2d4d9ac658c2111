"""Steps of a framework's start-up on a configuration: ordered, and read from data (startup.yaml).

A step is

    - name: Megatron-FSDP works with the distributed optimizer   the effect, for people
      phase: validation                                          update, validation or wrap
      versions: ">=0.5"                                          where, as in the rules (default: everywhere)
      when: dist.use_megatron_fsdp or ddp.use_megatron_fsdp      the rules' condition language (default: always)
      set: {ddp.use_distributed_optimizer: true}                 the settings to overwrite, and their values
      evidence: {"0.5.1": "bridge src/…/config.py:1116"}         where upstream does it
      steps: [...]                                               further steps in that case, in order

and has the name, the phase and the evidence of the step that it stands in, unless it has its own. A value in `set` is
a literal, or `{from: setting}`, `{value: "expression"}` (the rules' expressions), `{list: setting}` (None is an empty
list, a text a list of one, or with `split: ","` of its parts; `without` leaves one out, `with` adds one that is not
there) or `{unknown: true}`.

Three more kinds of step overwrite many settings at once, by the generated tables (startup-tables.json, made by
scripts/make_startup_tables.py): `copy: mixed_precision` with `to: [model, ddp]` copies the fields that both have
(those that are not None, with `unless_none`); `rows: mixed_precision` fills in a section with the configuration of the
name that it is set to; `spread: env_vars` with `into: env` copies variables that are not set there yet, as text.

`run.world_size` is the number of ranks. Names under `startup.` are upstream's own intermediate results, and the kinds
of sections: None, a name, or "object".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args

from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.store import Folder, store
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Plain, Value, join, possible
from mfsdp_lint.megatron.conditions import Site, parse_applicability
from mfsdp_lint.megatron.conditions.language import Condition, ConditionError, deferred, parse, parse_value
from mfsdp_lint.megatron.conditions.nodes import Expression, Undefined
from mfsdp_lint.megatron.versions import Target, column_of, numbers
from mfsdp_lint.megatron.versions import nearest as release_of

Phase = Literal["update", "validation", "wrap"]
"""`update`: before start-up validation; `validation`: in it; `wrap`: when the model is wrapped, after start-up."""

Read = Callable[[str], Value]
"""The value of a setting as it is at this point of the start-up."""

OBJECT = "object"
"""The value of `startup.SECTION` for a section that is neither None nor a name."""

_EVIDENCE = lazy_pattern(r"(bridge|megatron-lm) (\S+):(\d+)")
_MOST_COMBINATIONS = 64
"""Of the possible values of an expression's operands; beyond, the result is unknown."""


class StartupError(ValueError):
    """Start-up data that does not have the form."""


@dataclass(frozen=True, slots=True)
class UpstreamLine:
    """A line of upstream's source: the release ("megatron-bridge 0.4.2"), and the path from the import root."""

    release: str
    path: str
    line: int


Source = Callable[[Read], Value]
"""The value that a step writes: of the settings as they are at this point."""


def _from(path: str) -> Source:
    """Return the value of another setting."""
    return lambda read: read(path)


def _worked(expression: Expression) -> Source:
    """Return the value of an expression; unknown if it makes no sense, which upstream refuses to run with."""
    paths = tuple(dict.fromkeys(expression.paths()))

    def at(read: Read) -> Value:
        options = [possible(read(path)) for path in paths]
        known = [values for values in options if values is not None]
        if len(known) < len(options):
            return UNKNOWN
        found = []
        for number, values in enumerate(itertools.product(*known)):
            if number == _MOST_COMBINATIONS:
                return UNKNOWN
            result = expression.of(dict(zip(paths, values, strict=True)))
            found.append(UNKNOWN if isinstance(result, Undefined) else Known(result))
        return join(found)

    return at


def _as_list(path: str, separator: str, without: str, added: str) -> Source:
    """Return a setting that may be one thing or a list, as a list, without one of its elements, or with one more."""

    def listed(value: Plain) -> list[Plain]:
        if isinstance(value, str) and separator:
            return list(value.split(separator))
        return [] if value is None else value if isinstance(value, list) else [value]

    def at(read: Read) -> Value:
        options = possible(read(path))
        if options is None:
            return UNKNOWN
        kept = [[item for item in listed(option) if item != without] for option in options]
        return join(Known([*each, added] if added and added not in each else each) for each in kept)

    return at


def _row_field(path: str, rows: Mapping[str, Mapping[str, Plain]], column: str, default: Plain) -> Source:
    """Return a field of the configuration of a given name; unknown for a name that upstream does not know."""

    @cache
    def of(name: str) -> Value:
        row = rows.get(name.replace("-", "_"))
        return UNKNOWN if row is None else Known(row.get(column, default))

    def at(read: Read) -> Value:
        value = read(path)
        if type(value) is Known:
            return of(value.value) if isinstance(value.value, str) else UNKNOWN
        names = possible(value)
        if names is None:
            return UNKNOWN
        return join(of(name) for name in names if isinstance(name, str) and name != OBJECT)

    return at


@dataclass(frozen=True, slots=True)
class StartupStep:
    """A step of start-up, at one site: where `when` holds, the writes, the copies, then the steps.

    `copies` are pairs of a target and its source; a copy is made if its value is not None.

    With `uncertain`, a version that is not known decides whether upstream takes the step at all. `spread` names a
    setting that holds settings, and the section that gets those that it lacks.
    """

    name: str
    phase: Phase
    when: Condition | None
    writes: tuple[tuple[str, Source], ...]
    steps: tuple[StartupStep, ...]
    place: UpstreamLine | None
    uncertain: bool = False
    spread: tuple[str, str] | None = None
    copies: tuple[tuple[str, str], ...] = ()


@cache
def startup(target: Target, front_end: FrontEnd = BRIDGE) -> tuple[StartupStep, ...]:
    """Return the steps of start-up, in its order, at a target. Empty if the front-end does not go through it."""
    if not front_end.starts_up:
        return ()
    return steps_of(raw_steps(), Folder(store(), "startup-tables"), Site(target, front_end), checked=True)


def steps_of(
    raw: Mapping[str, Any], tables: Mapping[str, Any], site: Site, *, checked: bool = False
) -> tuple[StartupStep, ...]:
    """Read the steps from plain data. Raises StartupError if it has not the form; conditions that are `checked`
    already are parsed when they are first needed.
    """
    steps = raw.get(site.front_end.runs or site.front_end.name, [])
    return tuple(_steps(steps, _Here(site, tables, checked), None))


@cache
def rare() -> frozenset[str]:
    """Return the fields that only a few classes have: if nothing is known of them, they are taken to be absent."""
    return frozenset(raw_steps().get("rare", ()))


@dataclass(frozen=True, slots=True)
class _Here:
    """The site that steps are read for, and the generated tables of its version."""

    site: Site
    every_table: Mapping[str, Any]
    checked: bool
    _tables: dict[str, Any] = field(default_factory=dict)

    def tables(self, kind: str, section: str) -> Any:
        if not self._tables:
            self._tables.update(self.every_table[nearest(self.site.target.bridge, tuple(self.every_table))])
        return self._tables[kind][section]

    def condition(self, text: str, name: str) -> Condition:
        if self.checked:
            return deferred(text, {})
        try:
            return parse(text, {})
        except ConditionError as problem:
            raise StartupError(f"{name}: {problem}") from None


def _steps(data: list[Mapping[str, Any]], here: _Here, above: StartupStep | None) -> Iterator[StartupStep]:
    for item in data:
        fields = dict(item)
        name = fields.pop("name", above.name if above else "")
        phase = fields.pop("phase", above.phase if above else None)
        if phase not in get_args(Phase):
            raise StartupError(f"{name}: there is no phase {phase}")
        applies = parse_applicability(fields.pop("versions", "")).truth(here.site)
        if applies is False:
            continue
        when = fields.pop("when", None)
        place = _place(fields.pop("evidence", {}), here.site) or (above.place if above else None)
        writes = [
            *_rows(fields, here),
            *((path, _source(value, path)) for path, value in fields.pop("set", {}).items()),
        ]
        step = StartupStep(
            name, phase, None if when is None else here.condition(when, name), (), (), place, applies is None
        )
        inner = [*_copies(fields, here, step), *_steps(fields.pop("steps", []), here, step)]
        spread = (fields.pop("spread"), fields.pop("into")) if "spread" in fields else None
        if fields:
            raise StartupError(f"{name}: unknown field {next(iter(fields))!r}")
        yield StartupStep(name, phase, step.when, tuple(writes), tuple(inner), place, step.uncertain, spread)


def _rows(fields: dict[str, Any], here: _Here) -> Iterator[tuple[str, Source]]:
    """Read `rows`: a section filled in by the name that it is set to."""
    section = fields.pop("rows", None)
    if section is not None:
        rows = here.tables("rows", section)
        for field, default in here.tables("fields", section).items():
            yield f"{section}.{field}", _row_field(f"startup.{section}", rows, field, default)


def _copies(fields: dict[str, Any], here: _Here, above: StartupStep) -> Iterator[StartupStep]:
    """Read `copy`: one section's fields to others."""
    section = fields.pop("copy", None)
    if section is None:
        return
    table = fields.pop("fields", section)
    unless_none = fields.pop("unless_none", False)
    for target in fields.pop("to"):
        shared = here.tables("shared", table).get(target, here.tables("fields", table))
        copies = tuple((f"{target}.{field}", f"{section}.{field}") for field in shared)
        if unless_none:
            yield StartupStep(above.name, above.phase, None, (), (), above.place, copies=copies)
        else:
            writes = tuple((path, _from(source)) for path, source in copies)
            yield StartupStep(above.name, above.phase, None, writes, (), above.place)


def _source(value: Any, path: str) -> Source:
    match value:
        case {"from": str(other)}:
            return _from(other)
        case {"value": str(text)}:
            return _worked(parse_value(text, {}))
        case {"list": str(other)}:
            return _as_list(other, value.get("split", ""), value.get("without", ""), value.get("with", ""))
        case {"unknown": True}:
            return lambda read: UNKNOWN
        case {"set": True}:
            return lambda read: NOT_NONE
        case dict():
            raise StartupError(f"{path}: {value} is no value")
        case _:
            fixed = Known(value)
            return lambda read: fixed


def _place(evidence: Mapping[str, str], site: Site) -> UpstreamLine | None:
    """Find the line for the release at hand: by Megatron-Bridge release, or by "core 0.16.1" for the command line."""
    if not evidence:
        return None
    lines = {version.removeprefix("core "): line for version, line in evidence.items()}
    bridge = site.front_end.released_with == "bridge"
    version = nearest(site.target.bridge if bridge else site.front_end.core or site.target.core, tuple(lines))
    match = _EVIDENCE.fullmatch(lines[version])
    if match is None:
        raise StartupError(f"expected `bridge PATH:LINE` or `megatron-lm PATH:LINE`, not {lines[version]!r}")
    if match[1] == "bridge":
        release = f"megatron-bridge {version}"
    else:
        release = f"megatron-core {release_of(version).core if bridge else version}"
    return UpstreamLine(release, match[2].removeprefix("src/"), int(match[3]))


def nearest(version: str, known: tuple[str, ...]) -> str:
    """Choose the known release whose data is used for a version, as `column_of` does; the oldest is for older ones."""
    ordered = sorted(known, key=numbers)
    return ordered[column_of(ordered, version) or 0]


def raw_steps() -> Mapping[str, Any]:
    """Return the steps as plain data, by front-end, and the `rare` fields; each is read when it is first needed."""
    return Folder(store(), "startup")
