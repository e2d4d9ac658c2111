"""A launch in words: the program, the recipe and the files that it names, its overrides and its environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.recipe import Command
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.pieces import plain
from mfsdp_lint.readers.shell.run import Launch

_RECIPE = ("--recipe", "--recipe-name", "--recipe_name", "--model_recipe_name")
_FILE = re.compile(r"[^\s=]+\.ya?ml")
_OVERRIDE = re.compile(r"(?:\+\+?)?[A-Za-z_][\w/@]*(?:\.\w+)+=.*|~[A-Za-z_][\w.]*(?:=.*)?", re.DOTALL)


def command_of(launch: Launch) -> Command:
    """What a launch starts, and with what."""
    words = [_said(plain(text)) for text in launch.started.arguments]
    module = "-m " if launch.started.is_module else ""
    recipes = [value for name, value in _options(words) if name in _RECIPE]
    files = [each.partition("=")[2] if each.startswith("--") else each for each in words]
    environment = ((name, each.text) for name, each in launch.environment.items() if not each.unset)
    return Command(
        program=module + _said(plain(launch.started.program)),
        recipe=recipes[-1] if recipes else "",
        files=tuple(each for each in files if _FILE.fullmatch(each)),
        overrides=tuple(each for each in words if _OVERRIDE.fullmatch(each)),
        environment=tuple(f"{name}={_said(plain(text))}" for name, text in environment if text is not None),
    )


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options with the value that stands behind each, or in it."""
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            yield name, value if equals else "".join(words[number + 1 : number + 2])


def _said(text: str) -> str:
    return re.sub(f"{HOLE}+", "?", text)
