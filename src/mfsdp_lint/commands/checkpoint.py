"""`mfsdp-lint checkpoint DIR …`: a checkpoint folder's contents, and its faults."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import OptionList, add_output, add_what_is_read, print_json, read_asked, tell
from mfsdp_lint.commands.why import only
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.reports.json import attributes
from mfsdp_lint.reports.wording import count, printable

if TYPE_CHECKING:
    from mfsdp_lint.checkpoints.folder import CheckpointFolder, FolderTrouble, Iteration
    from mfsdp_lint.checkpoints.loading import LoadAnswer

SUMMARY = (
    "Describes a checkpoint folder: its format, its iterations, and whether they are complete. Nothing in it is "
    "unpickled, and torch is not needed."
)

EXAMPLES = (
    ("mfsdp-lint checkpoint /results/checkpoints", "the iterations in a folder, and whether they are complete"),
    ("mfsdp-lint checkpoint /results/checkpoints --for recipes/llama.py::pretrain", "whether a recipe can load it"),
)

FORMATS = ("text", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument("folders", nargs="+", metavar="DIR", help="a folder as `checkpoint.load` names it")
    parser.add_argument(
        "--for",
        dest="recipe",
        metavar="ADDRESS",
        help="path.py::function of a recipe: whether it can load that, else the commands that convert it",
    )
    add_what_is_read(OptionList(parser, "what is read of the recipe"))
    add_output(parser, FORMATS)


def main(arguments: argparse.Namespace) -> int:
    """Print the contents of checkpoints.

    Exit code 0, 1 where a checkpoint has an error, or a recipe cannot load it. Raises UsageError.
    """
    from mfsdp_lint.checkpoints.folder import NoFolder, checkpoint

    try:
        found = [checkpoint(folder) for folder in arguments.folders]
    except NoFolder as error:
        raise UsageError(str(error)) from None
    answers: list[LoadAnswer | None] = [None] * len(found)
    if arguments.recipe:
        from mfsdp_lint.checkpoints.loading import answer

        asked, _, known = read_asked(arguments, paths=(arguments.recipe,))
        if tell(known.remarks, known.problems):
            raise UsageError(f"{arguments.recipe}: cannot be read")
        recipe = only(known.recipes, arguments.recipe)
        answers = [answer(each, recipe, asked.targets_at(recipe.path)[0]) for each in found]
    if arguments.output_format == "json":
        print_json([_document(*each) for each in zip(found, answers, strict=True)])
    else:
        told = (line for each in zip(found, answers, strict=True) for line in _lines(*each))
        terminal.show("".join(f"{line}\n" for line in told))
    broken = any(trouble.weight == "error" for each in found for trouble in each.every_trouble)
    return int(broken or any(each is not None and each.loads is False for each in answers))


_CALLED = {
    "run": "a run's checkpoints",
    "iteration": "one iteration",
    "hugging face": "a Hugging Face model",
    "nothing": "no checkpoint",
}
_FORMAT_NAMES = {
    "torch": "torch (legacy)",
    "dcp": "of torch.distributed.checkpoint, by whom is not known",
    None: "of no format that can be told",
}

_LOADS = {
    True: "the recipe can load it",
    False: "the recipe cannot load it",
    None: "whether the recipe can is not known",
}


def _lines(found: CheckpointFolder, answer: LoadAnswer | None) -> Iterator[str]:
    """Describe a folder for people: its kind, its iterations, its faults, and whether the recipe can load it."""
    from mfsdp_lint.checkpoints.folder import LATEST

    tracker = f", the latest is {found.latest}" if found.latest else ""
    yield f"{printable(found.path)}: {_CALLED[found.level]}{tracker}"
    for trouble in found.troubles:
        yield from _told(trouble)
    told = [each for each in found.iterations[:-LATEST] if each.troubles] + list(found.iterations[-LATEST:])
    if len(told) < len(found.iterations):
        yield f"  {count(len(found.iterations) - len(told), 'earlier iteration')}"
    for iteration in told:
        yield f"  {printable(iteration.name)}: {', '.join(_parts(iteration))}"
        for trouble in iteration.troubles:
            yield from (f"  {line}" for line in _told(trouble))
    if answer is None:
        return
    yield f"  {_LOADS[answer.loads]}: {printable(answer.why)}"
    if way := answer.conversion:
        for number, step in enumerate(way.steps, 1):
            yield f"    {number}. {step.what}"
            yield f"       {printable(step.command)}"
        yield f"    then set {', '.join(f'{path} = {value}' for path, value in way.settings)}"
        yield f"    lost: {way.lost}"
    elif answer.loads is False:
        yield "    no converter is known for that, at this version"


def _parts(iteration: Iteration) -> Iterator[str]:
    name = _FORMAT_NAMES.get(iteration.format, iteration.format)
    yield f"{name} ({iteration.evidence})" if iteration.evidence else str(name)
    if iteration.tensors is not None:
        inside = "" if iteration.optimizer else ", none of the optimizer's"
        yield f"{iteration.tensors} {'entry' if iteration.tensors == 1 else 'entries'}{inside}"
    if iteration.ranks is not None:
        yield f"written by at least {count(iteration.ranks, 'rank')}"
    yield from (f"{setting} {size}" for setting, size in iteration.sizes)
    if iteration.complete is None:
        yield "whether it is complete is not known"


def _told(trouble: FolderTrouble) -> Iterator[str]:
    yield f"  {trouble.weight}: {printable(trouble.path)}: {printable(trouble.message)}"
    if trouble.consequence:
        yield f"    {trouble.consequence}"


def _document(found: CheckpointFolder, answer: LoadAnswer | None) -> dict[str, Any]:
    """Describe a folder as plain data."""

    def troubles(of: CheckpointFolder | Iteration) -> list[dict[str, Any]]:
        return [{"severity": each.weight, **attributes(each, "path", "message", "consequence")} for each in of.troubles]

    document = attributes(found, "path", "level", "latest") | {
        "iterations": [
            {
                **attributes(each, "name", "path", "format", "evidence"),
                "ranks_at_least": each.ranks,
                "sizes": dict(each.sizes),
                "entries": each.tensors,
                **attributes(each, "optimizer", "complete"),
                "troubles": troubles(each),
            }
            for each in found.iterations
        ],
        "troubles": troubles(found),
    }
    if answer is None:
        return document
    way = answer.conversion
    conversion = way and {
        "steps": [attributes(step, "what", "command") for step in way.steps],
        "settings": dict(way.settings),
        "lost": way.lost,
    }
    return document | {"for": {**attributes(answer, "loads", "why"), "conversion": conversion}}
