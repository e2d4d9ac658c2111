"""Visual Studio Code's launch.json and tasks.json: the programs and commands that the editor starts.

Facts: code.visualstudio.com/docs: debugtest/debugging-configuration, python/debugging, reference/tasks-appendix and
reference/variables-reference. A file is JSON with comments, which is read as the YAML that it is.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.held_texts import (
    dotenv_variables,
    entries,
    environment,
    items,
    joined,
    said,
    script_of,
    text_of,
)
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.script import Piece, Text, filled, located
from mfsdp_lint.readers.shell.state import Held, HeldCommand, Variable
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, ScalarNode, compose_documents

_COMMENT = lazy_pattern(r"\"(?:[^\"\\\n]|\\.)*\"|(?P<comment>//[^\n]*|/\*.*?\*/)", re.DOTALL)
_VARIABLE = lazy_pattern(r"\$\{(?P<name>[^}]*)\}")
_FOLDERS = ("workspaceFolder", "workspaceRoot")


def vscode_scripts(path: str, text: str, sources: Sources) -> Iterator[Held | HeldCommand]:
    """Yield what the configurations and the tasks of a file start. Raises Unreadable."""
    bare = _COMMENT.sub(lambda found: found[0] if found["comment"] is None else re.sub(r"[^\n]", " ", found[0]), text)
    document = YamlDocument(path, Lines(text))
    for root in compose_documents(path, bare.expandtabs(1), again=True):
        if isinstance(root, MappingNode):
            whole = entries(document, root)
            for each in items(document, whole.get("configurations")):
                yield from _configuration(document, entries(document, each), sources)
            for each in items(document, whole.get("tasks")):
                yield from _task(document, entries(document, each))


def _configuration(document: YamlDocument, own: dict[str, Node], sources: Sources) -> Iterator[HeldCommand]:
    """Yield the program of a configuration; one that is only attached to starts none."""
    started = own.get("program", own.get("module"))
    if started is None or said(document, own.get("request")) == "attach":
        return
    words = [_word(document, started), *(_word(document, each) for each in items(document, own.get("args")))]
    at = words[0][0] if words[0] else None
    if at is None or not all(words):
        return
    first = [replace(at, text="python", end=at.start), *([replace(at, text="-m", end=at.start)] * ("module" in own))]
    file = posixpath.normpath(located(_word(document, own.get("envFile"))) or ".")
    inside = sources.text_or_none(file) if file != "." and sources.exists(file) else None
    variables = {} if inside is None else dotenv_variables(file, inside)
    variables |= environment(document, own.get("env"))
    command = tuple((each,) for each in first) + tuple(words)
    yield HeldCommand(command, at.span, variables, _folder(document, own.get("cwd")))


def _task(document: YamlDocument, own: dict[str, Node]) -> Iterator[Held]:
    """Yield the command of a task: a line for a shell, with words that are quoted behind it."""
    options = entries(document, own.get("options"))
    words = [_word(document, each) for each in items(document, own.get("args"))]
    line = _word(document, own.get("command"))
    variables: dict[str, Variable] = environment(document, options.get("env"))
    if line and all(words):
        text = joined([line, script_of(words)], " ") if words else line
        yield Held(text, variables, _folder(document, options.get("cwd")))


def _folder(document: YamlDocument, node: Node | None) -> str | None:
    """Return the folder that something is started in: the workspace, if none is named."""
    return _workspace(document) if node is None else located(_word(document, node)) or _workspace(document)


def _workspace(document: YamlDocument) -> str:
    return posixpath.dirname(posixpath.dirname(document.path)) or "."


def _word(document: YamlDocument, node: Node | None) -> Text:
    """Return a text with the editor's variables: the workspace is known, others are not."""
    if not isinstance(node, ScalarNode):
        return ()

    def fill(variable: re.Match[str], piece: Piece) -> Text:
        stands = _workspace(document) if variable["name"].partition(":")[0] in _FOLDERS else ""
        return (replace(piece.cut(*variable.span()), text=HOLE, stands=stands),)

    return filled(text_of(document, node), _VARIABLE, fill)
