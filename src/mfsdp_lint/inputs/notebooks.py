"""Notebooks as Python: the code cells, each line where the file has it.

Jupyter writes every line of a cell as a string on a line of its own. So the text that is read has as many lines as the
file, and a line of code has the number of the line that holds it; what is no code is blank. A mark stands where a
cell begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.inputs.magics import PREPARED, as_python

MARK = re.compile(r"# %% \[(?P<cell>\d+)\]$")
"""What begins a code cell: its number, from 1, counting all cells."""

_SOURCE = re.compile(r'\s*"source": \[\s*$')
_STRING = re.compile(r'(?P<indent>\s*)(?P<text>"(?:[^"\\]|\\.)*"),?\s*$')
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)


class NoNotebook(ValueError):
    """A text that is no notebook that can be read: the line, from 1, and why."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self.message = message


@lru_cache(maxsize=32)
def python_of(text: str) -> str:
    """The code of a notebook, in lines of their own; empty where it is in another language. Raises NoNotebook."""
    notebook = _loaded(text)
    if not _is_python(notebook):
        return ""
    lines = split_lines(text)
    code = [""] * len(lines)
    blocks = _blocks(lines)
    for number, cell in enumerate(notebook["cells"], 1):
        source = cell.get("source") if isinstance(cell, dict) else None
        if not source:
            continue
        start = _next_like(source, blocks)
        if cell.get("cell_type") == "code":
            code[start - 1] = f"# %% [{number}]"
            code[start : start + len(source)] = as_python([line.rstrip("\r\n") for line in source])
    code[0] = PREPARED
    return _text("\n".join(code) + "\n")


def column_in_file(line: str, column: int) -> int:
    """Where a column of the code stands in its line of the file, both from 1."""
    held = _STRING.match(line)
    if held is None:
        return column
    characters = _CHARACTER.findall(held["text"][1:-1])
    return held.start("text") + 2 + sum(map(len, characters[: column - 1]))


def line_in_cell(line: str) -> str:
    """What a line of the file says in its cell; nothing where it holds no code."""
    held = _STRING.match(line)
    return "" if held is None else str(json.loads(held["text"])).rstrip("\r\n")


def _loaded(text: str) -> Any:
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        raise NoNotebook(error.lineno, f"not valid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise NoNotebook(1, f"not valid JSON: {error}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise NoNotebook(1, "no notebook with cells, as Jupyter has written them since 2015 (format 4)")
    return notebook


def _is_python(notebook: Any) -> bool:
    said = notebook.get("metadata")
    metadata = said if isinstance(said, dict) else {}
    told = [metadata.get("kernelspec"), metadata.get("language_info")]
    named = [each.get(key) for each, key in zip(told, ("language", "name"), strict=True) if isinstance(each, dict)]
    return all(name in (None, "python") for name in named)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """What stands under each `"source": [`: the index of the first line, and the strings."""
    for start, line in enumerate(lines, 1):
        if _SOURCE.match(line):
            strings = []
            for each in lines[start:]:
                held = _STRING.match(each)
                if held is None:
                    break
                strings.append(json.loads(held["text"]))
            yield start, strings


def _next_like(source: Any, blocks: Iterator[tuple[int, list[str]]]) -> int:
    """Where the file has a cell: outputs may hold what only looks like one."""
    for start, strings in blocks:
        if strings == source and _are_lines(strings):
            return start
    raise NoNotebook(1, "not every line of its cells has a line of its own in the file, as Jupyter writes them")


def _are_lines(strings: Sequence[str]) -> bool:
    """Whether each is one line as Python counts them; Jupyter breaks lines at more characters."""
    ends = all(each.endswith("\n") for each in strings[:-1])
    return ends and not any(re.search(r"[\r\n]", each.rstrip("\r\n")) for each in strings)


def _text(code: str) -> str:
    """The same, if it is text: JSON can spell halves of characters. Raises NoNotebook."""
    try:
        code.encode()
    except UnicodeEncodeError as error:
        raise NoNotebook(code.count("\n", 0, error.start) + 1, "half of a character") from None
    return code
