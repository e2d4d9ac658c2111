"""Rules about text: a pattern that must not be in a file in which a run is configured.

What a rule file can say of the passage at hand are settings of their own, in conditions and in messages:

    text.found    the passage                          text.bom    whether the file begins with a byte order mark
    text.NAME     the group `(?P<NAME>…)` of `finds`, None where it took no part

The pattern sees the text with its own line ends and without the byte order mark; `^` and `$` are those of lines. The
finding points at the group `at` where there is one, else at the whole passage. `fix: {replace: …}` puts a text in the
place that the finding points at, in which `\\g<NAME>` stands for a group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.lines import Lines, split_lines
from mfsdp_lint.core.recipe import Span, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.registry import kind_of
from mfsdp_lint.rules.model import Case, Rule
from mfsdp_lint.rules.views import Views
from mfsdp_lint.rules.writes import with_facts


@dataclass(frozen=True, slots=True)
class Passage:
    """A place in a file that a rule's pattern found. `line` is the text of its first line."""

    span: Span
    line: str
    facts: Mapping[str, Plain]
    edit: Edit | None = None


def passages(rule: Rule, path: str, sources: Sources) -> list[Passage]:
    """What the pattern of a rule finds in a file; nothing in one that cannot be read, or that the rule is not for."""
    text = sources.text_or_none(path) if not rule.files or kind_of(path) in rule.files else None
    if rule.finds is None or text is None:
        return []
    lines, rows, bom = Lines(text), split_lines(text), sources.has_bom(path)
    return [_passage(rule, match, path, lines, rows, bom) for match in rule.finds.finditer(text)]


def broken_text(rule: Rule, views: Views, found: Sequence[Passage]) -> Iterator[tuple[Case, Variant, Passage]]:
    """The passages that are wrong, each with its case and what there is to say of it beside a variant's settings."""
    for passage in found:
        for case in rule.cases:
            seen = with_facts(views.of(case.sees), passage.facts)
            if rule.applies.truth(seen) and (case.when is None or case.when.truth(seen)):
                yield case, seen, passage
                break


def _passage(rule: Rule, match: re.Match[str], path: str, lines: Lines, rows: Sequence[str], bom: bool) -> Passage:
    group = "at" if match.groupdict().get("at") is not None else 0
    span = lines.span(path, *match.span(group))
    facts: dict[str, Plain] = {f"text.{name}": part for name, part in match.groupdict().items()}
    facts |= {"text.found": match[0], "text.bom": bom}
    row = rows[span.line - 1] if span.line <= len(rows) else ""
    fix = rule.fixes[0].replace if rule.fixes else None
    return Passage(span, row.strip(), facts, None if fix is None else Edit(span, match.expand(fix)))
