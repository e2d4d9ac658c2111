"""Texts with the place in question marked: `«…»` stands around what an origin points at."""

from __future__ import annotations

from mfsdp_lint.core.recipe import How, Origin
from mfsdp_lint.fixes.edits import FileText


def marked(text: str, path: str = "recipe.py", how: How = "assigned") -> tuple[str, Origin]:
    """The text without the marks, and an origin that spans what stood between them."""
    before, opening, rest = text.partition("«")
    inside, closing, after = rest.partition("»")
    assert opening
    assert closing
    assert "«" not in after
    plain = before + inside + after
    span = FileText(path, plain).lines.span(path, len(before), len(before) + len(inside))
    return plain, Origin(span, how)
