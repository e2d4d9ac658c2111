"""Functions that a framework calls elsewhere: the variables that whoever hands them to it gives their environment.

An object that a call makes, and that is handed on (`CommandFunction(…)` of submitit), is called like a function. A
decorator, or the object that a function is handed to, is made of expressions; what any of them calls an environment is
theirs: `env_vars=`, `runtime_env={"env_vars": …}` (Ray), `.env({…})` of an image (Modal), lines that a job begins with
(`setup=` of submitit).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.readers.command_lines import exports
from mfsdp_lint.readers.embedding_formats.held_texts import variable
from mfsdp_lint.readers.shell.script import Piece
from mfsdp_lint.readers.shell.state import LOST, Variable

ENVIRONMENT = lazy_pattern(r"(?:\w+_)?env(?:s|ironment|_vars|ironment_variables)?")
_LINES = lazy_pattern(r"(?:\w+_)?setup(?:_lines)?")
_OF_SLURM = lazy_pattern(r"(?:\w+_)?additional_parameters")
_PASSED_ON = lazy_pattern(r"(?:^|,)(?P<name>[A-Za-z_]\w*)=(?P<value>[^,]*)")
"""A variable in the value of Slurm's `--export`."""
_DEEPEST = 100
"""Calls upon calls that an expression is looked into."""

Place = tuple[int, int, int | None, int | None]


def place_of(call: ast.Call) -> Place:
    return call.lineno, call.col_offset, call.end_lineno, call.end_col_offset


class RemoteCalls:
    """The variables that functions of a file are called with elsewhere; `made` are those of what a call makes."""

    def __init__(self, path: str, tree: ast.Module, lines: Lines) -> None:
        self._reader = _Reader(path, tree, lines)
        self._decorated: dict[str, dict[str, Variable]] = {}
        self._handed_on: dict[str, dict[Place, dict[str, Variable]]] = {}
        self.made: dict[Place, dict[str, Variable]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for decorator in node.decorator_list:
                    # (`local_entrypoint` of Modal stays where it is started.)
                    if "local" not in ast.unparse(decorator).partition("(")[0]:
                        self._add_to_decorated(node.name, decorator)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if isinstance(of := node.func.value, ast.Name):  # `train.options(…)`
                    self._add_to_decorated(of.id, node)
                for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                    for function in self._reader.functions.get(each.id, ()) if isinstance(each, ast.Name) else ():
                        self._handed_on.setdefault(function, {})[place_of(node)] = self.of_call(node)
                    self._add_to_made(each, node)

    def of_function(self, name: str, calls: Collection[Place]) -> dict[str, Variable]:
        """Return the variables of a function, or method, which one of these calls hands on, or any call."""
        handed_on = self._handed_on.get(name, {})
        found = dict(self._decorated.get(name, {}))
        for place in handed_on.keys() & set(calls) or handed_on:
            found |= handed_on[place]
        return found

    def of_call(self, call: ast.Call) -> dict[str, Variable]:
        """Return the variables of what a call is given to start (`executor.submit(…)`)."""
        found: dict[str, Variable] = {}
        if isinstance(call.func, ast.Attribute):
            self._reader.add(found, call.func.value)
        return found

    def _add_to_decorated(self, name: str, node: ast.expr) -> None:
        for function in self._reader.functions.get(name, ()):
            self._reader.add(self._decorated.setdefault(function, {}), node)

    def _add_to_made(self, made: ast.expr, handing: ast.Call) -> None:
        """Add the variables of a call to those of an object that it hands on and that another call makes."""
        reader = self._reader
        beside = reader.asked.get(made.id, ()) if isinstance(made, ast.Name) else ()
        if any(call.args and call.keywords for call in (handing, *beside)):
            return  # what is given with one object (`executor=`) is not given with another
        bound = reader.bound.get(made.id, []) if isinstance(made, ast.Name) else [made]
        if len(bound) == 1 and isinstance(bound[0], ast.Call):  # (of several it is not known which is handed on)
            self.made.setdefault(place_of(bound[0]), {}).update(self.of_call(handing))


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
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
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

    def add(self, found: dict[str, Variable], node: ast.expr) -> None:
        """Add the variables that an expression names, through the names of the file, in the order of their effect."""
        self._add(found, node, set(), _DEEPEST)

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
        for name, value in self._keywords(call, set()):
            if ENVIRONMENT.fullmatch(name):
                found.update(self._mapping(value, set()))
            elif _LINES.fullmatch(name):
                found.update(self._exported(value))
            elif _OF_SLURM.fullmatch(name):
                found.update(self._passed_on(value))
            else:
                self._add(found, value, seen, depth)

    def _mapping(self, node: ast.expr, seen: set[str]) -> Iterator[tuple[str, Variable]]:
        """Yield the variables of a mapping, or of the mapping in it that is called an environment."""
        for name, value in self._entries(node, seen):
            if ENVIRONMENT.fullmatch(name):
                yield from self._mapping(value, seen)
            elif name.isidentifier() and not isinstance(value, ast.Dict | ast.List):
                text = self._piece(value)
                yield name, Variable(None, exported=True) if text is None else variable((text,))

    def _entries(self, node: ast.expr, seen: set[str]) -> Iterator[tuple[str, ast.expr]]:
        """Yield the entries of a mapping, here or under a name, with those of other mappings that it takes over."""
        match node:
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                for each in self.bound.get(name, [])[-1:]:
                    yield from self._entries(each, seen)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if key is None:
                        yield from self._entries(value, seen)
                    elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield key.value, value
            case ast.Call(func=ast.Name(id="dict")):
                yield from self._keywords(node, seen)

    def _keywords(self, call: ast.Call, seen: set[str]) -> Iterator[tuple[str, ast.expr]]:
        """Yield the keyword arguments of a call, with those of mappings (`**COMMON`)."""
        for keyword in call.keywords:
            if keyword.arg is None:
                yield from self._entries(keyword.value, seen)
            else:
                yield keyword.arg, keyword.value

    def _piece(self, node: ast.AST) -> Piece | None:
        """Return a text at its place within the quotes, a `$` for each part that is not known; None for any other
        expression.
        """
        match node:
            case ast.Constant(value=str(text)):
                pass
            case ast.JoinedStr(values=parts):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "$" for part in parts)
            case _:
                return None
        start, end = self.lines.range(self.lines.of_node(self.path, node))
        at = self.lines.text.find(text, start, end)
        return Piece(text, self.path, self.lines, *((start, end) if at < 0 else (at, at + len(text))))

    def _pieces(self, node: ast.AST, seen: set[str]) -> Iterator[Piece]:
        """Yield the texts of an expression, in their order: of a list, of several put together, under a name."""
        if (piece := self._piece(node)) is not None:
            yield piece
        elif not isinstance(node, ast.Name):
            for each in ast.iter_child_nodes(node):
                yield from self._pieces(each, seen)
        elif node.id not in seen:
            seen.add(node.id)
            for bound in self.bound.get(node.id, [])[-1:]:
                yield from self._pieces(bound, seen)

    def _exported(self, node: ast.expr) -> Iterator[tuple[str, Variable]]:
        """Yield the variables that lines of shell export: a text, or a list of texts."""
        for piece in self._pieces(node, set()):
            for name, value, at in exports(piece.text):
                yield name, LOST if value is None else variable((self._within(piece, value, at),))

    def _passed_on(self, node: ast.expr) -> Iterator[tuple[str, Variable]]:
        """Yield the variables that a job of Slurm is given by `--export`."""
        for name, value in self._entries(node, set()):
            for piece in self._pieces(value, set()) if name == "export" else ():
                for each in _PASSED_ON.finditer(piece.text):
                    yield each["name"], variable((self._within(piece, each["value"], each.start("value")),))

    def _within(self, piece: Piece, value: str, at: int) -> Piece:
        """Return a part of a text, at its place in the file as far as the text stands there as it is."""
        if piece.end - piece.start == len(piece.text):
            return piece.cut(at, at + len(value))
        at = max(self.lines.text.find(value, piece.start, piece.end), piece.start)
        return Piece(value, self.path, self.lines, at, at + len(value))
