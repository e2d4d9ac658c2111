"""The editors, by the kind of file that each is for. They are imported when something is edited, and not before."""

from __future__ import annotations

from collections.abc import Callable

from mfsdp_lint.fixes.editor import Editable, Editor
from mfsdp_lint.readers.registry import kind_of


def _python() -> Editor:
    from mfsdp_lint.fixes.python import open_python

    return open_python


def _yaml() -> Editor:
    from mfsdp_lint.fixes.yaml import open_yaml

    return open_yaml


def _shell() -> Editor:
    from mfsdp_lint.fixes.shell import open_shell

    return open_shell


EDITORS: dict[str, Callable[[], Editor]] = {"python": _python, "yaml": _yaml, "shell": _shell}


def open_for_edit(path: str, text: str) -> Editable | None:
    """Open a file for editing; None if it cannot be read, or its kind has no editor."""
    editor = EDITORS.get(kind_of(path))
    return editor()(path, text) if editor else None
