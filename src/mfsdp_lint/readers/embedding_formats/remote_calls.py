"""Functions that a framework calls elsewhere: the variables that whoever hands them to it gives their environment.

An object that a call makes, and that is handed on (`CommandFunction(…)` of submitit), is called like a function. A
decorator, or the object that a function is handed to, is made of expressions; what any of them calls an environment is
theirs: `env_vars=`, `runtime_env={"env_vars": …}` (Ray), `.env({…})` of an image (Modal), lines that a job begins with
(`setup=` of submitit).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.readers.command_lines import EXPORT
from mfsdp_lint.readers.embedding_formats.held_texts import variable
from mfsdp_lint.readers.shell.script import Piece
from mfsdp_lint.readers.shell.state import Variable

ENVIRONMENT = lazy_pattern(r"(?:\w+_)?env(?:s|ironment|_vars|ironment_variables)?")
_LINES = lazy_pattern(r"(?:\w+_)?setup(?:_lines)?")
_DEEPEST = 100
"""Calls upon calls that an expression is looked into."""

Place = tuple[int, int, int | None, int | None]


def place_of(call: ast.Call) -> Place:
    return call.lineno, call.col_offset, call.end_lineno, call.end_col_offset


def given_to_functions(path: str, tree: ast.Module, lines: Lines) -> Mapping[str | Place, dict[str, Variable]]:
    """Return the variables that functions of a file are called with elsewhere, by the functions' names; those of what
    a call makes, by the place of the call.
    """
    reader = _Reader(path, tree, lines)
    found: dict[str | Place, dict[str, Variable]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                # (`local_entrypoint` of Modal stays where it is started.)
                if "local" not in ast.unparse(decorator).partition("(")[0]:
                    reader.add(found, node.name, decorator)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if isinstance(of := node.func.value, ast.Name):  # `train.options(…)`
                reader.add(found, of.id, node)
            for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(each, ast.Name):
                    reader.add(found, each.id, node.func.value)
                reader.add_to_made(found, each, node.func.value, node)
    return found


class _Reader:
    """The expressions of a file, with what its names are bound to."""

    def __init__(self, path: str, tree: ast.Module, lines: Lines) -> None:
        self.path = path
        self.lines = lines
        self.functions: dict[str, list[str]] = {}  # a class has those that are its methods
        self.bound: dict[str, list[ast.expr]] = {}
        self.asked: dict[str, list[ast.Call]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions.setdefault(node.name, [node.name])
            elif isinstance(node, ast.ClassDef):
                methods = (each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
                self.functions[node.name] = [each.name for each in methods]
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

    def add(self, found: dict[str | Place, dict[str, Variable]], name: str, node: ast.expr) -> None:
        """Add the variables that an expression names, through the names of the file, in the order of their effect, to
        those of a function, or of the methods of a class.
        """
        for function in self.functions.get(name, ()):
            self._add(found.setdefault(function, {}), node, set(), _DEEPEST)

    def add_to_made(
        self, found: dict[str | Place, dict[str, Variable]], made: ast.expr, node: ast.expr, handing: ast.Call
    ) -> None:
        """Add the variables that an expression names to those of the object that a call makes, here or under a name."""
        beside = self.asked.get(node.id, ()) if isinstance(node, ast.Name) else ()
        if any(call.args and call.keywords for call in (handing, *beside)):
            return  # what is given with one object (`executor=`) is not given with another
        bound = self.bound.get(made.id, []) if isinstance(made, ast.Name) else [made]
        if len(bound) == 1 and isinstance(bound[0], ast.Call):  # (of several it is not known which is handed on)
            self._add(found.setdefault(place_of(bound[0]), {}), node, set(), _DEEPEST)

    def _add(self, found: dict[str, Variable], node: ast.expr, seen: set[str], depth: int) -> None:
        match node:
            case _ if not depth:
                return
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                for each in self.bound.get(name, [])[-1:]:
                    self._add(found, each, seen, depth - 1)
                for call in self.asked.get(name, ()):
                    self._of_arguments(found, call, seen, depth - 1)
            case ast.Attribute(value=of):
                self._add(found, of, seen, depth - 1)
            case ast.Call(func=function):
                self._add(found, function, seen, depth - 1)
                self._of_arguments(found, node, seen, depth - 1)

    def _of_arguments(self, found: dict[str, Variable], call: ast.Call, seen: set[str], depth: int) -> None:
        if isinstance(call.func, ast.Attribute) and ENVIRONMENT.fullmatch(call.func.attr):
            for each in call.args:
                found.update(self._mapping(each, set()))
        for keyword in call.keywords:
            if keyword.arg is None:
                continue
            if ENVIRONMENT.fullmatch(keyword.arg):
                found.update(self._mapping(keyword.value, set()))
            elif _LINES.fullmatch(keyword.arg):
                found.update(self._exports(keyword.value))
            else:
                self._add(found, keyword.value, seen, depth)

    def _mapping(self, node: ast.expr, seen: set[str]) -> Iterator[tuple[str, Variable]]:
        """Yield the variables of a mapping, or of the mapping in it that is called an environment."""
        match node:
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                for each in self.bound.get(name, [])[-1:]:
                    yield from self._mapping(each, seen)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if key is None:
                        yield from self._mapping(value, seen)
                    elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield from self._entry(key.value, value, seen)
            case ast.Call(func=ast.Name(id="dict"), keywords=given):
                for keyword in given:
                    if keyword.arg is not None:
                        yield from self._entry(keyword.arg, keyword.value, seen)

    def _entry(self, name: str, value: ast.expr, seen: set[str]) -> Iterator[tuple[str, Variable]]:
        if ENVIRONMENT.fullmatch(name):
            yield from self._mapping(value, seen)
        elif name.isidentifier() and not isinstance(value, ast.Dict | ast.List):
            text = self._piece(value)
            yield name, Variable(None, exported=True) if text is None else variable((text,))

    def _piece(self, node: ast.AST) -> Piece | None:
        """Return a text at its place within the quotes; None for any other expression."""
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            return None
        start, end = self.lines.range(self.lines.of_node(self.path, node))
        at = self.lines.text.find(node.value, start, end)
        return Piece(node.value, self.path, self.lines, *((start, end) if at < 0 else (at, at + len(node.value))))

    def _exports(self, node: ast.expr) -> Iterator[tuple[str, Variable]]:
        """Yield the variables that lines of shell export: a text, or a list of texts."""
        for whole in filter(None, map(self._piece, ast.walk(node))):
            for found in EXPORT.finditer(whole.text):
                at = max(self.lines.text.find(found["value"], whole.start, whole.end), whole.start)
                value = Piece(found["value"], self.path, self.lines, at, at + len(found["value"]))
                yield found["name"], variable((value,))
