"""Results of a dry run, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.dryrun.evidence import losses_of
from mfsdp_lint.dryrun.inventory import Installed
from mfsdp_lint.dryrun.ranks import STEPS
from mfsdp_lint.dryrun.run import DryRun, Told
from mfsdp_lint.dryrun.subject import tier_of
from mfsdp_lint.dryrun.trials import ProxyRuns, tolerance_of
from mfsdp_lint.dryrun.validator import Tree
from mfsdp_lint.reports.confirmation import document as confirmation_document
from mfsdp_lint.reports.confirmation import first_lines
from mfsdp_lint.reports.printable import printable
from mfsdp_lint.rules.check import Violation

REPORT = "please report the recipe's settings and these versions: the rule seems wrong for them"
_WIDTH = len("inconclusive")
_NAMED = 4
_MEGABYTE = 1e6


def text(run: DryRun, installed: Installed, tree: Tree | None = None) -> str:
    """Describe each recipe, its verdict first and observations below; `tree` is the source that validated them."""
    lines = [line for told in run.told for line in _lines(told)]
    if run.stood_in:
        lines.append(f"stood in for what only a machine with GPUs has: {', '.join(run.stood_in)}")
    if run.pretended:
        lines.append(f"validation was told that there is {' and '.join(run.pretended)}")
    lines.append(f"{summary(run.told)} in {run.seconds:.1f} s; {tree.label if tree else installed.label}")
    return "\n".join(lines) + "\n"


def summary(told: Sequence[Told]) -> str:
    """Count the verdicts: `3 recipes: 1 passed, 2 confirmed`."""
    words = [each.word for each in told]
    counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(sorted(words)))
    return f"{len(told)} recipe{'' if len(told) == 1 else 's'}: {counts or 'nothing to run'}"


def _lines(told: Told) -> Iterator[str]:
    yield f"{told.word:<{_WIDTH}} {printable(told.subject.label)}"
    for line in _details(told):
        yield f"  {printable(line)}"


def _details(told: Told) -> Iterator[str]:
    if told.why:
        yield first_lines(told.why)
    if told.validation and told.validation.last.failure and not told.validation.last.conclusive:
        yield f"cannot be tried here: {first_lines(told.validation.last.failure.message)}"
    for refusal in told.validation.refusals if told.validation else ():
        by = f"{refusal.violation.rule.code}; taken out, and on" if refusal.violation else _unforeseen(told)
        yield f"start-up refuses: {first_lines(refusal.failure.message)} ({by})"
    for violation, confirmation in told.findings:
        yield _finding(violation, confirmation)
        if confirmation.verdict == "refuted":
            yield f"  {REPORT}"
    for violation in told.untried:
        message = violation.case.message.of(violation.seen)
        yield f"{violation.rule.code} ({violation.severity}) not tried, {_who_would(violation)}: {message}"
    if told.result is not None:
        how = "with its mistakes taken out" if told.fixed else "as it is"
        yield f"{told.device.tier}, {how}: {first_lines(told.result.told)}{_losses(told)}"
        yield f"tried: {_tried(told.trained)}"
        if any(rank.peak for rank in told.result.outcome.ranks):
            peaks = ", ".join(f"{rank.peak / _MEGABYTE:.1f}" for rank in told.result.outcome.ranks)
            yield f"most memory of a GPU in use, by rank: {peaks} MB"
    if told.unforeseen and told.result is None:
        yield "no rule foresaw this"
    if told.trained is not None and told.trained.proxy.reduced:
        ranks = told.trained.proxy.ranks
        yield f"reduced for {ranks} rank{'' if ranks == 1 else 's'}: {_some(told.trained.proxy.reduced)}"
    if told.result is not None and told.result.outcome.substituted:
        yield f"substituted: {_some(told.result.outcome.substituted)}"
    if learnt := told.subject.learnt:
        yield f"known from running its code: {_some(learnt)}"
    given = told.subject.given
    if given.stood_in:
        yield f"not known, so stood in for: {_some([f'{path} {value}' for path, value in given.stood_in.items()])}"
    if unknown := [path for path in given.unknown if path not in given.stood_in]:
        yield f"not known, so at their defaults: {_some(unknown)}"
    if told.validation and told.subject.recipe.front_end.takes_flags:
        if no_flag := told.validation.last.no_field:
            yield f"without a flag in this version, so left out: {_some(no_flag)}"
        if left_out := told.validation.last.left_out:
            yield f"not to be said on the command line, so left out: {_some(left_out)}"


def _tried(run: ProxyRuns | None) -> str:
    """Describe a run: its steps and ranks, its comparison, and the tolerance."""
    if run is None:
        return "nothing"
    ranks = f"{run.proxy.ranks} rank{'' if run.proxy.ranks == 1 else 's'}"
    saved = (
        f", with a save, and a load before step {STEPS}" if run.load else ", without a save (--checkpoint tries one)"
    )
    return f"{STEPS} steps on {ranks}{saved}; against plain DDP on the same data, to {tolerance_of(run.proxy).told}"


def _unforeseen(told: Told) -> str:
    unknown = told.subject.given.unknown
    return "no rule foresaw this, but not all settings are known" if unknown else "no rule foresaw this"


def _losses(told: Told) -> str:
    losses = losses_of(told.result.outcome) if told.result else ()
    return f" (losses {', '.join(f'{loss:.4f}' for loss in losses)})" if losses else ""


def _finding(violation: Violation, confirmation: Confirmation) -> str:
    tier = f" ({confirmation.tier})" if confirmation.tier else ""
    return f"{violation.rule.code} {said(confirmation)}{tier}: {violation.case.message.of(violation.seen)}"


def said(confirmation: Confirmation) -> str:
    """Describe a verdict: `confirmed: AssertionError: …`, `inconclusive, for …`."""
    seen = first_lines(confirmation.seen)
    if confirmation.verdict == "inconclusive":
        return f"inconclusive, for {first_lines(confirmation.reason)}" + (f" (seen: {seen})" if seen else "")
    return f"{confirmation.reason or confirmation.verdict}: {seen}"


def _who_would(violation: Violation) -> str:
    tier = tier_of(violation)
    return "for no dry run shows it" if tier == "none" else f"which takes --tier {tier}"


def _some(items: Sequence[str]) -> str:
    more = f" and {len(items) - _NAMED} more" if len(items) > _NAMED else ""
    return ", ".join(items[:_NAMED]) + more


def document(run: DryRun, installed: Installed, tree: Tree | None = None) -> dict[str, Any]:
    """Describe the dry run as JSON."""
    return {
        "version": 1,
        "python": installed.python,
        "installed": dict(installed.packages),
        **({"megatron_lm": {"directory": tree.directory, "core": tree.target.core}} if tree else {}),
        "stood_in": list(run.stood_in),
        "pretended": list(run.pretended),
        "seconds": round(run.seconds, 2),
        "recipes": [_document(told) for told in run.told],
    }


def _document(told: Told) -> dict[str, Any]:
    subject = told.subject
    return {
        "verdict": told.word,
        "name": subject.recipe.label,
        "path": subject.recipe.path,
        "line": subject.recipe.line,
        "when": list(subject.variant.when),
        "why": told.why,
        "unforeseen": told.unforeseen,
        "refusals": [
            {
                "error": refusal.failure.message,
                "where": list(refusal.failure.where),
                "code": refusal.violation.rule.code if refusal.violation else None,
            }
            for refusal in (told.validation.refusals if told.validation else ())
        ],
        "findings": [
            {"code": violation.rule.code, **confirmation_document(confirmation)}
            for violation, confirmation in told.findings
        ],
        "untried": [
            {"code": violation.rule.code, "severity": violation.severity, "tier": tier_of(violation)}
            for violation in told.untried
        ],
        "trained": _trained(told),
        "unknown": list(subject.given.unknown),
        "stood_in": dict(subject.given.stood_in),
        "learnt": list(subject.learnt),
    }


def _trained(told: Told) -> dict[str, Any] | None:
    if told.result is None or told.trained is None:
        return None
    outcome = told.result.outcome
    return {
        "tier": told.device.tier,
        "fixed": told.fixed,
        "fine": told.result.fine,
        "told": told.result.told,
        "stage": outcome.stage,
        "wrapped_as": outcome.wrapped_as,
        "losses": list(losses_of(outcome)),
        "bytes_per_rank": outcome.bytes_per_rank,
        "peak_bytes": [rank.peak for rank in outcome.ranks],
        "ranks": told.trained.proxy.ranks,
        "steps": STEPS,
        "against": "plain DDP",
        "tolerance": asdict(tolerance_of(told.trained.proxy)),
        "checkpoint": told.trained.load is not None,
        "reduced": list(told.trained.proxy.reduced),
        "substituted": list(outcome.substituted),
    }
