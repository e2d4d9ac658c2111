"""The story of one value: every write in order, the calls that led to it, what it overwrote, and the final value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from mfsdp_lint.core.recipe import CallSite, Origin, Recipe, Span, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, OneOf, Value, describe
from mfsdp_lint.megatron.startup.resolve import StartupChange, resolve
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.readers.overrides import COMMAND_LINE, ENVIRONMENT
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.json import (
    attributes,
    origin_document,
    recipe_document,
    span_document,
    target_document,
    value_document,
)
from mfsdp_lint.reports.text import Lines, lines_of
from mfsdp_lint.reports.wording import clipped, folded, printable


@dataclass(frozen=True, slots=True)
class SettingWrite:
    """A write of the setting itself, or of the section that it is in (`path` says which)."""

    path: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Story:
    """History of one setting on some execution paths of a recipe.

    `when` has the conditions of each of these paths; it is empty if the story is the same on all. `remark` has a fact
    that the writes cannot show: no file writes the setting, or its section is None. `startup` are the framework's
    changes to it.
    """

    path: str
    value: Value
    writes: tuple[SettingWrite, ...]
    when: tuple[tuple[str, ...], ...] = ()
    remark: str = ""
    startup: tuple[StartupChange, ...] = ()


def stories(recipe: Recipe, path: str, target: Target) -> list[Story]:
    """Return the stories of a setting; several if it depends on the execution path."""
    told: dict[str, tuple[Story, list[tuple[str, ...]]]] = {}
    for variant in recipe.variants:
        changes = resolve(variant, target, front_end=recipe.front_end).changes
        startup = tuple(change for change in changes if change.path == path)
        story = replace(_story_of(recipe, variant, path), startup=startup)
        writes = [(each.path, each.origin.point, each.origin.value, each.origin.calls) for each in story.writes]
        told.setdefault(repr((story.value, story.remark, writes, startup)), (story, []))[1].append(variant.when)
    if len(told) == 1:
        return [story for story, _ in told.values()]
    return [replace(story, when=tuple(conditions)) for story, conditions in told.values()]


def _story_of(recipe: Recipe, variant: Variant, path: str) -> Story:
    setting = variant.settings.get(path)
    writes = _writes(variant, path)
    if setting is not None:
        return Story(path, setting.value, writes, remark="" if writes else "no visible code writes it")
    if path.startswith(ENVIRONMENT):
        outside = "the recipe does not set it; the environment of the launch decides"
        return Story(path, UNKNOWN, (), remark=outside)
    section = path.rpartition(".")[0]
    while section and section not in variant.settings:
        section = section.rpartition(".")[0]
    if section and variant.value(section) == NONE:
        return Story(path, UNKNOWN, _writes(variant, section), remark=f"{section} is None, so there is no {path}")
    if recipe.partial:
        return Story(path, UNKNOWN, (), remark="this file does not write it; the recipe that it overrides decides")
    return Story(path, UNKNOWN, writes, remark=f"{section or 'the configuration'} is only partly known")


def _writes(variant: Variant, path: str) -> tuple[SettingWrite, ...]:
    writes: list[SettingWrite] = []
    for written, origin in variant.settings.history(path):
        # `cfg.ddp = DdpConfig(x=1)` writes x, and then the section: one write is enough.
        inner, outer = writes[-1].origin.span if writes else None, origin.span
        if written != path and inner and inner.path == outer.path:
            start, end = (outer.line, outer.column), (outer.end_line, outer.end_column)
            if start <= (inner.line, inner.column) and (inner.end_line, inner.end_column) <= end:
                continue
        writes.append(SettingWrite(written, origin))
    return tuple(writes)


_INDENT = "  "
_LONGEST = 96
_MOST_LINES = 3
_NOT_KNOWN = "not known: it depends on unknown values"


def render(recipe: Recipe, stories: Sequence[Story], texts: Texts, *, columns: int = 0) -> str:
    """Render every story, the conditions of its execution paths first if there are several.

    Lines are broken at `columns`, if it is not 0.
    """
    lines = lines_of(texts)
    blocks = ["\n".join(_folded(_story_lines(recipe, story, lines), columns)) for story in stories]
    return "\n\n".join(blocks) + "\n"


def _folded(lines: Iterable[str], columns: int) -> Iterator[str]:
    for line in lines:
        yield from folded(line, columns, line[: len(line) - len(line.lstrip())] + 2 * _INDENT)


def document(recipe: Recipe, stories: Sequence[Story], target: Target, texts: Texts) -> dict[str, Any]:
    """Describe the stories for programs. Version 1 only ever gains keys; `calls` begin with the outermost."""
    lines = lines_of(texts)
    return {
        "version": 1,
        "target": target_document(target),
        "recipe": recipe_document(recipe),
        "setting": stories[0].path,
        "stories": [
            {
                "when": story.when,
                **value_document(story.value),
                "remark": story.remark,
                "writes": [
                    {
                        "setting": write.path,
                        **value_document(_value(story, write)),
                        **origin_document(write.origin),
                        "code": _code(write.origin.point, lines),
                        "because": write.origin.because,
                        "calls": [
                            {**span_document(each.span), "function": each.function, "code": _code(each.span, lines)}
                            for each in _calls(recipe, write.origin)
                        ],
                    }
                    for write in story.writes
                ],
                "startup": [
                    value_document(change.after)
                    | (
                        {**attributes(place, "path", "line"), "upstream": place.release}
                        if (place := change.place)
                        else {}
                    )
                    | {"step": change.step}
                    for change in story.startup
                ],
            }
            for story in stories
        ],
    }


def _story_lines(recipe: Recipe, story: Story, lines: Lines) -> Iterator[str]:
    where = f"{printable(recipe.label)} ({printable(recipe.path)}:{recipe.line})"
    yield f"{printable(story.path)} is {_worded(story.value)} in {where}"
    for number, conditions in enumerate(story.when):
        when = printable(" and ".join(conditions)) or "none of these holds"
        yield f"{_INDENT}{'or when' if number else 'when'} {when}"
    if story.writes:
        yield ""
    above: list[CallSite] = []
    before: Value = UNKNOWN
    for write in story.writes:
        origin, value, calls = write.origin, _value(story, write), _calls(recipe, write.origin)
        active = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(above, calls, strict=False)))
        for depth, call in enumerate(calls[active:], active):
            yield from _place(call.span, call.function, None, depth, lines)
        above = calls
        yield from _place(origin.point, origin.function, origin.upstream, len(calls), lines)
        indent = _INDENT * (2 * len(calls) + 2)
        told = [(call.span.path, call.span.line, call.span.end_line) for call in calls]
        for source in origin.sources:
            place, line = source.span.path, source.span.line
            if any(place == path and first <= line <= last for path, first, last in told):
                continue  # in a call that is shown anyway
            where = f" in {printable(source.function)}" if source.function else ""
            yield f"{indent}from {printable(source.span.path)}:{source.span.line}{where}"
            yield from (f"{indent}{_INDENT}{line}" for line in _code(source.span, lines))
        yield f"{indent}→ {_outcome(story, write, value, before)}"
        before = value if write.path == story.path else before
    if story.remark:
        yield from ([""] if story.writes else [])
        yield f"{_INDENT}{printable(story.remark)}"
    for change in story.startup:
        place = f" ({change.place.release} {change.place.path}:{change.place.line})" if change.place else ""
        yield f"{_INDENT}start-up{place}: {change.step}"
        after = _worded(change.after) + (f", was {_worded(change.before)}" if change.before != UNKNOWN else "")
        yield f"{_INDENT}{_INDENT}→ {_NOT_KNOWN if change.after == UNKNOWN else after}"


def _calls(recipe: Recipe, origin: Origin) -> list[CallSite]:
    """Return the calls that led to a write, outermost first, without the call that started the recipe's function."""
    calls = list(reversed(origin.calls))
    started = calls and recipe.kind == "function" and calls[0].function == ""
    return calls[1:] if started else calls


def _value(story: Story, write: SettingWrite) -> Value:
    """Return the value that was written; if it was not recorded, the last write has the setting's final value."""
    last = story.writes[-1] is write and write.path == story.path
    return story.value if last and write.origin.value == UNKNOWN else write.origin.value


def _outcome(story: Story, write: SettingWrite, value: Value, before: Value) -> str:
    origin = write.origin
    if origin.how == "unfollowed":
        return f"{_worded(value)}: this call cannot be followed, and may have changed it"
    if write.path != story.path and value != NONE:
        return f"all of {write.path} is {'not known' if value == UNKNOWN else 'set'} here{_because(origin)}"
    told = _worded(value) if write.path == story.path else f"{write.path} is None"
    if origin.how == "default":
        told += ", by default" + ("; nobody writes it" if len(story.writes) == 1 else "")
    if value == UNKNOWN:
        return told + _because(origin)
    if isinstance(before, (Known, OneOf)):
        told += ", as before" if before == value else f", was {_worded(before)}"
    if origin.option:
        variables = [name.startswith("$") for name in origin.option.split(", ")]
        places = ["the command line"] * (not all(variables)) + ["the environment"] * any(variables)
        told += f"; from the default of {printable(origin.option)}, changeable from {' and '.join(places)}"
    return told


def _because(origin: Origin) -> str:
    if not origin.because:
        return ""
    if origin.option:
        return f": {printable(origin.option)} gives it, on the command line"
    what = printable(origin.because)
    return f": {what} cannot be followed" if what.endswith("()") else f": {what} is not known"


def _worded(value: Value) -> str:
    return clipped(printable(describe(value)), _LONGEST)


def _place(span: Span, function: str, upstream: str | None, depth: int, lines: Lines) -> Iterator[str]:
    indent = _INDENT * (2 * depth + 1)
    where = f"{printable(span.path)}:{span.line}" + (f" in {printable(function)}" if function else "")
    where += f" ({upstream})" if upstream else ""
    yield f"{indent}{'on the command line' if span.path == COMMAND_LINE else where}"
    yield from (f"{indent}{_INDENT}{line}" for line in _code(span, lines))


def _code(span: Span, lines: Lines) -> list[str]:
    """Return the lines of a span without their common indentation; of many, the first ones."""
    text = lines(span.path)
    found = text[span.line - 1 : min(span.end_line, len(text))]
    shown = found if len(found) <= _MOST_LINES else found[: _MOST_LINES - 1]
    margin = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
    told = [clipped(printable(line[margin:].replace("\t", "    ").rstrip()), _LONGEST) for line in shown]
    return told + ([f"… ({len(found) - len(shown)} more lines)"] if len(shown) < len(found) else [])
