"""YAML files as trees; those that a configuration is put together from are read once."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from functools import lru_cache

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin, Setting
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.called import Evaluate
from mfsdp_lint.readers.trees import MISSING, Leaf, Section, Tree
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MAX_DEPTH, MappingNode, Node, ScalarNode, SequenceNode, compose_documents


def tree_of(document: YamlDocument, node: MappingNode, depth: int = 0) -> Section:
    """Return the tree of a document's mapping, merge keys and aliases written out."""
    entries: dict[str, Tree] = {}
    for name, values in document.effective(node).items():
        entries[name] = _tree_below(document, values[-1], depth)
    return Section(entries)


def _tree_below(document: YamlDocument, node: Node, depth: int) -> Tree:
    target = document.follow(node)
    span, focus = document.places(node)
    origin = Origin(span, "assigned", focus)
    if target is None or depth >= MAX_DEPTH:  # an alias of what it is part of, or of too much
        return replace(MISSING, origin=origin)
    if isinstance(target, MappingNode) and target.tag == "map":
        return replace(tree_of(document, target, depth + 1), origin=origin)
    value = document.value(target)
    text = target.text if isinstance(target, ScalarNode) and target.tag in ("str", "float") else None
    items = None
    if isinstance(target, SequenceNode) and target.tag == "seq":
        items = tuple(_tree_below(document, item, depth + 1) for item in target.items)
    return Leaf(value, replace(origin, value=value), text, items)


_KEPT = 4096
"""Trees that are kept: every version that is judged against, and every proof of a fix, asks for the same ones."""


class Files:
    """YAML files as trees. A file that cannot be read, or whose root is no mapping, is none.

    `evaluate` follows Python functions that they name. `composed` is for whoever puts files together, to keep what many
    others begin with. `environment` are the variables that whoever starts the framework gives it, by name.
    """

    def __init__(self, sources: Sources, evaluate: Evaluate | None = None, environment: Iterable[Setting] = ()) -> None:
        self._sources = sources
        self.evaluate = evaluate
        self.environment = {each.path.partition(".")[2]: each for each in environment}
        self._trees: dict[str, Section | None] = {}
        self.composed: dict[str, Section] = {}

    def tree(self, path: str) -> Section | None:
        """Return the tree of a file by itself."""
        path = posixpath.normpath(path)
        if path not in self._trees:
            text = self._sources.text_or_none(path) if self._sources.exists(path) else None
            self._trees[path] = None if text is None else tree_of_text(path, text)
        return self._trees[path]

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        return self._sources.exists(path)

    def source_text(self, path: str) -> str:
        """Return the text of a file; empty where it cannot be read."""
        return self._sources.text_or_none(path) or ""


@lru_cache(_KEPT)
def tree_of_text(path: str, text: str) -> Section | None:
    try:
        roots = compose_documents(path, text)
    except Unreadable:
        return None
    return tree_of(YamlDocument(path, Lines(text)), roots[0]) if roots and isinstance(roots[0], MappingNode) else None
