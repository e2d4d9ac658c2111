"""From Megatron-LM's parsed arguments (library/megatron_lm.py) to settings."""

from __future__ import annotations

from typing import Any, TypeGuard

from mfsdp_lint.core.recipe import Setting
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import UNKNOWN
from mfsdp_lint.readers.python.export.origins import Spans, origin, plain_value
from mfsdp_lint.readers.python.values.markers import ARGUMENTS, COMPLETE, IGNORED
from mfsdp_lint.readers.python.values.objects import Object, Unknown, Write


def are_arguments(value: Object) -> TypeGuard[Unknown]:
    """Tell whether a value is Megatron-LM's parsed arguments."""
    return isinstance(value, Unknown) and ARGUMENTS in value.fields


def settings_of_arguments(spans: Spans, args: Unknown) -> dict[str, Setting]:
    """Return the settings that arguments become; those that nobody gives where the parser's defaults hold."""
    parser = spans.interp.knowledge.command_line()
    if parser is None:
        return {}
    found: dict[str, Setting] = {}
    place = origin(spans, args.writes[ARGUMENTS])
    if place is not None and args.fields.get(COMPLETE):
        found |= parser.settings_by_default(replace(place, value=UNKNOWN))
    for name, write in args.writes.items():
        if isinstance(name, str) and isinstance(write, Write):
            value = plain_value(spans.interp, args.fields[name]) if name in args.fields else UNKNOWN
            found |= parser.settings(name, value, origin(spans, write))
    ignored: Any = args.fields.get(IGNORED)
    for name, value in ignored.fields.items() if ignored is not None else ():
        told = origin(spans, ignored.writes[name])
        if told is not None:
            found |= dict(parser.ignored(name, plain_value(spans.interp, value), told, found))
    return found
