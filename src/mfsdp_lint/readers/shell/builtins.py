"""Assignments, the commands of the shell itself, a few programs whose output is known (`dirname`), and redirections.

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
from mfsdp_lint.readers.shell.script import (
    Piece,
    Script,
    Text,
    behind,
    between,
    known,
    left_out_lines,
    lines_without,
    located,
    plain,
)
from mfsdp_lint.readers.shell.state import LOST, Ended, State, Variable

if TYPE_CHECKING:
    from mfsdp_lint.readers.shell.run import Runner


_ASSIGNED = re.compile(
    r"(?<![\w$])([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=|\b(?:read|mapfile|readarray|unset|export)\s+([\w \t-]+)"
)


def names_assigned(script: Script, node: Node) -> list[str]:
    """Find the variables that a piece of a script may write, and more names whose text looks like an assignment."""
    found = _ASSIGNED.findall(script.source(node))
    return list(
        dict.fromkeys(name for one, several in found for name in (one, *several.split()) if name.isidentifier())
    )


def assign(expander: Expander, node: Node, *, exported: bool = False, local: bool = False) -> None:
    """Follow one assignment."""
    script, state = expander.script, expander.state
    target = node.children[0]
    if target.type == "subscript":
        _assign_element(expander, node)
        return
    name = script.source(target)
    old = None if local else state.variables.get(name)
    value = node.child_by_field_name("value")
    adds = any(child.type == "+=" for child in node.children)
    export = True if exported or state.exports_all else old is not None and state.exports(name)
    if value is not None and value.type == "array":
        elements = expander.words([child for child in value.named_children if child.type != "comment"])
        if old is not None and old.keys is not None:
            state.set(name, _with_entries(old if adds else replace(old, words=(), keys=()), elements))
            return
        so_far = (old or LOST).elements if adds else ()
        words = None if so_far is None else (*so_far, *elements)
        state.set(name, Variable(words, array=True, exported=export))
        return
    text = (expander.text(value) if value is not None else ()) or (script.made(node, ""),)
    written = script.made(node, "")
    if adds and (old is None or old.words is None):
        if old is not None or state.lost:
            state.set(name, LOST)
            return
        # A variable that nobody sets is empty, as far as anybody knows.
        text = (replace(script.made(node, HOLE), option=f"${name}"), *text)
    elif adds and old is not None:
        text = (*(old.text or ()), *text)
    # A write to an array by its name alone sets its first element.
    rest = () if old is None or not old.array or old.words is None else old.words[1:]
    is_array = old is not None and old.array and old.words is not None
    state.set(name, Variable((text, *rest), array=is_array, exported=export, written=written))


_ENTRY = re.compile(r"\[([^\]]*)\]=")


def _with_entries(variable: Variable, elements: Sequence[Text]) -> Variable:
    """Return an associative array with the entries of `([a]=b [c]=d)`."""
    found = dict(zip(variable.keys or (), variable.words or (), strict=True))
    for element in elements:
        entry = _ENTRY.match(plain(element))
        if entry is None or HOLE in entry[1]:
            return LOST
        found[entry[1]] = behind(element, entry.end())
    return replace(variable, words=tuple(found.values()), keys=tuple(found))


def _assign_element(expander: Expander, node: Node) -> None:
    """Follow `NAME[2]=…`: the result is known where the index is a number and no element before it is missing."""
    script, state = expander.script, expander.state
    name, index = (script.source(child) for child in node.children[0].named_children[:2])
    old = state.variables.get(name)
    if old is not None and old.keys is not None:
        key, given = expander.text(node.children[0].named_children[1]), node.child_by_field_name("value")
        entry = expander.text(given) if given is not None else ()
        before = dict(zip(old.keys, old.words or (), strict=True)).get(plain(key), ())
        whole = (*before, *entry) if any(child.type == "+=" for child in node.children) else entry
        known_key = bool(key) and HOLE not in plain(key)
        bracketed = (script.made(node, f"[{plain(key)}]="), *(whole or (script.made(node, ""),)))
        state.set(name, _with_entries(old, [bracketed]) if known_key else LOST)
        return
    words = state.elements(name)
    value = node.child_by_field_name("value")
    text = (expander.text(value) if value is not None else ()) or (script.made(node, ""),)
    adds = any(child.type == "+=" for child in node.children)
    if words is None or not index.isdigit() or int(index) > len(words) or (value is not None and value.type == "array"):
        state.lose([name])
        return
    place = int(index)
    if adds and place < len(words):
        text = (*words[place], *text)
    changed = (*words[:place], text, *words[place + 1 :])
    state.set(name, Variable(changed, array=True, exported=state.exports(name)))


def declare(expander: Expander, node: Node) -> None:
    """Follow `export`, `declare`, `local`, `typeset`, `readonly`."""
    script, state = expander.script, expander.state
    word = script.source(node.children[0])
    flags = "".join(script.source(child)[1:] for child in node.named_children if script.source(child).startswith("-"))
    exports = word == "export" or "x" in flags
    taken_back = word == "export" and "n" in flags
    is_local = word in ("local", "declare", "typeset") and "g" not in flags
    for child in node.named_children:
        target = child.children[0] if child.type == "variable_assignment" else child
        name = script.source(target)
        named = child.type in ("variable_assignment", "variable_name") and name.isidentifier()
        if is_local and named and state.hidden is not None:
            # A variable that is local to a function begins without a value.
            state.hidden.setdefault(name, state.variables.get(name))
        if "n" in flags and word != "export" and child.type == "variable_assignment" and named:
            _alias(expander, name, child)
        elif child.type == "variable_assignment":
            local = is_local and state.hidden is not None
            if "A" in flags:
                state.set(name, Variable((), array=True, exported=exports, keys=()))
            assign(expander, child, exported=exports and not taken_back, local=local and "A" not in flags)
        elif child.type == "variable_name":
            if (old := state.variables.get(name)) is not None and (exports or taken_back):
                state.variables[name] = replace(old, exported=exports and not taken_back)
            elif "A" in flags:
                state.set(name, Variable((), array=True, keys=()))
            elif word in ("local", "declare") and not exports:
                state.set(name, Variable(((script.made(child, ""),),)))
        elif child.type in ("expansion", "simple_expansion", "concatenation", "string", "command_substitution"):
            _declare_words(expander, child, exports=exports)


def _alias(expander: Expander, name: str, node: Node) -> None:
    """Follow `local -n NAME=OTHER`: what is written to the one is written to the other."""
    state, value = expander.state, node.child_by_field_name("value")
    other = plain(expander.text(value)) if value is not None else ""
    if not other.isidentifier() or other == name:
        state.lose([name])
        return
    old = state.variables.get(other)
    state.variables.pop(name, None)
    if old is not None:
        state.variables[name] = old
    state.aliases = {**state.aliases, name: other}


def _declare_words(expander: Expander, node: Node, *, exports: bool) -> None:
    """Follow `export "$NAME=$VALUE"`."""
    script, state = expander.script, expander.state
    for text in expander.words([node]):
        found = re.match(r"([A-Za-z_]\w*)=", plain(text))
        if found is None:
            if HOLE in plain(text).partition("=")[0] and not all(piece.option for piece in text if HOLE in piece.text):
                state.lose_all()
            continue
        name = found[1]
        skip = found.end()
        value = []
        for piece in text:
            value += [piece.cut(skip, len(piece.text))] if len(piece.text) > skip else []
            skip = max(0, skip - len(piece.text))
        state.set(
            name, Variable((tuple(value) or (script.made(node, ""),),), exported=exports, written=script.made(node, ""))
        )


def unset(script: Script, node: Node, state: State) -> None:
    """Follow `unset NAME …`."""
    for child in node.named_children:
        name = script.source(child)
        if name.isidentifier() and child.type in ("variable_name", "word"):
            state.set(name, Variable(None, unset=True, written=script.made(node, "")))
            state.functions.pop(name, None)
        elif child.type not in ("word",):
            state.lose([name.partition("[")[0]] if "[" in name else list(state.variables))


_BLANKS = " \t\n"


def read_words(expander: Expander, node: Node, words: Sequence[Text]) -> bool:
    """Follow `read`; return True where its words are known and the variables are set."""
    script, state = expander.script, expander.state
    given = next((child for child in node.children if child.type == "herestring_redirect"), None)
    line = None if given is None else known(expander.text(given.named_children[-1]))
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
        value = tuple(made) if into_array else (made[number] if number < len(made) else (script.made(node, ""),),)
        state.set(name, Variable(value, array=into_array, exported=state.exports(name)))
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


def _echo(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    if state.output is not None:
        said = words[1:]
        while said and known(said[0]) in ("-n", "-e", "-ne", "-en"):
            said = said[1:]
        state.output.append(_with_blanks(script, node, said))
    return _ended(state)


def _read(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    if known(words[0]) == "read" and read_words(runner.expander(script, state), node, words):
        return _ended(state)
    state.lose(name for word in words[1:] if (name := known(word)) and name.isidentifier())
    return _ended(state, None)


def _printf(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    if len(words) > 2 and known(words[1]) == "-v":
        state.lose([known(words[2]) or ""])
    elif state.output is not None:
        state.output.append(_formatted(script, node, words[1:]))
    return _ended(state)


_PRINTED = re.compile(r"((?:[^%\\]|\\n)*)%s((?:[^%\\]|\\n)*)")


def _formatted(script: Script, node: Node, words: Sequence[Text]) -> Text | None:
    """Return what `printf '%s ' A B` prints: its format once for each word. Other formats are not followed."""
    found = _PRINTED.fullmatch(known(words[0]) or "") if words and len(words) > 1 else None
    if found is None:
        return None
    front, back = (script.made(node, part.replace("\\n", "\n")) for part in found.groups())
    # The last newline is the one that the outputs of several commands are joined with.
    parts = [(front, *word, back) for word in words[1:-1]]
    last = back.cut(0, len(back.text) - 1) if back.text.endswith("\n") else back
    return tuple(piece for part in (*parts, (front, *words[-1], last)) for piece in part if piece.text)


def _cat(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow `cat FILE …`: the output is that of the files, if all of them are known."""
    if state.output is not None:
        texts = [runner.file(word, state) for word in words[1:]]
        whole = tuple(piece for text in texts if text is not None for piece in text)
        state.output.append(whole if texts and None not in texts else None)
    return _ended(state)


def _grep(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow `grep -v PATTERN FILE`: the output is that of the file without these lines."""
    if state.output is not None:
        lines = left_out_lines(script.source(node))
        text = runner.file(words[-1], state) if lines is not None and lines[1] else None
        state.output.append(None if text is None or lines is None else lines_without(lines[0], text))
    return _ended(state)


def read_lines(words: Sequence[Text], text: Text, state: State) -> None:
    """Follow `mapfile -t NAME` with a text to read: the array has its lines."""
    options = [known(word) or "" for word in words[1:-1]]
    name = known(words[-1]) or ""
    if not name.isidentifier() or options != ["-t"] or HOLE in plain(text):
        state.lose([name] if name.isidentifier() else [])
        return
    lines: list[Text] = []
    at = 0
    for line in plain(text).split("\n")[: -1 if plain(text).endswith("\n") else None]:
        lines.append(between(text, at, at + len(line)) if line else (replace(text[0], text="", end=text[0].start),))
        at += len(line) + 1
    state.set(name, Variable(tuple(lines), array=True))


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
    "dirname": _prints_path(lambda words, state: (path := located(words[-1])) and (posixpath.dirname(path) or ".")),
    "realpath": _prints_path(lambda words, state: located(words[-1])),
    "readlink": _prints_path(lambda words, state: located(words[-1])),
    "echo": _echo,
    "cat": _cat,
    "grep": _grep,
    "egrep": _grep,
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


def heredoc(expander: Expander, node: Node) -> Text | None:
    """Return the text that a redirected command reads from the script; None where it reads none."""
    for child in node.named_children:
        if child.type == "heredoc_redirect":
            return _body(expander, child)
    return None


def _body(expander: Expander, node: Node) -> Text:
    body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
    start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
    if body is None or start is None:
        return ()
    script = expander.script
    is_quoted = any(mark in script.source(start) for mark in "'\"\\")
    inner = [] if is_quoted else [child for child in body.named_children if child.type != "heredoc_content"]
    escape = _NOTHING if is_quoted else _ESCAPED_IN_QUOTES
    found = expander.mixed(*script.bounds(body), inner, escape)
    return tuple(piece for piece in found if piece is not None)


_REFERENCE = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<bare>[A-Za-z_]\w*))")


def filled_in(text: Text, state: State, names: Sequence[str] = ()) -> Text:
    """Return a text with the exported variables in it filled in, or those with these names, as `envsubst` does.

    One that nobody sets is a HOLE.
    """
    found: list[Piece] = []
    for piece in text:
        start = 0
        for each in _REFERENCE.finditer(piece.text):
            name = each["braced"] or each["bare"]
            if names and name not in names:
                continue
            variable = state.variables.get(name)
            place = piece.cut(*each.span())
            found.append(piece.cut(start, each.start()))
            start = each.end()
            if variable is not None and variable.exported and variable.text is not None:
                found += [replace(part, splits=False) for part in variable.text]
            else:
                found.append(replace(place, text=HOLE, option="" if variable is not None else f"${name}"))
        found.append(piece.cut(start, len(piece.text)))
    return tuple(piece for piece in found if piece.text)


def written_to(expander: Expander, node: Node) -> str | None:
    """Return the file that the output of a redirected command replaces; None where there is none, or its name is not
    known.

    A name with holes is a name all the same: the same holes are the same file.
    """
    for child in node.named_children:
        redirects = (child, *child.named_children) if child.type == "heredoc_redirect" else (child,)
        for each in redirects:
            if each.type == "file_redirect" and any(mark.type in (">", ">|") for mark in each.children):
                text = expander.text(each.named_children[-1])
                if known(text) != "/dev/null":
                    return plain(text)
    return None
