"""Settings that make a condition true, or false: found by trying the literals that it speaks of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NOT_NONE, Known, Plain, Value
from mfsdp_lint.megatron.conditions import Truth
from mfsdp_lint.megatron.conditions.nodes import Comparison, Constant, Either, Junction, Node, Not, Test

Assignment = Mapping[str, Plain]
Pool = Mapping[str, tuple[Plain, ...]]

_ALWAYS: tuple[Plain, ...] = (True, False, None, 0, 1, 2, 4, "text", "1")


def solutions(node: Node, wanted: bool, pool: Pool, given: Assignment) -> Iterator[Assignment]:
    """Assignments that extend `given` and make a condition what is wanted."""
    return _Search(pool).solutions(node, wanted, given)


class _Search:
    """A search in which each question is asked once for the same values: they are the pool's own objects."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.truths: dict[tuple[int, ...], Truth] = {}

    def solutions(self, node: Node, wanted: bool, given: Assignment) -> Iterator[Assignment]:
        match node:
            case Constant(value):
                if value is wanted:
                    yield given
            case Not(operand):
                yield from self.solutions(operand, not wanted, given)
            case Junction(arms, decisive) if decisive is wanted:
                for arm in arms:
                    yield from self.solutions(arm, wanted, given)
            case Junction(arms, _):
                yield from self._all(arms, wanted, given)
            case Either(meanings):
                yield from self._all(meanings, wanted, given)
            case Test() | Comparison():
                paths = list(dict.fromkeys(path for path, _ in node.landmarks()))
                for values in product(*((given[path],) if path in given else self.pool[path] for path in paths)):
                    settings = dict(zip(paths, values, strict=True))
                    if self._truth(node, settings) is wanted:
                        yield {**given, **settings}
            case _:
                raise AssertionError(f"{type(node).__name__} has to be taken at a site first")

    def _all(self, arms: tuple[Node, ...], wanted: bool, given: Assignment) -> Iterator[Assignment]:
        if not arms:
            yield given
            return
        for found in self.solutions(arms[0], wanted, given):
            yield from self._all(arms[1:], wanted, found)

    def _truth(self, node: Test | Comparison, settings: Assignment) -> Truth:
        key = (id(node), *map(id, settings.values()))
        if key not in self.truths:
            self.truths[key] = node.truth(variant(settings))
        return self.truths[key]


def pool_of(*nodes: Node) -> Pool:
    """The values to try for each setting: what it is compared with, what lies beside that, and a few more."""
    found: dict[str, list[Plain]] = {}
    for node in nodes:
        for path, literals in node.landmarks():
            values = found.setdefault(path, [])
            for literal in literals:
                values += [literal, *_beside(literal)]
    for values in found.values():
        values.append([value for value in _different(values) if isinstance(value, str)])  # a list with all of them
    return {path: _different([*values, *_ALWAYS]) for path, values in found.items()}


def _beside(literal: Plain) -> list[Plain]:
    if isinstance(literal, bool) or literal is None:
        return []
    if isinstance(literal, int | float):
        return [literal - 1, literal + 1]
    if isinstance(literal, str):
        return [[literal], [], f"un{literal}"]
    return list(literal) if isinstance(literal, list) else []


def _different(values: list[Plain]) -> tuple[Plain, ...]:
    return tuple({repr(value): value for value in values}.values())


def variant(settings: Mapping[str, Plain | Value]) -> Variant:
    known = {
        path: value if value is NOT_NONE or isinstance(value, Known) else Known(value)  # type: ignore[arg-type]
        for path, value in settings.items()
    }
    return Variant(WrittenSettings.of(known))
