"""Pipelines of Azure: the scripts of their steps, with variables (learn.microsoft.com/azure/devops/pipelines)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.held_texts import (
    MOST_JOBS,
    Variables,
    entries,
    environment,
    filled_in,
    held,
    items,
    mappings,
    said,
    text_of,
)
from mfsdp_lint.readers.shell.script import Piece, Text, filled, holed
from mfsdp_lint.readers.shell.state import Held, Variable
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node

_SCRIPTS = ("script", "bash", "pwsh", "powershell")


def is_azure(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has steps with a script, and variables for them; without any it is read as any other."""
    return any(any(variables) and any(True for _ in _steps(document, job)) for variables, job in _jobs(document, root))


def azure_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the script of every step, for each job of a matrix."""
    parameters = {
        f"parameters.{said(document, own.get('name'))}": text
        for own in (entries(document, each) for each in items(document, entries(document, root).get("parameters")))
        if (text := text_of(document, own.get("default")))
    }
    for nodes, job in _jobs(document, root):
        legs = entries(document, entries(document, entries(document, job).get("strategy")).get("matrix")).values()
        for leg in legs if 0 < len(legs) <= MOST_JOBS else (None,):
            variables: dict[str, Variable] = {}
            # A variable may name another beside it.
            for node in (each for each in (*nodes, leg) for _ in range(2)):
                variables |= environment(document, node, partial(_filled, parameters, variables))
            fill = partial(_filled, parameters, variables)
            around = {name.upper(): each for name, each in variables.items()}
            for step in _steps(document, job):
                script = next(step[name] for name in _SCRIPTS if name in step)
                yield from held(fill(text_of(document, script)), around, environment(document, step.get("env"), fill))


def _jobs(document: YamlDocument, root: MappingNode) -> Iterator[tuple[list[Node | None], Node]]:
    """Yield the jobs, each with the variables of the pipeline, of its stage and its own."""
    for stage in items(document, entries(document, root).get("stages")) or (root,):
        for job in items(document, entries(document, stage).get("jobs")) or (stage,):
            around = dict.fromkeys((root, stage, job))
            yield [entries(document, each).get("variables") for each in around], job


def _steps(document: YamlDocument, job: Node) -> Iterator[Mapping[str, Node]]:
    """Yield the steps that have a script, or a task that is given one, wherever a job has them."""
    lists = [entries(document, each).get("steps") for each in mappings(document, job)]
    for each in (each for steps in lists for each in mappings(document, steps)):
        step = entries(document, each)
        step = {**step, **entries(document, step.get("inputs"))} if "task" in step else step
        if any(said(document, step.get(name)) for name in _SCRIPTS):
            yield step


_MACRO = lazy_pattern(r"\$\((?P<name>[\w.]+)\)")


def _filled(parameters: Mapping[str, Text], variables: Variables, text: Text) -> Text:
    """Fill in variables, in `$(name)` whatever their case, and parameters; any other `$(date)` may be a command."""
    by_name = {name.lower(): each for name, each in variables.items()}

    def fill(match: re.Match[str], piece: Piece) -> Text | None:
        given = by_name.get(match["name"].lower())
        return None if given is None else given.text or holed(match, piece)

    early = {f"variables.{name}": each.text for name, each in variables.items() if each.text}
    return filled(filled_in({**parameters, **early}, text), _MACRO, fill)
