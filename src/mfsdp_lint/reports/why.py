"""The story of one value: every write in order, the calls that led to it, what it overwrote, and the final value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mfsdp_lint.core.recipe import Call, Origin, Recipe, Source, Span, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, OneOf, Value, describe
from mfsdp_lint.megatron.startup.resolve import Change, resolve
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.readers.command_line_overrides import COMMAND_LINE
from mfsdp_lint.readers.overrides import ENVIRONMENT
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.json import origin_document, recipe_document, span_document, target_document, value_document
from mfsdp_lint.reports.snippet import Lines, lines_of
from mfsdp_lint.reports.wording import printable


@dataclass(frozen=True, slots=True)
class Write:
    """A write of the setting itself, or of the section that it is in (`path` says which)."""

    path: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Story:
    """History of one setting on some execution paths of a recipe.

    `when` has the conditions of each of these paths; it is empty if the story is the same on all. `remark` has a fact
    that the steps cannot show: no file writes the setting, or its section is None. `startup` are the framework's
    changes to it.
    """

    path: str
    value: Value
    steps: tuple[Write, ...]
    when: tuple[tuple[str, ...], ...] = ()
    remark: str = ""
    startup: tuple[Change, ...] = ()


def stories(recipe: Recipe, path: str, target: Target) -> list[Story]:
    """Return the stories of a setting; several if it depends on the execution path."""
    told: dict[str, tuple[Story, list[tuple[str, ...]]]] = {}
    for variant in recipe.variants:
        changes = resolve(variant, target, front_end=recipe.front_end).changes
        startup = tuple(change for change in changes if change.path == path)
        story = replace(_story_of(recipe, variant, path), startup=startup)
        writes = [(step.path, step.origin.point, step.origin.value, step.origin.calls) for step in story.steps]
        told.setdefault(repr((story.value, story.remark, writes, startup)), (story, []))[1].append(variant.when)
    if len(told) == 1:
        return [story for story, _ in told.values()]
    return [replace(story, when=tuple(conditions)) for story, conditions in told.values()]


def _story_of(recipe: Recipe, variant: Variant, path: str) -> Story:
    setting = variant.settings.get(path)
    steps = _steps(variant, path)
    if setting is not None:
        return Story(path, setting.value, steps, remark="" if steps else "nobody is seen to write it")
    if path.startswith(ENVIRONMENT):
        return Story(
            path, UNKNOWN, (), remark="the recipe does not set it: what is in the environment of the launch counts"
        )
    section = path.rpartition(".")[0]
    while section and section not in variant.settings:
        section = section.rpartition(".")[0]
    if section and variant.value(section) == NONE:
        above = _steps(variant, section)
        return Story(path, UNKNOWN, above, remark=f"{section} is None, so there is no {path}")
    if recipe.partial:
        return Story(path, UNKNOWN, (), remark="nothing here writes it: what is overridden here decides")
    return Story(path, UNKNOWN, steps, remark=f"what {section or 'the configuration'} holds is not all known")


def _steps(variant: Variant, path: str) -> tuple[Write, ...]:
    steps: list[Write] = []
    for written, origin in variant.settings.history(path):
        # `cfg.ddp = DdpConfig(x=1)` writes x, and then the section: one step is enough.
        if written == path or not steps or not _holds(origin.span, steps[-1].origin.span):
            steps.append(Write(written, origin))
    return tuple(steps)


def _holds(outer: Span, inner: Span) -> bool:
    start, end = (outer.line, outer.column), (outer.end_line, outer.end_column)
    return (
        outer.path == inner.path and start <= (inner.line, inner.column) and (inner.end_line, inner.end_column) <= end
    )


_INDENT = "  "
_LONGEST = 96
_MOST_LINES = 3


def render(recipe: Recipe, stories: Sequence[Story], texts: Texts) -> str:
    """Render every story, the conditions of its execution paths first if there are several."""
    lines = lines_of(texts)
    blocks = ["\n".join(_story_lines(recipe, story, lines)) for story in stories]
    return "\n\n".join(blocks) + "\n"


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
                "when": [list(conditions) for conditions in story.when],
                **value_document(story.value),
                "remark": story.remark,
                "writes": [_write_document(recipe, story, step, lines) for step in story.steps],
                "startup": [_change_document(change) for change in story.startup],
            }
            for story in stories
        ],
    }


def _write_document(recipe: Recipe, story: Story, step: Write, lines: Lines) -> dict[str, Any]:
    origin = step.origin
    return {
        "setting": step.path,
        **value_document(_value(story, step)),
        **origin_document(origin),
        "code": _code(origin.point, lines),
        "because": origin.because,
        "calls": [
            {**span_document(call.span), "function": call.function, "code": _code(call.span, lines)}
            for call in _calls(recipe, origin)
        ],
    }


def _change_document(change: Change) -> dict[str, Any]:
    place = change.place
    where = {"path": place.path, "line": place.line, "upstream": place.release} if place else {}
    return {**value_document(change.after), **where, "step": change.step}


def _story_lines(recipe: Recipe, story: Story, lines: Lines) -> Iterator[str]:
    where = f"{printable(recipe.label)} ({printable(recipe.path)}:{recipe.line})"
    yield f"{printable(story.path)} is {_worded(story.value)} in {where}"
    for number, conditions in enumerate(story.when):
        when = printable(" and ".join(conditions)) or "none of these holds"
        yield f"{_INDENT}{'or when' if number else 'when'} {when}"
    if story.steps:
        yield ""
    above: list[Call] = []
    before: Value = UNKNOWN
    for step in story.steps:
        calls = _calls(recipe, step.origin)
        common = _common(above, calls)
        for depth in range(common, len(calls)):
            yield from _place(calls[depth].span, calls[depth].function, None, depth, lines)
        above = calls
        yield from _place(step.origin.point, step.origin.function, step.origin.upstream, len(calls), lines)
        for source in _sources(step.origin, calls):
            where = f" in {printable(source.function)}" if source.function else ""
            yield f"{_indent(len(calls))}{_INDENT}from {printable(source.span.path)}:{source.span.line}{where}"
            yield from (f"{_indent(len(calls))}{_INDENT}{_INDENT}{line}" for line in _code(source.span, lines))
        value = _value(story, step)
        yield f"{_indent(len(calls))}{_INDENT}→ {_outcome(story, step, value, before)}"
        before = value if step.path == story.path else before
    if story.remark:
        yield from ([""] if story.steps else [])
        yield f"{_INDENT}{printable(story.remark)}"
    for change in story.startup:
        place = f" ({change.place.release} {change.place.path}:{change.place.line})" if change.place else ""
        yield f"{_INDENT}start-up{place}: {change.step}"
        yield f"{_INDENT}{_INDENT}→ {_changed(change)}"


def _changed(change: Change) -> str:
    """Write the value after start-up; if that is not known, the reason."""
    if change.after == UNKNOWN:
        return "not known: it depends on what is not known here"
    return _worded(change.after) + (f", was {_worded(change.before)}" if change.before != UNKNOWN else "")


def _sources(origin: Origin, calls: Sequence[Call]) -> list[Source]:
    """Return the texts that the value comes from, without those in the calls that are shown anyway."""
    told = [(call.span.path, call.span.line, call.span.end_line) for call in calls]
    return [
        source
        for source in origin.sources
        if not any(source.span.path == path and first <= source.span.line <= last for path, first, last in told)
    ]


def _common(above: Sequence[Call], calls: Sequence[Call]) -> int:
    """Count the calls that are still active since the write before."""
    same = 0
    while same < min(len(above), len(calls)) and above[same] == calls[same]:
        same += 1
    return same


def _calls(recipe: Recipe, origin: Origin) -> list[Call]:
    """Return the calls that led to a write, outermost first, without the call that started the recipe's function."""
    calls = list(reversed(origin.calls))
    started = calls and recipe.kind == "function" and calls[0].function == ""
    return calls[1:] if started else calls


def _value(story: Story, step: Write) -> Value:
    """Return the value that was written; if it was not recorded, the last write has the setting's final value."""
    last = story.steps[-1] is step and step.path == story.path
    return story.value if last and step.origin.value == UNKNOWN else step.origin.value


def _outcome(story: Story, step: Write, value: Value, before: Value) -> str:
    if step.origin.how == "unfollowed":
        return f"{_worded(value)}: this call cannot be followed, and may have changed it"
    if step.path != story.path and value != NONE:
        return f"all of {step.path} is {'not known' if value == UNKNOWN else 'set'} here{_because(step.origin)}"
    told = _worded(value) if step.path == story.path else f"{step.path} is None"
    if step.origin.how == "default":
        told += ", by default" + ("; nobody writes it" if len(story.steps) == 1 else "")
    if value == UNKNOWN:
        return told + _because(step.origin)
    if isinstance(before, (Known, OneOf)):
        told += ", as before" if before == value else f", was {_worded(before)}"
    if step.origin.option:
        told += f"; from the default of {printable(step.origin.option)}, changeable from {_outside(step.origin.option)}"
    return told


def _because(origin: Origin) -> str:
    if not origin.because:
        return ""
    if origin.option:
        return f": {printable(origin.option)} gives it, on the command line"
    what = printable(origin.because)
    return f": {what} cannot be followed" if what.endswith("()") else f": {what} is not known"


def _outside(names: str) -> str:
    """Name the places where options, and variables, are given."""
    given = names.split(", ")
    variables = any(name.startswith("$") for name in given)
    options = not all(name.startswith("$") for name in given)
    return " and ".join(["the command line"] * options + ["the environment"] * variables)


def _worded(value: Value) -> str:
    return _clipped(printable(describe(value)))


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _place(span: Span, function: str, upstream: str | None, depth: int, lines: Lines) -> Iterator[str]:
    indent = _indent(depth)
    if span.path == COMMAND_LINE:
        yield f"{indent}on the command line"
    else:
        where = f"{printable(span.path)}:{span.line}" + (f" in {printable(function)}" if function else "")
        yield f"{indent}{where}" + (f" ({upstream})" if upstream else "")
    yield from (f"{indent}{_INDENT}{line}" for line in _code(span, lines))


def _indent(depth: int) -> str:
    return _INDENT * (2 * depth + 1)


def _code(span: Span, lines: Lines) -> list[str]:
    """Return the lines of a span without their common indentation; of many, the first ones."""
    text = lines(span.path)
    found = text[span.line - 1 : min(span.end_line, len(text))]
    shown = found if len(found) <= _MOST_LINES else found[: _MOST_LINES - 1]
    margin = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
    clipped = [_clipped(printable(line[margin:].replace("\t", "    ").rstrip())) for line in shown]
    return clipped + ([f"… ({len(found) - len(shown)} more lines)"] if len(shown) < len(found) else [])
