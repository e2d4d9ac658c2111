"""The order in which Megatron-Bridge's start-up reaches its checks and its own changes, by following its calls.

    python -m tools.startup_order --bridge REPOSITORY --megatron-lm REPOSITORY

makes `startup-order.json` from both git repositories (bare ones with all tags do), of which nothing is imported. A
function that start-up calls has a position: the lines of the calls that lead to it, outermost first; positions
compare in the order of the run. `self.ddp.finalize()` is looked up in the classes that `ConfigContainer` names for
`ddp`. What a subclass of theirs overrides is called from the same line; such classes are named by the evidence of
rules and steps.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mfsdp_lint.core.store import read_json
from mfsdp_lint.megatron.startup import StartupStep, startup
from mfsdp_lint.megatron.versions.releases import RELEASES
from mfsdp_lint.rules.load import load_rules
from tools.coverage.checks import Check, checks_of
from tools.coverage.covered import SHORTEST
from tools.evidenced import BRIDGE, bridge_site
from tools.vocabulary.trees import Module, Revision, Source, Tree

FILE = Path(__file__).parent / "startup-order.json"

Position = tuple[int, ...]
"""The lines of the calls that lead to a place, and its own; compared, the order of the run."""

_CONFIG = "megatron.bridge.training.config"
_ENTRY, _CONTAINER = "runtime_config_update", "ConfigContainer"
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Reached:
    """A function that start-up calls: its lines, the position of each call, and its checks (line, text)."""

    path: str
    function: str
    first: int
    last: int
    calls: tuple[Position, ...]
    checks: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Order:
    """The functions that start-up calls in one version."""

    functions: tuple[Reached, ...]

    def positions(self, path: str, line: int) -> list[Position]:
        """Return the positions of a line, one for each call of its function, earliest first; none without a call."""
        around = [each for each in self.functions if each.path == path and each.first <= line <= each.last]
        if not around:
            return []
        innermost = max(each.first for each in around)
        return sorted((*call, line) for each in around if each.first == innermost for call in each.calls)

    def raising(self, pieces: Sequence[str]) -> list[Position]:
        """Find the checks of start-up whose text has all these pieces: a position for each call, earliest first."""
        wanted = [piece.strip() for piece in pieces]
        if all(len(piece) < SHORTEST for piece in wanted):
            return []
        found = []
        for function in self.functions:
            for line, text in function.checks:
                if all(piece in text for piece in wanted):
                    found += self.positions(function.path, line)
        return sorted(found)


def read() -> dict[str, Order]:
    """Read the order of every version from the file."""
    return {
        version: Order(
            tuple(
                Reached(path, name, first, last, tuple(map(tuple, calls)), tuple((line, text) for line, text in checks))
                for path, name, first, last, calls, checks in functions
            )
        )
        for version, functions in read_json(FILE).items()
    }


Method = tuple[Module, ast.ClassDef | None, ast.FunctionDef]
"""A function with its module, and its class where it has one."""


class Walk:
    """Start-up followed from its entry through the calls of one version's source."""

    def __init__(self, source: Source, evidence: Sequence[tuple[str, int]]) -> None:
        self.source = source
        self.sections: dict[str, list[tuple[Module, ast.ClassDef]]] = {}
        self.calls: dict[tuple[str, int], list[Position]] = {}
        self.reached: dict[tuple[str, int], Method] = {}
        config = source.module(_CONFIG)
        assert config is not None
        container = self._class(config, _CONTAINER)
        assert container is not None
        self.container = container
        named = list(self._classes_at(evidence))
        for statement in self.container[1].body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                classes = [self._class(config, name) for name in _names(statement.annotation)]
                bases = {each[1] for each in classes if each}
                below = [each for each in named if bases & {base for _, base in self._mro(each)[1:]}]
                self.sections[statement.target.id] = [*filter(None, classes), *below]
        entry = config.find(_ENTRY)
        assert entry is not None
        assert isinstance(entry[1], ast.FunctionDef)
        self._follow((config, None, entry[1]), (), 0)

    def _class(self, module: Module, name: str) -> tuple[Module, ast.ClassDef] | None:
        found = module.find(name)
        return (found[0], found[1]) if found and isinstance(found[1], ast.ClassDef) else None

    def _classes_at(self, evidence: Sequence[tuple[str, int]]) -> Iterator[tuple[Module, ast.ClassDef]]:
        for path, line in evidence:
            module = self.source.module(path.removesuffix(".py").replace("/", "."))
            for node in module.tree.body if module else ():
                if module and isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0):
                    yield module, node

    def _mro(self, of: tuple[Module, ast.ClassDef]) -> list[tuple[Module, ast.ClassDef]]:
        """Return a class and its bases, depth first, as far as the source has them."""
        found = [of]
        for base in of[1].bases:
            named = _names(base)
            above = self._class(of[0], named[-1]) if named else None
            found += [each for each in self._mro(above) if each not in found] if above else []
        return found

    def _method(self, mro: Sequence[tuple[Module, ast.ClassDef]], name: str) -> Method | None:
        for module, owner in mro:
            for node in owner.body:
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    return module, owner, node
        return None

    def _follow(self, method: Method, called: Position, depth: int) -> None:
        module, _, function = method
        key = (module.name, function.lineno)
        self.reached[key] = method
        self.calls.setdefault(key, []).append(called)
        if depth < _DEEPEST:
            nodes = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
            for call in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
                for callee in self._callees(call, method):
                    if callee[2] is not function:
                        self._follow(callee, (*called, call.lineno), depth + 1)

    def _callees(self, call: ast.Call, inside: Method) -> Iterator[Method]:
        module, owner, _ = inside
        match call.func:
            case ast.Name(id=name):
                found = module.find(name)
                if found and isinstance(found[1], ast.FunctionDef):
                    yield found[0], None, found[1]
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=args), attr=name) if owner:
                mro = self._mro((module, owner))
                skipped = [i for i, (_, each) in enumerate(mro) if args and each.name == _names(args[0])[-1]]
                yield from filter(None, [self._method(mro[(skipped or [0])[0] + 1 :], name)])
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if owner:
                yield from filter(None, [self._method(self._mro((module, owner)), name)])
            case ast.Attribute(value=ast.Name(id="cfg"), attr=name):
                yield from filter(None, [self._method([self.container], name)])
            case ast.Attribute(value=ast.Name(id=named), attr=name) if self._class(module, named):
                base = self._class(module, named)
                yield from filter(None, [self._method(self._mro(base), name)] if base else [])
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self" | "cfg"), attr=section), attr=name):
                if owner in (None, self.container[1]):
                    for each in self.sections.get(section, ()):
                        yield from filter(None, [self._method(self._mro(each), name)])


def _names(node: ast.AST) -> list[str]:
    """Return the names in an annotation or a base."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval")
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]


def order_of(trees: Sequence[Tree], evidence: Sequence[tuple[str, int]]) -> Order:
    """Find the order of one version, with its source in these trees. `evidence`: places in rules and steps."""
    walk = Walk(Source(*trees), evidence)
    checks: dict[str, list[Check]] = {}
    functions = []
    for key, (module, owner, function) in walk.reached.items():
        path = f"{module.name.replace('.', '/')}.py"
        if path not in checks:
            text = next((text for tree in trees for root in ("", "src/") if (text := tree.text(root + path))), "")
            checks[path] = checks_of(text)
        name = f"{owner.name}.{function.name}" if owner else function.name
        own = tuple(
            (check.own[0], check.message or f"assert {check.condition}")
            for check in checks[path]
            if check.function == name and check.kind != "warning"
        )
        last = function.end_lineno or function.lineno
        if not own and not any(named == path and function.lineno <= line <= last for named, line in evidence):
            continue
        functions.append(Reached(path, name, function.lineno, last, tuple(sorted(set(walk.calls[key]))), own))
    return Order(tuple(sorted(functions, key=lambda each: (each.calls[0], each.path, each.first))))


def evidence_of(version: str) -> list[tuple[str, int]]:
    """Return the places that rules and steps name of a version, by their path from the import root."""
    rules = [place for rule in load_rules() for place in rule.evidence.get(version, ())]
    steps = [step.place for step in every_step(startup(bridge_site(version).target)) if step.place]
    return [
        *((place.path.removeprefix("src/"), place.line) for place in rules),
        *((place.path, place.line) for place in steps),
    ]


def every_step(steps: Sequence[StartupStep]) -> Iterator[StartupStep]:
    """Yield steps with their inner steps, in their order."""
    for step in steps:
        yield step
        yield from every_step(step.steps)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bridge", type=Path, metavar="REPOSITORY", required=True)
    parser.add_argument("--megatron-lm", type=Path, metavar="REPOSITORY", required=True)
    options = parser.parse_args()
    lines = []
    for version in BRIDGE:
        release = next(each for each in RELEASES if each.bridge == version)
        trees = [Revision(options.bridge, release.commit), Revision(options.megatron_lm, release.core_commit)]
        functions = order_of(trees, evidence_of(version)).functions
        rows = [[each.path, each.function, each.first, each.last, each.calls, each.checks] for each in functions]
        text = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
        lines.append(f"{json.dumps(version)}: [\n{text}\n]")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
