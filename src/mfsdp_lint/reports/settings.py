"""Settings and their origins as JSON has them, for the formats that programs read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from mfsdp_lint.core.recipe import Origin, Recipe, Span, Unfollowed
from mfsdp_lint.core.values import UNKNOWN, Known, OneOf, Plain, Value
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.reports.printable import printable


def target_document(target: Target) -> dict[str, Any]:
    """Describe the versions judged against, and the reason for them."""
    return {
        "bridge": target.bridge,
        "core": target.core,
        "te": target.te,
        "torch": target.torch,
        "gpu": target.gpu,
        "assumed": target.assumed,
        "reason": target.reason,
    }


def recipe_document(recipe: Recipe) -> dict[str, Any]:
    """Describe a recipe's name and beginning; `arguments` only if it was called with some."""
    document: dict[str, Any] = {
        "name": recipe.name,
        "qualified_name": recipe.qualified_name,
        "path": recipe.path,
        "line": recipe.line,
        "kind": recipe.kind,
    }
    return document | ({"arguments": json_value(dict(recipe.arguments))} if recipe.arguments else {})


def unfollowed_document(unfollowed: Unfollowed) -> dict[str, Any]:
    """Describe code of which there is no recipe: its name, its beginning, the reason, and the place of the reason."""
    return {
        "name": unfollowed.name,
        "qualified_name": unfollowed.qualified_name,
        "path": unfollowed.path,
        "line": unfollowed.line,
        "kind": unfollowed.kind,
        "why": unfollowed.why,
        "reason": unfollowed.message,
        "place": span_document(unfollowed.point),
    }


def unfollowed_lines(unfollowed: Sequence[Unfollowed]) -> list[str]:
    """Describe code without a recipe for people, a line each."""
    return [
        f"{printable(each.path)}:{each.line}: {printable(each.name)} could not be followed: "
        + printable(each.message)
        + ("" if each.span is None else f" ({printable(each.point.path)}:{each.point.line})")
        for each in unfollowed
    ]


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
    return {
        "path": span.path,
        "line": span.line,
        "end_line": span.end_line,
        "column": span.column,
        "end_column": span.end_column,
    }


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


def chosen(recipe: Recipe, globs: Sequence[str]) -> list[str]:
    """List the settings of a recipe that a glob matches (all, if there are no globs), by section, then by name."""
    there = recipe.paths()
    # A field that is forwarded to a part (from 0.7 on `model.X` is `model.transformer.X`) goes by both names.
    named = set(there)
    there += [path for path in SETTINGS if path not in named and recipe.setting(path).value != UNKNOWN]
    if not globs:
        return sorted(there)
    wanted = tuple(globs)
    paths = [path for path in there if matches(path, wanted)]
    # A setting that a glob names in full is asked for, known or not.
    paths += [glob for glob in globs if "." in glob and not set("*?[") & set(glob)]
    return sorted(dict.fromkeys(paths))


@cache
def matches(path: str, globs: tuple[str, ...]) -> bool:
    """Tell whether a glob matches a path; a section's name matches all settings in it."""
    return any(fnmatchcase(path, glob) or path.startswith(glob + ".") for glob in globs)
