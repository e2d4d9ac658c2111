"""Several YAML files that are read as one document: nodes of other files, and trees of nodes over each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.yaml.document import YamlDocument, target_of
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose_documents

Join = Callable[[str, Node, Node], Node | None]
"""The node that is left of an old and a new one under a key; None where mappings are merged and others replaced."""


def taken(document: YamlDocument, path: str, sources: Sources) -> list[MappingNode]:
    """Return the documents of another file, whose nodes can then be read as if they were a document's own."""
    text = sources.text_or_none(path) if sources.exists(path) else None
    try:
        roots = compose_documents(path, text or "", again=True)
    except Unreadable:
        return []
    other = YamlDocument(path, Lines(text or ""))
    pending = list(roots)
    while pending:
        match pending.pop():
            case ScalarNode() as scalar:
                document.homes[scalar] = other
            case MappingNode(entries=entries):
                pending += [each for pair in entries for each in pair]
            case SequenceNode(items=items):
                pending += items
    return [each for each in roots if isinstance(each, MappingNode)]


def is_taken(document: YamlDocument, node: Node | None) -> bool:
    """Tell whether the first text at or below a node is written in another file."""
    target = document.follow(node) if node is not None else None
    match target:
        case SequenceNode(items=[first, *_]):
            return is_taken(document, first)
        case MappingNode(entries=[(_, first), *_]):
            return is_taken(document, first)
    return target in document.homes


def merged(document: YamlDocument, old: Node | None, new: Node, join: Join = lambda *_: None, key: str = "") -> Node:
    """Lay a node over another one, if there is one: mappings are merged key by key, anything else is replaced."""
    if old is None:
        return new
    document.is_merged = True
    if (joint := join(key, old, new)) is not None:
        return joint
    below, above = target_of(old), target_of(new)
    if not isinstance(below, MappingNode) or not isinstance(above, MappingNode):
        return new
    entries = {name: values[-1] for name, values in document.effective(below).items()}
    for name, values in document.effective(above).items():
        entries[name] = merged(document, entries.get(name), values[-1], join, name)
    return mapping_of(entries, above)


def mapping_of(entries: Mapping[str, Node], place: Node) -> MappingNode:
    """Make a mapping that is written nowhere as such, at a place."""
    at = place.start
    pairs = tuple((ScalarNode(at, at, at, "str", name, ""), value) for name, value in entries.items())
    weight = 1 + sum(1 + each.weight for each in entries.values())
    depth = 1 + max((each.depth for each in entries.values()), default=0)
    return MappingNode(at, place.end, place.pair, "map", pairs, False, weight, depth)
