"""Units of systemd: the command of a service as a script, with its environment and its drop-ins.

Facts: systemd.service(5), systemd.exec(5) and systemd.unit(5) of systemd 255. A file of variables is named by its place
on the machine; in the tree it is the one that has the same name, in a folder above the unit or right below such a one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.held_texts import added, dotenv_variables, variable
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.patterns_of_files import matching
from mfsdp_lint.readers.shell.script import Piece, Text, filled, plain, standing_at
from mfsdp_lint.readers.shell.state import LOST, Held, Variable

_ENTRY = lazy_pattern(
    r"^[ \t]*(?P<name>\w+)[ \t]*=[ \t]*(?P<value>(?:[^\n\\]|\\\n(?:[ \t]*[#;][^\n]*\n)*|\\.)*)", re.MULTILINE
)
_WORD = lazy_pattern(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?:\\.|[^\s\"'\\])+")
_FILLED_IN = lazy_pattern(
    r"(?P<comment>(?<=\n)[ \t]*[#;][^\n]*\n)|(?P<quoted>'[^']*'|\"[^\"]*\")|\$\{\w+\}|(?P<specifier>%[A-Za-z%])|\$\$"
)
_SPECIFIER = lazy_pattern(r"%[A-Za-z%]")
_NAMES = lazy_pattern(r"\$\{?(\w+)")
_PREFIX = lazy_pattern(r"[-@:+!]*")


def unit_scripts(path: str, text: str, sources: Sources) -> Iterator[Held]:
    """Yield the commands that a service starts, as its drop-ins change it; those of a template, for each instance that
    the tree has a file of variables for.
    """
    entries: list[tuple[str, Piece]] = []
    for unit in (path, *_drop_ins(path)):
        said = text if unit == path else sources.text_or_none(unit) or ""
        lines = Lines(said)
        for entry in _ENTRY.finditer(said):
            own, start = entry["value"].rstrip(), entry.start("value")
            entries.append((entry["name"], Piece(own, unit, lines, start, start + len(own))))
    instance = posixpath.basename(path).partition("@")[2].removesuffix(".service")
    for each in [instance] if instance else _instances(entries, path, sources) or [""]:
        yield from _commands(entries, each, path, sources)


def _commands(entries: Iterable[tuple[str, Piece]], instance: str, path: str, sources: Sources) -> Iterator[Held]:
    commands: list[Text] = []
    given: dict[str, Variable] = {}
    files: list[dict[str, Variable] | None] = []
    unset: set[str] = set()
    for name, value in entries:
        if name in ("ExecStart", "ExecStartPre"):
            commands = [*commands, _script(value, instance)] if value.text else []
        elif name == "Environment":
            given = given | dict(_assigned(value, instance)) if value.text else {}
        elif name == "EnvironmentFile":
            named = plain(_specified((value,), instance))
            files = [*files, next(_files(named, path, sources), (named, None))[1]] if value.text else []
        elif name == "UnsetEnvironment":
            unset |= set(value.text.split())
    # Files stand above what the unit sets, whatever their order; one that is not at hand may set anything.
    for each in files:
        given |= dict.fromkeys(_NAMES.findall("".join(map(plain, commands))), LOST) if each is None else each
    for name in unset:
        given[name] = Variable(None, exported=True, unset=True)
    for command in commands:
        yield Held(command, given)


def _instances(entries: Sequence[tuple[str, Piece]], path: str, sources: Sources) -> list[str]:
    """Return the instances of a template by their files of variables: those that set one which its commands use, and
    that the unit does not name otherwise.
    """
    named = [posixpath.basename(value.text) for name, value in entries if name == "EnvironmentFile"]
    used = {each for name, value in entries if name == "ExecStart" for each in _NAMES.findall(value.text)}
    found: set[str] = set()
    for pattern in named:
        head, by_instance, tail = pattern.removeprefix("-").partition("%i")
        for file, variables in _files(f"{head}*{tail}", path, sources) if by_instance else ():
            if file not in named and not used.isdisjoint(variables):
                found.add(file.removeprefix(head).removesuffix(tail))
    return sorted(found)


def _drop_ins(path: str) -> Iterator[str]:
    """Yield the drop-ins of a unit in their order."""
    folder = f"{path}.d"
    yield from (posixpath.join(folder, each) for each in disk.Listing(folder).matching("*.conf"))


def _files(named: str, path: str, sources: Sources) -> Iterator[tuple[str, dict[str, Variable]]]:
    """Yield the files of a name, or of a pattern of names (with `-` in front they may be missing), each with its
    variables, from the first folder that has one.
    """
    pattern = posixpath.basename(named.removeprefix("-"))
    places = (
        posixpath.join(folder, each) for folder in above(path) for each in ("", *disk.Listing(folder).matching("*"))
    )
    for place in places:
        files = [(each, posixpath.normpath(posixpath.join(place, each))) for each in matching(place, pattern)]
        texts = [(each, file, sources.text_or_none(file)) for each, file in files if sources.exists(file)]
        found = [(each, dotenv_variables(file, text)) for each, file, text in texts if text is not None]
        yield from found
        if found:
            return


def _assigned(value: Piece, instance: str) -> Iterator[tuple[str, Variable]]:
    """Yield the variables of `Environment=A=b "C=d e"`."""
    for word in _WORD.finditer(value.text):
        said = word[0].strip("\"'") if word[0][0] in "\"'" else word[0]
        name, equals, own = said.partition("=")
        start = word.start() + word[0].index(said) + len(name) + 1
        if equals and name.isidentifier():
            yield name, variable(_specified((value.cut(start, start + len(own)),), instance))


def _specified(text: Text, instance: str) -> Text:
    """Return a text with its specifiers: the name of the unit's instance; others are not known."""
    said = {"%%": "%", "%i": instance or HOLE}
    return filled(
        text, _SPECIFIER, lambda each, piece: (standing_at(said.get(each[0], HOLE), piece.cut(*each.span())),)
    )


def _script(value: Piece, instance: str) -> Text:
    """Return a command as a shell reads it: `${NAME}` is one word, `$$` stands for `$`."""

    def fill(each: re.Match[str], piece: Piece) -> Text:
        place = piece.cut(*each.span())
        if each["comment"]:
            return ()
        if each["specifier"]:
            return _specified((place,), instance)
        if each["quoted"]:
            said = each["quoted"].replace("$$", "$")
            return _specified((replace(place, text=said) if said != each["quoted"] else place,), instance)
        if place.text == "$$":
            return (replace(place, text="\\$"),)
        return (replace(place, text='"', end=place.start), place, added(place, '"'))

    start = _PREFIX.match(value.text).end()  # type: ignore[union-attr]  # it matches anything
    return filled((value.cut(start, len(value.text)),), _FILLED_IN, fill)
