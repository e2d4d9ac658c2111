"""The text that decides a value, in Python: a literal that says it, or a string that says it among other things.

What is not a literal of the very value stays: a default that is negated, or compared with, says something else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.values import Plain, same, spell
from mfsdp_lint.fixes import spelling
from mfsdp_lint.fixes.statements import PythonFile

_WORD = re.compile(r"[\w./-]+")
_ENUMERATION = re.compile(r"(.*\.)?\w*(Enum|Flag)")
"""The bases of enumerations end so in the standard library: what a member stands for is nobody's setting."""


def replace_said(
    file: PythonFile, where: Span, path: str, value: Plain, old: Plain, uses: Collection[Span]
) -> list[Edit] | None:
    """Write another value in the text at `where` that says `old`; `uses` are the places that have it from there.

    None where it is used for something else as well, or where the name that it is given says what it is.
    """
    start, end = file.document.range(where)
    found = expression_at(file, start, end) or _text_around(file, start, end)
    literal = None if found is None else _saying(file, found, path, value, old)
    if literal is None or _is_meant(file, literal, old) or not _only_for(file, literal, uses):
        return None
    if _says(literal, old):
        return [file.document.edit(*file.range(literal), spelling.spell(value, _quote(file, literal)))]
    return inside(file, literal, path, value, old)


def inside(file: PythonFile, literal: ast.expr, path: str, value: Plain, old: Plain) -> list[Edit] | None:
    """Write another value in a string such as "checkpoint.ckpt_format=torch_dist" or "--ckpt-format torch_dist"."""
    start, end = file.range(literal)
    text = file.document.text[start:end]
    was, new = _word(old), _word(value)
    if not isinstance(literal, ast.Constant) or not isinstance(literal.value, str) or "\\" in text or not was:
        return None
    name = re.escape(path.rpartition(".")[2]).replace("_", "[_-]")
    whole = rf"(?<![\w-]){name}[\"']?\s*[=:\s]\s*[\"']?({was})(?![\w.-])"
    matches = list(re.finditer(whole, text, re.IGNORECASE))
    if len(matches) != 1 or new is None:
        return None
    spelled = matches[0][1]
    if isinstance(value, bool) or value is None:
        new = new.capitalize() if spelled[0].isupper() else new
    return [file.document.edit(start + matches[0].start(1), start + matches[0].end(1), new)]


def among(file: PythonFile, where: Span, old: Plain) -> tuple[int, int] | None:
    """Locate the only literal that says `old` in a choice: `given or "torch_dist"`, `words.get(name, 1)`."""
    found = expression_at(file, *file.document.range(where))
    if old is None or not isinstance(found, ast.BoolOp | ast.IfExp | ast.Call):
        return None
    literals = [node for node in ast.walk(found) if isinstance(node, ast.Constant) and _says(node, old)]
    return file.range(literals[0]) if len(literals) == 1 else None


def expression_at(file: PythonFile, start: int, end: int) -> ast.expr | None:
    """Find the expression that has exactly these offsets; for a keyword argument return its value."""
    line, place = file.document.lines.position(start)[0], file.statement_at(start)
    for node in ast.walk(place.node if place else file.tree):
        if isinstance(node, ast.expr | ast.keyword) and node.lineno == line and file.range(node) == (start, end):
            return node.value if isinstance(node, ast.keyword) else node
    return None


def _text_around(file: PythonFile, start: int, end: int) -> ast.expr | None:
    """Find the string that encloses these offsets: a place in YAML that is written out in the program."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            first, last = file.range(node)
            if first < start and end < last:
                return node
    return None


def _saying(file: PythonFile, node: ast.expr, path: str, value: Plain, old: Plain) -> ast.expr | None:
    """Find the literal that says a value: the expression itself, or the only literal that does in a call."""
    if not isinstance(node, ast.Call):
        return node
    name = path.rpartition(".")[2]
    named = [each.value for each in node.keywords if each.arg == name]
    given = named or [*node.args, *(each.value for each in node.keywords)]
    found = [each for each in given if _says(each, old)]
    if not found:
        texts = [each for each in ast.walk(node) if isinstance(each, ast.Constant)]
        found = [each for each in texts if inside(file, each, path, value, old)]
    return found[0] if len(found) == 1 else None


def _says(node: ast.expr, value: Plain) -> bool:
    try:
        said = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return same(said, value)


def _is_meant(file: PythonFile, literal: ast.expr, old: Plain) -> bool:
    """Tell whether the literal's name says its value: `TORCH_DIST = "torch_dist"`, a member of an enumeration."""
    for node in ast.walk(file.tree):
        match node:
            case ast.Assign() | ast.AnnAssign() if node.value is literal:
                return any(_named(target) == str(old).lower() for target in _targets(node))
            case ast.Dict(keys=keys, values=values) if any(each is literal for each in values):
                key = next(key for key, each in zip(keys, values, strict=True) if each is literal)
                return isinstance(key, ast.Constant) and str(key.value).lower() == str(old).lower()
            case ast.ClassDef(bases=bases) if any(_ENUMERATION.fullmatch(ast.unparse(base)) for base in bases):
                if any(inner is literal for inner in ast.walk(node)):
                    return True
    return False


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _named(target: ast.expr) -> str:
    return (target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")).lower()


def _only_for(file: PythonFile, literal: ast.expr, uses: Collection[Span]) -> bool:
    """Tell whether the names that the literal is assigned to are read only where the setting takes its value."""
    names = {
        target.id
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is literal
        for target in _targets(node)
        if isinstance(target, ast.Name)
    }
    here = [file.document.range(span) for span in uses if span.path == file.document.path]
    place = file.statement_at(file.range(literal)[0])
    return all(
        any(start <= file.range(node)[0] and file.range(node)[1] <= end for start, end in here)
        for node in (_loads(place.scope if place else file.tree, names) if names else ())
    )


def _loads(scope: ast.AST, names: Collection[str]) -> Iterator[ast.expr]:
    for node in ast.walk(scope):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()) if name in names:
                yield node


def _quote(file: PythonFile, literal: ast.expr) -> str:
    last = file.source(literal)[-1:]
    return last if last in ("'", '"') else spelling.usual_quote(file)


def _word(value: Plain) -> str | None:
    """Spell a value for a command line or YAML, if that is one plain word; else None."""
    if value is None:
        return "null"
    word = str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else spell(value)
    return word if _WORD.fullmatch(word) else None
