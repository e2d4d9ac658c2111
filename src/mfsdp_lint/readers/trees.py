"""A configuration that a framework puts together: a tree whose every value knows the file that gave it.

The values of a missing file are unknown, and so are all values that it could have given: a section that may hold more
than it shows is `open`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Known, Value

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value of a tree that is no mapping.

    `text` is how a scalar is written, for a caller that reads it differently; `items` are those of a list.
    """

    value: Value
    origin: Origin
    text: str | None = None
    items: tuple[Tree, ...] | None = None

    def with_value(self, value: Value, **changes: object) -> Leaf:
        """Return the leaf with another value, and a changed origin."""
        return Leaf(value, replace(self.origin, value=value, **changes))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping. `origin` is where it was first written; nowhere, for what was made from nothing."""

    entries: Mapping[str, Tree] = field(default_factory=dict)
    origin: Origin | None = None
    open: bool = False

    def get(self, *key: str) -> Tree | None:
        """Return the tree at a key."""
        found: Tree | None = self
        for word in key:
            found = found.entries.get(word) if isinstance(found, Section) else None
        return found

    def section(self, *key: str) -> Section | None:
        """Return the section at a key, if it is one."""
        found = self.get(*key)
        return found if isinstance(found, Section) else None

    def may_have(self, *key: str) -> bool:
        """Tell whether there may be something at a key where nothing is seen."""
        found: Tree = self
        for word in key:
            if isinstance(found, Leaf):
                return not isinstance(found.value, Known)
            if word not in found.entries:
                return found.open
            found = found.entries[word]
        return False

    def text(self, *key: str) -> str | None:
        """Return the text at a key, if it is a known one."""
        found = self.get(*key)
        known = found.value.value if isinstance(found, Leaf) and isinstance(found.value, Known) else None
        return known if isinstance(known, str) else None

    def without(self, *names: str) -> Section:
        """Return the section without entries of these names."""
        return replace(self, entries={name: each for name, each in self.entries.items() if name not in names})

    def leaves(self, above: Key = ()) -> Iterator[tuple[Key, Leaf]]:
        """Yield every leaf below, with the key that leads to it."""
        for name, below in self.entries.items():
            if isinstance(below, Section):
                yield from below.leaves((*above, name))
            else:
                yield (*above, name), below

    def sections(self, above: Key = ()) -> Iterator[tuple[Key, Section]]:
        """Yield the section itself and every section below, with the key that leads to it."""
        yield above, self
        for name, below in self.entries.items():
            if isinstance(below, Section):
                yield from below.sections((*above, name))


Tree = Leaf | Section

MANDATORY = "???"
"""OmegaConf's word for a value that others have to give: it changes nothing that they gave."""

LONGEST_CHAIN = 50
"""Files that may lead to each other; more are a circle, or nobody's configuration."""

MISSING = Section(open=True)
"""A file that is not there."""


def plain(tree: Tree) -> Known | None:
    """Convert a tree to a plain value; None where a part of it is unknown."""
    if isinstance(tree, Leaf):
        return tree.value if isinstance(tree.value, Known) else None
    if tree.open:
        return None
    found = {name: plain(each) for name, each in tree.entries.items()}
    return None if None in found.values() else Known({name: each.value for name, each in found.items() if each})


def under(key: str, tree: Tree, origin: Origin | None) -> Section:
    """Return a section that has nothing but a tree at a dotted key."""
    *above, last = key.split(".")
    section = Section({last: tree}, origin)
    for name in reversed(above):
        section = Section({name: section}, origin)
    return section


def merge(base: Section, over: Section) -> Section:
    """Merge a section over another, key by key; a value that is no mapping replaces the old value."""
    entries = {} if over.open else dict(base.entries)
    for name, new in over.entries.items():
        old = base.entries.get(name)
        # Of what somebody else may still write there, nothing is known but what is written here.
        below = MISSING if old is None and base.open else old
        entries[name] = _laid_over(below, new)
    return Section(entries, base.origin or over.origin, base.open or over.open)


def _laid_over(old: Tree | None, new: Tree) -> Tree:
    if isinstance(new, Section):
        return merge(old, new) if isinstance(old, Section) else new
    if new.text == MANDATORY and old is not None:
        return old
    if isinstance(old, Leaf):
        return replace(new, origin=replace(new.origin, earlier=old.origin, order=old.origin.order + 1))
    return new


def changed(section: Section, change: Callable[[Leaf], Leaf]) -> Section:
    """Return the section with `change` applied to every leaf."""
    return replace(
        section,
        entries={
            name: changed(each, change) if isinstance(each, Section) else change(each)
            for name, each in section.entries.items()
        },
    )
