"""Variables of the environment that are set too late, or under another name than the one that is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tree_sitter import Node

from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.recipe import Notice
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT
from mfsdp_lint.readers.shell.script import Script

if TYPE_CHECKING:
    from mfsdp_lint.readers.shell.run import Launch

_LIKELY = 0.85
"""How much alike two names are of which one is a slip: CUDA_MAX_CONNECTIONS and CUDA_DEVICE_MAX_CONNECTIONS."""


@cache
def _read() -> tuple[str, ...]:
    """Return the environment variables that something reads."""
    entries = table().entries.items()
    return tuple(
        path.removeprefix(ENVIRONMENT) for path, entry in entries if entry.section == "env" and not entry.unread
    )


def misspelt(script: Script) -> Iterator[Notice]:
    """Yield `unset` of a variable that nobody sets, and whose name is nearly one that is read."""
    assigned = {script.source(node.children[0]) for node in script.nodes() if node.type == "variable_assignment"}
    for node in script.nodes():
        if node.type == "unset_command":
            for child in node.named_children:
                name = script.source(child)
                meant = next(iter(nearest(name, _read(), cutoff=_LIKELY)), None)
                if meant and name != meant and name not in assigned:
                    yield Notice("misspelt-variable", script.span(child), {"name": name, "meant": meant})


def of_jobs(launches: Sequence[Launch]) -> Iterator[Notice]:
    """Yield variables that are exported for a cluster's job after `ray start`, when the export has no effect on it."""
    for launch in launches:
        for name, span in launch.late:
            if name in _read():
                yield Notice("late-variable", span, {"name": name, "process": "ray start"})


def late(script: Script, path: str, launches: Sequence[Launch]) -> Iterator[Notice]:
    """Yield variables that are exported behind the last launch, so that no launch has them."""
    spans = [launch.span for launch in launches if launch.span.path == path]
    if not spans:
        return
    last = max((span.end_line, span.end_column) for span in spans)
    known = {name for launch in launches for name in launch.environment}
    for name, node in _exports(script):
        span = script.span(node)
        if name in _read() and name not in known and (span.line, span.column) >= last:
            yield Notice("late-variable", span, {"name": name, "process": None})


def _exports(script: Script) -> Iterator[tuple[str, Node]]:
    """Yield the variables that a script exports with a value, each with the assignment."""
    for node in script.nodes():
        if node.type == "declaration_command" and script.source(node.children[0]) == "export":
            for child in node.named_children:
                if child.type == "variable_assignment":
                    yield script.source(child.children[0]), child
