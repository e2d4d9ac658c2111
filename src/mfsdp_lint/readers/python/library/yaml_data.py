"""Data of a YAML text, as PyYAML or OmegaConf reads it, each value with its place in the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.python.library.text_places import NOT_KNOWN, NoData, Placed
from mfsdp_lint.readers.yaml.nodes import AliasNode, MappingNode, Node, ScalarNode, SequenceNode, compose_documents

HEAVIEST = 20_000
"""Values of one document, every alias written out."""


class YamlData:
    """A YAML text that is loaded as data."""

    def __init__(self, path: str, text: str, omegaconf: bool) -> None:
        self.path = path
        self.text = text
        self.lines = Lines(text)
        self.omegaconf = omegaconf

    def documents(self) -> list[Placed]:
        """Return the documents of the text. Raises NoData."""
        try:
            roots = compose_documents(self.path, self.text)
        except Unreadable as error:
            raise NoData(str(error)) from None
        return [NOT_KNOWN if root.weight > HEAVIEST else self.placed(root) for root in roots]

    def placed(self, node: Node) -> Placed:
        target = node.target if isinstance(node, AliasNode) else node
        if target is None or isinstance(target, AliasNode):
            return NOT_KNOWN
        origin = self.origin(target)
        match target:
            case ScalarNode():
                return self.scalar(target, origin)
            case SequenceNode(tag="seq"):
                return Placed([self.placed(item) for item in target.items], origin)
            case MappingNode(tag="map"):
                return Placed(self.entries(target), origin)
            case _:
                return Placed(None, origin, open=True)

    def origin(self, node: ScalarNode | SequenceNode | MappingNode) -> Origin:
        focus = self.lines.span(self.path, node.start, node.end)
        return Origin(self.lines.span(self.path, node.pair, node.end), "assigned", focus)

    def entries(self, node: MappingNode) -> dict[Any, Placed]:
        """Return the entries by key: those of merge keys first; of several values of a key, the last counts."""
        merged: dict[Any, Placed] = {}
        own: dict[Any, Placed] = {}
        for key, value in node.entries:
            target = key.target if isinstance(key, AliasNode) else key
            if isinstance(target, ScalarNode) and target.tag == "merge":
                merged = self.merged(value) | merged
            elif isinstance(target, ScalarNode) and not (known := self.scalar(target, None)).open:
                own[known.value] = self.placed(value)
            else:
                raise NoData("a key that is no scalar")
        return merged | own

    def merged(self, value: Node) -> dict[Any, Placed]:
        target = value.target if isinstance(value, AliasNode) else value
        found: dict[Any, Placed] = {}
        for source in target.items[::-1] if isinstance(target, SequenceNode) else (target,):
            inner = source.target if isinstance(source, AliasNode) else source
            if not isinstance(inner, MappingNode):
                raise NoData("a merge key of what is no mapping")
            found |= self.entries(inner)
        return found

    def scalar(self, node: ScalarNode, origin: Origin | None) -> Placed:
        tag = self.tag(node)
        if tag == "str":
            return Placed(node.text, origin)
        construct = _CONSTRUCT.get(tag)
        if construct is None:
            return Placed(None, origin, open=True)
        try:
            return Placed(construct(yaml.ScalarNode(tag, node.text)), origin)
        except (ValueError, KeyError, IndexError, OverflowError):
            raise NoData(f"{node.text!r} is no {tag}") from None

    def tag(self, node: ScalarNode) -> str:
        """Return the tag of a scalar for the loader at hand.

        The nodes have the tags of OmegaConf's loader, which knows more floats and no dates.
        """
        if self.omegaconf or node.style or node.tag not in ("float", "str"):
            return node.tag
        resolved = _RESOLVER.resolve(yaml.ScalarNode, node.text, (True, False))  # type: ignore[no-untyped-call]
        found = str(resolved).rpartition(":")[2]
        return found if found in ("str", "timestamp") else node.tag


_RESOLVER = yaml.resolver.Resolver()
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_CONSTRUCT: dict[str, Callable[[Any], Any]] = {
    "null": _CONSTRUCTOR.construct_yaml_null,
    "bool": _CONSTRUCTOR.construct_yaml_bool,
    "int": _CONSTRUCTOR.construct_yaml_int,
    "float": _CONSTRUCTOR.construct_yaml_float,
}
