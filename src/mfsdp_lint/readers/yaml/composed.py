"""YAML documents as trees."""

from __future__ import annotations

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.trees import MISSING, Leaf, Section, Tree
from mfsdp_lint.readers.yaml import nodes
from mfsdp_lint.readers.yaml.document import Document
from mfsdp_lint.readers.yaml.nodes import MAX_DEPTH


def tree_of(document: Document, node: nodes.Mapping, depth: int = 0) -> Section:
    """Return the tree of a document's mapping, merge keys and aliases written out."""
    entries: dict[str, Tree] = {}
    for name, values in document.effective(node).items():
        entries[name] = _tree(document, values[-1], depth)
    return Section(entries)


def _tree(document: Document, node: nodes.Node, depth: int) -> Tree:
    target = document.follow(node)
    span, focus = document.places(node)
    origin = Origin(span, "assigned", focus)
    if target is None or depth >= MAX_DEPTH:  # an alias of what it is part of, or of too much
        return replace(MISSING, origin=origin)
    if isinstance(target, nodes.Mapping) and target.tag == "map":
        return replace(tree_of(document, target, depth + 1), origin=origin)
    value = document.value(target)
    text = target.text if isinstance(target, nodes.Scalar) and target.tag in ("str", "float") else None
    items = None
    if isinstance(target, nodes.Sequence) and target.tag == "seq":
        items = tuple(_tree(document, item, depth + 1) for item in target.items)
    return Leaf(value, replace(origin, value=value), text, items)
