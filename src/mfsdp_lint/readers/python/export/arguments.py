"""From Megatron-LM's parsed arguments (library/megatron_lm.py) to settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from mfsdp_lint.core.recipe import Origin, Setting, Span
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import UNKNOWN, Value
from mfsdp_lint.megatron.versions import column_of
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import ARGUMENTS as SECTION
from mfsdp_lint.megatron.vocabulary.tables import opposite
from mfsdp_lint.readers.megatron_lm_flags import default_settings
from mfsdp_lint.readers.python.export.origins import Spans, origin, plain_value
from mfsdp_lint.readers.python.values.markers import ARGUMENTS, COMPLETE, IGNORED
from mfsdp_lint.readers.python.values.objects import Object, Unknown, Write

ARGS_DEFAULTS = "args_defaults"
"""The step of start-up that fills in the defaults of a program (validate_args), where they are told to be ignored."""


def are_arguments(value: Object) -> TypeGuard[Unknown]:
    """Tell whether a value is Megatron-LM's parsed arguments."""
    return isinstance(value, Unknown) and ARGUMENTS in value.fields


def settings_of_arguments(spans: Spans, args: Unknown) -> dict[str, Setting]:
    """Return the settings that attributes become; those that nobody gives where the parser's defaults hold."""
    versions = spans.interp.knowledge.command_line()
    if versions is None:
        return {}
    found: dict[str, Setting] = {}
    place = origin(spans, args.writes[ARGUMENTS])
    if place is not None and args.fields.get(COMPLETE):
        found |= {each.path: each for each in default_settings(versions, replace(place, value=UNKNOWN))}
    for name, write in args.writes.items():
        if isinstance(name, str) and isinstance(write, Write):
            value = plain_value(spans.interp, args.fields[name]) if name in args.fields else UNKNOWN
            found |= _settings(name, value, origin(spans, write))
    return found | _ignored(spans, args, found, versions.core)


def _ignored(spans: Spans, args: Unknown, settings: Mapping[str, Setting], core: str) -> dict[str, Setting]:
    """Return the settings whose defaults the program gives in vain; start-up's line comes after its text."""
    found: dict[str, Setting] = {}
    ignored: Any = args.fields.get(IGNORED)
    flags, line = table().attributes(core), _line(core)
    for name, value in ignored.fields.items() if ignored is not None else ():
        declared = _settings(name, flags[name].default, None)
        told = origin(spans, ignored.writes[name])
        if told is None:
            continue
        for path, given in _settings(name, plain_value(spans.interp, value), told).items():
            step = Origin(
                Span("megatron/training/arguments.py", line, 1, line, 1),
                "startup",
                function="validate_args",
                upstream=f"megatron-lm {core}",
                earlier=replace(told, value=given.value),
                value=declared[path].value,
                because=ARGS_DEFAULTS,
            )
            found[path] = Setting(path, settings[path].value if path in settings else UNKNOWN, step)
    return found


def _line(core: str) -> int:
    """Return the line of validate_args that fills in a program's defaults."""
    column = column_of(tuple(_LINES), core)
    return list(_LINES.values())[column or 0]


_LINES = {
    "0.12.0": 383, "0.12.3": 393, "0.13.0": 450, "0.14.0": 420, "0.15.0": 486, "0.16.0": 456, "0.17.0": 524,
    "0.18.0": 654, "0.19.0": 638, "head": 656,
}  # fmt: skip


def _settings(name: str, value: Value, told: Origin | None) -> dict[str, Setting]:
    """Return the settings that an attribute becomes."""
    entries = table().by_attribute(name)
    if not entries:
        return {f"{SECTION}.{name}": Setting(f"{SECTION}.{name}", value, told)}
    return {each.path: Setting(each.path, opposite(value) if each.inverted else value, told) for each in entries}
