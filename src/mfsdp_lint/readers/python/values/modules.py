"""One source file of the evaluated program, as a value."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from typing import Any


class Module:
    """One parsed source file.

    `name` is its dotted name from the import root. `fields` are its global names, filled when the evaluator runs its
    top level (`ran`); `stars` the modules it imports everything from; `decorated` the definitions whose decorators did
    not run yet, with the names in them, `defined` the functions that decorators were given, by their definitions;
    `environment` the variables of the process that its top level sets. `asked_for` says that it is one of the files to
    lint, `upstream` names the release whose source it belongs to, `bound` says what bound its names (see Frame),
    `written` says that it tells what a library does (see eval/written.py), `yields` are the lines that say so (None:
    any may), without which no function is a generator.
    """

    __slots__ = (
        "asked_for",
        "born",
        "bound",
        "decorated",
        "defined",
        "environment",
        "fields",
        "is_package",
        "name",
        "path",
        "ran",
        "stars",
        "tree",
        "upstream",
        "written",
        "yields",
    )

    def __init__(self, path: str, name: str, tree: ast.Module, yields: Sequence[int] | None = None) -> None:
        self.path = path
        self.yields = yields
        self.name = name
        self.tree = tree
        self.is_package = os.path.basename(path) == "__init__.py"
        self.fields: dict[Any, Any] = {}
        self.bound: dict[Any, Any] = {}
        self.ran = False
        self.born = 0
        self.stars: list[Any] = []
        self.upstream: str | None = None
        self.asked_for = False
        self.written = False
        self.decorated: list[tuple[str, Any, frozenset[str]]] = []
        self.defined: dict[Any, Any] = {}
        self.environment: Any = None

    def __repr__(self) -> str:
        return f"Module({self.name})"
