"""Docstrings are sentences: none begins with a headless clause that a reader has to translate."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REFUSED = re.compile(r"(What|Whether|Who|One|The same)\b")


def refused(text: str) -> Iterator[str]:
    """Give the docstrings of a file that begin with a refused word: those of modules, classes, functions, constants."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))) if REFUSED.match(docstring.lstrip()):
                yield docstring.strip().splitlines()[0]


@pytest.mark.parametrize("folder", ["src/mfsdp_lint", "tools"])
def test_docstrings_begin_with_a_verb_or_a_noun(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    found = {path.relative_to(ROOT): list(refused(path.read_text(encoding="utf-8"))) for path in files}
    assert {path: docstrings for path, docstrings in found.items() if docstrings} == {}


def test_a_headless_docstring_is_found() -> None:
    text = '"""What is read."""\nMOST = 3\n"""One of many."""\ndef f():\n    """Whether x."""\n'
    assert list(refused(text)) == ["What is read.", "One of many.", "Whether x."]
    assert list(refused('def f():\n    """Tell whether x."""\n')) == []
