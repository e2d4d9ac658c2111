"""Rules about text: what must not be in a file in which a run is configured, a pattern or what its reader notices.

What a rule file can say of the passage at hand are settings of their own, in conditions and in messages:

    text.found    the passage                          text.bom    whether the file begins with a byte order mark
    text.NAME     the group `(?P<NAME>…)` of `finds`, None where it took no part

The pattern sees the text with its own line ends and without the byte order mark; `^` and `$` are those of lines. The
finding points at the group `at` where there is one, else at the whole passage. `fix: {replace: …}` puts a text in the
place that the finding points at, in which `\\g<NAME>` stands for a group.

What a reader notices (`notices: duplicate-flag`) is a passage as well, and what it says of it takes the place of the
groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.finding import Edit, IsLinted
from mfsdp_lint.core.lines import Lines, split_lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Notice, Recipe, Span, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.registry import kind_of
from mfsdp_lint.rules.index import SettingsViews
from mfsdp_lint.rules.model import Case, Rule
from mfsdp_lint.rules.writes import with_facts


@dataclass(frozen=True, slots=True)
class Passage:
    """A place in a file that a rule's pattern found. `line` is the text of its first line, `sets` as of a Notice."""

    span: Span
    line: str
    facts: Mapping[str, Plain]
    edit: Edit | None = None
    sets: tuple[str, ...] = ()


def passages(rule: Rule, recipe: Recipe, sources: Sources, is_linted: IsLinted) -> list[Passage]:
    """Find the passages in the files of a recipe that concern a rule; none in files of other kinds, or without text."""
    if rule.finds is None:
        noticed = [each for each in recipe.notices if each.kind == rule.notices and is_linted(each.span.path)]
        return [_noticed(rule, each, sources) for each in noticed]
    path = recipe.path
    text = sources.text_or_none(path) if not rule.files or kind_of(path) in rule.files else None
    if text is None or not is_linted(path):
        return []
    lines, rows, bom, fix = Lines(text), split_lines(text), sources.has_bom(path), _replacement(rule)
    found = []
    for match in rule.finds.finditer(text):
        span = lines.span(path, *match.span("at" if match.groupdict().get("at") is not None else 0))
        facts: dict[str, Plain] = {f"text.{name}": part for name, part in match.groupdict().items()}
        facts |= {"text.found": match[0], "text.bom": bom}
        found.append(Passage(span, _row(rows, span), facts, None if fix is None else Edit(span, match.expand(fix))))
    return found


def broken_text(rule: Rule, views: SettingsViews, found: Sequence[Passage]) -> Iterator[tuple[Case, Variant, Passage]]:
    """Yield the passages that are wrong, each with its case and a variant's settings with the passage's facts."""
    for passage in found:
        for case in rule.cases:
            seen = with_facts(views.of(case.sees), passage.facts)
            if rule.applies.truth(seen) and (case.when is None or case.when.truth(seen)):
                yield case, seen, passage
                break


def _noticed(rule: Rule, notice: Notice, sources: Sources) -> Passage:
    rows = split_lines(sources.text_or_none(notice.span.path) or "")
    facts = {f"text.{name}": value for name, value in notice.facts.items()}
    fix = _replacement(rule)
    if fix is not None:
        fix = _GROUP.sub(lambda found: str(notice.facts.get(found[1], "")), fix)
    edit = None if fix is None else Edit(notice.span, fix)
    return Passage(notice.span, _row(rows, notice.span), facts, edit, notice.sets)


_GROUP = lazy_pattern(r"\\g<(\w+)>")


def _replacement(rule: Rule) -> str | None:
    return rule.fixes[0].replace if rule.fixes else None


def _row(rows: Sequence[str], span: Span) -> str:
    return rows[span.line - 1].strip() if span.line <= len(rows) else ""
