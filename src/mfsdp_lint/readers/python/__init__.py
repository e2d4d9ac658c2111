"""Reads recipes from Python files by evaluating them abstractly; nothing of them is imported or executed."""

from mfsdp_lint.readers.python import statements  # it fills the table that blocks are run by

__all__ = ["statements"]
