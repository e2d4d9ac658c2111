"""Flags of a launch of Megatron-LM that it does not have, and those that are given twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.recipe import Notice, Origin, Setting, Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, Plain, spell
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.readers.megatron_lm_flags import settings_of_flag
from mfsdp_lint.readers.shell.pieces import Text, around, known
from mfsdp_lint.readers.shell.script import Script
from mfsdp_lint.readers.shell.starting import beginning

_FLAG = re.compile(r"(--[A-Za-z][\w-]*)(?:=.*)?", re.DOTALL)
_LIKELY = 0.93
"""A slip of one letter; a program's own flags are often called much like those of Megatron-LM."""

_ONE_TEXT = ("array", "string", "command", "heredoc_body", "raw_string")


@dataclass(frozen=True, slots=True)
class Declared:
    """The texts that declare flags: what stands in them is known. `all`: there are no others."""

    text: str
    all: bool = False


def unknown(arguments: Sequence[Text], core: str, declared: Callable[[], Declared]) -> Iterator[Notice]:
    """Yield flags that a version does not have, but that another version has, or that resemble one of its own.

    A program that takes flags like none of Megatron-LM's may take any others as well, unless all that it declares are
    known.
    """
    flags = table().flags(core)
    found: list[Notice] = []
    for word in arguments if flags else ():
        name = _FLAG.fullmatch(known(word) or "")
        if not name or name[1] in flags or re.search(rf"[\"']{name[1]}[\"']", declared().text):
            continue
        elsewhere = table().flag_versions(name[1])
        alike = _alike(name[1], core)
        if not elsewhere and not alike:
            if not declared().all:
                return
            continue
        facts: dict[str, Plain] = {
            "flag": name[1],
            "nearest": next(iter(alike), None),
            "alike": len(alike),
            "elsewhere": f"{elsewhere[0]} to {elsewhere[-1]}" if elsewhere else None,
            "sure": declared().all,
        }
        sets = tuple(path for each in (name[1], *alike[:1]) for path in settings_of_flag(each, core))
        found.append(Notice("no-such-flag", around(beginning(word, len(name[1]))), facts, sets))
    yield from found


@cache
def _alike(name: str, core: str) -> tuple[str, ...]:
    """Return the flags that may have been meant, the likeliest first."""
    flags = table().flags(core)
    spelled = f"--{name[2:].replace('_', '-')}"
    if spelled in flags:
        return (spelled,)
    return tuple(each for each in nearest(name, flags, 2, cutoff=_LIKELY) if abs(len(each) - len(name)) <= 1)


def twice(settings: Iterable[Setting], script: Script, path: str) -> Iterator[Notice]:
    """Yield flags that one text gives two values; `script` is that of the file `path`.

    Of two texts the later one is there to change the earlier one.
    """
    for setting in settings:
        later = setting.origin
        earlier = later.earlier if later else None
        if later is None or earlier is None or not _differ(earlier, later):
            continue
        if earlier.span.path == later.span.path == path and _in_one_text(script, earlier.span, later.span):
            said: dict[str, Plain] = {"value": _said(later), "earlier": _said(earlier), "line": earlier.span.line}
            yield Notice("duplicate-flag", later.span, said)


def _differ(earlier: Origin, later: Origin) -> bool:
    return isinstance(earlier.value, Known) and isinstance(later.value, Known) and earlier.value != later.value


def _said(origin: Origin) -> str:
    return spell(origin.value.value) if isinstance(origin.value, Known) else "unknown"


def _in_one_text(script: Script, first: Span, second: Span) -> bool:
    """Tell whether the smallest node around both spans is one text: a string, an array, a command."""
    lines = script.pieces[0].lines
    start, end = (lines.offset(line, column) for line, column in ((first.line, first.column), _end(second)))
    node = script.node_at(script.offset_of(start), script.offset_of(end))
    while node is not None and node.type in ("word", "concatenation", "string_content", "command_name"):
        node = node.parent
    return node is not None and node.type in _ONE_TEXT


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column
