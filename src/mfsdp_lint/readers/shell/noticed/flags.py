"""Flags of a launch of Megatron-LM that it does not have, and those that are given twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.recipe import Notice, Origin, Setting, Span
from mfsdp_lint.core.values import Known, Plain, spell
from mfsdp_lint.readers.shell.pieces import Text, around, known
from mfsdp_lint.readers.shell.script import Script
from mfsdp_lint.vocabulary import table

_FLAG = re.compile(r"(--[A-Za-z][\w-]*)(?:=.*)?", re.DOTALL)
_LIKELY = 0.93
"""A slip of one letter; a program's own flags are often called much like those of Megatron-LM."""

_ONE_TEXT = ("array", "string", "command", "heredoc_body", "raw_string")


def unknown(arguments: Sequence[Text], core: str, declared: Callable[[], str]) -> Iterator[Notice]:
    """Flags that a version does not have, and another one does, or one is called much like.

    `declared` gives the texts that declare flags: what stands in them is known. A program that takes flags like
    none of Megatron-LM's may take any others as well.
    """
    flags = table().flags(core)
    found: list[Notice] = []
    for word in arguments if flags else ():
        name = _FLAG.fullmatch(known(word) or "")
        if not name or name[1] in flags or re.search(rf"[\"']{name[1]}[\"']", declared()):
            continue
        elsewhere = table().flag_versions(name[1])
        nearest = _nearest(name[1], core)
        if not elsewhere and not nearest:
            return
        versions = f"{elsewhere[0]} to {elsewhere[-1]}" if elsewhere else None
        found.append(Notice("no-such-flag", around(word), {"flag": name[1], "nearest": nearest, "elsewhere": versions}))
    yield from found


@cache
def _nearest(name: str, core: str) -> str | None:
    flags = table().flags(core)
    spelled = f"--{name[2:].replace('_', '-')}"
    if spelled in flags:
        return spelled
    alike = nearest(name, flags, cutoff=_LIKELY)
    return next((each for each in alike if abs(len(each) - len(name)) <= 1), None)


def twice(settings: Iterable[Setting], script: Script, path: str) -> Iterator[Notice]:
    """Flags that one text gives two values; `script` is that of the file `path`.

    Of two texts the later one is there to change what the earlier one says.
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
    """Whether the smallest piece of the script around both is one text: a string, an array, a command."""
    lines = script.pieces[0].lines
    start, end = (lines.offset(line, column) for line, column in ((first.line, first.column), _end(second)))
    node = script.node_at(script.offset_of(start), script.offset_of(end))
    while node is not None and node.type in ("word", "concatenation", "string_content", "command_name"):
        node = node.parent
    return node is not None and node.type in _ONE_TEXT


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column
