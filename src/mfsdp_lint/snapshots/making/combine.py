"""Puts the runs of a function together: what of its outcome depends on which parameters.

Sound by construction: a part of the outcome is told as independent of parameters only if it stayed the same in one run
in which all of these were unknown at once; the runs with one unknown parameter say which ones to try.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from mfsdp_lint.snapshots import Node
from mfsdp_lint.snapshots.making.encode import bare

WITNESSES = 24
"""Runs with several unknown parameters, for one function."""
DEFAULT: Node = ["default"]
UNCHANGED: Node = ["u", DEFAULT]

Path = tuple[Any, ...]


class Combine:
    """The runs of one function.

    `singles` are the outcomes with one parameter unknown each, `defaults` the (bare) nodes of the parameters' defaults,
    `run` gives the outcome with any of them unknown.
    """

    def __init__(
        self,
        singles: Mapping[str, Node],
        defaults: Mapping[str, Node],
        run: Callable[[frozenset[str]], Node | None],
    ) -> None:
        self.singles = singles
        self.defaults = defaults
        self.names = frozenset(singles)
        self._run = run
        self._joint: dict[frozenset[str], Node | None] = {}
        self._parts: dict[frozenset[str], Combine] = {}

    def node(self, path: Path, base: Node) -> Node:
        """Combine the part of the outcome at `path`, which is `base` if nothing is passed, with its dependencies."""
        others = {name: at(outcome, path) for name, outcome in self.singles.items()}
        plain = bare(base)
        changing = {name for name, node in others.items() if bare(node) != plain}
        if not changing and self._holds(self.names, path, plain):
            return base
        together = self._outcome(self.names)
        nodes = list(others.values()) if together is None else [*others.values(), at(together, path)]
        inner = self._inside(path, base, nodes)
        if inner is None:
            inner = self._inside_unless(path, base, others)
        return inner if inner is not None else self._leaf(path, base, plain, others, changing)

    def _inside_unless(self, path: Path, base: Node, others: Mapping[str, Node]) -> Node | None:
        """Combine `base` from the runs without the parameters that give it another shape, if these are few.

        A parameter that picks the class of an object says nothing about the effect of the others on it.
        """
        if not isinstance(base, list) or base[0] != "obj":
            return None
        shaping = frozenset(name for name, node in others.items() if not _same_object(base, node))
        if not shaping or shaping == self.names:
            return None
        rest = self._without(shaping)
        together = rest._outcome(rest.names)
        nodes = [node for name, node in others.items() if name not in shaping]
        inner = None if together is None else rest._inside(path, base, [*nodes, at(together, path)])
        return None if inner is None else ["dep", sorted(shaping), inner]

    def _without(self, names: frozenset[str]) -> Combine:
        if names not in self._parts:
            singles = {name: outcome for name, outcome in self.singles.items() if name not in names}
            self._parts[names] = Combine(singles, self.defaults, self._run)
        return self._parts[names]

    def _inside(self, path: Path, base: Node, others: Sequence[Node]) -> Node | None:
        """Combine the parts of `base` one by one, if all runs agree on its shape."""
        if not isinstance(base, list) or not all(isinstance(node, list) and node[0] == base[0] for node in others):
            return None
        match base[0]:
            case "obj" if all(_same_object(base, node) for node in others):
                names = dict.fromkeys(name for node in [base, *others] for name in node[3])
                fields = {name: base[3].get(name, UNCHANGED) for name in names}
                made = {name: [*each[:-1], self.node((*path, name), each[-1])] for name, each in fields.items()}
                return [*base[:3], made, *base[4:]]
            case "tuple" | "list" if all(len(node) == len(base) for node in others):
                return [base[0], *(self.node((*path, i), base[i]) for i in range(1, len(base)))]
            case "dict" if all([entry[0] for entry in node[1:]] == [entry[0] for entry in base[1:]] for node in others):
                return ["dict", *([e[0], self.node((*path, i), e[1]), *e[2:]] for i, e in enumerate(base) if i)]
            case "def" if all(node[1] == base[1] for node in others):
                return ["def", base[1], self.node((*path, 2), base[2])]
        return None

    def _leaf(self, path: Path, base: Node, plain: Any, others: Mapping[str, Node], changing: Set[str]) -> Node:
        passed = next((name for name in sorted(changing) if others[name] == ["arg", name]), None)
        rest = changing - {passed}
        seen = plain if passed is None else ["arg", passed]
        value = base
        if passed is not None:
            value = seen if self.defaults.get(passed) == plain else ["pass", passed, base]
        if not self._holds(self.names - rest, path, seen, passed):
            return ["dep", self._list(rest), value, "*"]
        return ["dep", self._list(rest), value] if rest else value

    def _list(self, names: Set[str]) -> list[str] | str:
        return "*" if names == self.names else sorted(names)

    def _holds(self, symbolic: frozenset[str], path: Path, plain: Any, passed: str | None = None) -> bool:
        """Tell whether the part is `plain` for all values of these parameters (`passed` is one that it equals)."""
        if symbolic <= {passed}:
            return True
        outcome = self._outcome(symbolic)
        return outcome is not None and bare(at(outcome, path)) == plain

    def _outcome(self, symbolic: frozenset[str]) -> Node | None:
        if len(symbolic) == 1:
            return self.singles[next(iter(symbolic))]
        if symbolic not in self._joint:
            self._joint[symbolic] = self._run(symbolic) if len(self._joint) < WITNESSES else None
        return self._joint[symbolic]


def _same_object(base: Node, node: Node) -> bool:
    """Tell whether two nodes describe the same object, so that only their fields have to be compared."""
    return isinstance(node, list) and node[0] == "obj" and node[1] == base[1] and node[4:] == base[4:]


def at(node: Node, path: Path) -> Node:
    """Find the part of a node that a path leads to."""
    for step in path:
        if not isinstance(node, list):
            return DEFAULT
        if node[0] == "obj":
            node = node[3].get(step, UNCHANGED)[-1]
        elif node[0] == "dict":
            node = node[step][1]
        elif isinstance(step, int) and step < len(node):
            node = node[step]
        else:
            return DEFAULT
    return node
