"""Megatron-LM's command line: words → settings, wherever the words were written.

Its parser is argparse's without abbreviations: a flag takes the words up to the next one, `--flag=value` is two words,
and of a flag that is given twice the last one counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import product

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Obstacle, Origin, Setting, Source, Span
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value, join, possible
from mfsdp_lint.megatron.front_ends import Pinned
from mfsdp_lint.megatron.vocabulary import SWITCHES, table
from mfsdp_lint.megatron.vocabulary.tables import COMMAND_LINE_SECTIONS, Flag, Versions, opposite

_FLAG = lazy_pattern(r"(?P<name>--?[A-Za-z_][^\s=]*)(?:=(?P<value>.*))?", re.DOTALL)
"""A word that argparse takes for a flag: no number, no blank in its name."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command line.

    `value` is its text, or what is known of it; UNKNOWN also for a word that may be none, or several. `span` is where
    it is written; `says` the smaller piece that gives a flag, where that differs (the `true` of `--bf16: true`).
    `may_be_flags` marks words that are not known and may be any flags; `overrides` says that they may also give once
    more those that stand in front of them. `option` is the variable of the environment whose default it is.
    `elsewhere`: it is handed on from where its span is, not written behind its flag. `obstacle` keeps it from being
    known.
    """

    value: Value
    span: Span
    says: Span | None = None
    may_be_flags: bool = False
    overrides: bool = True
    option: str = ""
    elsewhere: bool = False
    obstacle: Obstacle | None = None


@dataclass(frozen=True, slots=True)
class GivenFlags:
    """Settings that a command line gives, by path; of two for one path the later counts.

    `open`: there may be more flags, so that all flags that are not given are unknown.
    """

    settings: Mapping[str, Setting]
    open: bool = False


@dataclass(slots=True)
class _Use:
    """A flag as it is given, with the words behind it. `last`: nothing can give it once more."""

    name: str
    word: Word
    values: list[Word] = field(default_factory=list)
    last: bool = True


def settings_from_flags(words: Iterable[Word], versions: Versions, order: int = 0) -> GivenFlags:
    """Return the settings that the flags among `words` set; `order` is that of the last write before them.

    A flag that this version of megatron-core does not know, or that is no setting of the vocabulary, is the setting
    `args.NAME`. Where argparse would refuse the words behind a flag its value is unknown.
    """
    settings: dict[str, Setting] = {}
    uses, is_open = _uses(words)
    for use in uses:
        flag = table().flag(use.name, versions.core)
        value = _value(flag, [word.value for word in use.values]) if use.last else UNKNOWN
        for path, here in _set_by(use.name, flag, value):
            order += 1
            earlier = settings.pop(path, None)
            settings[path] = Setting(path, here, _origin(use, here, order, earlier.origin if earlier else None))
    return GivenFlags(settings, is_open)


def settings_of_flag(name: str, core: str) -> tuple[str, ...]:
    """Return the settings that a flag sets at a version of megatron-core."""
    return tuple(path for path, _ in _set_by(name, table().flag(name, core), UNKNOWN))


def configure_run(paths: Collection[str]) -> bool:
    """Tell whether settings are those of a run of Megatron-LM: how the work is split, what wraps the model; or the
    format of the checkpoints of a training run. (Converters are given a format as well.)
    """
    if any(path in SWITCHES or path.startswith("ddp.") or path.endswith("_parallel_size") for path in paths):
        return True
    return "checkpoint.ckpt_format" in paths and any(path.startswith("train.") for path in paths)


def default_settings(versions: Versions, place: Origin) -> Iterator[Setting]:
    """Yield the defaults of flags that are left out, as settings; `place` is where they could have been given."""
    return (Setting(path, value, place) for path, value in _defaults(versions.core))


@cache
def _defaults(core: str) -> tuple[tuple[str, Value], ...]:
    known = table()
    found = (
        (path, known.default(path, Pinned("", core), MEGATRON_LM))
        for path, entry in known.entries.items()
        if entry.section in COMMAND_LINE_SECTIONS
    )
    return tuple((path, value) for path, value in found if value is not None)


def _uses(words: Iterable[Word]) -> tuple[list[_Use], bool]:
    """Return the flags that are given, and whether there may be others."""
    uses: list[_Use] = []
    is_open = False
    for word in words:
        text = word.value.value if isinstance(word.value, Known) else None
        found = _FLAG.fullmatch(text) if isinstance(text, str) else None
        if word.may_be_flags:
            is_open = True
            for use in uses if word.overrides else ():
                use.last = False
        elif found:
            behind = [replace(word, value=Known(found["value"]))] if found["value"] is not None else []
            uses.append(_Use(found["name"], word, behind))
        elif uses:
            uses[-1].values.append(word)
    return uses, is_open


def _set_by(name: str, flag: Flag | None, value: Value) -> Iterator[tuple[str, Value]]:
    entries = table().by_attribute(flag.dest) if flag else ()
    for entry in entries:
        yield entry.path, opposite(value) if entry.inverted else value
    if not entries:
        yield f"args.{flag.dest if flag else name.lstrip('-').replace('-', '_')}", value


def _value(flag: Flag | None, words: list[Value]) -> Value:
    if UNKNOWN in words:
        return UNKNOWN
    if flag is not None and flag.is_switch:
        return flag.read([""] * len(words))
    options = [possible(word) for word in words]
    if None in options:
        return NOT_NONE
    # Few words have several texts, and those that do have few.
    each = (list(map(str, texts)) for texts in product(*(option for option in options if option is not None)))
    return join(flag.read(texts) if flag else Known(" ".join(texts) if texts else True) for texts in each)


def _origin(use: _Use, value: Value, order: int, earlier: Origin | None) -> Origin:
    behind = [word.span for word in use.values if word.span.path == use.word.span.path and not word.elsewhere]
    return Origin(
        _around([use.word.span, *behind]),
        "assigned",
        use.word.says or (_around(behind) if behind else None),
        order=order,
        earlier=earlier,
        value=value,
        option=next((word.option for word in (use.word, *use.values) if word.option), ""),
        sources=tuple(Source(word.span, "") for word in use.values if word.elsewhere),
        obstacle=next((word.obstacle for word in use.values if word.obstacle), None),
    )


def _around(spans: list[Span]) -> Span:
    first, last = min(spans), max(spans, key=lambda span: (span.end_line, span.end_column))
    return Span(first.path, first.line, first.column, last.end_line, last.end_column)
