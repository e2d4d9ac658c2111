"""Reads recipes from Python files by evaluating them abstractly; nothing of them is imported or executed."""
