"""Reads recipes from Python files by evaluating them abstractly; nothing of them is imported or executed."""

from mfsdp_lint.readers.python.eval import (
    expressions,
    statements,  # they fill the tables that code is run by
)

__all__ = ["expressions", "statements"]
