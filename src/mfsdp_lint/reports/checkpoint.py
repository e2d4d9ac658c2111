"""What checkpoints' folders hold, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mfsdp_lint.checkpoints.found import Found, Iteration, Trouble
from mfsdp_lint.results.printable import count, printable

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
_SHOWN = 5
"""The latest iterations, which are the ones that are loaded; of the others only those with troubles are told."""


def text(found: Sequence[Found]) -> str:
    """One block a folder: what it is, its iterations, and what is wrong with it."""
    return "\n".join("\n".join(_lines(each)) for each in found) + "\n"


def document(found: Sequence[Found]) -> list[dict[str, Any]]:
    """The same as plain data."""
    return [
        {
            "path": each.path,
            "level": each.level,
            "latest": each.latest,
            "iterations": [_iteration(iteration) for iteration in each.iterations],
            "troubles": list(map(_trouble, each.troubles)),
        }
        for each in found
    ]


def _lines(found: Found) -> Iterator[str]:
    tracker = f", the latest is {found.latest}" if found.latest else ""
    yield f"{printable(found.path)}: {_CALLED[found.level]}{tracker}"
    for trouble in found.troubles:
        yield from _told(trouble)
    told = [each for each in found.iterations[:-_SHOWN] if each.troubles] + list(found.iterations[-_SHOWN:])
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


def _told(trouble: Trouble) -> Iterator[str]:
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


def _trouble(trouble: Trouble) -> dict[str, Any]:
    return {
        "severity": trouble.weight,
        "path": trouble.path,
        "message": trouble.message,
        "consequence": trouble.consequence,
    }
