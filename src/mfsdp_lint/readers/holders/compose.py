"""Docker Compose: services with a command and an environment."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.holders import dotenv
from mfsdp_lint.readers.holders.parts import Variables, command, entries, environment, held, items, said, text_of
from mfsdp_lint.readers.paths import beside
from mfsdp_lint.readers.shell.held import Held
from mfsdp_lint.readers.shell.pieces import Text, plain
from mfsdp_lint.readers.shell.state import Variable
from mfsdp_lint.readers.yaml import nodes
from mfsdp_lint.readers.yaml.document import Document
from mfsdp_lint.readers.yaml.nodes import Mapping, Node


def is_one(document: Document, root: Mapping) -> bool:
    """Tell whether a document has services."""
    services = entries(document, entries(document, root).get("services"))
    return any({"image", "build", "command"} & entries(document, each).keys() for each in services.values())


def scripts(document: Document, root: Mapping, sources: Sources) -> Iterator[Held]:
    """Yield the scripts of the services: the entry point with the command behind it.

    Files of variables are beside the file.
    """
    for service in entries(document, entries(document, root).get("services")).values():
        own = entries(document, service)
        variables = {
            **_of_files(document, own.get("env_file"), sources),
            **environment(document, own.get("environment")),
        }
        entrypoint, given = own.get("entrypoint"), own.get("command")
        if entrypoint is None:
            yield from held(_command(document, given), variables)
        elif _is_list(document, entrypoint) and (given is None or _is_list(document, given)):
            yield from held(_dollars(command(document, entrypoint, given)), variables)


def _of_files(document: Document, node: Node | None, sources: Sources) -> Variables:
    """Read the variables of `env_file: name`, or of several files; an item may be a mapping with a `path`."""
    found: dict[str, Variable] = {}
    for item in items(document, node):
        name = said(document, entries(document, item).get("path", item))
        path = beside(document.path, name) if name else ""
        text = sources.text_or_none(path) if path and sources.exists(path) else None
        found |= dotenv.variables(path, text) if text is not None else {}
    return found


def _command(document: Document, node: Node | None) -> Text:
    return _dollars(command(document, node) if _is_list(document, node) else text_of(document, node))


def _is_list(document: Document, node: Node | None) -> bool:
    return node is not None and isinstance(document.follow(node), nodes.Sequence)


def _dollars(text: Text) -> Text:
    """Replace `$$`, which is how the file writes `$`."""
    return tuple(
        replace(piece, text=piece.text.replace("$$", "$")) if "$$" in plain((piece,)) else piece for piece in text
    )
