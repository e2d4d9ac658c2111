"""What is worth saying of a script's text itself, for rules about text: one module a subject."""
