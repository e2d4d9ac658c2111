"""Results of a dry run, its jobs for elsewhere, and the tried examples of rules; for people and for programs."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from mfsdp_lint.dryrun.evidence import losses_of
from mfsdp_lint.dryrun.introspection import Tree
from mfsdp_lint.dryrun.inventory import Installed
from mfsdp_lint.dryrun.jobs import LaunchJob
from mfsdp_lint.dryrun.ranks import STEPS
from mfsdp_lint.dryrun.run import DryRun, Told
from mfsdp_lint.dryrun.subject import tier_of
from mfsdp_lint.dryrun.trials import tolerance_of
from mfsdp_lint.dryrun.verify import VerifiedRule
from mfsdp_lint.reports.json import attributes, verdict_document
from mfsdp_lint.reports.wording import count, first_lines, printable

REPORT = "please report the recipe's settings and these versions: the rule seems wrong for them"
_WIDTH = len("inconclusive")
_NAMED = 4
_MEGABYTE = 1e6


def text(run: DryRun, installed: Installed, tree: Tree | None = None) -> str:
    """Describe each recipe, its verdict first and observations below; `tree` is the source that validated them."""
    lines = []
    for told in run.told:
        lines.append(f"{told.word:<{_WIDTH}} {printable(told.subject.label)}")
        lines += [f"  {printable(line)}" for line in _details(told)]
    if run.stood_in:
        lines.append(f"replaced by stand-ins, as only a machine with GPUs has them: {', '.join(run.stood_in)}")
    if run.pretended:
        lines.append(f"validation was told that there is {' and '.join(run.pretended)}")
    lines.append(f"{summary(run.told)} in {run.seconds:.1f} s; {tree.label if tree else installed.label}")
    return "\n".join(lines) + "\n"


def summary(told: Sequence[Told]) -> str:
    """Count the verdicts: `3 recipes: 1 passed, 2 confirmed`."""
    words = [each.word for each in told]
    counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(sorted(words)))
    return f"{count(len(told), 'recipe')}: {counts or 'nothing to run'}"


def _details(told: Told) -> Iterator[str]:
    if told.why:
        yield first_lines(told.why)
    if told.validation and told.validation.last.failure and not told.validation.last.conclusive:
        yield f"cannot be tried here: {first_lines(told.validation.last.told)}"
    for refusal in told.validation.refusals if told.validation else ():
        by = (
            f"{refusal.violation.rule.code}; taken out, to see what comes next"
            if refusal.violation
            else "no rule foresaw this"
        )
        if not refusal.violation and told.subject.given.unknown:
            by += ", but not all settings are known"
        yield f"start-up refuses: {first_lines(refusal.failure.message)} ({by})"
    for violation, confirmation in told.findings:
        seen = first_lines(confirmation.seen)
        verdict = f"{confirmation.reason or confirmation.verdict}: {seen}"
        if confirmation.verdict == "inconclusive":
            verdict = f"inconclusive: {first_lines(confirmation.reason)}" + (f" (seen: {seen})" if seen else "")
        tier = f" ({confirmation.tier})" if confirmation.tier else ""
        yield f"{violation.rule.code} {verdict}{tier}: {violation.case.message.of(violation.seen)}"
        if confirmation.verdict == "refuted":
            yield f"  {REPORT}"
    for violation in told.untried:
        tier, message = tier_of(violation), violation.case.message.of(violation.seen)
        why = "because no dry run shows it" if tier == "none" else f"because it takes --tier {tier}"
        yield f"{violation.rule.code} ({violation.severity}) not tried, {why}: {message}"
    if told.result is not None:
        how = "the recipe without its mistakes" if told.fixed else "the recipe as it is"
        losses = ", ".join(f"{loss:.4f}" for loss in losses_of(told.result.outcome))
        losses = losses and f" (losses {losses})"
        yield f"{told.device.tier}, {how}: {first_lines(told.result.told)}{losses}"
        tried = "nothing"
        if (trained := told.trained) is not None:
            loaded = f"with a save, and a load before step {STEPS}"
            saved = loaded if trained.load else "without a save (--checkpoint tries one)"
            against = f"against plain DDP on the same data, to {tolerance_of(trained.proxy).told}"
            tried = f"{STEPS} steps on {count(trained.proxy.ranks, 'rank')}, {saved}; {against}"
        yield f"tried: {tried}"
        if any(rank.peak for rank in told.result.outcome.ranks):
            peaks = ", ".join(f"{rank.peak / _MEGABYTE:.1f}" for rank in told.result.outcome.ranks)
            yield f"most memory of a GPU in use, by rank: {peaks} MB"
    if told.unforeseen and told.result is None:
        yield "no rule foresaw this"
    if told.trained is not None and told.trained.proxy.reduced:
        proxy = told.trained.proxy
        yield f"reduced for {count(proxy.ranks, 'rank')}: {_some(proxy.reduced)}"
    if told.result is not None and told.result.outcome.substituted:
        yield f"substituted: {_some(told.result.outcome.substituted)}"
    if learnt := told.subject.learnt:
        yield f"known from running its code: {_some(learnt)}"
    given = told.subject.given
    if given.stood_in:
        small = [f"{path} {value}" for path, value in given.stood_in.items()]
        yield f"not known, so small values take their place: {_some(small)}"
    if unknown := [path for path in given.unknown if path not in given.stood_in]:
        yield f"not known, so at their defaults: {_some(unknown)}"
    if told.validation and told.subject.recipe.front_end.takes_flags:
        if no_flag := told.validation.last.no_field:
            yield f"without a flag in this version, so left out: {_some(no_flag)}"
        if left_out := told.validation.last.left_out:
            yield f"not to be said on the command line, so left out: {_some(left_out)}"


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
        **attributes(run, "stood_in", "pretended"),
        "seconds": round(run.seconds, 2),
        "recipes": [_document(told) for told in run.told],
    }


def _document(told: Told) -> dict[str, Any]:
    subject = told.subject
    return {
        "verdict": told.word,
        "name": subject.recipe.label,
        **attributes(subject.recipe, "path", "line"),
        "when": subject.variant.when,
        **attributes(told, "why", "unforeseen"),
        "refusals": [
            {
                "error": refusal.failure.message,
                "where": refusal.failure.where,
                "code": refusal.violation.rule.code if refusal.violation else None,
            }
            for refusal in (told.validation.refusals if told.validation else ())
        ],
        "findings": [
            {"code": violation.rule.code, **verdict_document(confirmation)} for violation, confirmation in told.findings
        ],
        "untried": [
            {"code": violation.rule.code, "severity": violation.severity, "tier": tier_of(violation)}
            for violation in told.untried
        ],
        "trained": _trained(told),
        "unknown": subject.given.unknown,
        "stood_in": dict(subject.given.stood_in),
        "learnt": subject.learnt,
    }


def _trained(told: Told) -> dict[str, Any] | None:
    if told.result is None or told.trained is None:
        return None
    outcome = told.result.outcome
    return {
        "tier": told.device.tier,
        "fixed": told.fixed,
        **attributes(told.result, "fine", "told"),
        **attributes(outcome, "stage", "wrapped_as"),
        "losses": losses_of(outcome),
        "bytes_per_rank": outcome.bytes_per_rank,
        "peak_bytes": [rank.peak for rank in outcome.ranks],
        "ranks": told.trained.proxy.ranks,
        "steps": STEPS,
        "against": "plain DDP",
        "tolerance": asdict(tolerance_of(told.trained.proxy)),
        "checkpoint": told.trained.load is not None,
        "reduced": told.trained.proxy.reduced,
        "substituted": outcome.substituted,
    }


def jobs_text(jobs: Sequence[LaunchJob], scripts: Sequence[str], queue: str, python: str, again: Sequence[str]) -> str:
    """Describe the jobs for people. `queue` is who would get them."""
    lines = ["Nothing was submitted, and nothing run but start-up validation."]
    for job in jobs:
        ranks = f"{count(job.ranks, 'rank')} without a GPU"
        if job.device.is_gpu:
            capability = ".".join(map(str, job.device.capability))
            ranks = f"{count(job.ranks, 'GPU')} of compute capability {capability} or above"
        runs = f"{count(len(job.questions), 'run')} on {ranks}, {job.seconds / 60:.0f} minutes at most"
        lines += [f"{job.directory.name}: {runs}: {printable(_some(job.recipes))}"]
    lines += ["", f"{queue} would be given {count(len(scripts), 'script')}:"]
    for script in scripts:
        lines += ["", *(f"  {line}".rstrip() for line in script.rstrip().split("\n"))]
    nodes = max((job.nodes for job in jobs), default=1)
    first = ", of which HOST is the first" if nodes > 1 else ""
    lines += [
        "",
        f"Without {queue}, on {'machines that see' if nodes > 1 else 'a machine that sees'} the folder{first}:",
    ]
    lines += [f"  {shlex.join(job.command(python, str(node)))}" for job in jobs for node in range(job.nodes)]
    lines += ["", "The answers are read, and missing ones submitted, by", f"  {shlex.join(again)}"]
    return "\n".join(lines) + "\n"


def jobs_document(
    jobs: Sequence[LaunchJob], scripts: Sequence[str], python: str, again: Sequence[str]
) -> dict[str, Any]:
    """Describe the jobs for programs."""
    return {
        "version": 2,
        "jobs": [
            {"directory": str(job.directory), "runs": len(job.questions), **attributes(job, "ranks", "recipes")}
            | {"device": job.device.kind, "seconds": job.seconds, "command": job.command(python)}
            for job in jobs
        ],
        "scripts": list(scripts),
        "resume": list(again),
    }


_EXPECTED = {True: "confirmed", False: "passed"}


def verified_table(rows: Sequence[VerifiedRule], label: str) -> str:
    """Render Markdown: the rules that were tried, the number that could not be, and the grounds of every other
    verdict.

    `label` names the versions used.
    """
    tried = [row for row in rows if row.tier in ("introspect", "cpu") or (row.tier == "gpu" and row.tried)]
    lines = ["| rule | tier | bad examples | good examples | seconds | |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {row.code} {row.name} | {row.tier} | {row.told(True)} | {row.told(False)} | {row.seconds:.2f} "
        f"| {row.agreement} |"
        for row in tried
    ]
    counts = Counter(row.agreement for row in tried)
    of_gpu = sum(row.tier == "gpu" and not row.tried for row in rows)
    lines += [
        "",
        f"{label}: {len(tried)} rules tried, {counts['agreement']} in agreement, {counts['disagreement']} in "
        f"disagreement, {counts['undecidable']} undecidable. {of_gpu} more need a GPU, and "
        f"{len(rows) - len(tried) - of_gpu} are about mistakes that no run shows.",
        "",
        *(
            f"- {each.name}: {each.verdict}: {' '.join(each.seen.split())}"
            for row in tried
            for each in row.tried
            if each.verdict != _EXPECTED[each.bad]
        ),
    ]
    return "\n".join(lines) + "\n"


def verified_document(rows: Sequence[VerifiedRule], installed: Installed) -> dict[str, Any]:
    """Describe the results as JSON."""
    return {
        "version": 1,
        "installed": dict(installed.packages),
        "rules": [
            {
                **attributes(row, "code", "name", "tier", "agreement"),
                "seconds": round(row.seconds, 3),
                "examples": [attributes(each, "bad", "number", "verdict", "seen") for each in row.tried],
            }
            for row in rows
        ],
    }
