"""Script files that a script names: those that it has written itself, and those of the tree."""

from __future__ import annotations

import posixpath

from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.paths import above
from mfsdp_lint.readers.shell.pieces import Text, located, of_file, plain
from mfsdp_lint.readers.shell.state import State


def text_of_file(name: Text, script: str, sources: Sources, state: State) -> Text | None:
    """Return the text of a script file; None where the file is not found, or its text is not known."""
    said = plain(name)
    if said in state.files:
        return state.files[said]
    path = path_of(located(name), script, sources, state.folder)
    text = None if path is None else sources.text_or_none(path)
    return None if path is None or text is None else of_file(path, text)


def path_of(named: str | None, script: str, sources: Sources, folder: str | None) -> str | None:
    """Find the file of the tree that a path in a script names: from the folder that the script changed to, lies in, or
    above.
    """
    if not named:
        return None
    for place in (*([] if folder is None else [folder]), *above(script)):
        path = posixpath.normpath(posixpath.join(place, named))
        if path != posixpath.normpath(script) and sources.exists(path):
            return path
    return None
