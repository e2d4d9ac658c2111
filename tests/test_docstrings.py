"""Docstrings are sentences: none begins with a headless clause that a reader has to translate."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READ_AND_NEVER_RUN = ("library/written/", "library/programs/")
REFUSED = re.compile(r"(What|Whether|Who|One|The same)\b")


def refused(text: str) -> Iterator[str]:
    """Give the docstrings of a file that begin with a refused word."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = ast.get_docstring(node) or ""
            if REFUSED.match(docstring):
                yield f"{getattr(node, 'name', 'module')}: {docstring.splitlines()[0]}"


@pytest.mark.parametrize("folder", ["src/mfsdp_lint", "tools"])
def test_docstrings_begin_with_a_verb_or_a_noun(folder: str) -> None:
    files = [path for path in sorted((ROOT / folder).rglob("*.py")) if not set_aside(path)]
    assert files
    found = {path.relative_to(ROOT): list(refused(path.read_text(encoding="utf-8"))) for path in files}
    assert {path: docstrings for path, docstrings in found.items() if docstrings} == {}


def set_aside(path: Path) -> bool:
    """Tell whether a file is one that the evaluator reads and nobody imports."""
    return any(folder in path.as_posix() for folder in READ_AND_NEVER_RUN)


def test_a_headless_docstring_is_found() -> None:
    assert list(refused('"""What is read."""\ndef f():\n    """Whether x."""\n')) == [
        "module: What is read.",
        "f: Whether x.",
    ]
    assert list(refused('def f():\n    """Tell whether x."""\n')) == []
