"""OmegaConf's interpolations: `${a.b}`, `${.beside}`, `${..above}`, `${resolver:argument,argument}`, text around them.

A resolver's value is known where it depends on nothing but its arguments; a variable of the environment is its default
until it is set. All the rest is unknown: references that are missing, refer to themselves, or go in circles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from mfsdp_lint.core.recipe import Origin, Setting, Source
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Plain, Value
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.trees import Key, Leaf, Section, Tree, plain
from mfsdp_lint.readers.yaml.document import obstacle_in, read_value

Resolver = Callable[..., Plain]
"""A resolver without side effects, on known arguments. Raises TypeError, ValueError or ArithmeticError."""

ARITHMETIC: Mapping[str, Resolver] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "max": lambda a, b: max(a, b),
}
"""Resolvers that several frameworks register under these names."""

_RESOLVER = re.compile(r"\s*([A-Za-z_][\w.]*)\s*:(.*)", re.DOTALL)
_PART = re.compile(r"[^.\[\]]+")
_DEEPEST = 50
_LONGEST = 10_000
"""Characters of a text that is put together."""

_LARGEST = 50_000
"""Leaves that references to sections may stand for in one configuration."""


def resolved(
    root: Section, environment: Mapping[str, Setting] | None = None, resolvers: Mapping[str, Resolver] | None = None
) -> Section:
    """Fill in the interpolations of a whole configuration; `environment` are the variables that are given."""
    return _Resolution(root, environment or {}, resolvers or {}).section((), root)


class _Resolution:
    def __init__(self, root: Section, environment: Mapping[str, Setting], resolvers: Mapping[str, Resolver]) -> None:
        self.root = root
        self.environment = environment
        self.resolvers = resolvers
        self.open: list[Key] = []
        """The keys that are being worked out."""
        self.known: dict[Key, Tree] = {}
        self.budget = _LARGEST

    def section(self, key: Key, section: Section) -> Section:
        entries = {name: self.tree((*key, name), each) for name, each in section.entries.items()}
        return replace(section, entries=entries)

    def tree(self, key: Key, tree: Tree) -> Tree:
        return self.section(key, tree) if isinstance(tree, Section) else self.leaf(key, tree)

    def leaf(self, key: Key, leaf: Leaf) -> Tree:
        """Resolve a leaf, which may refer to a whole section."""
        if leaf.items is not None and not isinstance(leaf.value, Known):
            items = tuple(self.tree((*key, str(place)), item) for place, item in enumerate(leaf.items))
            known = [plain(item) for item in items]
            value = NOT_NONE if None in known else Known([each.value for each in known if each])
            return replace(leaf.with_value(value), items=items)
        if leaf.text is None or "${" not in leaf.text:
            return leaf
        if key in self.open or len(self.open) > _DEEPEST:
            return leaf.with_value(UNKNOWN)
        if key not in self.known:
            self.open.append(key)
            self.known[key] = self.filled(key, leaf, leaf.text)
            self.open.pop()
        return self.known[key]

    def filled(self, key: Key, leaf: Leaf, text: str) -> Tree:
        pieces = list(_pieces(text))
        if None in pieces:
            return leaf.with_value(UNKNOWN)
        if len(pieces) == 1:
            found = self.reference(key, leaf, pieces[0][1] if pieces[0] else "")
            if isinstance(found, Section):
                return found
            return leaf.with_value(found.value, **_from(found.origin, leaf.origin))
        texts = []
        option = ""
        for literal, inner in (piece for piece in pieces if piece):
            found = self.reference(key, leaf, inner) if inner else Leaf(Known(literal), leaf.origin)
            if not isinstance(found, Leaf) or not isinstance(found.value, Known):
                return leaf.with_value(NOT_NONE)
            option = option or found.origin.option
            texts.append(str(found.value.value))
            if sum(map(len, texts)) > _LONGEST:
                return leaf.with_value(NOT_NONE)
        return leaf.with_value(Known("".join(texts)), option=option)

    def reference(self, key: Key, leaf: Leaf, inner: str) -> Tree:
        """Resolve the text between the braces."""
        unknown = leaf.with_value(UNKNOWN)
        call = _RESOLVER.fullmatch(inner)
        if call:
            return self.call(key, leaf, call[1], list(_arguments(call[2])))
        name = self.filled(key, leaf, inner) if "${" in inner else leaf.with_value(Known(inner))
        if not isinstance(name, Leaf) or not isinstance(name.value, Known):
            return unknown
        return self.at(key, str(name.value.value)) or unknown

    def at(self, key: Key, name: str) -> Tree | None:
        """Return the tree at a name, which is relative where it begins with dots."""
        name = name.strip()
        dots = len(name) - len(name.lstrip("."))
        where = key[: len(key) - dots] if dots else ()
        found: Tree = self.root
        here: Key = ()
        for word in (*where, *_PART.findall(name)):
            if not isinstance(found, Section):
                return None
            below = found.entries.get(word)
            if below is None:
                return None
            here = (*here, word)
            found = self.leaf(here, below) if isinstance(below, Leaf) else below
        if not isinstance(found, Section):
            return found
        if here in self._above():
            return None
        whole = self.section(here, found)
        self.budget -= sum(1 for _ in whole.leaves())
        return whole if self.budget >= 0 else None

    def _above(self) -> set[Key]:
        """Return the sections above the values being resolved: a reference to one of them would be circular."""
        return {key[:size] for key in self.open for size in range(len(key))}

    def call(self, key: Key, leaf: Leaf, name: str, texts: list[str]) -> Tree:
        unknown = leaf.with_value(UNKNOWN, obstacle=obstacle_in(leaf.text, leaf.origin.point))
        if name == "oc.select" and 1 <= len(texts) <= 2:
            found = self.at(key, texts[0])
            if found is not None or self.root.open or len(texts) == 1:
                return found or unknown
            return self.argument(key, leaf, texts[1])
        arguments = [self.argument(key, leaf, text) for text in texts]
        values = [each.value if isinstance(each, Leaf) else UNKNOWN for each in arguments]
        known = [value.value for value in values if isinstance(value, Known)]
        if name == "oc.env" and values and isinstance(values[0], Known):
            given = given_by(self.environment, str(values[0].value))
            if given is not None:
                return leaf.with_value(given.value, sources=sources_of(given))
        if name == "oc.env" and len(values) == 2 and isinstance(values[0], Known) and len(known) == 2:
            default = Known(None if known[1] is None else str(known[1]))
            return leaf.with_value(default, option=f"${known[0]}")
        if name == "oc.decode" and len(known) == len(values) == 1:
            return leaf.with_value(_plain(str(known[0])) if known[0] is not None else Known(None))
        resolver = self.resolvers.get(name)
        if resolver is None or len(known) != len(values):
            return unknown
        try:
            return leaf.with_value(Known(resolver(*known)))
        except (TypeError, ValueError, ArithmeticError):
            return unknown

    def argument(self, key: Key, leaf: Leaf, text: str) -> Tree:
        return self.filled(key, leaf, text) if "${" in text else leaf.with_value(_plain(text))


def given_by(environment: Mapping[str, Setting], name: str) -> Setting | None:
    """Return the variable that is given by this name, with a text."""
    given = environment.get(name)
    return given if given is not None and given.value != NONE else None


def sources_of(given: Setting) -> tuple[Source, ...]:
    """Return the source of a given variable."""
    return () if given.origin is None else (Source(given.origin.point, ""),)


def _from(source: Origin, own: Origin) -> dict[str, object]:
    """Return the parts of a referenced value's origin that say where the value is from."""
    if source == own:
        return {}
    sources = (Source(source.point, ""), *source.sources)
    return {"option": source.option, "sources": sources, "obstacle": source.obstacle}


def _pieces(text: str) -> Iterator[tuple[str, str] | None]:
    """Yield texts and contents of braces: a pair each, one of the two empty; None for a brace that does not close."""
    position = 0
    while (start := text.find("${", position)) >= 0:
        if start > 0 and text[start - 1] == "\\":
            yield None
            return
        end = _closing(text, start + 1)
        if end is None:
            yield None
            return
        if start > position:
            yield text[position:start], ""
        yield "", text[start + 2 : end]
        position = end + 1
    if position < len(text):
        yield text[position:], ""


def _closing(text: str, start: int) -> int | None:
    """Return where the brace that opens at `start` is closed."""
    depth = 0
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position
    return None


def _arguments(text: str) -> Iterator[str]:
    """Yield the arguments of a resolver: separated by commas that are in no quotes and no brackets."""
    depth, quote, start = 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
        else:
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(character, 0)
    if text[start:].strip() or start:
        yield text[start:].strip()


def _plain(text: str) -> Value:
    """Read a literal, as far as YAML and OmegaConf agree on it."""
    try:
        return read_value("", text) if text else Known("")
    except Unreadable:
        return UNKNOWN
