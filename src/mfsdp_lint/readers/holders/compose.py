"""Docker Compose: services with a command and an environment."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.holders.parts import command, entries, environment, held, text_of
from mfsdp_lint.readers.shell.held import Held
from mfsdp_lint.readers.shell.pieces import Text, plain
from mfsdp_lint.readers.yaml import nodes
from mfsdp_lint.readers.yaml.document import Document
from mfsdp_lint.readers.yaml.nodes import Mapping, Node


def is_one(document: Document, root: Mapping) -> bool:
    """Whether a document has services."""
    services = entries(document, entries(document, root).get("services"))
    return any({"image", "build", "command"} & entries(document, each).keys() for each in services.values())


def scripts(document: Document, root: Mapping) -> Iterator[Held]:
    """What the services run: the entry point with the command behind it."""
    for service in entries(document, entries(document, root).get("services")).values():
        own = entries(document, service)
        variables = environment(document, own.get("environment"))
        entrypoint, given = own.get("entrypoint"), own.get("command")
        if entrypoint is None:
            yield from held(_command(document, given), variables)
        elif _is_list(document, entrypoint) and (given is None or _is_list(document, given)):
            yield from held(_dollars(command(document, entrypoint, given)), variables)


def _command(document: Document, node: Node | None) -> Text:
    return _dollars(command(document, node) if _is_list(document, node) else text_of(document, node))


def _is_list(document: Document, node: Node | None) -> bool:
    return node is not None and isinstance(document.follow(node), nodes.Sequence)


def _dollars(text: Text) -> Text:
    """`$$` is how the file writes `$`."""
    return tuple(
        replace(piece, text=piece.text.replace("$$", "$")) if "$$" in plain((piece,)) else piece for piece in text
    )
