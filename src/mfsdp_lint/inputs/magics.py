"""What IPython understands beside Python, as Python: magics, shell commands, questions."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence

PREPARED = "from IPython import get_ipython; display = print"
"""What every notebook has from the start."""

_ANYTHING = "exec(get_ipython())"
"""What may have done anything to the names of the notebook."""
_UNKNOWN = "get_ipython()"
"""A value that is not known."""

_MAGIC = re.compile(r"(?P<indent>\s*)(?P<said>%(?P<name>[A-Za-z_]\w*)[ \t]*(?P<rest>.*))$")
_COMMAND = re.compile(r"(?P<indent>\s*)(?:!.*|\?.*|[\w.]+\?{1,2}\s*)$")
_ASSIGNED = re.compile(r"(?P<target>\s*[\w., ]+=\s*)(?:!|%[A-Za-z_]).*$")
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\s*=\s*|\s+)(?P<value>\S.*)$")

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
    """The lines of a cell, as many as there were."""
    first = lines[0].strip()
    if first.startswith("%%"):
        name = re.match(r"\w*", first[2:])
        return _cell(name[0] if name else "", lines)
    if _parses("\n".join(lines)):
        return list(lines)
    made: list[str] = []
    for line in lines:
        made.append(line if _is_open("\n".join(made)) else _line(line))
    return made


def _cell(name: str, lines: Sequence[str]) -> list[str]:
    if name in _WRAPPED and len(lines) > 1:
        return ["pass", *as_python(lines[1:])]
    blank = [""] * (len(lines) - 1)
    return [("pass" if name in (*_ELSEWHERE, *_WRAPPED) else _ANYTHING), *blank]


def _line(line: str) -> str:
    if magic := _MAGIC.match(line):
        return magic["indent"] + _magic(magic["name"], magic["rest"], len(magic["said"]))
    if command := _COMMAND.match(line):
        return f"{command['indent']}pass"
    if assigned := _ASSIGNED.match(line):
        return assigned["target"] + _UNKNOWN
    return line


def _magic(name: str, rest: str, width: int) -> str:
    if name in _TIMED and rest:
        return "pass;".ljust(width - len(rest)) + rest
    if name in ("env", "set_env"):
        return _environment(rest)
    return "pass" if name in _HARMLESS or name in _TIMED else _ANYTHING


def _environment(said: str) -> str:
    variable = _VARIABLE.match(said)
    if variable is None:
        return "pass"
    value = _UNKNOWN if re.search(r"[${]", variable["value"]) else repr(variable["value"].strip())
    return f"import os; os.environ[{variable['name']!r}] = {value}"


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_open(text: str) -> bool:
    """Whether a text or a bracket goes on in the next line."""
    try:
        for _ in tokenize.generate_tokens(io.StringIO(text).readline):
            pass
    except tokenize.TokenError:
        return True
    except SyntaxError:
        return False
    return text.endswith("\\")
