"""Contents of checkpoints' folders, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mfsdp_lint.checkpoints.folder import LATEST
from mfsdp_lint.checkpoints.iteration import CheckpointFolder, FolderTrouble, Iteration
from mfsdp_lint.checkpoints.loading import Answer
from mfsdp_lint.reports.printable import count, printable

_CALLED = {
    "run": "a run's checkpoints",
    "iteration": "one iteration",
    "hugging face": "a Hugging Face model",
    "nothing": "no checkpoint",
}
_FORMATS = {
    "torch": "torch (legacy)",
    "dcp": "of torch.distributed.checkpoint, by whom is not known",
    None: "of no format that can be told",
}


def text(found: Sequence[CheckpointFolder], answers: Sequence[Answer] = ()) -> str:
    """Describe each folder in a block: its kind, its iterations, its problems, and whether a recipe can load it."""
    return "".join(
        f"{line}\n" for each, answer in _together(found, answers) for line in (*_lines(each), *_said(answer))
    )


def document(found: Sequence[CheckpointFolder], answers: Sequence[Answer] = ()) -> list[dict[str, Any]]:
    """Describe the folders as plain data."""
    return [
        {
            "path": each.path,
            "level": each.level,
            "latest": each.latest,
            "iterations": [_iteration(iteration) for iteration in each.iterations],
            "troubles": list(map(_trouble, each.troubles)),
        }
        | ({} if answer is None else {"for": _answer(answer)})
        for each, answer in _together(found, answers)
    ]


def _together(
    found: Sequence[CheckpointFolder], answers: Sequence[Answer]
) -> Iterator[tuple[CheckpointFolder, Answer | None]]:
    return zip(found, answers or (None,) * len(found), strict=True)


_LOADS = {
    True: "the recipe can load it",
    False: "the recipe cannot load it",
    None: "whether the recipe can is not known",
}


def _said(answer: Answer | None) -> Iterator[str]:
    if answer is None:
        return
    yield f"  {_LOADS[answer.loads]}: {printable(answer.why)}"
    way = answer.conversion
    if way is None:
        if answer.loads is False:
            yield "    no converter is known for that, at this version"
        return
    for number, step in enumerate(way.steps, 1):
        yield f"    {number}. {step.what}"
        yield f"       {printable(step.command)}"
    yield f"    then set {', '.join(f'{path} = {value}' for path, value in way.settings)}"
    yield f"    lost: {way.lost}"


def _answer(answer: Answer) -> dict[str, Any]:
    way = answer.conversion
    return {
        "loads": answer.loads,
        "why": answer.why,
        "conversion": way
        and {
            "steps": [{"what": step.what, "command": step.command} for step in way.steps],
            "settings": dict(way.settings),
            "lost": way.lost,
        },
    }


def _lines(found: CheckpointFolder) -> Iterator[str]:
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


def _parts(iteration: Iteration) -> Iterator[str]:
    name = _FORMATS.get(iteration.format, iteration.format)
    yield f"{name} ({iteration.evidence})" if iteration.evidence else str(name)
    if iteration.tensors is not None:
        inside = "" if iteration.optimizer else ", none of the optimizer's"
        yield f"{count(iteration.tensors, 'entry').replace('entrys', 'entries')}{inside}"
    if iteration.ranks is not None:
        yield f"written by at least {count(iteration.ranks, 'rank')}"
    yield from (f"{setting} {size}" for setting, size in iteration.sizes)
    if iteration.complete is None:
        yield "whether it is complete is not known"


def _told(trouble: FolderTrouble) -> Iterator[str]:
    yield f"  {trouble.weight}: {printable(trouble.path)}: {printable(trouble.message)}"
    if trouble.consequence:
        yield f"    {trouble.consequence}"


def _iteration(iteration: Iteration) -> dict[str, Any]:
    return {
        "name": iteration.name,
        "path": iteration.path,
        "format": iteration.format,
        "evidence": iteration.evidence,
        "ranks_at_least": iteration.ranks,
        "sizes": dict(iteration.sizes),
        "entries": iteration.tensors,
        "optimizer": iteration.optimizer,
        "complete": iteration.complete,
        "troubles": list(map(_trouble, iteration.troubles)),
    }


def _trouble(trouble: FolderTrouble) -> dict[str, Any]:
    return {
        "severity": trouble.weight,
        "path": trouble.path,
        "message": trouble.message,
        "consequence": trouble.consequence,
    }
