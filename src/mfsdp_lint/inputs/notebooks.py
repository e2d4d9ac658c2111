"""Notebooks as Python: the lines of the code cells, and where the file has each.

Jupyter writes every line of a cell as a string on a line of its own, and so a line of code has the number of the line
of the file that holds it; what is no code is blank. Other programs write a cell as one string, or all of a notebook on
one line. What is below such a cell moves down as far as its lines need. A mark stands where a cell begins.

Translation of IPython's additions to Python: magics, shell commands, questions.
"""

from __future__ import annotations

import ast
import io
import json
import keyword
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count, takewhile
from typing import Any

from mfsdp_lint.core.lines import Lines, split_lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.imports import parses

PREPARED = "from IPython import get_ipython; display = print"
"""The names that every notebook has from the start."""

_ANYTHING = "exec(get_ipython())"
"""A statement that may have done anything to the names of the notebook."""
_UNKNOWN = "get_ipython()"
"""A value that is not known."""

_MAGIC = lazy_pattern(r"(?P<indent>\s*)(?P<said>%(?P<name>[A-Za-z_]\w*)[ \t]*(?P<rest>.*))$")
_COMMAND = lazy_pattern(r"(?P<indent>\s*)(?:\?.*|[\w.]+\?{1,2}\s*)$")
_ASSIGNED = lazy_pattern(r"(?P<target>\s*[\w., ]+=\s*)(?:!|%[A-Za-z_]).*$")
_VARIABLE = lazy_pattern(r"(?P<name>[A-Za-z_]\w*)(?:\s*=\s*|\s+)(?P<value>\S.*)$")

_TIMED = ("time", "timeit")
"""They run the statement behind them."""
_WRAPPED = ("time", "timeit", "capture", "prun")
"""Of a cell: it is Python all the same."""
_ELSEWHERE = ("bash", "sh", "script", "cmd", "system", "sx", "perl", "ruby", "html", "HTML", "javascript", "js",
              "latex", "markdown", "svg", "writefile", "file")  # fmt: skip
"""Of a cell: what other programs read."""
_HARMLESS = ("matplotlib", "pip", "conda", "uv", "mamba", "load_ext", "reload_ext", "autoreload", "cd", "pwd", "ls",
             "config", "who", "whos", "history", "precision")  # fmt: skip
"""They leave the names of the notebook alone."""


def as_python(lines: Sequence[str]) -> list[str]:
    """Convert the lines of a cell to Python, as many as there were."""
    first = lines[0].strip()
    if first.startswith("%%"):
        found = re.match(r"\w*", first[2:])
        name = found[0] if found else ""
        if name in _WRAPPED and len(lines) > 1:
            return ["pass", *as_python(lines[1:])]
        if name in _SHELLS and len(lines) > 1:
            starts = _PROGRAM.search("\n".join(lines))
            return ["pass", *(_system(lines[1:], fills=False) if starts else [""] * (len(lines) - 1))]
        blank = [""] * (len(lines) - 1)
        return [("pass" if name in (*_ELSEWHERE, *_WRAPPED) else _ANYTHING), *blank]
    if parses("\n".join(lines)):
        return list(lines)
    made: list[str] = []
    while len(made) < len(lines):
        line = lines[len(made)]
        if line.lstrip().startswith("!") and not _is_open("\n".join(made)):
            more = takewhile(lambda each: each.rstrip().endswith("\\"), lines[len(made) :])
            made += _system(lines[len(made) : len(made) + len(list(more)) + 1], fills=True)
        else:
            made.append(line if _is_open("\n".join(made)) else _line(line))
    if _is_for_a_terminal(lines) and not parses("\n".join(made)):
        starts = _PROGRAM.search("\n".join(lines))
        return _system(lines, fills=False) if starts else ["pass", *[""] * (len(lines) - 1)]
    return made


_NO_COMMAND = lazy_pattern(r"\s*(?:#|\w+=\S|$)")
_TYPED = lazy_pattern(r"\s*(?P<word>[a-z][\w.-]*)\s+[^\s=({\[]")


def _is_for_a_terminal(lines: Sequence[str]) -> bool:
    """Tell whether a cell is commands that its reader copies: it begins with one, and no line of it is Python."""
    said = [line for line in lines if not _NO_COMMAND.match(line)]
    typed = _TYPED.match(said[0]) if said else None
    return typed is not None and not keyword.iskeyword(typed["word"]) and not any(map(_is_statement, said))


def _is_statement(line: str) -> bool:
    return parses(line.strip()) and not isinstance(ast.parse(line.strip()).body[0], ast.Expr)


_SHELLS = ("bash", "sh")
_PROGRAM = lazy_pattern(r"\.(?:py|sh)\b|\s-m\s|\bsbatch\b")
"""A program that may start a run; what any other does is nothing to the names of the notebook."""

_NAMES = lazy_pattern(
    r"\$\$|\$\{(?P<braced>\w+)\}|\$(?P<name>[A-Za-z_]\w*)|(?P<brace>\{(?![A-Za-z_]))|(?P<other>(?<=\s)\})"
)


def _system(lines: Sequence[str], *, fills: bool) -> list[str]:
    """Write lines that a shell is given as a call, each in its line; with `fills`, IPython puts values of Python in."""
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    said = [line.lstrip().removeprefix("!") if fills and not number else line for number, line in enumerate(lines)]
    texts = [json.dumps(f"{line}\n") for line in said]
    if fills:
        texts = ["f" + _NAMES.sub(_value_of, text) for text in texts]
    made = [f"{indent}import os; os.system({texts[0]}", *texts[1:]]
    made[-1] += ")"
    is_known = _PROGRAM.search("\n".join(lines)) and parses("\n".join(made).strip())
    return made if is_known else [f"{indent}pass", *[""] * (len(lines) - 1)]


def _value_of(found: re.Match[str]) -> str:
    name = found["name"] or found["braced"]
    if name is None:
        return "$" if found[0] == "$$" else found[0] * 2
    # (Names of the environment, which Python has no value for.)
    return found[0].replace("{", "{{").replace("}", "}}") if name.isupper() else f"{{{name}}}"


def _line(line: str) -> str:
    if magic := _MAGIC.match(line):
        name, rest = magic["name"], magic["rest"]
        if name in _TIMED and rest:
            return magic["indent"] + "pass;".ljust(len(magic["said"]) - len(rest)) + rest
        if name in ("env", "set_env"):
            return magic["indent"] + _environment(rest)
        return magic["indent"] + ("pass" if name in _HARMLESS or name in _TIMED else _ANYTHING)
    if command := _COMMAND.match(line):
        return f"{command['indent']}pass"
    assigned = _ASSIGNED.match(line)
    return assigned["target"] + _UNKNOWN if assigned else line


def _environment(said: str) -> str:
    variable = _VARIABLE.match(said)
    if variable is None:
        return "pass"
    value = _UNKNOWN if re.search(r"[${]", variable["value"]) else repr(variable["value"].strip())
    return f"import os; os.environ[{variable['name']!r}] = {value}"


def _is_open(text: str) -> bool:
    """Tell whether a text or a bracket goes on in the next line."""
    try:
        for _ in tokenize.generate_tokens(io.StringIO(text).readline):
            pass
    except tokenize.TokenError:
        return True
    except SyntaxError:
        return False
    return text.endswith("\\")


_DECODER = json.JSONDecoder()
_BLANK = lazy_pattern(r"[ \t\r\n]*")
_CHARACTER = lazy_pattern(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_LINE = lazy_pattern(
    r"(?P<spelled>[^\\]*(?:\\(?![nr]|u000[aAdD]).[^\\]*)*)"
    r"(?P<end>(?:\\r|\\u000[dD])(?:\\n|\\u000[aA])|\\[nr]|\\u000[aAdD]|\Z)"
)
"""A line of code as a string spells it. Python ends lines at fewer characters than Jupyter."""


class NoNotebook(ValueError):
    """A text that is no notebook that can be read: the line, from 1, and why."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class CellLine:
    """A line of a cell: what it says, and how the file spells that.

    `pieces` are offsets in the spelling, each with the offset in the file that is there: several where the line is made
    of several strings.
    """

    text: str
    spelled: str
    pieces: tuple[tuple[int, int], ...]

    def offset(self, column: int) -> int:
        """Return the offset in the file of a column, from 1."""
        before = sum(map(len, _CHARACTER.findall(self.spelled)[: column - 1]))
        start, there = self.pieces[bisect_right(self.pieces, before, key=lambda piece: piece[0]) - 1]
        return there + before - start


@dataclass(frozen=True, slots=True)
class Notebook:
    """The lines of code of a notebook, and by their numbers those that a cell has, as it has them.

    `marks` are the numbers of the lines above a cell, each with the number of the cell: from 1, counting all cells.
    """

    code: tuple[str, ...]
    rows: Mapping[int, CellLine]
    marks: Mapping[int, int]
    file: Lines

    def in_cell(self, span: Span) -> tuple[int, Span] | None:
        """Return the cell that a piece of the code begins in, and its span there; None outside of all cells."""
        starts = list(self.marks)
        at = bisect_right(starts, span.line) - 1
        if at < 0:
            return None
        here, start = self._shown(span), starts[at]
        return self.marks[start], replace(here, line=here.line - start, end_line=here.end_line - start)

    def in_file(self, span: Span) -> Span:
        """Return the span in the file of a piece of the code."""
        here = self._shown(span)
        start = self._place(here.line, here.column)
        return Span(span.path, *start, *max(start, self._place(here.end_line, here.end_column)))

    def line_in_file(self, line: int) -> int:
        """Return the line of the file that has a line of the code."""
        return self._place(line, 1)[0]

    def text_of(self, cell: int) -> str | None:
        """Return the text of a cell; None where no cell with code has that number."""
        start = next((start for start, each in self.marks.items() if each == cell), None)
        if start is None:
            return None
        return "\n".join(self.rows[line].text for line in takewhile(self.rows.__contains__, count(start + 1)))

    def _shown(self, span: Span) -> Span:
        """Return the whole line of a magic, which was read as other text; else the span itself."""
        row = self.rows.get(span.line)
        if row is None or span.line != span.end_line or row.text == self.code[span.line - 1]:
            return span
        return replace(span, column=1, end_column=len(row.text) + 1)

    def _place(self, line: int, column: int) -> tuple[int, int]:
        row = self.rows.get(line)
        if row is not None:
            return self.file.position(row.offset(column))
        # What is no code is as far below the code above it as it is here.
        above = max((each for each in self.rows if each < line), default=None)
        moved = 0 if above is None else above - self._place(above, 1)[0]
        last, _ = self.file.position(len(self.file.text))
        return min(line - moved, last), column


def python_of(text: str) -> str:
    """Return the code of a notebook; empty where it is in another language. Raises NoNotebook."""
    code = read_notebook(text).code
    return "\n".join((*code, "")) if code else ""


@lru_cache(maxsize=32)
def read_notebook(text: str) -> Notebook:
    """Read a notebook with its code; without any where it is in another language. Raises NoNotebook."""
    file = Lines(text)
    rows: dict[int, CellLine] = {}
    marks: dict[int, int] = {}
    if not _is_python(_loaded(text)):
        return Notebook((), rows, marks, file)
    code = [PREPARED, *[""] * (len(split_lines(text)) - 1)]
    last = 1
    for number, cell in enumerate(_cells(text), 1):
        lines = list(_rows(text, _strings(text, cell, file)))
        if not lines:
            continue
        mark = max(last + 1, file.position(lines[0].offset(1))[0] - 1)
        last = mark + len(lines)
        code += [""] * (last - len(code))
        code[mark - 1 : last] = [f"# %% [{number}]", *as_python([line.text for line in lines])]
        rows.update(enumerate(lines, mark + 1))
        marks[mark] = number
    made = Notebook(tuple(code), rows, marks, file)
    try:
        "\n".join(made.code).encode()
    except UnicodeEncodeError as error:  # JSON can spell halves of characters
        line = error.object.count("\n", 0, error.start) + 1
        raise NoNotebook(made.line_in_file(line), "half of a character") from None
    return made


def _loaded(text: str) -> Any:
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        raise NoNotebook(error.lineno, f"not valid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise NoNotebook(1, f"not valid JSON: {error}") from None
    if not isinstance(notebook, dict) or not any(isinstance(notebook.get(key), list) for key in ("cells", _SHEETS)):
        raise NoNotebook(1, "no notebook with cells, as Jupyter writes them")
    return notebook


_SHEETS = "worksheets"
"""Where the cells were before 2015 (format 3)."""


def _is_python(notebook: Any) -> bool:
    said = notebook.get("metadata")
    metadata = said if isinstance(said, dict) else {}
    told = [metadata.get("kernelspec"), metadata.get("language_info")]
    named = [each.get(key) for each, key in zip(told, ("language", "name"), strict=True) if isinstance(each, dict)]
    return all(name in (None, "python") for name in named)


@dataclass(frozen=True, slots=True)
class _Held:
    """A value in a text of JSON, and where it begins and ends there."""

    value: Any
    start: int
    end: int


def _cells(text: str) -> Iterator[Mapping[str, _Held]]:
    whole = _members(text, _after_blank(text, 0))
    sheets = [whole]
    if "cells" not in whole:
        sheets = [_members(text, each.start) for _, each in _held(text, whole[_SHEETS].start)]
    for sheet in sheets:
        if "cells" in sheet:
            yield from (_members(text, each.start) for _, each in _held(text, sheet["cells"].start))


def _strings(text: str, cell: Mapping[str, _Held], file: Lines) -> list[_Held]:
    """Return the strings that the code of a cell is made of."""
    said = {key: cell[key].value for key in ("cell_type", "language") if key in cell}
    source = cell.get("source") or cell.get("input")
    if said.get("cell_type") != "code" or said.get("language", "python") != "python" or not (source and source.value):
        return []
    strings = [source]
    if isinstance(source.value, list):
        strings = [each for _, each in _held(text, source.start)]
    if not all(isinstance(each.value, str) for each in strings):
        line, _ = file.position(source.start)
        raise NoNotebook(line, "the source of a cell is neither a text nor a list of texts")
    return strings


def _rows(text: str, strings: Sequence[_Held]) -> Iterator[CellLine]:
    """Yield the lines that the strings make up, joined one behind the other."""
    if strings and not any(each.value for each in strings):
        yield CellLine("", "", ((0, strings[0].start + 1),))
    spelled, pieces = "", list[tuple[int, int]]()
    for string in strings:
        for line in _LINE.finditer(text, string.start + 1, string.end - 1):
            if line.group():
                pieces.append((len(spelled), line.start()))
                spelled += line["spelled"]
            if line["end"]:
                yield CellLine(json.loads(f'"{spelled}"'), spelled, tuple(pieces))
                spelled, pieces = "", []
    if pieces:
        yield CellLine(json.loads(f'"{spelled}"'), spelled, tuple(pieces))


def _members(text: str, start: int) -> Mapping[str, _Held]:
    """Return the members of an object at a place of the text; nothing where there is another value."""
    return dict(_held(text, start)) if text[start] == "{" else {}


def _held(text: str, start: int) -> Iterator[tuple[str, _Held]]:
    """Yield the values of an object or an array at a place of the text, each with its key ("" in an array)."""
    if text[start] not in "{[":
        return
    at = _after_blank(text, start + 1)
    while text[at] not in "]}":
        key = ""
        if text[start] == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _after_blank(text, _after_blank(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        yield key, _Held(value, at, end)
        at = _after_blank(text, end)
        if text[at] == ",":
            at = _after_blank(text, at + 1)


def _after_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at
