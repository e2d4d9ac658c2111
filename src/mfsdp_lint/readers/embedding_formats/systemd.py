"""Units of systemd: the command of a service as a script, with its environment and its drop-ins.

Facts: systemd.service(5), systemd.exec(5) and systemd.unit(5) of systemd 255. A file of variables is named by its place
on the machine; in the tree it is the one that has the same name, in a folder above the unit or right below such a one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.held_texts import added, dotenv_variables, variable
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.script import Piece, Text, filled, plain
from mfsdp_lint.readers.shell.state import LOST, Held, Variable

_ENTRY = lazy_pattern(
    r"^[ \t]*(?P<name>\w+)[ \t]*=[ \t]*(?P<value>(?:[^\n\\]|\\\n(?:[ \t]*[#;][^\n]*\n)*|\\.)*)", re.MULTILINE
)
_WORD = lazy_pattern(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?:\\.|[^\s\"'\\])+")
_FILLED_IN = lazy_pattern(
    r"(?P<comment>(?<=\n)[ \t]*[#;][^\n]*\n)|(?P<quoted>'[^']*'|\"[^\"]*\")|\$\{\w+\}|%(?P<specifier>[A-Za-z%])|\$\$"
)
_NAMES = lazy_pattern(r"\$\{?(\w+)")
_PREFIX = lazy_pattern(r"[-@:+!]*")


def unit_scripts(path: str, text: str, sources: Sources) -> Iterator[Held]:
    """Yield the commands that a service starts, as its drop-ins change it."""
    commands: list[Text] = []
    given: dict[str, Variable] = {}
    files: list[dict[str, Variable] | None] = []
    unset: set[str] = set()
    for unit in (path, *_drop_ins(path)):
        said = text if unit == path else sources.text_or_none(unit) or ""
        lines = Lines(said)
        for entry in _ENTRY.finditer(said):
            name, own, start = entry["name"], entry["value"].rstrip(), entry.start("value")
            value = Piece(own, unit, lines, start, start + len(own))
            if name in ("ExecStart", "ExecStartPre"):
                commands = [*commands, _script(value)] if value.text else []
            elif name == "Environment":
                given = given | dict(_assigned(value)) if value.text else {}
            elif name == "EnvironmentFile":
                files = [*files, _of_file(value.text, path, sources)] if value.text else []
            elif name == "UnsetEnvironment":
                unset |= set(value.text.split())
    # Files stand above what the unit sets, whatever their order; one that is not at hand may set anything.
    for each in files:
        given |= dict.fromkeys(_NAMES.findall("".join(map(plain, commands))), LOST) if each is None else each
    for name in unset:
        given[name] = Variable(None, exported=True, unset=True)
    for command in commands:
        yield Held(command, given)


def _drop_ins(path: str) -> Iterator[str]:
    """Yield the drop-ins of a unit in their order."""
    folder = f"{path}.d"
    yield from (posixpath.join(folder, each) for each in disk.Listing(folder).matching("*.conf"))


def _of_file(named: str, path: str, sources: Sources) -> dict[str, Variable] | None:
    """Return the variables of a file (with `-` in front it may be missing); None where it is not at hand."""
    name = posixpath.basename(named.removeprefix("-"))
    for folder in above(path):
        for inner in ("", *disk.Listing(folder).matching("*")):
            found = posixpath.normpath(posixpath.join(folder, inner, name))
            if sources.exists(found) and (text := sources.text_or_none(found)) is not None:
                return dotenv_variables(found, text)
    return None


def _assigned(value: Piece) -> Iterator[tuple[str, Variable]]:
    """Yield the variables of `Environment=A=b "C=d e"`."""
    for word in _WORD.finditer(value.text):
        said = word[0].strip("\"'") if word[0][0] in "\"'" else word[0]
        name, equals, own = said.partition("=")
        start = word.start() + word[0].index(said) + len(name) + 1
        if equals and name.isidentifier():
            yield name, variable((value.cut(start, start + len(own)),))


def _script(value: Piece) -> Text:
    """Return a command as a shell reads it: `${NAME}` is one word, a specifier is not known, `$$` stands for `$`."""

    def fill(each: re.Match[str], piece: Piece) -> Text:
        place = piece.cut(*each.span())
        if each["comment"]:
            return ()
        if each["specifier"]:
            return (replace(place, text="%" if each["specifier"] == "%" else HOLE),)
        if each["quoted"]:
            return (replace(place, text=each["quoted"].replace("$$", "$")) if "$$" in each["quoted"] else place,)
        if place.text == "$$":
            return (replace(place, text="\\$"),)
        return (replace(place, text='"', end=place.start), place, added(place, '"'))

    start = _PREFIX.match(value.text).end()  # type: ignore[union-attr]  # it matches anything
    return filled((value.cut(start, len(value.text)),), _FILLED_IN, fill)
