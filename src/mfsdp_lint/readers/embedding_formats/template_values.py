"""Values that templates are filled in with, from files of YAML: each text knows where it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.embedding_formats.held_texts import text_of
from mfsdp_lint.readers.shell.script import Text, plain
from mfsdp_lint.readers.trees import Leaf
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose_documents

MOST = 2_000
"""Rounds of all loops, and templates within templates, of one that is filled in."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, a number, a truth value or nothing, and its text at its place.

    A number from a file is not `exact`: some releases of Helm take it for a float, and print a large one as 1e+06.
    """

    value: str | int | float | bool | None
    text: Text = ()
    exact: bool = False


class UnknownItem:
    """A value that is not known."""


UNKNOWN_ITEM = UnknownItem()
Item = Scalar | Mapping[str, "Item"] | Sequence["Item"] | UnknownItem
"""A value of a template."""


def items_of_file(path: str, sources: Sources, missing: Item) -> Item:
    """Return the values of a file; `missing` where there is no such file."""
    text = sources.text_or_none(path) if sources.exists(path) else None
    if text is None:
        return missing
    try:
        roots = compose_documents(path, text, again=True)
    except Unreadable:
        return UNKNOWN_ITEM
    return item_of(YamlDocument(path, Lines(text)), roots[0]) if roots else {}


def item_of(document: YamlDocument, node: Node) -> Item:
    """Return a node of a document as a value whose texts are at their places."""
    target = document.follow(node)
    if isinstance(target, MappingNode):
        return {name: item_of(document, values[-1]) for name, values in document.effective(target).items()}
    if isinstance(target, SequenceNode):
        return [item_of(document, each) for each in target.items]
    if not isinstance(target, ScalarNode):
        return UNKNOWN_ITEM
    if target.tag == "str":
        text = text_of(document, target, templated=False)
        return Scalar(plain(text), text)
    tree = document.tree(target)
    value = tree.value.value if isinstance(tree, Leaf) and isinstance(tree.value, Known) else UNKNOWN_ITEM
    if value is not None and not isinstance(value, (bool, int, float, str)):
        return UNKNOWN_ITEM
    return Scalar(value, text_of(document, target, templated=False))


def merged(below: Mapping[str, Item], above: Mapping[str, Item]) -> Mapping[str, Item]:
    """Merge mappings key by key; the second one's entries count."""
    found = dict(below)
    for name, value in above.items():
        old = found.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        found[name] = merged(old, value) if both else value  # type: ignore[arg-type]  # both are
    return found
