"""YAML documents as trees with places: values as OmegaConf's loader reads them, aliases and merge keys written out.

Mappings are merged key by key; any other value replaces the old value.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import yaml

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Obstacle, Origin, Setting, Span
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Plain, Value
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.framework_configs import Evaluate
from mfsdp_lint.readers.trees import MISSING, Leaf, Section, Tree
from mfsdp_lint.readers.yaml.nodes import (
    MAX_DEPTH,
    AliasNode,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    compose_documents,
)

_EXPANSION = 50_000
"""Nodes that the aliases of one document may stand for; beyond, what an alias stands for is unknown."""

_LONGEST_KEY = 200
"""Characters; no setting has a longer path, and paths are built from keys."""


def read_value(path: str, text: str) -> Value:
    """Read the value that a text has in an override file; mappings are plain values as well.

    Raises Unreadable.
    """
    roots = compose_documents(path, text)
    if len(roots) != 1:
        return UNKNOWN
    document = YamlDocument(path, Lines(text))
    if isinstance(roots[0], MappingNode):
        return document.plain(roots[0]) or UNKNOWN
    return document.value(roots[0])


def target_of(node: Node) -> Node | None:
    """Return the node that an alias refers to, and any other node itself; None for an alias inside its own node."""
    return node.target if isinstance(node, AliasNode) else node


@dataclass(slots=True)
class _Branch:
    """A path of the configuration: the last write to it, and the paths below."""

    setting: Setting | None = None
    below: dict[str, _Branch] = field(default_factory=dict)


class YamlDocument:
    """Content of one document: the settings of an override file, and the means to read other shapes."""

    def __init__(self, path: str, lines: Lines) -> None:
        self.path = path
        self.lines = lines
        self.order = 0
        self.budget = _EXPANSION
        self.root = _Branch()

    def settings(self, root: MappingNode) -> dict[str, Setting]:
        self.merge(self.root, (), root)
        return {setting.path: setting for setting in _settings(self.root)}

    def merge(self, branch: _Branch, above: tuple[str, ...], node: MappingNode) -> None:
        """Write all entries of a mapping below a path."""
        for key, values in self.effective(node).items():
            parts = tuple(key.split("."))
            if not all(parts) or len(above) + len(parts) > MAX_DEPTH or (not above and parts[0] == "env"):
                # `env.` is where environment variables live; a key of that name is not one.
                continue
            place = branch
            for part in parts:
                place = place.below.setdefault(part, _Branch())
            self.write(place, above + parts, values)

    def write(self, branch: _Branch, parts: tuple[str, ...], values: list[Node]) -> None:
        """Write the last of `values` to a path; the others are duplicates, of which the first is remembered."""
        path = _path(parts)
        first, value = values[0], values[-1]
        if first is not value and path != "env":
            replaced = self.follow(first)
            was = UNKNOWN if replaced is None else self.value(replaced)
            branch.setting = self.setting(path, was, first, branch.setting)
        target = self.follow(value)
        if not isinstance(target, MappingNode) or target.tag != "map":
            known = UNKNOWN if target is None else self.value(target)
            if parts[0] == "env_vars":
                known = _environment(known)
            branch.below = {}
        elif (reference := _reference(target)) is not None:
            known = Known(reference)
            branch.below = {}
        else:
            known = NOT_NONE
            self.merge(branch, parts, target)
        if path != "env":  # the section of environment variables is not one of them
            branch.setting = self.setting(path, known, value, branch.setting)

    def setting(self, path: str, value: Value, node: Node, earlier: Setting | None) -> Setting:
        self.order += 1
        span, focus = self.places(node)
        origin = Origin(
            span=span,
            how="assigned",
            focus=focus,
            order=self.order,
            earlier=earlier.origin if earlier else None,
            value=value,
            obstacle=None if isinstance(value, Known) else obstacle_in(getattr(node, "text", None), focus),
        )
        return Setting(path, value, origin)

    def places(self, node: Node) -> tuple[Span, Span]:
        """Return the places of the pair of key and value, and of the value, where they were written."""
        written = node.target or node if isinstance(node, AliasNode) else node
        return (
            self.lines.span(self.path, written.pair, written.end),
            self.lines.span(self.path, written.start, written.end),
        )

    def effective(self, node: MappingNode) -> dict[str, list[Node]]:
        """Return the entries of a mapping by key, merge keys written out; of several values the last one counts."""
        merged: dict[str, list[Node]] = {}
        own: dict[str, list[Node]] = {}
        for key, value in node.entries:
            match target_of(key):
                case ScalarNode(tag="merge"):
                    for source in self.merged(value):
                        # The first of several wins, and a later merge key over an earlier one, as in PyYAML.
                        merged = {name: values for name, values in merged.items() if name not in source} | source
                case ScalarNode(tag="str" | "int" | "float" | "bool", text=text) if len(text) <= _LONGEST_KEY:
                    own.setdefault(text, []).append(value)
                case _:
                    pass
        for name, values in own.items():
            merged[name] = merged.pop(name, [])[-1:] + values
        return merged

    def merged(self, value: Node) -> Iterator[dict[str, list[Node]]]:
        """Yield the entries of the mappings that a merge key names, the winning one last."""
        target = self.follow(value)
        sources = target.items[::-1] if isinstance(target, SequenceNode) else (value,)
        for source in sources:
            mapping = self.follow(source)
            if isinstance(mapping, MappingNode):
                yield {name: values[-1:] for name, values in self.effective(mapping).items()}

    def follow(self, node: Node) -> Node | None:
        """Return the node that an alias refers to, and any other node itself.

        Return None for an alias inside its own node, or to a node that is too deep or too large.
        """
        if not isinstance(node, AliasNode):
            return node
        if node.weight > self.budget or node.depth > MAX_DEPTH:
            return None
        self.budget -= node.weight
        return node.target

    def value(self, node: Node) -> Value:
        if isinstance(node, ScalarNode):
            return _scalar(node)
        if isinstance(node, SequenceNode) and node.tag == "seq":
            items = self.plain(node)
            return NOT_NONE if items is None else Known(items.value)
        return UNKNOWN

    def plain(self, node: Node) -> Known | None:
        """Return a node as a plain value, or None where a part of it is unknown."""
        target = self.follow(node)
        match target:
            case ScalarNode():
                known = _scalar(target)
                return known if isinstance(known, Known) else None
            case SequenceNode(tag="seq"):
                items: list[Plain] = []
                for item in target.items:
                    known_item = self.plain(item)
                    if known_item is None:
                        return None
                    items.append(known_item.value)
                return Known(items)
            case MappingNode(tag="map"):
                entries: dict[str, Plain] = {}
                if any(not isinstance(target_of(key), ScalarNode) for key, _ in target.entries):
                    return None
                for name, values in self.effective(target).items():
                    known_entry = self.plain(values[-1])
                    if known_entry is None:
                        return None
                    entries[name] = known_entry.value
                return Known(entries)
            case _:
                return None


def _settings(branch: _Branch) -> Iterator[Setting]:
    for below in branch.below.values():
        if below.setting is not None:
            yield below.setting
        yield from _settings(below)


def _path(parts: tuple[str, ...]) -> str:
    """Join a path: environment variables are settings `env.NAME`, and `_target_` is the class of its section."""
    if parts[0] == "env_vars":
        parts = ("env", *parts[1:])
    return ".".join((*parts[:-1], "__class__") if parts[-1] == "_target_" else parts)


_RESOLVER = re.compile(r"\$\{\s*(?P<name>[A-Za-z_][\w.]*)\s*:\s*(?P<first>[^,}]*)[^}]*\}?")


def obstacle_in(text: str | None, place: Span) -> Obstacle | None:
    """Return the resolver that keeps a text from being known; an environment variable that is not set is one.

    A reference to the rest of the configuration is no obstacle: the merged configuration has its value.
    """
    found = _RESOLVER.search(text or "")
    if found is None:
        return None
    if found["name"] == "oc.env":
        return Obstacle(f"${found['first'].strip()}", place, given=True)
    return Obstacle(found[0], place)


def _environment(value: Value) -> Value:
    """Return a variable's value as Bridge sets it (`apply_env_vars`, 0.6.0).

    Bridge sets `str(value)` of a scalar and refuses any other value.
    """
    if isinstance(value, Known) and isinstance(value.value, (bool, int, float, str)):
        return Known(str(value.value))
    return value if value == NOT_NONE else UNKNOWN


def _reference(node: MappingNode) -> str | None:
    """Return the name in `{_target_: torch.bfloat16, _call_: false}`: a dumped configuration refers so to an object."""
    entries = {key.text: value for key, value in node.entries if isinstance(key, ScalarNode)}
    name, call = entries.get("_target_"), entries.get("_call_")
    if len(entries) == len(node.entries) == 2 and isinstance(name, ScalarNode) and isinstance(call, ScalarNode):
        return name.text if name.tag == "str" and _scalar(call) == Known(False) else None
    return None


_CONSTRUCTOR = yaml.constructor.SafeConstructor()

_CONSTRUCT = {
    "null": _CONSTRUCTOR.construct_yaml_null,
    "bool": _CONSTRUCTOR.construct_yaml_bool,
    "int": _CONSTRUCTOR.construct_yaml_int,
    "float": _CONSTRUCTOR.construct_yaml_float,
}


def _scalar(node: ScalarNode) -> Value:
    if node.tag == "str":
        return _text(node.text)
    construct = _CONSTRUCT.get(node.tag)
    if construct is None:
        return UNKNOWN
    try:
        return Known(construct(yaml.ScalarNode(node.tag, node.text)))
    except (ValueError, KeyError, IndexError, OverflowError):  # a tag that its text does not live up to: `!!int x`
        return UNKNOWN


def _text(text: str) -> Value:
    """Read a text as OmegaConf does: `${…}` refers to anything, `a${…}` is some text, `???` keeps the old value."""
    if text == "???" or (text.startswith("${") and text.endswith("}")):
        return UNKNOWN
    return NOT_NONE if "${" in text else Known(text)


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
