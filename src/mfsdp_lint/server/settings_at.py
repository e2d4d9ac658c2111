"""The setting that a place in a document names, and what there is to say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.recipe import Origin, Recipe, Variant
from mfsdp_lint.core.values import describe
from mfsdp_lint.megatron.startup.resolve import resolve
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import find
from mfsdp_lint.reports.entry import render as render_entry
from mfsdp_lint.reports.story import stories
from mfsdp_lint.rules.lookup import rules_about

_WORD = re.compile(r"-{0,2}[A-Za-z_][\w.-]*")
_KEY = re.compile(r"(?P<indent>[ ]*)(?P<key>[A-Za-z_][\w.]*):(?P<rest>.*)")

_MOST_RECIPES = 5


def setting_at(text: str, line: int, column: int) -> str | None:
    """Find the path of the setting that is named at a line and column (from 1); None if there is none, or several.

    In YAML the keys above count, in Python the names before the last dot.
    """
    lines = split_lines(text)
    if line > len(lines):
        return None
    word = next((each for each in _WORD.finditer(lines[line - 1]) if each.start() < column <= each.end() + 1), None)
    if word is None:
        return None
    names = ".".join([*_sections(lines, line), word.group()]).split(".")
    for length in (3, 2, 1):
        if len(names) >= length:
            found = find(".".join(names[-length:]), table()).entries
            if len(found) == 1:
                return found[0].path
    return None


def told(path: str, recipes: Sequence[Recipe], target: Target) -> str:
    """Describe a setting in Markdown, with its written and final value in each recipe and the way there."""
    lines = [line for recipe in recipes[:_MOST_RECIPES] for line in _in_recipe(path, recipe, target)]
    if len(recipes) > _MOST_RECIPES:
        lines.append(f"- and {len(recipes) - _MOST_RECIPES} more recipes")
    entry = render_entry(table().entries[path], table(), rules_about(path))
    return "\n".join([*lines, "", "```text", entry.rstrip(), "```"])


def origins(path: str, recipes: Sequence[Recipe]) -> list[Origin]:
    """Return the places where the recipes set it, each once."""
    found = (variant.origin(path) for recipe in recipes for variant in recipe.variants)
    return list({origin.point: origin for origin in found if origin is not None}.values())


def choices(text: str, line: int) -> list[tuple[str, str]]:
    """List possible texts in YAML at a line, with their meanings: values of its key, else keys of its section."""
    lines = split_lines(text)
    here = lines[line - 1] if line <= len(lines) else ""
    sections = _sections(lines, line, here)
    known = table().entries
    if key := _KEY.match(here):
        entry = known.get(".".join([*sections, key["key"]]))
        return [(str(choice), entry.path) for choice in entry.choices] if entry else []
    prefix = ".".join(sections)
    if prefix:
        return [(each.name, each.meaning) for path, each in known.items() if path.rpartition(".")[0] == prefix]
    return [(section, "") for section in dict.fromkeys(path.partition(".")[0] for path in known if "." in path)]


def _in_recipe(path: str, recipe: Recipe, target: Target) -> Iterator[str]:
    for story in stories(recipe, path, target):
        run = list(dict.fromkeys(_will_run(variant, path, recipe, target) for variant in recipe.variants))
        changed = "" if run == [describe(story.value)] else f", will run {' or '.join(run)}"
        when = f" when {' or '.join(' and '.join(each) for each in story.when)}" if story.when else ""
        yield f"- **{recipe.label}**{when}: written {describe(story.value)}{changed}"
        for step in story.steps[-3:]:
            point = step.origin.point
            yield f"  - {step.origin.how} at {point.path}:{point.line}"


def _will_run(variant: Variant, path: str, recipe: Recipe, target: Target) -> str:
    return describe(resolve(variant, target, front_end=recipe.front_end).run.value(path))


def _sections(lines: Sequence[str], line: int, here: str | None = None) -> list[str]:
    """Return the keys that a line of YAML lies in; none in a text that is no YAML."""
    text = lines[line - 1] if here is None else here
    indent = len(text) - len(text.lstrip(" ")) if text.strip() else len(text.rstrip("\r\n"))
    above: list[str] = []
    for each in reversed(lines[: line - 1]):
        key = _KEY.match(each)
        if key and len(key["indent"]) < indent and not key["rest"].partition("#")[0].strip():
            above.append(key["key"])
            indent = len(key["indent"])
    return above[::-1]
