"""A tree of YAML text in which every node knows exactly which characters of the text it is; and the text's comments.

PyYAML's own node graph is not enough for editing: its marks include anchors, tags and the text behind a block, and an
alias leaves no trace. So the tree is built here from PyYAML's events. Nothing is constructed from tags, nothing
recurses, and no node is ever part of itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import events

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.inputs.suppression import CommentPlace, comment_places

MAX_DEPTH = 100
"""Levels of nesting; a configuration has fewer than ten."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Only its parser is used. libyaml's gives the same events ten times faster; the wheels of PyYAML have it."""

_PROPERTIES = lazy_pattern(r"(?:[&!]\S*(?:\s|#[^\r\n]*)*)+")
"""Anchor and tag in front of a node, with what separates them from it."""

_COLON = lazy_pattern(r"(?:\s|#[^\r\n]*(?=[\r\n]))*:")
"""The colon behind a key."""

_FLOAT = lazy_pattern(r"[-+]?[0-9]+(?:_[0-9]+)*(?:\.[0-9_]*)?[eE][-+]?[0-9]+\Z")
"""A float to OmegaConf 2.3's loader and text to YAML 1.1: an exponent without a dot or a sign (1e-4)."""

_TOO_DEEP = "too deeply nested"

_HEAVY = 10**9
"""The count of nodes stops here: aliases of aliases double it with every line."""

_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True, eq=False)
class ScalarNode:
    """A scalar: `text` is its content, `tag` what it was resolved to ("bool", "str"; a foreign tag in full).

    The characters from `start` to `end` are its source with quotes, without anchor and tag; nothing at all for an
    empty value, which then stands directly behind its colon. `pair` is where the key begins whose value it is, else
    `start`. `style` is "", "'", '"', "|" or ">".
    """

    start: int
    end: int
    pair: int
    tag: str
    text: str
    style: str

    weight = 1
    depth = 1


@dataclass(frozen=True, slots=True, eq=False)
class AliasNode:
    """An alias `*name`, and the node it refers to; None where the alias is part of that node."""

    start: int
    end: int
    pair: int
    target: Node | None

    @property
    def weight(self) -> int:
        return 1 + (self.target.weight if self.target else 0)

    @property
    def depth(self) -> int:
        return self.target.depth if self.target else 1


@dataclass(frozen=True, slots=True, eq=False)
class MappingNode:
    """A mapping: keys and values in the order of the text, duplicates included. `flow`: written with braces.

    `weight` counts the nodes below with every alias written out, `depth` the levels.
    """

    start: int
    end: int
    pair: int
    tag: str
    entries: tuple[tuple[Node, Node], ...]
    flow: bool
    weight: int = field(repr=False)
    depth: int = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class SequenceNode:
    """A list."""

    start: int
    end: int
    pair: int
    tag: str
    items: tuple[Node, ...]
    flow: bool
    weight: int = field(repr=False)
    depth: int = field(repr=False)


Node = ScalarNode | MappingNode | SequenceNode | AliasNode


def compose_documents(path: str, text: str, *, again: bool = False) -> list[Node]:
    """Compose the root nodes of all documents in a file.

    With `again` an anchor may be set again, as YAML and all its parsers but PyYAML allow.

    Raises Unreadable with the place of a syntax error, an undefined alias, a character that YAML does not allow, or
    nesting deeper than MAX_DEPTH.
    """
    builder = _Builder(text, again)
    lines = Lines(text)
    forbidden = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if forbidden:
        message = f"not valid YAML: character U+{ord(forbidden.group()):04X} is not allowed"
        raise Unreadable(path, *lines.position(forbidden.start()), message)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        offset = min(_index(error.problem_mark or error.context_mark), len(text))
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise Unreadable(path, *lines.position(offset), f"not valid YAML: {said}") from None
    except _RefusedError as error:
        raise Unreadable(path, *lines.position(error.offset), error.message) from None
    return builder.roots


class _RefusedError(Exception):
    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


def _index(mark: Any) -> int:
    """Return the offset of a mark. (The parsers of libyaml and of PyYAML have a class each.)"""
    return int(mark.index) if mark else 0


@dataclass(slots=True)
class _OpenCollection:
    """A collection whose end has not been seen."""

    event: events.CollectionStartEvent
    start: int
    pair: int
    children: list[Node] = field(default_factory=list)


class _Builder:
    """Turns events into nodes."""

    def __init__(self, text: str, again: bool = False) -> None:
        self.text = text
        self.again = again
        self.roots: list[Node] = []
        self.stack: list[_OpenCollection] = []
        self.anchors: dict[str, Node | None] = {}

    def take(self, event: events.Event) -> None:
        match event:
            case events.DocumentStartEvent():
                self.anchors = {}
            case events.AliasEvent():
                self.alias(event)
            case events.ScalarEvent():
                self.scalar(event)
            case events.CollectionStartEvent():
                self.open(event)
            case events.CollectionEndEvent():
                self.close(event)

    def alias(self, event: events.AliasEvent) -> None:
        start, end = _index(event.start_mark), _index(event.end_mark)
        if event.anchor not in self.anchors:
            raise _RefusedError(start, f"not valid YAML: undefined alias {event.anchor!r}")
        self.add(AliasNode(start, end, self.pair(start), self.anchors[event.anchor]))

    def scalar(self, event: events.ScalarEvent) -> None:
        start, end = self.begin(event), _index(event.end_mark)
        if event.style in ("|", ">"):
            # The mark of a block scalar is behind its line end and the empty lines that follow.
            end = start + len(self.text[start:end].rstrip())
        if start == end:
            start = end = self.behind_colon(end)
        start = min(start, end)
        tag = event.tag
        if tag is None or tag == "!":
            tag = _RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit)  # type: ignore[no-untyped-call]  # in types-PyYAML
        node = ScalarNode(start, end, self.pair(start), tag.removeprefix(_TAG), event.value, event.style or "")
        if event.anchor:
            self.anchor(event.anchor, event, node)
        self.add(node)

    def open(self, event: events.CollectionStartEvent) -> None:
        start = self.begin(event)
        if len(self.stack) >= MAX_DEPTH:
            raise _RefusedError(start, _TOO_DEEP)
        if event.anchor:
            self.anchor(event.anchor, event, None)
        self.stack.append(_OpenCollection(event, start, self.pair(start)))

    def close(self, event: events.CollectionEndEvent) -> None:
        opened = self.stack.pop()
        children = opened.children
        flow = bool(opened.event.flow_style)
        # The end of a block is marked at the token that follows it, behind comments and empty lines.
        end = _index(event.end_mark) if flow or not children else children[-1].end
        tag = (opened.event.tag or "!").removeprefix(_TAG).strip("!")
        weight = min(1 + sum(child.weight for child in children), _HEAVY)
        depth = 1 + max((child.depth for child in children), default=0)
        node: Node
        if isinstance(opened.event, events.MappingStartEvent):
            entries = tuple(zip(children[::2], children[1::2], strict=True))
            node = MappingNode(opened.start, end, opened.pair, tag or "map", entries, flow, weight, depth)
        else:
            node = SequenceNode(opened.start, end, opened.pair, tag or "seq", tuple(children), flow, weight, depth)
        if opened.event.anchor:
            self.anchors[opened.event.anchor] = node
        self.add(node)

    def add(self, node: Node) -> None:
        (self.stack[-1].children if self.stack else self.roots).append(node)

    def anchor(self, name: str, event: events.NodeEvent, node: Node | None) -> None:
        if name in self.anchors and not self.again:
            raise _RefusedError(_index(event.start_mark), f"not valid YAML: duplicate anchor {name!r}")
        self.anchors[name] = node

    def begin(self, event: events.ScalarEvent | events.CollectionStartEvent) -> int:
        """Return where a node begins behind its anchor and tag."""
        start = _index(event.start_mark)
        if event.anchor or event.tag:
            properties = _PROPERTIES.match(self.text, start)
            start = properties.end() if properties else start
        return start

    def pair(self, start: int) -> int:
        """Return where the key begins, for a node that is about to become the value of one."""
        key = self.key()
        return key.start if key else start

    def key(self) -> Node | None:
        """Return the key that waits for its value."""
        if not self.stack or not isinstance(self.stack[-1].event, events.MappingStartEvent):
            return None
        children = self.stack[-1].children
        return children[-1] if len(children) % 2 else None

    def behind_colon(self, end: int) -> int:
        """Return where an empty value is. (Between braces libyaml marks it at the next token.)"""
        key = self.key()
        if key is None:
            return end
        colon = _COLON.match(self.text, key.end, end)
        return colon.end() if colon else key.end


class _Resolver(yaml.resolver.Resolver):
    """Plain scalars as OmegaConf's loader takes them: YAML 1.1 without timestamps, with more kinds of floats."""


_Resolver.add_implicit_resolver(_TAG + "float", _FLOAT, list("-+0123456789"))
_Resolver.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TAG + "timestamp"]
    for first, resolvers in _Resolver.yaml_implicit_resolvers.items()
}
_RESOLVER = _Resolver()


def yaml_comments(text: str) -> list[CommentPlace]:
    """Return every comment, as far as the text can be scanned."""
    return comment_places(text, _comments(text))


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments that may be ours: where `#` follows white space outside of every scalar."""
    scalars: list[tuple[int, int]] = []
    try:
        for token in yaml.scan(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(token, yaml.ScalarToken):
                start, end = token.start_mark.index, token.end_mark.index
                if token.style in ("|", ">"):
                    # The line that begins a block scalar may end in a comment.
                    head = re.compile(r"[^\r\n]*").match(text, start)
                    start = head.end() if head else start
                scalars.append((start, end))
    except yaml.YAMLError:
        pass
    starts = [start for start, _ in scalars]
    for match in re.finditer(r"(?<!\S)#[^\r\n]*", text):
        index = bisect_right(starts, match.start()) - 1
        if index < 0 or match.start() >= scalars[index][1]:
            yield match.start(), match.group()
