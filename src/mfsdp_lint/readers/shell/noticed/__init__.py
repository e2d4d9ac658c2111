"""Notices about the text of a script, for rules about text: one module a subject."""
