"""Stands in for tree-sitter, which has no build for a browser's Python: the page's own tree-sitter parses, this reads.

It is what the linter asks of a tree, and no more.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import field as kept
from itertools import accumulate


def parse_bash(text: str) -> str:
    """The nodes of a script as JSON: the page puts its own parser here.

    Each is its kind, whether it is named, is missing and holds an error, its start and end (in UTF-16 units), the name
    of the field that it is in (or null), and the number of its parent (-1 for the root).
    """
    raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Point:
    """A line and a column, from 0."""

    row: int
    column: int


@dataclass(eq=False, slots=True)
class Node:
    """A node; offsets are in bytes of the text."""

    type: str
    is_named: bool
    is_missing: bool
    has_error: bool
    start_byte: int
    end_byte: int
    field: str | None
    parent: Node | None
    tree: Tree = kept(repr=False)
    place: int
    """Among its parent's children."""
    children: list[Node] = kept(default_factory=list, repr=False)

    @property
    def text(self) -> bytes:
        return self.tree.data[self.start_byte : self.end_byte]

    @property
    def named_children(self) -> list[Node]:
        return [child for child in self.children if child.is_named]

    @property
    def named_child_count(self) -> int:
        return len(self.named_children)

    @property
    def start_point(self) -> Point:
        return self.tree.point(self.start_byte)

    @property
    def end_point(self) -> Point:
        return self.tree.point(self.end_byte)

    @property
    def next_sibling(self) -> Node | None:
        return next(iter(self._after()), None)

    @property
    def next_named_sibling(self) -> Node | None:
        return next((node for node in self._after() if node.is_named), None)

    @property
    def prev_named_sibling(self) -> Node | None:
        before = self.parent.children[: self.place] if self.parent else []
        return next((node for node in reversed(before) if node.is_named), None)

    def child_by_field_name(self, name: str) -> Node | None:
        return next(iter(self.children_by_field_name(name)), None)

    def children_by_field_name(self, name: str) -> list[Node]:
        return [child for child in self.children if child.field == name]

    def descendant_for_byte_range(self, start: int, end: int) -> Node:
        """The smallest node around a range, as tree-sitter chooses it."""
        node = self
        while (inner := next((child for child in node.children if child._is_around(start, end)), None)) is not None:
            node = inner
        return node

    def _is_around(self, start: int, end: int) -> bool:
        empty = self.start_byte == self.end_byte
        return self.start_byte <= start and end <= self.end_byte and (empty or start < self.end_byte)

    def _after(self) -> Sequence[Node]:
        return self.parent.children[self.place + 1 :] if self.parent else []


class Tree:
    """The tree of a text."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._lines = [0, *(at + 1 for at, byte in enumerate(data) if byte == ord("\n"))]
        text = data.decode()
        nodes: list[Node] = []
        byte = _bytes_of(text)
        for kind, named, missing, wrong, start, end, name, number in json.loads(parse_bash(text)):
            parent = nodes[number] if number >= 0 else None
            place = len(parent.children) if parent else 0
            node = Node(kind, named, missing, wrong, byte(start), byte(end), name, parent, self, place)
            nodes.append(node)
            if parent:
                parent.children.append(node)
        self.root_node = nodes[0]

    def point(self, byte: int) -> Point:
        """The place of a byte."""
        row = bisect_right(self._lines, byte) - 1
        return Point(row, byte - self._lines[row])


class Language:
    """A grammar; there is one, and the page has it."""

    def __init__(self, grammar: object) -> None:
        pass


class Parser:
    """Parses with that grammar."""

    def __init__(self, language: Language) -> None:
        pass

    def parse(self, data: bytes) -> Tree:
        return Tree(data)


def _bytes_of(text: str) -> Callable[[int], int]:
    """From an offset in UTF-16 units to one in bytes of UTF-8."""
    if text.isascii():
        return lambda unit: unit
    units = [0, *accumulate(2 if char > "\uffff" else 1 for char in text)]
    sizes = [0, *accumulate(len(char.encode()) for char in text)]
    offsets = dict(zip(units, sizes, strict=True))
    return lambda unit: offsets[unit]
