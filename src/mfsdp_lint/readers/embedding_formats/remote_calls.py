"""Functions that a framework calls elsewhere: the variables that whoever hands them to it gives their environment.

A decorator, or the object that a function is handed to, is made of expressions; what any of them calls an environment
is theirs: `env_vars=`, `runtime_env={"env_vars": …}` (Ray), `.env({…})` of an image (Modal), lines that a job begins
with (`setup=` of submitit).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.readers.command_lines import EXPORT
from mfsdp_lint.readers.embedding_formats.held_texts import variable
from mfsdp_lint.readers.shell.script import Piece
from mfsdp_lint.readers.shell.state import Variable

ENVIRONMENT = re.compile(r"(?:\w+_)?env(?:s|ironment|_vars|ironment_variables)?")
_LINES = re.compile(r"(?:\w+_)?setup(?:_lines)?")
_DEEPEST = 12


def given_to_functions(path: str, tree: ast.Module, lines: Lines) -> Mapping[str, dict[str, Variable]]:
    """Return the variables that functions of a file are called with elsewhere, by the functions' names."""
    reader = _Reader(path, tree, lines)
    found: dict[str, dict[str, Variable]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                # (`local_entrypoint` of Modal stays where it is started.)
                if "local" not in ast.unparse(decorator).partition("(")[0]:
                    reader.add(found.setdefault(node.name, {}), decorator)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if isinstance(of := node.func.value, ast.Name) and of.id in reader.functions:  # `train.options(…)`
                reader.add(found.setdefault(of.id, {}), node)
            for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(each, ast.Name) and each.id in reader.functions:
                    reader.add(found.setdefault(each.id, {}), node.func.value)
    return found


class _Reader:
    """The expressions of a file, with what its names are bound to."""

    def __init__(self, path: str, tree: ast.Module, lines: Lines) -> None:
        self.path = path
        self.lines = lines
        self.functions: set[str] = set()
        self.bound: dict[str, list[ast.expr]] = {}
        self.asked: dict[str, list[ast.Call]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions.add(node.name)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.bound.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.With):
                for item in node.items:
                    if isinstance(item.optional_vars, ast.Name):
                        self.bound.setdefault(item.optional_vars.id, []).append(item.context_expr)
            elif isinstance(node, ast.Expr) and isinstance(call := node.value, ast.Call):
                of = call.func.value if isinstance(call.func, ast.Attribute) else None
                if isinstance(of, ast.Name):  # `ray.init(…)`, `executor.update_parameters(…)`
                    self.asked.setdefault(of.id, []).append(call)

    def add(self, found: dict[str, Variable], node: ast.expr, depth: int = _DEEPEST) -> None:
        """Add the variables that an expression names, through the names of the file, in the order of their effect."""
        if not depth:
            return
        match node:
            case ast.Name(id=name):
                for each in self.bound.get(name, [])[-1:]:
                    self.add(found, each, depth - 1)
                for call in self.asked.get(name, ()):
                    self._of_arguments(found, call, depth - 1)
            case ast.Attribute(value=of):
                self.add(found, of, depth - 1)
            case ast.Call(func=function):
                self.add(found, function, depth - 1)
                self._of_arguments(found, node, depth - 1)

    def _of_arguments(self, found: dict[str, Variable], call: ast.Call, depth: int) -> None:
        if isinstance(call.func, ast.Attribute) and ENVIRONMENT.fullmatch(call.func.attr):
            for each in call.args:
                found.update(self._mapping(each, depth))
        for keyword in call.keywords:
            if keyword.arg is None:
                continue
            if ENVIRONMENT.fullmatch(keyword.arg):
                found.update(self._mapping(keyword.value, depth))
            elif _LINES.fullmatch(keyword.arg):
                found.update(self._exports(keyword.value))
            else:
                self.add(found, keyword.value, depth)

    def _mapping(self, node: ast.expr, depth: int) -> Iterator[tuple[str, Variable]]:
        """Yield the variables of a mapping, or of the mapping in it that is called an environment."""
        match node:
            case ast.Name(id=name) if depth:
                for each in self.bound.get(name, [])[-1:]:
                    yield from self._mapping(each, depth - 1)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if key is None:
                        yield from self._mapping(value, depth - 1)
                    elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield from self._entry(key.value, value, depth)
            case ast.Call(func=ast.Name(id="dict"), keywords=given):
                for each in given:
                    if each.arg is not None:
                        yield from self._entry(each.arg, each.value, depth)

    def _entry(self, name: str, value: ast.expr, depth: int) -> Iterator[tuple[str, Variable]]:
        if ENVIRONMENT.fullmatch(name):
            yield from self._mapping(value, depth - 1)
        elif name.isidentifier() and not isinstance(value, ast.Dict | ast.List):
            known = isinstance(value, ast.Constant) and isinstance(value.value, str)
            yield name, variable((self._piece(value),)) if known else Variable(None, exported=True)

    def _piece(self, node: ast.Constant) -> Piece:
        """Return a text at its place within the quotes."""
        start, end = self.lines.range(self.lines.of_node(self.path, node))
        at = self.lines.text.find(str(node.value), start, end)
        return Piece(str(node.value), self.path, self.lines, *((start, end) if at < 0 else (at, at + len(node.value))))

    def _exports(self, node: ast.expr) -> Iterator[tuple[str, Variable]]:
        """Yield the variables that lines of shell export: a text, or a list of texts."""
        texts = [each for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        for each in texts:
            for found in EXPORT.finditer(each.value):
                whole = self._piece(each)
                at = self.lines.text.find(found["value"], whole.start, whole.end) if found["value"] else whole.start
                at = max(at, whole.start)
                value = Piece(found["value"], self.path, self.lines, at, at + len(found["value"]))
                yield found["name"], variable((value,))
