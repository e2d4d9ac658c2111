"""Reads recipes from Python files by evaluating them abstractly; nothing of them is imported or executed.

docs/evaluator.md is a map of it.
"""

from mfsdp_lint.readers.python import library
from mfsdp_lint.readers.python.eval import calls, expressions, statements
from mfsdp_lint.readers.python.state import deciding

__all__ = ["calls", "deciding", "expressions", "library", "statements"]  # they fill the tables that code is run by
