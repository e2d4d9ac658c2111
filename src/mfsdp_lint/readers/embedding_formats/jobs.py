"""Jobs of GitHub, GitLab, Kubernetes and Ray: their scripts and command lines, with their environment."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.embedding_formats.parts import (
    Variables,
    command,
    entries,
    environment,
    held,
    items,
    joined,
    mappings,
    said,
    text_of,
    variable,
)
from mfsdp_lint.readers.shell.pieces import Piece, Text, plain
from mfsdp_lint.readers.shell.state import Held, Variable
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, compose_documents

_SHELLS = (None, "bash", "sh")


def is_github(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document is a workflow or an action."""
    whole = entries(document, root)
    return ("jobs" in whole and "on" in whole) or "steps" in entries(document, whole.get("runs"))


def github_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the script of every step."""
    whole = entries(document, root)
    outer = environment(document, whole.get("env"))
    for job in (*entries(document, whole.get("jobs")).values(), whole.get("runs")):
        own = entries(document, job)
        around = outer | environment(document, own.get("env"))
        for step in items(document, own.get("steps")):
            inside = entries(document, step)
            shell = said(document, inside.get("shell"))
            if "run" in inside and (shell in _SHELLS or str(shell).startswith(("bash ", "sh "))):
                yield from held(text_of(document, inside["run"]), around, environment(document, inside.get("env")))


_OF_A_PIPELINE = {"stages", "include", "workflow", "default", "variables", "before_script"}
_OF_A_JOB = {
    "stage",
    "tags",
    "rules",
    "needs",
    "extends",
    "before_script",
    "after_script",
    "artifacts",
    "only",
    "except",
}


def is_gitlab(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has jobs: sections with a script, beside other keys of a pipeline or a job.

    Other kinds of files have sections with a script as well, but none of these keys.
    """
    whole = entries(document, root)
    jobs = [own.keys() for each in whole.values() if "script" in (own := entries(document, each))]
    return bool(jobs) and (not whole.keys().isdisjoint(_OF_A_PIPELINE) or any(_OF_A_JOB & own for own in jobs))


def gitlab_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the script of every job, with the `before_script` in front."""
    whole = entries(document, root)
    default = entries(document, whole.get("default"))
    outer = _variables(document, whole.get("variables"))
    for job in whole.values():
        own = entries(document, job)
        before = own.get("before_script", default.get("before_script", whole.get("before_script")))
        lines = [text_of(document, each) for part in (before, own.get("script")) for each in items(document, part)]
        if "script" in own:
            yield from held(joined(lines), outer, _variables(document, own.get("variables")))


def _variables(document: YamlDocument, node: Node | None) -> Variables:
    """Read variables: `NAME: value`, or with the value below `value`."""
    return {
        name: variable(text_of(document, entries(document, each).get("value", each)))
        for name, each in entries(document, node).items()
        if name.isidentifier()
    }


def is_kubernetes(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document is a manifest."""
    return {"apiVersion", "kind"} <= entries(document, root).keys()


def kubernetes_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the scripts of its containers, wherever in it they are, and the scripts that it makes files of."""
    whole = entries(document, root)
    if said(document, whole.get("kind")) == "ConfigMap":
        for name, value in entries(document, whole.get("data")).items():
            text = text_of(document, value)
            if name.endswith((".sh", ".bash")) or plain(text).startswith("#!"):
                yield from held(text)
    for each in mappings(document, root):
        own = entries(document, each)
        for container in (*items(document, own.get("containers")), *items(document, own.get("initContainers"))):
            inside = entries(document, container)
            text = command(document, inside.get("command"), inside.get("args"))
            yield from held(text, environment(document, inside.get("env")))


_RUNTIME = ("runtime_env", "runtimeEnvYAML")


def is_ray(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has a job."""
    return any("entrypoint" in own and not own.keys().isdisjoint(_RUNTIME) for own in _sections(document, root))


def ray_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the command line of every job."""
    for own in _sections(document, root):
        if "entrypoint" not in own:
            continue
        for name in _RUNTIME:
            if name in own:
                inside = entries(document, own[name])
                variables = environment(document, inside.get("env_vars")) if inside else _in_text(document, own[name])
                yield from held(text_of(document, own["entrypoint"]), variables)


def _sections(document: YamlDocument, root: MappingNode) -> Iterator[dict[str, Node]]:
    return (entries(document, each) for each in mappings(document, root))


def _in_text(document: YamlDocument, node: Node) -> Variables:
    """Return the variables of an environment that is YAML in a text."""
    text = text_of(document, node)
    try:
        roots = compose_documents(document.path, plain(text))
    except Unreadable:
        return {}
    inner = YamlDocument(document.path, Lines(plain(text)))
    found = environment(inner, entries(inner, roots[0]).get("env_vars")) if len(roots) == 1 else {}
    return {name: _placed(each, text) for name, each in found.items()}


def _placed(variable: Variable, text: Text) -> Variable:
    """Convert a variable's places in a text to places in the file that holds the text."""
    words = tuple(tuple(_outside(piece, text) for piece in word) for word in variable.words or ())
    return replace(variable, words=words, written=words[0][0]) if words else variable


def _outside(piece: Piece, text: Text) -> Piece:
    start = 0
    for line in text:
        if start <= piece.start < start + len(line.text):
            return replace(line.cut(piece.start - start, piece.end - start), text=piece.text)
        start += len(line.text)
    return replace(text[0], text=piece.text)
