"""The commands of the shell itself, those few programs whose output is known (`dirname`, `echo`), and redirections.

`read NAME … <<< TEXT`: the words of a text that is known become variables. `<<EOF`, `> FILE`: the text that a command
reads, and where its output goes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.expand import _ESCAPED_IN_QUOTES, Expander
from mfsdp_lint.readers.shell.pieces import Text, known, located, plain
from mfsdp_lint.readers.shell.script import Script
from mfsdp_lint.readers.shell.state import Ended, State, Variable

if TYPE_CHECKING:
    from mfsdp_lint.readers.shell.run import Runner


_BLANKS = " \t\n"


def read_words(expander: Expander, script: Script, node: Node, words: Sequence[Text], state: State) -> bool:
    """Follow `read`; return True where its words are known and the variables are set."""
    given = next((child for child in node.children if child.type == "herestring_redirect"), None)
    line = None if given is None else known(expander.text(script, given.named_children[-1], state))
    separators = state.variables.get("IFS")
    parts_at = _BLANKS if separators is None else known(separators.text or ()) if separators.text else None
    options = [known(word) or "?" for word in words[1:] if (known(word) or "?").startswith(("-", "?"))]
    names = [known(word) or "" for word in words[1:] if not (known(word) or "-").startswith("-")]
    into_array = any("a" in each for each in options)
    if line is None or parts_at is None or "\\" in line or not set("".join(options)) <= set("-ra"):
        return False
    if not names or not all(name.isidentifier() for name in names) or (into_array and len(names) > 1):
        return False
    texts = list(_split(line.partition("\n")[0], parts_at, 0 if into_array else len(names)))
    made: list[Text] = [(script.made(node, text),) for text in texts]
    for number, name in enumerate(names):
        old = state.variables.get(name)
        exported = False if old is None or old.unset else old.exported
        value = tuple(made) if into_array else (made[number] if number < len(made) else (script.made(node, ""),),)
        state.set(name, Variable(value, array=into_array, exported=exported))
    return True


def _split(line: str, separators: str, most: int) -> Iterator[str]:
    """Split a line into at most `most` words (0: any number), of which the last has the rest."""
    if not separators.strip(_BLANKS):
        yield from line.split(None, most - 1 if most else -1)
        return
    mark = separators.strip(_BLANKS)
    if len(mark) > 1:
        line = "".join(mark[0] if each in mark else each for each in line)
    parts = line.split(mark[0], most - 1 if most else -1)
    yield from parts[:-1] if not most and parts and not parts[-1] else parts


Builtin = Callable[["Runner", Script, Node, list[Text], State], Iterable[Ended]]

_HARMLESS = re.compile(r"(?:^|/)(?:bin/activate|conda\.sh|\.?bash(?:rc|_profile)|modules?\.sh|init/bash)$")
"""Files that set up a shell: search paths and prompts, and nothing that a training run looks at."""


def _ended(state: State, status: bool | None = True) -> list[Ended]:
    return [Ended(state, status)]


def _source(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    if len(words) < 2:
        return _ended(state)
    text = runner.file(words[1], state)
    if text is None:
        if not _HARMLESS.search(plain(words[1])):
            state.lose_all()
        return _ended(state)
    above = state.arguments
    if len(words) > 2:
        state.arguments = words[2:]
    ended = runner.text(text, state)
    for each in ended:
        each.state.arguments = above
        each.state.arrive("return")
    return ended


def _with_blanks(script: Script, node: Node, words: Sequence[Text]) -> Text:
    """Join words with blanks between them."""
    return tuple(
        piece for number, word in enumerate(words) for piece in (*([script.made(node, " ")] if number else []), *word)
    )


def _eval(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    pieces = _with_blanks(script, node, words[1:])
    if not any(piece.text.strip(HOLE) for piece in pieces):
        if not all(piece.option for piece in pieces):
            state.lose_all()
        return _ended(state)
    return runner.text(pieces, state)


def _leave(kind: str) -> Builtin:
    def leave(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
        status = {"0": True, "1": False}.get(known(words[1]) or "") if len(words) > 1 else None
        state.leaving = kind  # type: ignore[assignment]
        return _ended(state, status)

    return leave


def _status(status: bool) -> Builtin:
    return lambda runner, script, node, words, state: _ended(state, status)


def _cd(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    path = located(words[-1]) if len(words) > 1 else None
    state.folder = posixpath.normpath(posixpath.join(state.folder or "", path)) if path else None
    return _ended(state)


def _prints_path(path_of: Callable[[list[Text], State], str | None]) -> Builtin:
    """Make a command that prints a path: as a text it differs where the script runs."""

    def prints(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
        path = path_of(words, state)
        if state.output is not None:
            state.output.append(None if path is None else (replace(script.made(node, HOLE), stands=path),))
        return _ended(state)

    return prints


def _folder_of(words: list[Text], state: State) -> str | None:
    path = located(words[-1])
    return None if path is None else posixpath.dirname(path) or "."


def _echo(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    if state.output is not None:
        said = words[1:]
        while said and known(said[0]) in ("-n", "-e", "-ne", "-en"):
            said = said[1:]
        state.output.append(_with_blanks(script, node, said))
    return _ended(state)


def _read(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    if known(words[0]) == "read" and read_words(runner.expander, script, node, words, state):
        return _ended(state)
    state.lose(name for word in words[1:] if (name := known(word)) and name.isidentifier())
    return _ended(state, None)


def _printf(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    if len(words) > 2 and known(words[1]) == "-v":
        state.lose([known(words[2]) or ""])
    elif state.output is not None:
        state.output.append(None)
    return _ended(state)


def _shift(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    count = known(words[1]) if len(words) > 1 else "1"
    if state.arguments is not None:
        state.arguments = state.arguments[int(count) :] if count and count.isdigit() else []
    return _ended(state)


def _set(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    for number, word in enumerate(words[1:], 2):
        text = known(word)
        if text == "--":
            state.arguments = words[number:]
            break
        if text in ("-a", "+a"):
            state.exports_all = text == "-a"
    return _ended(state)


def _through(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow `command NAME …` and `builtin NAME …`."""
    rest = words[1:]
    if not rest or (known(rest[0]) or "").startswith("-"):
        return _ended(state, None)
    return runner.invoke(script, node, rest, state)


def _exec(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    if len(words) < 2:
        return _ended(state)
    ended = list(runner.invoke(script, node, words[1:], state))
    for each in ended:
        each.state.leaving = "exit"
    return ended


def _unset(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    for word in words[1:]:
        name = known(word)
        if name and name.isidentifier():
            state.set(name, Variable(None, unset=True, written=script.made(node, "")))
    return _ended(state)


BUILTINS: dict[str, Builtin] = {
    ".": _source,
    "source": _source,
    "eval": _eval,
    "exit": _leave("exit"),
    "return": _leave("return"),
    "break": _leave("break"),
    "continue": _leave("continue"),
    "true": _status(True),
    ":": _status(True),
    "false": _status(False),
    "cd": _cd,
    "pushd": _cd,
    "pwd": _prints_path(lambda words, state: state.folder),
    "dirname": _prints_path(_folder_of),
    "realpath": _prints_path(lambda words, state: located(words[-1])),
    "readlink": _prints_path(lambda words, state: located(words[-1])),
    "echo": _echo,
    "read": _read,
    "mapfile": _read,
    "readarray": _read,
    "printf": _printf,
    "shift": _shift,
    "set": _set,
    "command": _through,
    "builtin": _through,
    "exec": _exec,
    "unset": _unset,
}


_NOTHING = re.compile(r"(?!)()")


def heredoc(expander: Expander, script: Script, node: Node, state: State) -> Text | None:
    """Return the text that a redirected command reads from the script; None where it reads none."""
    for child in node.named_children:
        if child.type == "heredoc_redirect":
            return _body(expander, script, child, state)
    return None


def _body(expander: Expander, script: Script, node: Node, state: State) -> Text:
    body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
    start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
    if body is None or start is None:
        return ()
    is_quoted = any(mark in script.source(start) for mark in "'\"\\")
    inner = [] if is_quoted else [child for child in body.named_children if child.type != "heredoc_content"]
    escape = _NOTHING if is_quoted else _ESCAPED_IN_QUOTES
    found = expander.mixed(script, *script.bounds(body), inner, state, escape)
    return tuple(piece for piece in found if piece is not None)


def written_to(expander: Expander, script: Script, node: Node, state: State) -> str | None:
    """Return the file that the output of a redirected command replaces; None where there is none, or its name is not
    known.

    A name with holes is a name all the same: the same holes are the same file.
    """
    for child in node.named_children:
        redirects = (child, *child.named_children) if child.type == "heredoc_redirect" else (child,)
        for each in redirects:
            if each.type == "file_redirect" and any(mark.type in (">", ">|") for mark in each.children):
                text = expander.text(script, each.named_children[-1], state)
                if known(text) != "/dev/null":
                    return plain(text)
    return None
