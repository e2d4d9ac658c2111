"""Suppression comments that silence nothing are taken out once everything else is fixed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mfsdp_lint.core.finding import Applied, Finding
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.engine.judge import Judge, Judgement
from mfsdp_lint.engine.unused import unused_suppressions
from mfsdp_lint.rules.model import Rule


@dataclass(frozen=True, slots=True)
class Tidied:
    """The texts that changed, with comments taken out of them and of others; and what was done for that."""

    texts: Mapping[str, str]
    fixes: tuple[Applied, ...] = ()


def tidied(
    texts: Mapping[str, str],
    judgement: Judgement,
    judge: Judge,
    rules: Sequence[Rule],
    paths: Sequence[str],
    without: Collection[str] = (),
) -> Tidied:
    """Take the comments out of `texts`, which other fixes changed since the judgement, and of the files beside them.

    `without` are files that cannot be edited. Writes nothing.
    """
    if not judgement.has_comments:
        return Tidied(texts)
    from mfsdp_lint.fixes.edits import apply_all

    now = judge(judgement.sources.with_texts(texts), judgement) if texts else judgement
    idle = [each for each in unused_suppressions(now, judge, rules, paths) if not _is_silenced(each, judge)]
    idle = [each for each in idle if each.fix and each.span.path not in without]
    edits = [edit for finding in idle if finding.fix for edit in finding.fix.edits]
    before = {edit.span.path: now.sources.text(edit.span.path) for edit in edits}
    done = tuple(Applied(each.code, "safe", each.span, (f"the comment {each.message}",)) for each in idle)
    return Tidied({**texts, **apply_all(before, edits)}, done)


def _is_silenced(finding: Finding, judge: Judge) -> bool:
    (marked,) = judge.silenced.mark([finding])
    return marked.suppressed is not None
