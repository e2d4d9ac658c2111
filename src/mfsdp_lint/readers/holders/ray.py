"""Ray: a job is a command line with a runtime environment, in a file of its own or in a RayJob of Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.holders.parts import Variables, entries, environment, held, mappings, text_of
from mfsdp_lint.readers.shell.held import Held
from mfsdp_lint.readers.shell.pieces import Piece, Text, plain
from mfsdp_lint.readers.shell.state import Variable
from mfsdp_lint.readers.yaml.document import Document
from mfsdp_lint.readers.yaml.nodes import Mapping, Node, compose_documents

_RUNTIME = ("runtime_env", "runtimeEnvYAML")


def is_one(document: Document, root: Mapping) -> bool:
    """Tell whether a document has a job."""
    return any("entrypoint" in own and not own.keys().isdisjoint(_RUNTIME) for own in _sections(document, root))


def scripts(document: Document, root: Mapping) -> Iterator[Held]:
    """Yield the command line of every job."""
    for own in _sections(document, root):
        if "entrypoint" not in own:
            continue
        for name in _RUNTIME:
            if name in own:
                inside = entries(document, own[name])
                variables = environment(document, inside.get("env_vars")) if inside else _in_text(document, own[name])
                yield from held(text_of(document, own["entrypoint"]), variables)


def _sections(document: Document, root: Mapping) -> Iterator[dict[str, Node]]:
    return (entries(document, each) for each in mappings(document, root))


def _in_text(document: Document, node: Node) -> Variables:
    """Return the variables of an environment that is YAML in a text."""
    text = text_of(document, node)
    try:
        roots = compose_documents(document.path, plain(text))
    except Unreadable:
        return {}
    inner = Document(document.path, Lines(plain(text)))
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
