"""Find the functions that start-up may call, in the source of one release.

The graph has rather too many calls than too few: a method of an object whose class the text does not tell may be that
of any class that start-up knows. Those are the classes whose methods it calls, the ones in the annotations of their
fields, and the subclasses of all of them.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

Function = tuple[str, str]
"""The path of a file, from the import root, and the dotted name of a function in it."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef

_AS_MADE = ("__init__", "__post_init__")
"""Methods that run when an object of a class is made."""


@dataclass
class File:
    """A file: its functions and classes by their dotted names, and what each imported name stands for."""

    path: str
    functions: dict[str, Definition] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)


class Source:
    """The Python files of a release.

    `texts` are the files by their path from the import root.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.files = {path: _file(path, text) for path, text in texts.items()}
        self.modules = {_module(path): path for path in texts}

    @cached_property
    def subclasses(self) -> Mapping[Function, list[Function]]:
        """The classes that name each class among their bases."""
        found: dict[Function, list[Function]] = defaultdict(list)
        for path, file in self.files.items():
            for name, node in file.classes.items():
                for base in node.bases:
                    for target in self.named(path, ast.unparse(base)):
                        found[target].append((path, name))
        return found

    def named(self, path: str, name: str, depth: int = 0) -> Iterator[Function]:
        """Give the functions and classes that a dotted name stands for in a file."""
        file = self.files[path]
        if name in file.functions or name in file.classes:
            yield path, name
            return
        head, _, rest = name.partition(".")
        if head in file.imported and depth < 5:
            full = ".".join(filter(None, (file.imported[head], rest)))
            parts = full.split(".")
            for cut in range(len(parts) - 1, 0, -1):
                module = self.modules.get(".".join(parts[:cut]))
                if module is not None:
                    yield from self.named(module, ".".join(parts[cut:]), depth + 1)
                    return

    def method(self, cls: Function, name: str, depth: int = 0) -> Iterator[Function]:
        """Give the method of a class, its own or the one that it inherits."""
        path, owner = cls
        if f"{owner}.{name}" in self.files[path].functions:
            yield path, f"{owner}.{name}"
        elif depth < 20:
            for base in self.files[path].classes[owner].bases:
                for above in self.named(path, ast.unparse(base)):
                    if above[1] in self.files[above[0]].classes:
                        yield from self.method(above, name, depth + 1)


def reached(source: Source, entries: Mapping[str, tuple[str, ...]]) -> dict[str, set[str]]:
    """Give the functions that `entries` may call, and the entries, by file.

    `entries` are dotted names by file; those that the release does not have are left out.
    """
    walk = _Walk(source)
    for path, names in entries.items():
        for name in names:
            if path in source.files and name in source.files[path].functions:
                walk.call((path, name))
    walk.run()
    found: dict[str, set[str]] = defaultdict(set)
    for path, name in walk.functions:
        found[path].add(name)
    return found


class _Walk:
    """The functions that are reached so far, and the classes that are known."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.functions: set[Function] = set()
        self.classes: set[Function] = set()
        self.by_method: dict[str, set[Function]] = defaultdict(set)
        self.asked: set[str] = set()
        self.pending: list[Function] = []

    def run(self) -> None:
        while self.pending:
            path, name = self.pending.pop()
            self._body(path, name)

    def call(self, function: Function) -> None:
        if function not in self.functions:
            self.functions.add(function)
            self.pending.append(function)
            owner = function[1].rpartition(".")[0]
            if owner in self.source.files[function[0]].classes:
                self.know((function[0], owner))

    def know(self, cls: Function) -> None:
        """Take a class in with what its fields are annotated with, and with its subclasses."""
        if cls in self.classes:
            return
        self.classes.add(cls)
        path, name = cls
        node = self.source.files[path].classes[name]
        for each in self.asked:
            self._dispatch(cls, each)
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign):
                self._annotated(path, statement.annotation)
        for base in node.bases:
            self._annotated(path, base)
        for below in self.source.subclasses.get(cls, ()):
            self.know(below)

    def _annotated(self, path: str, annotation: ast.expr) -> None:
        for node in ast.walk(annotation):
            if isinstance(node, (ast.Name, ast.Attribute)):
                self._know_named(path, ast.unparse(node))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                with suppress(SyntaxError):
                    self._annotated(path, ast.parse(node.value, mode="eval").body)

    def _know_named(self, path: str, name: str) -> None:
        for target in self.source.named(path, name):
            if target[1] in self.source.files[target[0]].classes:
                self.know(target)

    def _dispatch(self, cls: Function, method: str) -> None:
        for target in self.source.method(cls, method):
            self.call(target)

    def _body(self, path: str, name: str) -> None:
        file = self.source.files[path]
        owner = name.rpartition(".")[0]
        for node in ast.walk(file.functions[name]):
            if not isinstance(node, ast.Call):
                continue
            match node.func:
                case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=method) if owner in file.classes:
                    for base in file.classes[owner].bases:
                        for above in self.source.named(path, ast.unparse(base)):
                            if above[1] in self.source.files[above[0]].classes:
                                self._dispatch(above, method)
                    continue
            called = ast.unparse(node.func)
            targets = list(self.source.named(path, called))
            for target in targets:
                if target[1] in self.source.files[target[0]].classes:
                    for made in _AS_MADE:
                        self._dispatch(target, made)
                else:
                    self.call(target)
            if not targets and isinstance(node.func, ast.Attribute) and not _is_import(file, node.func):
                method = node.func.attr
                if method not in self.asked:
                    self.asked.add(method)
                    for cls in list(self.classes):
                        self._dispatch(cls, method)


def _is_import(file: File, node: ast.Attribute) -> bool:
    """Tell whether an attribute is one of an imported module, as in `os.path.join`."""
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name) and value.id in file.imported


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _file(path: str, text: str) -> File:
    file = File(path)
    module = _module(path)
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for each in node.names:
                    file.imported[each.asname or each.name.partition(".")[0]] = (
                        each.name if each.asname else each.name.partition(".")[0]
                    )
            case ast.ImportFrom(module=source, level=level):
                above = ".".join(package.split(".")[: len(package.split(".")) - level + 1]) if level else ""
                for each in node.names:
                    file.imported[each.asname or each.name] = ".".join(filter(None, (above, source, each.name)))
    _define(tree.body, "", file)
    return file


def _define(body: list[ast.stmt], prefix: str, file: File) -> None:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            file.functions.setdefault(f"{prefix}{node.name}", node)
        elif isinstance(node, ast.ClassDef):
            file.classes.setdefault(f"{prefix}{node.name}", node)
            _define(node.body, f"{prefix}{node.name}.", file)
        elif isinstance(node, (ast.If, ast.Try)):
            _define(node.body, prefix, file)
