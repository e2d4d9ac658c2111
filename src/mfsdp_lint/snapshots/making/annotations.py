"""Annotations of upstream that say whether a value is immutable."""

from __future__ import annotations

import ast

PLAIN_WORDS = frozenset(("str", "int", "bool", "float", "bytes", "None", "Optional", "Union", "Literal", "Path"))
CONTAINER_WORDS = frozenset(("dict", "Dict", "list", "List", "tuple", "Tuple", "set", "Set", "Any"))


def is_plain(annotation: ast.expr | None) -> bool:
    """Tell whether the annotation says that a value is a number, a text or the like."""
    words = _words(annotation)
    return bool(words) and words <= PLAIN_WORDS


def is_plain_or_container(annotation: ast.expr | None) -> bool:
    """Tell whether the annotation says that a value is a number, a text, or a list or a dictionary."""
    words = _words(annotation)
    return bool(words) and words != {"Any"} and words <= CONTAINER_WORDS | PLAIN_WORDS


def _words(annotation: ast.expr | None) -> set[str]:
    if annotation is None:
        return set()
    return {
        str(getattr(each, "id", getattr(each, "attr", getattr(each, "value", ""))))
        for each in ast.walk(annotation)
        if isinstance(each, (ast.Name, ast.Attribute, ast.Constant))
    }
