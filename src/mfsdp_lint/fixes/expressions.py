"""Expressions of a Python file: the piece that gives a setting its value, how values are spelled, and conditions.

A text decides a value if it is a literal that says it, or a string that says it among other things. What is not a
literal of the very value stays: a default that is negated, or compared with, says something else.

Where `cfg.dist.use_megatron_fsdp = fsdp` turns FSDP on, `fsdp` is the condition of an edit that is for those callers:
`"fsdp_dtensor" if fsdp else "torch_dist"`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from io import StringIO
from tokenize import COMMENT, generate_tokens
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.values import Plain, same, spell
from mfsdp_lint.fixes.editor import Switch
from mfsdp_lint.fixes.statements import PythonFile, Scope, Statement

if TYPE_CHECKING:
    from mfsdp_lint.fixes.concrete import Range, WriteNode


def spell_python(value: Plain, quote: str = '"') -> str:
    """Write a plain value as a Python expression; strings in `quote`, unless it occurs in them."""
    match value:
        case str():
            escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
            if quote in escaped:
                other = "'" if quote == '"' else '"'
                quote, escaped = (
                    (other, escaped) if other not in escaped else (quote, escaped.replace(quote, "\\" + quote))
                )
            return quote + escaped + quote
        case list():
            return "[" + ", ".join(spell_python(item, quote) for item in value) + "]"
        case dict():
            return (
                "{"
                + ", ".join(f"{spell_python(key, quote)}: {spell_python(item, quote)}" for key, item in value.items())
                + "}"
            )
    return repr(value)


@lru_cache(maxsize=64)
def usual_quote(file: PythonFile) -> str:
    """Find the quote that most of a file's strings use; double if in doubt. Triple quotes do not count."""
    single = double = 0
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        start, end = file.range(node)
        text = file.document.text[start:end].lstrip("rRuU")
        if text.startswith(('"""', "'''")):
            continue
        single += text.startswith("'")
        double += text.startswith('"')
    return "'" if single > double else '"'


def statement_of(file: PythonFile, origin: Origin) -> Statement | None:
    """Find the simple statement that an origin lies in."""
    return file.statement_at(file.document.range(origin.point)[0])


def write_of(writes: Iterable[WriteNode], name: str, point: Range) -> WriteNode | None:
    """Find the write of `name` at a place: the smallest around it, or the only one inside it.

    A piece that is exactly the place counts under any name: the argument `fsdp=True` of a helper.
    """
    every = list(writes)
    named = [write for write in every if write.name == name]
    around = [write for write in named if write.where[0] <= point[0] and point[1] <= write.where[1]]
    if around:
        return min(around, key=lambda write: write.where[1] - write.where[0])
    inside = [write for write in named if point[0] <= write.where[0] and write.where[1] <= point[1]]
    if len(inside) == 1:
        return inside[0]
    return next((write for write in every if write.item and write.where == point), None)


def value_at(file: PythonFile, place: Statement, where: Span, path: str) -> Range | None:
    """Return the offsets of a setting's value, a literal, a name or a subscript; None if that is not certain."""
    import libcst as cst

    from mfsdp_lint.fixes.concrete import read

    concrete = read(file, place)
    if concrete is None:
        return None
    plain = (cst.SimpleString, cst.ConcatenatedString, cst.Name, cst.Attribute, cst.Integer, cst.Float, cst.Subscript)
    point = file.document.range(where)
    if names_many(place.node):
        return None
    if any(isinstance(node, plain) and concrete.places[node] == point for node in concrete.nodes()):
        return point
    write = write_of(concrete.writes(), path.rpartition(".")[2], point)
    if write is None:
        return None
    old = write.value
    number = isinstance(old, cst.UnaryOperation) and isinstance(old.expression, cst.Integer | cst.Float)
    return concrete.places[old] if isinstance(old, plain) or number else None


def is_parameter(scope: Scope, name: str) -> bool:
    """Tell whether a name is that of a parameter of a function."""
    if isinstance(scope, ast.Module):
        return False
    given = scope.args
    return any(each.arg == name for each in (*given.posonlyargs, *given.args, *given.kwonlyargs))


def names_many(node: ast.stmt) -> bool:
    """Tell whether a statement sets a setting whose name is computed: `setattr(section, name, value)`."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name("setattr"), args=[_, name, _])):
            return not isinstance(name, ast.Constant)
        case ast.Assign(targets=[ast.Subscript(slice=key)]):
            return not isinstance(key, ast.Constant)
    return False


_WORD = lazy_pattern(r"[\w./-]+")
_ENUMERATION = lazy_pattern(r"(.*\.)?\w*(Enum|Flag)")
"""The bases of enumerations end so in the standard library: what a member stands for is nobody's setting."""


def replace_literal(
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
        return write_over(file, *file.range(literal), spell_python(value, _quote(file, literal)))
    return inside_string(file, literal, path, value, old)


def write_over(file: PythonFile, start: int, end: int, new: str) -> list[Edit] | None:
    """Write another expression over one; None where a comment inside of it would be lost."""
    old = file.document.text[start:end]
    if "#" in old and "\n" in old:
        words = generate_tokens(StringIO(f"({old})").readline)
        if any(each.type == COMMENT for each in words):
            return None
    return [file.document.edit(start, end, new)]


def inside_string(file: PythonFile, literal: ast.expr, path: str, value: Plain, old: Plain) -> list[Edit] | None:
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


def literal_among(file: PythonFile, where: Span, old: Plain) -> tuple[int, int] | None:
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
        found = [each for each in texts if inside_string(file, each, path, value, old)]
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
    return last if last in ("'", '"') else usual_quote(file)


def _word(value: Plain) -> str | None:
    """Spell a value for a command line or YAML, if that is one plain word; else None."""
    if value is None:
        return "null"
    word = str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else spell(value)
    return word if _WORD.fullmatch(word) else None


def choice(asked: str, new: str, otherwise: str) -> str:
    """Write an expression that is `new` where a condition holds: `"fsdp_dtensor" if fsdp else "torch_dist"`."""
    if new == otherwise:
        return new
    match new, otherwise:
        case "True", "False":
            is_bool = isinstance(parsed_expression(asked), ast.Compare | ast.UnaryOp)
            return asked if is_bool else f"bool({asked})"
        case "False", "True":
            return negated(asked)
        case _ if otherwise == asked:
            return new  # where it is not so, it is off already
    if asked.startswith("not "):
        asked, new, otherwise = negated(asked), otherwise, new
    return f"{new} if {asked} else {otherwise}"


def condition(file: PythonFile, switch: Switch) -> str | None:
    """Find the expression that selects the callers of one side of a switch, and that can be evaluated again.

    This is the value that the statement sets or, for `if fsdp: cfg.dist.use_megatron_fsdp = True`, the branch's test.
    None if neither can be evaluated again.
    """
    place = statement_of(file, switch.origin)
    asked = _asked(file, place, switch.origin) if place else None
    return asked if asked is None or switch.on else negated(asked)


def _asked(file: PythonFile, place: Statement, switch: Origin) -> str | None:
    from mfsdp_lint.fixes.concrete import read

    concrete = read(file, place)
    point = file.document.range(switch.point)
    write = write_of(concrete.writes(), "", point) if concrete else None
    start, end = concrete.places[write.value] if concrete and write else point
    text = file.document.text[start:end]
    parsed = parsed_expression(text)
    if isinstance(parsed, ast.Constant):
        branch = next(
            (node for node in place.scope.body if isinstance(node, ast.If) and node.body is place.block), None
        )
        text, parsed = (file.source(branch.test), branch.test) if branch else (text, None)
    match parsed:
        case ast.Call(func=ast.Name("bool"), args=[inner], keywords=[]):
            text, parsed = ast.get_source_segment(text, inner) or text, inner
    return text if parsed is not None and can_be_asked(parsed) else None


def negated(asked: str) -> str:
    match parsed_expression(asked):
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return f"not {asked}"
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return ast.get_source_segment(asked, inner) or f"not ({asked})"
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = [ast.get_source_segment(asked, each) for each in (left, right)]
            return f"{sides[0]} != {sides[1]}"
    return f"not ({asked})"


def can_be_asked(node: ast.expr) -> bool:
    """Tell whether an expression fits into a conditional expression as it is, and has no effect if evaluated again."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=inner) | ast.UnaryOp(op=ast.Not(), operand=inner):
            return can_be_asked(inner)
        case ast.Subscript(value=inner, slice=key):
            return can_be_asked(inner) and can_be_asked(key)
        case ast.Compare(left=left, comparators=others):
            return all(map(can_be_asked, (left, *others)))
        case ast.BoolOp(values=values):
            return all(map(can_be_asked, values))
    return False


def parsed_expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
