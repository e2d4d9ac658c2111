"""`mfsdp-lint why ADDRESS SETTING`: the story of one value."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import OptionList, add_output, add_what_is_read, print_json, read_asked, tell
from mfsdp_lint.core.front_ends import BRIDGE
from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.readers.overrides import ENVIRONMENT
from mfsdp_lint.reports import why
from mfsdp_lint.reports.places import document_in_files, recipes_in_cells, text_of
from mfsdp_lint.reports.why import stories

SUMMARY = "Shows where the value of a setting comes from: every write in order, and what start-up changes."

EXAMPLES = (
    ("mfsdp-lint why recipes/llama.py::pretrain ckpt_format", "the history of one value"),
    (
        "mfsdp-lint why recipes/llama.py::pretrain ddp.use_megatron_fsdp --set dist.use_megatron_fsdp=true",
        "under an override",
    ),
)

FORMATS = ("text", "json")

_NAMED = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument("address", metavar="ADDRESS", help="path.py::function(name=value), or a file with one recipe")
    parser.add_argument(
        "setting", metavar="SETTING", help="a path as in checkpoint.ckpt_format, its last part alone, or env.NAME"
    )
    add_what_is_read(OptionList(parser, "what is read"))
    add_output(parser, FORMATS)


def main(arguments: argparse.Namespace) -> int:
    """Print the history of the setting. Exit code 0, 1 where the file cannot be read. Raises UsageError."""
    asked, sources, found = read_asked(arguments, tracing=True, paths=(arguments.address,))
    if code := tell(found.remarks, found.problems):
        return code
    recipe = only(found.recipes, arguments.address)
    target = asked.targets_at(recipe.path)[0]
    path = _setting(recipe, arguments.setting, target)
    if arguments.output_format == "json":
        told = stories(recipe, path, target)
        print_json(document_in_files(why.document(recipe, told, target, sources.text_or_none), sources))
    else:
        (recipe,) = recipes_in_cells([recipe], sources)
        told = stories(recipe, path, target)
        terminal.show(why.render(recipe, told, lambda shown: text_of(shown, sources), columns=terminal.columns()))
    return 0


def only(recipes: Sequence[Recipe], address: str) -> Recipe:
    """Return the one recipe of an address. Raises UsageError."""
    if len(recipes) == 1:
        return recipes[0]
    if not recipes:
        raise UsageError(f"{address}: no recipe there")
    in_function = ("function", "script", "module")
    named = ", ".join(
        f"{each.path}::{each.name}" if each.kind in in_function else each.qualified_name for each in recipes[:_NAMED]
    )
    more = f" and {len(recipes) - _NAMED} more" if len(recipes) > _NAMED else ""
    raise UsageError(f"{address}: {len(recipes)} recipes there; name one: {named}{more}")


def _setting(recipe: Recipe, path: str, target: Target) -> str:
    """Return the path, if the recipe has such a setting or may have it. Raises UsageError."""
    if path.startswith(ENVIRONMENT) or any(path in variant.settings for variant in recipe.variants):
        return path
    known = recipe.paths()
    ends = [each for each in known if each.rpartition(".")[2] == path.rpartition(".")[2]]
    if len(ends) == 1 and "." not in path:
        return ends[0]
    misspelt = _misspelt(path, target) if recipe.front_end == BRIDGE else []
    if _may_be_there(recipe, known, path) and not misspelt:
        return path
    meant = dict.fromkeys([*ends, *misspelt, *nearest(path, known)])
    hint = f"; did you mean {' or '.join(list(meant)[:_NAMED])}?" if meant else ""
    raise UsageError(f"{recipe.label} has no setting {path}{hint}")


def _misspelt(path: str, target: Target) -> list[str]:
    """Return the setting that is almost called so, if the release's classes have no field of that name."""
    section, _, name = path.rpartition(".")
    found = table().sections(target.bridge).get(section)
    if found is None or not found.classes or name in found.fields:
        return []
    return [f"{section}.{each}" for each in nearest(name, found.fields, cutoff=0.85)]


def _may_be_there(recipe: Recipe, known: Sequence[str], path: str) -> bool:
    """Tell whether there may be such a setting, though nothing is known of it."""
    section = path.rpartition(".")[0]
    while section:
        fields = any(each.startswith(section + ".") for each in known)
        if section in known:
            # A section with all its fields, or one of which no field is known (None among them).
            return recipe.partial or not fields
        if fields:  # an object of which only that is known which was written into it
            return True
        section = section.rpartition(".")[0]
    return recipe.partial
