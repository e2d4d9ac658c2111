"""A source file of the evaluated program, as a value."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from typing import Any


class Module:
    """A parsed source file.

    `name` is its dotted name from the import root. `fields` are its global names, filled when the evaluator runs its
    top level (`ran`); `stars` are the modules it imports everything from; `decorated` are the definitions whose
    decorators did not run yet, with the names in them; `defined` are the functions that decorators were given, by
    their definitions; `environment` are the variables of the process that its top level sets. `asked_for` means that
    the file is one of those to lint. `upstream` names the release whose source it belongs to. `bindings` holds the
    bindings of its names (see Frame). `written` means that it models a library (see eval/written.py). `yields` are the
    lines with a `yield` (None: any may have one), without which no function is a generator.
    """

    __slots__ = (
        "asked_for",
        "bindings",
        "born",
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
        self.bindings: dict[Any, Any] = {}
        self.ran = False
        self.born = 0
        self.stars: list[Any] = []
        self.upstream: str | None = None
        self.asked_for = False
        self.written = False
        self.decorated: list[tuple[str, Any, frozenset[str]]] = []
        self.defined: dict[Any, Any] = {}
        self.environment: Any = None

    @property
    def is_project(self) -> bool:
        """Tell whether the module is one of a user's project: none of upstream's, asked for or not."""
        return self.upstream is None and not f"{self.name}.".startswith("megatron.")

    @property
    def is_own(self) -> bool:
        """Tell whether the module is asked for, or imported by such a file and none of Megatron's."""
        return self.asked_for or (self.upstream is None and not f"{self.name}.".startswith("megatron."))

    def __repr__(self) -> str:
        return f"Module({self.name})"
