"""Files of the tree that a script names: scripts, those that it has written itself among them, and Python programs."""

from __future__ import annotations

import posixpath

from mfsdp_lint.core.recipe import Origin, Setting
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.given_words import HOLE, Given, GivenWord
from mfsdp_lint.readers.paths import above
from mfsdp_lint.readers.shell.launch_command import ShellLaunch
from mfsdp_lint.readers.shell.pieces import Text, around, behind, known, located, obstacle_in, of_file, option, plain
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
    """Find the file that a path in a script names: from the folder that the script changed to, lies in, or above."""
    if not named:
        return None
    for place in (*([] if folder is None else [folder]), *above(script)):
        path = posixpath.normpath(posixpath.join(place, named))
        if path != posixpath.normpath(script) and sources.exists(path):
            return path
    return None


_ROOTS = ("", "src")
"""Folders that modules are imported from, below the one that a program is started in."""


def program_of(launch: ShellLaunch, script: str, sources: Sources) -> str | None:
    """Find the file of the tree that a launch of this script starts."""
    program = launch.started.program
    if not launch.started.is_module:
        return path_of(located(program), script, sources, launch.folder)
    name = (known(program) or "").replace(".", "/")
    files = (posixpath.join(root, each) for root in _ROOTS for each in (f"{name}.py", f"{name}/__main__.py"))
    found = (path_of(each, script, sources, launch.folder) for each in files if name)
    return next((each for each in found if each is not None), None)


def given_by(launch: ShellLaunch, environment: tuple[Setting, ...], ranks: Setting | None) -> Given:
    """Return the arguments, the environment and the number of ranks that a launch gives its program."""
    number = ranks.value.value if ranks is not None and isinstance(ranks.value, Known) else None
    words = tuple(map(_given_word, launch.started.arguments))
    return Given(words, environment, number if isinstance(number, int) else None)


def _given_word(text: Text) -> GivenWord:
    said = plain(text)
    name, equals, _ = said.partition("=")
    focus = around(behind(text, len(name) + 1)) if equals else None
    origin = Origin(around(text), "assigned", focus, option=option(text), obstacle=obstacle_in(text))
    if said.strip(HOLE) or not said or not any(piece.splits for piece in text):
        return GivenWord(said, origin)
    nobody = all(piece.option for piece in text)
    return GivenWord(said, origin, several=not nobody, nothing=nobody)
