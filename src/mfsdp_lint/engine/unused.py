"""Suppression comments that silence nothing, as far as that is certain; they are taken out once all else is fixed.

A comment may be there for what another file, another version or another rule makes of its line. So one is named only
where every rule that it is for was run, at known versions, over a folder that its file is in, and is known not to be
broken by any recipe that takes something from the lines that the comment covers.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence

from mfsdp_lint.core.finding import Applied, Finding, Fix, fingerprint
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.engine.judge import Judgement, Linter
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.suppression import Comment
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.readers.registry import kind_of
from mfsdp_lint.rules.about_files import FILE_CODES, UNUSED_COMMENT
from mfsdp_lint.rules.index import SettingsViews
from mfsdp_lint.rules.model import Rule


def unused_suppressions(
    judgement: Judgement, judge: Linter, rules: Sequence[Rule], paths: Sequence[str]
) -> Iterator[Finding]:
    """Yield a finding for every comment that certainly silences nothing; of several codes it names those that do not.

    `rules` are all rules, also those that were not run; `paths` are those that the user asked to lint.
    """
    if judge.question.command_line.overrides:
        return  # the file has other launches
    folders = [os.path.join(disk.real(path), "") for path in paths if disk.is_folder(path)]
    for comment in judgement.unused:
        if not any(disk.real(comment.span.path).startswith(folder) for folder in folders):
            continue
        asked = _Asked(comment, judgement, judge)
        reasons = {code: reason for code in comment.codes or ("",) if (reason := asked.reason(code, rules))}
        if reasons:
            yield _finding(comment, reasons, judgement.sources.text(comment.span.path))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A comment that silenced nothing, and what was judged."""

    comment: Comment
    judgement: Judgement
    judge: Linter

    def reason(self, code: str, every: Sequence[Rule]) -> str:
        """Return the reason why a code (or the beginning of one) is named in vain; "" where that is not certain."""
        if any(other.startswith(code) for other in FILE_CODES):
            return ""
        rules = [rule for rule in every if rule.code.startswith(code)]
        if not rules:
            return f"there is no rule {code}"
        run = {rule.code for rule in self.judge.rules}
        is_assumed = self.judge.question.targets_at(self.comment.span.path)[0].assumed
        if is_assumed or not run.issuperset(rule.code for rule in rules):
            return ""
        asked: set[str] = set()
        for views in self._views():
            for rule in rules:
                if _may_be_broken(rule, views):
                    return ""
                if rule.at(views.site.target, views.site.front_end):
                    asked.add(rule.code)
        return f"{code} is not found here" if asked.issuperset(rule.code for rule in rules) else ""

    def _views(self) -> Iterator[SettingsViews]:
        """Yield the views of all variants that take something from the lines that the comment covers."""
        for target, hits in self.judgement.hits.items():
            for recipe in hits.recipes:
                for variant in (*recipe.variants, *recipe.exposed):
                    if self._concerns(recipe, variant):
                        yield SettingsViews(variant, Site(target, recipe.front_end))

    def _concerns(self, recipe: Recipe, variant: Variant) -> bool:
        path, (first, last) = self.comment.span.path, self.comment.covers
        if recipe.path == path and first <= recipe.line <= last:
            return True
        origins = (variant.origin(setting) for setting in variant.settings)
        spans = (span for origin in origins if origin is not None for span in origin.spans())
        return any(span.path == path and span.line <= last and first <= span.end_line for span in spans)


def _may_be_broken(rule: Rule, views: SettingsViews) -> bool:
    """Tell whether a variant may break a rule: it is not certain that the rule is silent about it."""
    if rule.judges == "text":
        return False  # what it has to say of the file it has said
    site = views.site
    if None in (rule.versions.truth(site), *(case.versions.truth(site) for case in rule.cases)):
        return True
    here = rule.at(site.target, site.front_end)
    return here is not None and any(
        here.applies.truth(seen) is not False and (case.when is None or case.when.truth(seen) is not False)
        for case in here.cases
        for seen in [views.of(case.sees)]
    )


def _finding(comment: Comment, reasons: Mapping[str, str], text: str) -> Finding:
    from mfsdp_lint.fixes.editor import EDITORS
    from mfsdp_lint.fixes.edits import taken_out

    said = "; ".join(reasons.values())
    fix = None
    if kind_of(comment.span.path) in EDITORS:  # else the text is not that of the file
        fix = Fix("safe", (taken_out(comment.span, reasons.keys(), text),), "a comment changes no run")
    return Finding(
        code=UNUSED_COMMENT,
        name="unused-suppression",
        severity="info",
        stage="never",
        message=f"silences nothing: {said}",
        span=comment.span,
        consequence="the comment would hide a mistake that is made here later",
        enforced_by="nobody",
        fingerprint=fingerprint(UNUSED_COMMENT, comment.span.path, said, comment.reason),
        content_fingerprint=fingerprint(UNUSED_COMMENT, said, comment.reason),
        fixable=None if fix is None else fix.safety,
        fix=fix,
    )


@dataclass(frozen=True, slots=True)
class Tidied:
    """The texts that changed, with comments taken out of them and of others; and what was done for that."""

    texts: Mapping[str, str]
    fixes: tuple[Applied, ...] = ()


def tidied(
    texts: Mapping[str, str],
    judgement: Judgement,
    judge: Linter,
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
    found = unused_suppressions(now, judge, rules, paths)
    idle = [each for each in found if each.fix and each.span.path not in without]
    idle = [each for each in idle if judge.silenced.mark([each])[0].suppressed is None]
    edits = [edit for finding in idle if finding.fix for edit in finding.fix.edits]
    before = {edit.span.path: now.sources.text(edit.span.path) for edit in edits}
    done = tuple(Applied(each.code, "safe", each.span, (f"the comment {each.message}",)) for each in idle)
    return Tidied({**texts, **apply_all(before, edits)}, done)
