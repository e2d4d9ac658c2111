"""For programs: findings, and parts of all JSON documents. Every key is always there; version 1 only gains keys."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from mfsdp_lint.core.finding import Applied, Confirmation, Finding
from mfsdp_lint.core.recipe import Origin, Recipe, Span, Unfollowed
from mfsdp_lint.core.values import Known, OneOf, Plain, Value
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.reports.summary import RecipeState, Summary


def attributes(value: object, *names: str) -> dict[str, Any]:
    """Return attributes of a value by their names; tuples among them are lists in JSON."""
    return {name: getattr(value, name) for name in names}


def target_document(target: Target) -> dict[str, Any]:
    """Describe the versions judged against, and the reason for them."""
    return attributes(target, "bridge", "core", "te", "torch", "gpu", "assumed", "reason")


def recipe_document(recipe: Recipe) -> dict[str, Any]:
    """Describe a recipe's name and beginning; `arguments` only if it was called with some."""
    document = attributes(recipe, "name", "qualified_name", "path", "line", "kind")
    return document | ({"arguments": json_value(dict(recipe.arguments))} if recipe.arguments else {})


def unfollowed_document(unfollowed: Unfollowed) -> dict[str, Any]:
    """Describe code of which there is no recipe: its name, its beginning, the reason, and the place of the reason."""
    document = attributes(unfollowed, "name", "qualified_name", "path", "line", "kind", "why")
    return document | {"reason": unfollowed.message, "place": span_document(unfollowed.point)}


def verdict_document(confirmation: Confirmation) -> dict[str, Any]:
    """Describe the verdict of a dry run."""
    return attributes(confirmation, "verdict", "tier", "seen", "reason")


def value_document(value: Value) -> dict[str, Any]:
    """Describe a value as `{state}`, with `value` if it is known and `values` if it is one of several."""
    match value:
        case Known(known):
            return {"state": value.state, "value": json_value(known)}
        case OneOf(values):
            return {"state": value.state, "values": [json_value(each) for each in values]}
        case _:
            return {"state": value.state}


def origin_document(origin: Origin) -> dict[str, Any]:
    """Describe an origin. Lines and columns count from 1, the end is exclusive.

    `upstream` is there only if it lies in an upstream release, `option` only if the value comes from an option of the
    program's own command line, which may change it; `sources` only if the value was handed on from elsewhere, the
    nearest first: the last one decides it.
    """
    document = {**span_document(origin.span), "how": origin.how, "function": origin.function}
    document |= {"upstream": origin.upstream} if origin.upstream else {}
    if origin.sources:
        document["sources"] = [{**span_document(each.span), "function": each.function} for each in origin.sources]
    return document | ({"option": origin.option} if origin.option else {})


def span_document(span: Span) -> dict[str, Any]:
    """Describe a piece of a file."""
    return attributes(span, "path", "line", "end_line", "column", "end_column")


def json_value(value: Plain) -> Any:
    """Convert a plain value; JSON has no infinity and no NaN, so their names are written as text."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case list():
            return [json_value(item) for item in value]
        case dict():
            return {key: json_value(item) for key, item in value.items()}
        case _:
            return value


NO_RULE = "there are no fixes for findings of this kind"
"""Why a finding has none that says nothing about it: it is about a file or a comment, or about code that raises."""


def render(
    findings: Sequence[Finding],
    summary: Summary,
    unfollowed: Sequence[Unfollowed] = (),
    *,
    fixes: Sequence[Applied] = (),
    recipes: Sequence[RecipeState] = (),
) -> str:
    """Render every finding, suppressed ones too, the fixes that were made, and the state of each recipe, if requested.

    Lines and columns count from 1, columns in characters; ends are exclusive.
    """
    document = {
        "version": 1,
        "target": target_document(summary.target),
        "targets": [target_document(target) for target in (summary.target, *summary.also)],
        "findings": list(map(_finding, findings)),
        "fixes": [
            {**attributes(fix, "code", "safety"), **attributes(fix.span, "path", "line"), "changes": fix.changes}
            for fix in fixes
        ],
        "by_recipe": [
            attributes(recipe, "name", "path", "line", "ready")
            | {"findings": [attributes(each, *_TROUBLE) for each in recipe.troubles]}
            for recipe in recipes
        ],
        "unfollowed": [unfollowed_document(each) for each in unfollowed],
        "summary": attributes(summary, *_COUNTS),
    }
    return json.dumps(document, indent=2) + "\n"


_COUNTS = (
    *("files", "recipes", "findings", "errors", "warnings", "infos", "suppressed", "fixable", "held_back", "fixed"),
    *("repaired", "fixable_at_most", "held_back_at_most", "unfollowed", "undecided", "already"),
)

_TROUBLE = ("code", "severity", "message", "changes", "safety", "fingerprint")


def _finding(finding: Finding) -> dict[str, Any]:
    silenced, verdict, fix = finding.suppressed, finding.confirmation, finding.fix
    edits = [
        {
            "path": edit.span.path,
            "start": attributes(edit.span, "line", "column"),
            "end": {"line": edit.span.end_line, "column": edit.span.end_column},
            "text": edit.text,
        }
        for edit in (fix.edits if fix else ())
    ]
    return {
        **finding_document(finding, "versions", "enforced_by"),
        **attributes(finding.span, "path", "line", "column", "end_line", "end_column"),
        "recipes": [attributes(recipe, "name", "severity") for recipe in finding.recipes],
        "related": [attributes(note.span, "path", "line") | {"message": note.message} for note in finding.related],
        **attributes(finding, "fingerprint", "content_fingerprint"),
        "suppressed": silenced is not None,
        "suppression": silenced
        and {"by": silenced.by, **attributes(silenced.span, "path", "line"), "reason": silenced.reason},
        "confirmed": verdict and verdict_document(verdict),
        "fix": fix and attributes(fix, "safety", "why", "together") | {"edits": edits},
        "no_fix": None if fix else finding.no_fix or NO_RULE,
        "possible_fix": None if finding.fix_proved else finding.fixable,
    }


def finding_document(finding: Finding, *more: str) -> dict[str, Any]:
    """Describe a mistake, without its place; `more` are further attributes."""
    return attributes(finding, "code", "name", "severity", "stage", "message", "consequence", "raises", *more)
