"""A setting of the vocabulary, for reading: what it is, what it is by default, what it is called, who looks at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import fill

from mfsdp_lint.core.front_ends import BRIDGE, MEGATRON_LM
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import UNKNOWN, Value, describe, spell
from mfsdp_lint.megatron.vocabulary import COMMAND_LINE_SECTIONS
from mfsdp_lint.megatron.vocabulary.entry import Entry, Flag
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT, Table

Rows = Iterable[tuple[str, str, str]]
"""Lines of three columns; an empty one repeats what stands above."""


def render(entry: Entry, table: Table, rules: Mapping[str, str]) -> str:
    """Render one setting. `rules` are the codes and names of the rules that look at it."""
    rows = [("type", "", _type(entry)), *_defaults(entry, table), *_names(entry, table)]
    rows += [("rules" if number == 0 else "", code, name) for number, (code, name) in enumerate(rules.items())]
    meaning = fill(entry.meaning, 110, initial_indent="  ", subsequent_indent="  ")
    return f"{entry.path}\n{meaning}\n\n{_aligned(rows)}"


def render_flag(name: str, table: Table) -> str:
    """Render one flag of Megatron-LM's command line that is no setting of the vocabulary."""
    versions = table.flag_versions(name)
    flags = [flag for version in versions if (flag := table.flag(name, version))]
    newest = flags[-1]
    rows = [
        ("type", "", _flag_type(newest)),
        *_told(
            "default", "megatron-lm", table.core_versions, dict(zip(versions, (f.default for f in flags), strict=True))
        ),
        ("names", "megatron-lm", f"{', '.join(newest.names)} (args.{newest.dest})"),
    ]
    return f"{name}\n  A flag of Megatron-LM's command line.\n\n{_aligned(rows)}"


def _type(entry: Entry) -> str:
    said = entry.type + (" or None" if entry.optional else "")
    choices = f": {', '.join(map(spell, entry.choices))}" if entry.choices else ""
    return said + choices + (f" ({entry.unit})" if entry.unit else "")


def _flag_type(flag: Flag) -> str:
    if flag.is_switch:
        return "a switch"
    return flag.type + (f": {', '.join(map(spell, flag.choices))}" if flag.choices else "")


# -- defaults ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _At:
    """The versions that a default is asked for."""

    bridge: str
    core: str


def _defaults(entry: Entry, table: Table) -> Iterator[tuple[str, str, str]]:
    if entry.path.startswith(ENVIRONMENT):
        return
    title = "default"
    for front_end, versions in ((BRIDGE, table.bridge_versions), (MEGATRON_LM, table.core_versions)):
        if front_end.takes_flags and entry.section not in COMMAND_LINE_SECTIONS:
            continue
        values = {each: table.default(entry.path, _At(each, each), front_end) for each in versions}
        known = {version: value for version, value in values.items() if value is not None}
        for row in _told(title, front_end.name, versions, known):
            yield row
            title = ""


def _told(title: str, who: str, versions: Sequence[str], values: Mapping[str, Value]) -> Rows:
    """Yield the values by range of versions; the range is left out if there is only one."""
    grouped = [
        (value, [version for version, _ in group])
        for value, group in groupby(((each, values.get(each)) for each in versions), key=lambda pair: _key(pair[1]))
    ]
    runs = [(values[run[0]], run) for key, run in grouped if key is not None]
    for number, (value, run) in enumerate(runs):
        told = "worked out at start-up" if value == UNKNOWN else describe(value)
        when = "" if run == list(versions) else f" in {_range(run)}"
        yield (title if number == 0 else ""), (who if number == 0 else ""), told + when


def _key(value: Value | None) -> str | None:
    return None if value is None else repr(value)


def _range(run: Sequence[str]) -> str:
    return run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}"


# -- names ------------------------------------------------------------------------------------------------------------


def _names(entry: Entry, table: Table) -> Iterator[tuple[str, str, str]]:
    title = "names"
    for who, name in _every_name(entry, table):
        yield title, who, name
        title = ""


def _every_name(entry: Entry, table: Table) -> Iterator[tuple[str, str]]:
    if entry.path.startswith(ENVIRONMENT):
        yield "environment", entry.name
        return
    if entry.section != "args" and any(_declared(entry, table)):
        yield "bridge", entry.path
    for flag, versions in _flags(entry, table).items():
        off = " (means the opposite)" if _is_opposite(entry, flag, table, versions[-1]) else ""
        when = "" if len(versions) == len(table.core_versions) else f" in {_range(versions)}"
        yield "megatron-lm", flag + off + when
    if entry.perf:
        yield "performance scripts", ", ".join(entry.perf)
    for alias in entry.aliases:
        yield "also", alias
    for removed in entry.removed:
        yield "removed", f"{removed.name} (until {removed.until})"
    for newer in table.by_removed_name(entry.name):
        yield "now", newer.path


def _declared(entry: Entry, table: Table) -> Iterator[bool]:
    for version in table.bridge_versions:
        yield table.default(entry.path, _At(version, "")) is not None


def _flags(entry: Entry, table: Table) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for version in table.core_versions:
        for flag in table.setting_flags(entry, version):
            for name in flag.names:
                found.setdefault(name, []).append(version)
    return found


def _is_opposite(entry: Entry, name: str, table: Table, version: str) -> bool:
    """Tell whether giving the flag switches the setting off."""
    flag = table.flag(name, version)
    return flag is not None and flag.is_switch and (flag.action == "store_false") != entry.inverted


def _aligned(rows: Rows) -> str:
    rows = list(rows)
    wide = max((len(who) for _, who, _ in rows), default=0)
    return "".join(f"{title:<8} {who:<{wide}}  {text}".rstrip() + "\n" for title, who, text in rows)
