"""GitHub: the steps of workflows and of composite actions. A step sees the environment of its workflow and its job."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.readers.holders.parts import Variables, entries, environment, held, items, said, text_of
from mfsdp_lint.readers.shell.held import Held
from mfsdp_lint.readers.yaml.document import Document
from mfsdp_lint.readers.yaml.nodes import Mapping, Node

_SHELLS = (None, "bash", "sh")


def is_one(document: Document, root: Mapping) -> bool:
    """Tell whether a document is a workflow or an action."""
    whole = entries(document, root)
    return ("jobs" in whole and "on" in whole) or "steps" in entries(document, whole.get("runs"))


def scripts(document: Document, root: Mapping) -> Iterator[Held]:
    """Yield the script of every step."""
    whole = entries(document, root)
    outer = environment(document, whole.get("env"))
    for job in (*entries(document, whole.get("jobs")).values(), whole.get("runs")):
        own = entries(document, job)
        yield from _steps(document, own.get("steps"), outer | environment(document, own.get("env")))


def _steps(document: Document, steps: Node | None, outer: Variables) -> Iterator[Held]:
    for step in items(document, steps):
        own = entries(document, step)
        shell = said(document, own.get("shell"))
        if "run" in own and (shell in _SHELLS or str(shell).startswith(("bash ", "sh "))):
            yield from held(text_of(document, own["run"]), outer, environment(document, own.get("env")))
