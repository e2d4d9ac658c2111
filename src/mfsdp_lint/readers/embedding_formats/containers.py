"""Containers: the command that a Dockerfile's image runs, and the services of Docker Compose with their environment.

`.env` files hold variables, a line each. Nothing in one is a launch: they are read for whoever names them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.parts import (
    Variables,
    command,
    entries,
    environment,
    held,
    items,
    said,
    script_of,
    text_of,
    variable,
)
from mfsdp_lint.readers.paths import beside
from mfsdp_lint.readers.shell.pieces import Piece, Text, plain
from mfsdp_lint.readers.shell.state import Held, Variable
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, SequenceNode

_LINE = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*
    (?:"(?P<double>[^"\n]*)"|'(?P<single>[^'\n]*)'|(?P<bare>[^\n\#"']*?))
    [ \t]*(?:\#[^\n]*)?\r?$""",
    re.MULTILINE | re.VERBOSE,
)


def dotenv_variables(path: str, text: str) -> dict[str, Variable]:
    """Return the variables that a file sets. A line that is not understood sets no known variable."""
    lines = Lines(text)
    found: dict[str, Variable] = {}
    for each in _LINE.finditer(text):
        kind = next(name for name in ("double", "single", "bare") if each[name] is not None)
        found[each["name"]] = variable((Piece(each[kind], path, lines, each.start(kind), each.end(kind)),))
    return found


def is_compose(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has services."""
    services = entries(document, entries(document, root).get("services"))
    return any({"image", "build", "command"} & entries(document, each).keys() for each in services.values())


def compose_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the scripts of the services: the entry point with the command behind it.

    Files of variables are beside the file.
    """
    for service in entries(document, entries(document, root).get("services")).values():
        own = entries(document, service)
        variables = {
            **_of_files(document, own.get("env_file"), sources),
            **environment(document, own.get("environment")),
        }
        entrypoint, given = own.get("entrypoint"), own.get("command")
        if entrypoint is None:
            yield from held(_command(document, given), variables)
        elif _is_list(document, entrypoint) and (given is None or _is_list(document, given)):
            yield from held(_dollars(command(document, entrypoint, given)), variables)


def _of_files(document: YamlDocument, node: Node | None, sources: Sources) -> Variables:
    """Read the variables of `env_file: name`, or of several files; an item may be a mapping with a `path`."""
    found: dict[str, Variable] = {}
    for item in items(document, node):
        name = said(document, entries(document, item).get("path", item))
        path = beside(document.path, name) if name else ""
        text = sources.text_or_none(path) if path and sources.exists(path) else None
        found |= dotenv_variables(path, text) if text is not None else {}
    return found


def _command(document: YamlDocument, node: Node | None) -> Text:
    return _dollars(command(document, node) if _is_list(document, node) else text_of(document, node))


def _is_list(document: YamlDocument, node: Node | None) -> bool:
    return node is not None and isinstance(document.follow(node), SequenceNode)


def _dollars(text: Text) -> Text:
    """Replace `$$`, which is how the file writes `$`."""
    return tuple(
        replace(piece, text=piece.text.replace("$$", "$")) if "$$" in plain((piece,)) else piece for piece in text
    )


_INSTRUCTION = re.compile(
    r"""^[ \t]*(?P<name>[A-Za-z]+)[ \t]+
    (?P<said>(?:[^\n\\]
               |\\[ \t]*\r?\n(?:[ \t]*(?:\#[^\n]*)?\r?\n)*  # goes on, behind comments and empty lines
               |\\.)*)""",
    re.MULTILINE | re.VERBOSE,
)
_PAIR = re.compile(
    r"""(?P<name>[A-Za-z_]\w*)=(?P<quote>["']?)
    (?P<value>(?<=")(?:[^"\\]|\\.)*|(?<=')[^']*|[^\s"'\\]*)""",
    re.VERBOSE,
)
_OLD = re.compile(r"(?P<name>[A-Za-z_]\w*)[ \t]+(?P<value>[^\n]*\S)")


def dockerfile_scripts(path: str, text: str) -> Iterator[Held]:
    """Yield the script of the last stage: the entry point with the command behind it."""
    lines = Lines(text)
    variables: dict[str, Variable] = {}
    last: dict[str, Text] = {}
    for found in _INSTRUCTION.finditer(text):
        name = found["name"].upper()
        piece = Piece(found["said"], path, lines, found.start("said"), found.end("said"))
        if name == "FROM":
            variables, last = {}, {}
        elif name == "ENV":
            variables |= _environment(piece)
        elif name in ("CMD", "ENTRYPOINT"):
            last[name] = (piece,)
    yield from held(_run(last.get("ENTRYPOINT"), last.get("CMD")), variables)


def _run(entry: Text | None, command: Text | None) -> Text:
    """Return the script: words of both, or a shell's text. A shell does not see a command behind its entry point."""
    if entry is None or command is None:
        only = entry or command or ()
        return script_of(_words(only)) if _is_json_list(only) else only
    if _is_json_list(entry):
        return script_of(_words(entry) + _words(command)) if _is_json_list(command) else ()
    return entry


def _is_json_list(text: Text) -> bool:
    return plain(text).lstrip().startswith("[")


def _environment(piece: Piece) -> Iterator[tuple[str, Variable]]:
    pairs = list(_PAIR.finditer(piece.text))
    old = None if pairs else _OLD.match(piece.text)
    for found in pairs or filter(None, (old,)):
        value = piece.cut(found.start("value"), found.end("value"))
        yield found["name"], variable((value,))


def _words(text: Text) -> list[Text]:
    """Return the words of a list in JSON, each with its place."""
    (piece,) = text
    try:
        words = json.loads(plain(text).replace("\\\n", "\n"))
    except ValueError:
        return []
    found: list[Text] = []
    at = 0
    for word in words if isinstance(words, list) else ():
        if not isinstance(word, str):
            return []
        here = piece.text.find(word, at)
        if here < 0:
            found.append((Piece(word, piece.path, piece.lines, piece.start, piece.end),))
            continue
        found.append((piece.cut(here, here + len(word)),))
        at = here + len(word)
    return found
