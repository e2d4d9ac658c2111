"""Evaluation of each expression, statement and call."""
