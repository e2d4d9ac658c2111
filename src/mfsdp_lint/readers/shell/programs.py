"""A launch of a Python program of the tree: which one it is, and what it is given."""

from __future__ import annotations

import posixpath

from mfsdp_lint.core.recipe import Origin, Setting
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.given_words import HOLE, Given, GivenWord
from mfsdp_lint.readers.shell.files import path_of
from mfsdp_lint.readers.shell.pieces import Text, around, known, located, obstacle_in, option, plain
from mfsdp_lint.readers.shell.run import Launch
from mfsdp_lint.readers.shell.starting import behind

_ROOTS = ("", "src")
"""Folders that modules are imported from, below the one that a program is started in."""


def program_of(launch: Launch, script: str, sources: Sources) -> str | None:
    """Find the file of the tree that a launch of this script starts."""
    program = launch.started.program
    if not launch.started.is_module:
        return path_of(located(program), script, sources, launch.folder)
    name = (known(program) or "").replace(".", "/")
    files = (posixpath.join(root, each) for root in _ROOTS for each in (f"{name}.py", f"{name}/__main__.py"))
    found = (path_of(each, script, sources, launch.folder) for each in files if name)
    return next((each for each in found if each is not None), None)


def given_by(launch: Launch, environment: tuple[Setting, ...], ranks: Setting | None) -> Given:
    """Return the arguments, the environment and the number of ranks that a launch gives its program."""
    number = ranks.value.value if ranks is not None and isinstance(ranks.value, Known) else None
    words = tuple(map(_word, launch.started.arguments))
    return Given(words, environment, number if isinstance(number, int) else None)


def _word(text: Text) -> GivenWord:
    said = plain(text)
    name, equals, _ = said.partition("=")
    focus = around(behind(text, len(name) + 1)) if equals else None
    origin = Origin(around(text), "assigned", focus, option=option(text), obstacle=obstacle_in(text))
    if said.strip(HOLE) or not said or not any(piece.splits for piece in text):
        return GivenWord(said, origin)
    nobody = all(piece.option for piece in text)
    return GivenWord(said, origin, several=not nobody, nothing=nobody)
