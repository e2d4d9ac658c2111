"""Workflows and actions of GitHub: the scripts of their steps, each with what the steps before it have set."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice, product

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.held_texts import (
    MOST_JOBS,
    Fill,
    entries,
    environment,
    filled_in,
    held,
    items,
    said,
    text_of,
    variable,
)
from mfsdp_lint.readers.shell.run import ScriptRunner, TooMuch
from mfsdp_lint.readers.shell.script import Script, Text, plain, sliced, standing_at
from mfsdp_lint.readers.shell.state import LOST, Held, Variable
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.merged import taken
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node

_FOLLOWED_SHELLS = (None, "bash", "sh")


def is_github(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document is a workflow or an action."""
    whole = entries(document, root)
    return ("jobs" in whole and "on" in whole) or "steps" in entries(document, whole.get("runs"))


def github_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the script of every step, for each call of a workflow or an action that others call."""
    for call in _calls(document, document.path, root, sources):
        yield from _scripts(document, root, call, sources)


def _scripts(document: YamlDocument, root: MappingNode, call: _Call, sources: Sources) -> Iterator[Held]:
    for own, fill, around in _jobs(document, root, call):
        for step in items(document, own.get("steps")):
            inside = entries(document, step)
            shell = said(document, inside.get("shell"))
            script = fill(text_of(document, inside.get("run")))
            variables = around | environment(document, inside.get("env"), fill)
            followed = shell in _FOLLOWED_SHELLS or str(shell).startswith(("bash ", "sh "))
            if followed:
                yield from held(script, variables)
            if "GITHUB_ENV" in plain(script):
                set_by_step = _handed_on(Held(script, variables), sources) if followed and "if" not in inside else {}
                around = around | dict.fromkeys(_NAME.findall(plain(script)), LOST) | set_by_step


def _jobs(
    document: YamlDocument, root: MappingNode, call: _Call
) -> Iterator[tuple[Mapping[str, Node], Fill, dict[str, Variable]]]:
    """Yield each job of a workflow, or the one of an action, for every combination of its matrix: its entries, what
    fills in its texts, and its variables.
    """
    whole = entries(document, root)
    given, outside = call
    outer = outside | environment(document, whole.get("env"))
    for job in (*entries(document, whole.get("jobs")).values(), whole.get("runs")):
        own = entries(document, job)
        for chosen in _combinations(document, entries(document, own.get("strategy")).get("matrix")):
            fill = partial(filled_in, {**given, **{f"matrix.{name}": text for name, text in chosen.items()}})
            yield own, fill, outer | environment(document, own.get("env"), fill)


_Call = tuple[dict[str, Text], dict[str, Variable]]
"""The inputs of a workflow or an action, and the variables that it has from outside."""

_WORKFLOWS = ".github/workflows"
_DEEPEST = 10
"""Workflows that call each other, as GitHub has it (docs.github.com, "Reuse workflows")."""


def _calls(
    document: YamlDocument, path: str, root: MappingNode, sources: Sources, depth: int = _DEEPEST
) -> list[_Call]:
    """Return the ways in which a workflow or an action is started: those of its callers, or with its defaults."""
    whole = entries(document, root)
    on = entries(document, whole.get("on"))
    events = on.keys() or {said(document, each) for each in items(document, whole.get("on"))}
    given = {
        f"inputs.{name}": text_of(document, own["default"])
        for holder in (
            entries(document, on.get("workflow_dispatch")),
            entries(document, on.get("workflow_call")),
            whole,
        )
        for name, each in entries(document, holder.get("inputs")).items()
        if "default" in (own := entries(document, each))
    }
    is_called = "workflow_call" in events or "runs" in whole
    called = list(islice(_calls_of(document, path, sources, depth), MOST_JOBS + 1)) if is_called and depth else []
    if len(called) > MOST_JOBS:
        return [({}, {})]
    calls = [({**given, **inputs}, variables) for inputs, variables in called]
    return calls if calls and not events - {"workflow_call"} else [*calls, (given, {})]


def _calls_of(document: YamlDocument, path: str, sources: Sources, depth: int) -> Iterator[_Call]:
    """Yield the inputs that workflows of the repository call a workflow or an action with.

    A workflow has none of its caller's variables, an action has all of them.
    """
    own = posixpath.normpath(path)
    wanted = posixpath.dirname(own) if posixpath.basename(own) in ("action.yml", "action.yaml") else own
    for folder in above(path):
        there = posixpath.join(folder, _WORKFLOWS)
        for name in disk.Listing(there).matching("*.y*ml"):
            caller = posixpath.normpath(posixpath.join(there, name))
            if caller == own or posixpath.basename(wanted) not in (sources.text_or_none(caller) or ""):
                continue
            for root in taken(document, caller, sources):
                for given, _ in _calls(document, caller, root, sources, depth - 1):
                    for uses, inputs, variables in _used(document, root, given):
                        if uses.startswith("./") and posixpath.normpath(posixpath.join(folder, uses)) == wanted:
                            yield inputs, {} if wanted == own else variables


def _used(
    document: YamlDocument, root: MappingNode, given: dict[str, Text]
) -> Iterator[tuple[str, dict[str, Text], dict[str, Variable]]]:
    """Yield what a workflow's jobs and steps use, with the inputs and the variables that they give it."""
    for own, fill, around in _jobs(document, root, (given, {})):
        for user in (own, *(entries(document, step) for step in items(document, own.get("steps")))):
            values = entries(document, user.get("with")).items()
            inputs = {f"inputs.{name}": fill(text_of(document, value)) for name, value in values}
            variables = around | environment(document, user.get("env"), fill)
            yield said(document, user.get("uses")) or "", inputs, variables


_FILE = "/github/env"
"""Where a step finds the file of variables for the steps behind it; which path that is does not matter."""

_NAME = lazy_pattern(r"\b([A-Za-z_]\w*)(?:=|<<)")
_LINES = lazy_pattern(
    r"^(?P<name>[A-Za-z_]\w*)(?:=(?P<value>[^\n]*)|<<(?P<mark>[^\n]+)\n(?P<lines>.*?)\n(?P=mark)$)",
    re.MULTILINE | re.DOTALL,
)


def _handed_on(step: Held, sources: Sources) -> dict[str, Variable]:
    """Return the variables that a step sets for the steps behind it, if that is the same on each way through it."""
    path = Variable(((standing_at(_FILE, step.text[0]),),), exported=True)
    runner = ScriptRunner(step.text[0].path, sources)
    script = Script(step.text)
    try:
        ways = runner.script(script, runner.beginning(replace(step, variables={**step.variables, "GITHUB_ENV": path})))
    except (TooMuch, RecursionError):
        return {}
    texts = [way.state.files.get(_FILE) for way in ways]
    if not texts or any(text is None or text != texts[0] for text in texts):
        return {}
    whole = plain(texts[0] or ())
    return {
        found["name"]: variable(tuple(sliced(texts[0] or (), *found.span((found["mark"] and "lines") or "value"))))
        for found in _LINES.finditer(whole)
    }


def _combinations(document: YamlDocument, matrix: Node | None) -> Iterator[dict[str, Text]]:
    """Yield the values of each job of a matrix, as far as there are few; one without any where they are not known."""
    own = entries(document, matrix)
    axes = {
        name: [text_of(document, item) for item in items(document, each)]
        for name, each in own.items()
        if name not in ("include", "exclude")
    }
    added = [
        {name: text_of(document, value) for name, value in entries(document, item).items()}
        for item in items(document, own.get("include"))
    ]
    left_out = [
        {name: said(document, value) for name, value in entries(document, item).items()}
        for item in items(document, own.get("exclude"))
    ]
    jobs = (
        [dict(zip(axes, chosen, strict=True)) for chosen in islice(product(*axes.values()), MOST_JOBS + 1)]
        if axes
        else []
    )
    jobs = [
        job for job in jobs if not any(all(plain(job.get(k, ())) == v for k, v in each.items()) for each in left_out)
    ]
    for each in added:
        same = [job for job in jobs if axes and all(plain(job[k]) == plain(v) for k, v in each.items() if k in axes)]
        for job in same:
            job |= each
        jobs += [] if same else [each]
    yield from jobs if 0 < len(jobs) <= MOST_JOBS else [{}]
