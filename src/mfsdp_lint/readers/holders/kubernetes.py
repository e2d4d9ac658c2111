"""Kubernetes: containers with a command and an environment, and the scripts of a ConfigMap."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.readers.holders.parts import command, entries, environment, held, items, mappings, said, text_of
from mfsdp_lint.readers.shell.held import Held
from mfsdp_lint.readers.shell.pieces import plain
from mfsdp_lint.readers.yaml.document import Document
from mfsdp_lint.readers.yaml.nodes import Mapping


def is_one(document: Document, root: Mapping) -> bool:
    """Tell whether a document is a manifest."""
    return {"apiVersion", "kind"} <= entries(document, root).keys()


def scripts(document: Document, root: Mapping) -> Iterator[Held]:
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
