"""Spelling of values in Python, in the quotes of their surroundings."""

from __future__ import annotations

import ast
from functools import lru_cache

from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes.statements import PythonFile


def spell(value: Plain, quote: str = '"') -> str:
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
            return "[" + ", ".join(spell(item, quote) for item in value) + "]"
        case dict():
            return "{" + ", ".join(f"{spell(key, quote)}: {spell(item, quote)}" for key, item in value.items()) + "}"
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
