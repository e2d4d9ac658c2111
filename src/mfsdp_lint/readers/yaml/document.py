"""YAML documents as trees with places: values as OmegaConf's loader reads them, aliases and merge keys written out.

Override files, frameworks' configurations and flags are all read from these trees. Where settings are read from a tree,
mappings are merged key by key; any other value replaces the old value.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

import yaml

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Obstacle, Origin, Setting, Span, Unfollowed
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.framework_configs import Evaluate
from mfsdp_lint.readers.overrides import value_of_text
from mfsdp_lint.readers.trees import MISSING, Key, Leaf, Section, Tree, plain
from mfsdp_lint.readers.yaml.nodes import (
    MAX_DEPTH,
    AliasNode,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    compose_documents,
)

if TYPE_CHECKING:
    from mfsdp_lint.readers.images import DockerImage
    from mfsdp_lint.readers.shell.script import Text as ShellText

_EXPANSION = 50_000
"""Nodes that the aliases of one document may stand for; beyond, what an alias stands for is unknown."""

_LONGEST_KEY = 200
"""Characters; no setting has a longer path, and paths are built from keys."""


class YamlDocument:
    """Content of one document as a tree; `budget` are the nodes that its aliases may still stand for.

    `maps` are the ConfigMaps of its file by name, `mounted` the commands of the containers that see them, `images`
    those of containers by name, and `pipelines` the files that have it as a template. `homes` are the files of scalars
    that are read as its own (`readers/yaml/merged.py`; `is_merged`: with its own in one tree), and `unfollowed` is what
    is not at hand.
    """

    def __init__(self, path: str, lines: Lines) -> None:
        self.path = path
        self.lines = lines
        self.budget = _EXPANSION
        self.maps: Mapping[str, Mapping[str, ShellText]] = {}
        self.mounted: frozenset[str] = frozenset()
        self.images: Mapping[str, DockerImage] = {}
        self.pipelines: Sequence[str] = ()
        self.homes: dict[Node, YamlDocument] = {}
        self.is_merged = False
        self.unfollowed: list[Unfollowed] = []

    def section(self, node: MappingNode, depth: int = 0) -> Section:
        """Return the tree of a mapping. The origin of a key's value has the key's first value as the earlier one."""
        entries: dict[str, Tree] = {}
        for name, values in self.effective(node).items():
            tree = entries[name] = self.tree(values[-1], depth)
            if values[0] is not values[-1] and tree.origin:
                replaced = self.tree(values[0], depth)
                value = replaced.value if isinstance(replaced, Leaf) else UNKNOWN
                earlier = replaced.origin and replace(replaced.origin, value=value)
                entries[name] = replace(tree, origin=replace(tree.origin, earlier=earlier, order=1))
        return Section(entries, open=not all(isinstance(target_of(key), ScalarNode) for key, _ in node.entries))

    def tree(self, node: Node, depth: int = 0) -> Tree:
        """Return the tree of a node; an alias of what it is part of, or of too much, is missing."""
        target = self.follow(node)
        span, focus = self.places(node)
        origin = Origin(span, "assigned", focus)
        if target is None or depth >= MAX_DEPTH:
            return replace(MISSING, origin=origin)
        if isinstance(target, MappingNode) and target.tag == "map":
            return replace(self.section(target, depth + 1), origin=origin)
        value: Value = UNKNOWN
        text, items = None, None
        if isinstance(target, ScalarNode):
            value = _scalar(target)
            text = target.text if target.tag == "str" or target.tag in _CONSTRUCT else None
        elif isinstance(target, SequenceNode) and target.tag == "seq":
            items = tuple(self.tree(item, depth + 1) for item in target.items)
            known = [each.value for each in map(plain, items) if each is not None]
            value = Known(known) if len(known) == len(items) else NOT_NONE
        return Leaf(value, replace(origin, value=value), text, items)

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


def target_of(node: Node) -> Node | None:
    """Return the node that an alias refers to, and any other node itself; None for an alias inside its own node."""
    return node.target if isinstance(node, AliasNode) else node


_CONSTRUCTOR = yaml.constructor.SafeConstructor()

_CONSTRUCT = {
    "null": _CONSTRUCTOR.construct_yaml_null,
    "bool": _CONSTRUCTOR.construct_yaml_bool,
    "int": _CONSTRUCTOR.construct_yaml_int,
    "float": _CONSTRUCTOR.construct_yaml_float,
}


def _scalar(node: ScalarNode) -> Value:
    if node.tag == "str":
        return value_of_text(node.text)
    construct = _CONSTRUCT.get(node.tag)
    if construct is None:
        return UNKNOWN
    try:
        return Known(construct(yaml.ScalarNode(node.tag, node.text)))
    except (ValueError, KeyError, IndexError, OverflowError):  # a tag that its text does not live up to: `!!int x`
        return UNKNOWN


def read_value(text: str) -> Value:
    """Read the value that a text has in an override file; mappings are plain values as well.

    Raises Unreadable.
    """
    roots = compose_documents("", text)
    tree = YamlDocument("", Lines(text)).tree(roots[0]) if len(roots) == 1 else MISSING
    return tree.value if isinstance(tree, Leaf) else plain(tree) or UNKNOWN


def settings_of(root: Section) -> dict[str, Setting]:
    """Return the settings of an override file of Megatron-Bridge: a mapping is set, and so is each of its entries."""
    found: dict[str, Setting] = {}
    sections: set[str] = set()
    orders = count(1)

    def note(path: str, value: Value, origin: Origin, text: str | None = None) -> None:
        earlier = found.get(path)
        found[path] = Setting(path, value, written_origin(value, origin, next(orders), text, earlier))

    def write(parts: Key, tree: Tree, origin: Origin) -> None:
        path = _path(parts)
        if origin.earlier is not None and path != "env":
            note(path, UNKNOWN if origin.earlier.value is None else origin.earlier.value, origin.earlier)
        value = _value(parts, tree)
        if isinstance(tree, Section) and value == NOT_NONE:
            # A section stands in front of its entries, and is written behind them.
            found.setdefault(path, Setting(path, value))
            merge(parts, tree)
        else:
            for below in [each for each in found if each.startswith(f"{path}.")] if path in sections else ():
                del found[below]
        if path != "env":  # the section of environment variables is not one of them
            note(path, value, origin, tree.text if isinstance(tree, Leaf) else None)
        else:
            found.pop(path, None)

    def merge(above: Key, section: Section) -> None:
        for name, tree in section.entries.items():
            parts = (*above, *name.split("."))
            # `env.` is where environment variables live; a key of that name is not one.
            if tree.origin and all(parts) and len(parts) <= MAX_DEPTH and parts[0] != "env":
                sections.update(_path(parts[:size]) for size in range(1, len(parts)))
                write(parts, tree, tree.origin)

    merge((), root)
    return found


def _value(parts: Key, tree: Tree) -> Value:
    """Return the value of a setting; `{_target_: torch.bfloat16, _call_: false}` refers to an object by its name."""
    if isinstance(tree, Section):
        if tree.open and not tree.entries:
            return UNKNOWN
        name, call = tree.text("_target_"), tree.get("_call_")
        refers = len(tree.entries) == 2 and name and isinstance(call, Leaf) and call.value == Known(False)
        return Known(name) if refers else NOT_NONE
    return _environment(tree.value) if parts[0] == "env_vars" else tree.value


def written_origin(value: Value, origin: Origin, order: int, text: str | None, earlier: Setting | None) -> Origin:
    """Return the origin of a write; `text` is what may keep its value from being known."""
    obstacle = None if isinstance(value, Known) else obstacle_in(text, origin.point)
    before = earlier.origin if earlier else None
    return replace(origin, order=order, earlier=before, value=value, obstacle=obstacle)


def _path(parts: Key) -> str:
    """Join a path: environment variables are settings `env.NAME`, and `_target_` is the class of its section."""
    if parts[0] == "env_vars":
        parts = ("env", *parts[1:])
    return ".".join((*parts[:-1], "__class__") if parts[-1] == "_target_" else parts)


_RESOLVER = lazy_pattern(r"\$\{\s*(?P<name>[A-Za-z_][\w.]*)\s*:\s*(?P<first>[^,}]*)[^}]*\}?")


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
    """Return the tree of a text's first document; None for a text that is no YAML, or no mapping."""
    try:
        roots = compose_documents(path, text)
    except Unreadable:
        return None
    root = roots[0] if roots else None
    return YamlDocument(path, Lines(text)).section(root) if isinstance(root, MappingNode) else None
