"""Stands in for the grammar of shell: the page has it (see `tree_sitter`)."""


def language() -> None:
    """Nothing of it is needed here."""
