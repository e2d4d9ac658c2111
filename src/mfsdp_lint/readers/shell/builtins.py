"""The commands of the shell itself, a few programs whose output is known (`dirname`), and redirections.

`read NAME … <<< TEXT`: the words of a text that is known become variables. `<<EOF`, `> FILE`: the text that a command
reads, and where its output goes.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from tree_sitter import Node

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.assignments import calculate
from mfsdp_lint.readers.shell.expand import Expander
from mfsdp_lint.readers.shell.script import (
    Piece,
    Script,
    Text,
    behind,
    between,
    filled,
    is_argument,
    known,
    located,
    name_of_file,
    option,
    output_of,
    placed,
    plain,
)
from mfsdp_lint.readers.shell.script import words as words_of
from mfsdp_lint.readers.shell.state import (
    FEW_WAYS,
    LOST,
    UNKNOWN_DESCRIPTOR,
    ZSH,
    ZSH_WITH_OPTIONS,
    Ended,
    Leaving,
    Runner,
    State,
    Variable,
    fewer_ways,
)
from mfsdp_lint.readers.shell.text_programs import TEXT_PROGRAMS, OutputUnknown, printed_by, split_options

Builtin = Callable[[Runner, Script, Node, list[Text], State], Iterable[Ended]]

_HARMLESS = lazy_pattern(r"(?:^|/)(?:bin/activate|conda\.sh|\.?bash(?:rc|_profile)|modules?\.sh|init/bash)$")
"""Files that set up a shell: search paths and prompts, and nothing that a training run looks at."""


def _ended(state: State, status: bool | None = True) -> list[Ended]:
    return [Ended(state, status)]


def _source(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    if len(words) < 2:
        return _ended(state)
    text = runner.file(words[1], state)
    if text is not None:
        return _source_text(runner, script, node, words[2:], text, state)
    if files := runner.files(words[1], state):
        ways = [(each, state.fork()) for each in files]
        for each, way in ways:
            way.when = (*way.when, f"source {each[0].path}")
        ended = [end for each, way in ways for end in _source_text(runner, script, node, words[2:], each, way)]
        return fewer_ways(ended, FEW_WAYS)
    if not _HARMLESS.search(plain(words[1])):
        state.lose_all()
        # Where the script asks whether a person gives the file, this is the way of one who does.
        if (said := option(words[1][:1])) and any(said[1:] in condition for condition in state.decided):
            state.given = state.given or (said,)
    return _ended(state)


def _source_text(
    runner: Runner, script: Script, node: Node, arguments: Sequence[Text], text: Text, state: State
) -> list[Ended]:
    above = state.arguments
    if arguments:
        state.arguments = tuple(arguments)
    place = script.made(node, "")
    ended = runner.within(replace(place, path=text[0].path) if text else place, state, partial(runner.text, text))
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


def _leave(kind: Leaving) -> Builtin:
    def leave(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
        status = {"0": True, "1": False}.get(known(words[1]) or "") if len(words) > 1 else None
        state.leaving = (kind,)
        return _ended(state, status)

    return leave


def _leave_loops(kind: Leaving) -> Builtin:
    """Return `break` or `continue`, which may be given a number of loops to leave."""

    def leave(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
        said = known(words[1]) or "" if len(words) > 1 else ""
        outer: list[Leaving] = ["break"] * (min(int(said), _MOST_LOOPS) - 1 if said.isdecimal() else 0)
        state.leaving = (*outer, kind)
        return _ended(state, True)

    return leave


_MOST_LOOPS = 16


def _status(status: bool) -> Builtin:
    return lambda runner, script, node, words, state: _ended(state, status)


def _cd(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    path = located(words[-1]) if len(words) > 1 else None
    if path != ".":
        state.folder = posixpath.normpath(posixpath.join(state.folder or "", path)) if path else None
    return _ended(state)


def _print(state: State, text: Text | None) -> None:
    if state.output is not None:
        state.output.append(text)


def _prints_path(path_of: Callable[[list[Text], State], str | None]) -> Builtin:
    """Make a command that prints a path: as a text it differs where the script runs."""

    def prints(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
        path = path_of(words, state)
        line = (replace(script.made(node, HOLE), stands=path or ""), script.made(node, "\n"))
        _print(state, None if path is None else line)
        return _ended(state)

    return prints


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "0": "\0", '"': '"', "'": "'", "a": "\a"}


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), text, flags=re.DOTALL)


def _echo(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    said, options = words[1:], ""
    while said and re.fullmatch(r"-[neE]+", plain(said[0])):
        options += plain(said.pop(0))
    text = _with_blanks(script, node, said)
    if "e" in options and "\\" in plain(text):
        text = placed(_unescaped(plain(text)), [text], partial(script.made, node))
    _print(state, text if "n" in options else (*text, script.made(node, "\n")))
    return _ended(state)


_BLANKS = " \t\n"


def _read(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow `read`: the variables get the fields of the next line of the text to read, if that is known."""
    try:
        options, names = split_options(list(map(plain, words[1:])), "eErs", "adiNnptu", leading=True)
    except OutputUnknown:
        state.lose(name for name in map(plain, words[1:]) if name.isidentifier())
        return _ended(state, None)
    into_array = options.get("a", "")
    names = [into_array] if into_array else names or ["REPLY"]
    mark = options.get("d", "\n") or "\0"
    separators = state.variables.get("IFS")
    parts_at = (
        _BLANKS if separators is None else known(separators.text or ()) if separators.elements is not None else None
    )
    asked = options.get("u", "0")
    descriptor = int(asked) if asked.isdecimal() else UNKNOWN_DESCRIPTOR
    given = state.descriptors.get(descriptor)
    text = plain(given or ())
    line, found, _ = text.partition(mark)
    several = into_array or len(names) > 1
    if (
        given is None
        or parts_at is None
        or {"n", "t", "N"} & options.keys()
        or ("\\" in line and "r" not in options)
        or (several and HOLE in line)
        or not all(name.isidentifier() for name in names)
    ):
        state.lose(name for name in names if name.isidentifier())
        return _ended(state, None)
    fields = _fields(given, line, 0 if into_array else len(names), parts_at)
    empty = (script.made(node, ""),)
    for number, name in enumerate(names):
        value = tuple(fields) if into_array else (fields[number] if number < len(fields) else empty,)
        state.set(name, Variable(value, array=bool(into_array), exported=state.exports(name)))
    rest = behind(given, len(line) + len(found)) if len(text) > len(line) + len(found) else ()
    state.put_on(descriptor, rest)
    return _ended(state, bool(found))


def _fields(text: Text, line: str, count: int, separators: str) -> list[Text]:
    """Split the first line of a text into `count` fields as `read` does (0: all); the last one has the rest."""
    blanks = "".join(each for each in separators if each in _BLANKS)
    marks = re.escape("".join(each for each in separators if each not in _BLANKS))
    space = f"[{re.escape(blanks)}]" if blanks else "(?!)"
    between_fields = re.compile(f"{space}*[{marks}]{space}*|{space}+" if marks else f"{space}+")
    start, end = len(line) - len(line.lstrip(blanks)), len(line.rstrip(blanks))
    found: list[Text] = []
    while start < end:
        split = between_fields.search(line, start, end) if len(found) + 1 != count else None
        stop = end if split is None else split.start()
        empty = (replace(text[0], text="", end=text[0].start),)
        found.append(between(text, start, stop) if start < stop else empty)
        start = end if split is None else split.end()
    return found


def _printf(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    rest = words[1:]
    target = plain(rest[1]) if len(rest) > 1 and known(rest[0]) == "-v" else None
    rest = rest[2:] if target is not None else rest
    rest = rest[1:] if rest and known(rest[0]) == "--" else rest
    text = _formatted(rest[0], rest[1:], partial(script.made, node)) if rest else None
    if target is None:
        _print(state, text)
    elif target.isidentifier() and text is not None:
        state.set(target, Variable((text or (script.made(node, ""),),), exported=state.exports(target)))
    else:
        state.lose([target.partition("[")[0]])
    return _ended(state)


_FORMAT = lazy_pattern(r"%(?P<flags>[-0 +]*)(?P<width>\d*)(?:\.\d+)?(?P<kind>[sdiqb%])|(?P<other>%)|(?P<text>[^%]+)")


def _formatted(said: Text, words: Sequence[Text], made: Callable[[str], Piece]) -> Text | None:
    """Return what `printf` prints: its format, as often as there are words for it. None for a format not known here."""
    if (form := known(said)) is None:
        return None
    parts = list(_FORMAT.finditer(form))
    takes = sum(each["kind"] not in (None, "%") for each in parts)
    found: list[Piece] = []
    rest = list(words)
    while True:
        for part in parts:
            if part["other"] is not None:
                return None
            if part["text"] is not None or part["kind"] == "%":
                text = "%" if part["text"] is None else _unescaped(part["text"])
                found += placed(text, [said], made)
                continue
            word = rest.pop(0) if rest else (made(""),)
            if part["kind"] == "q" and known(word) is not None:
                word = placed(shlex.quote(plain(word)), [word], made)
            elif part["kind"] == "b":
                word = placed(_unescaped(plain(word)), [word], made)
            blanks = int(part["width"] or 0) - len(plain(word))
            if blanks > _MOST_PRINTED or (blanks > 0 and HOLE in plain(word)):
                return None
            if blanks > 0 and "0" in part["flags"]:
                found.append(made(plain(word).zfill(int(part["width"]))))
                continue
            padding = (made(" " * blanks),) if blanks > 0 else ()
            found += (*word, *padding) if "-" in part["flags"] else (*padding, *word)
        if not rest or not takes:
            return tuple(piece for piece in found if piece.text)


def _text_program(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow a program that only makes a text of a text: it prints that, and has succeeded if there is some."""
    name = posixpath.basename(plain(words[0]))
    arguments = [known(word) for word in words[1:]]
    if name == "basename":  # a file has its name wherever its folder lies
        paths = [located(word) or "" for word in words[1:]]
        arguments = [
            each if HOLE not in plain(word) or each.rpartition("/")[2].strip(".") else None
            for each, word in zip(paths, words[1:], strict=True)
        ]
    if name == "jq":  # a query hands a text on without a look at it
        behind_arg = (None, None, *map(known, words[1:]))
        arguments = [
            plain(word) if before == "--arg" else each
            for before, each, word in zip(behind_arg, arguments, words[1:], strict=False)
        ]
    if name in ("jq", "yq"):
        keys = {found["key"] for each in arguments if each is not None and (found := _FIRST_KEY.match(each))}
        for word in words[1:]:
            if plain(word) == HOLE and is_argument(word):
                runner.queried.setdefault(option(word), set()).update(keys)
    sources: list[Text] = [] if state.input is None else [state.input]

    def read(path: str) -> str | None:
        word = next(word for word in words if plain(word) == path)
        text = runner.file(word, state)
        sources.append(text or ())
        return None if text is None else plain(text)

    given = None if state.input is None else plain(state.input)
    said = [each for each in arguments if each is not None]
    is_known = len(said) == len(arguments)
    printed = runner.in_time(lambda: printed_by(name, said, given, read)) if is_known else None
    if printed is not None and name in _LOOKS_INTO and any(HOLE in plain(text) for text in sources):
        printed = None
    if printed is not None and len(printed) > _MOST_PRINTED:
        printed = None
    made = partial(script.made, node)
    _print(
        state,
        None if printed is None else placed(printed, [*sources, *words[1:]], made) if state.output is not None else (),
    )
    return _ended(state, True if "grep" not in name else None if printed is None else bool(printed))


_FIRST_KEY = lazy_pattern(r"[\s(\[]*\.[\"']?(?P<key>[A-Za-z_][\w-]*)")

_LOOKS_INTO = ("awk", "gawk", "mawk", "cut", "expr", "bc", "sort", "uniq", "wc", "jq", "yq", "rev", "basename")
"""Programs whose output depends on a text of which a part is not known."""

_MOST_PRINTED = 100_000


def _cat(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow `cat FILE …`: the output is that of the files, or of what it is given to read."""
    files = [word for word in words[1:] if not re.fullmatch(r"-\w+", plain(word))]
    _print(state, output_of([runner.file(word, state) for word in files] if files else [state.input]))
    return _ended(state)


def _ls(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow `ls FILE …` and `ls FOLDER` for files of the tree."""
    names = [located(word) or "" for word in words[1:] if plain(word) != "-1"]
    inside = [posixpath.basename(each) for each in runner.matching(f"{names[0]}/*", state)] if len(names) == 1 else []
    are_files = bool(names) and all(not name.startswith("-") and runner.matching(name, state) for name in names)
    lines = inside or (sorted(names) if are_files else None)
    _print(state, None if lines is None else (script.made(node, "".join(f"{each}\n" for each in lines)),))
    return _ended(state)


def _tee(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    for word in words[1:]:
        if not plain(word).startswith("-"):
            state.write(name_of_file(word), state.input, adds=any(known(each) == "-a" for each in words))
    _print(state, state.input)
    return _ended(state)


def _envsubst(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    names = [name for word in words[1:] for name in _NAMES.findall(plain(word))]
    _print(state, None if state.input is None else filled_in(state.input, state, names))
    return _ended(state)


_NAMES = lazy_pattern(r"\$\{?(\w+)")


def _read_lines(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow `mapfile -t NAME` with a text to read: the array has its lines."""
    try:
        options, names = split_options(list(map(plain, words[1:])), "t", "dnOsuCc", leading=True)
    except OutputUnknown:
        state.lose(name for name in map(plain, words[1:]) if name.isidentifier())
        return _ended(state)
    name = names[0] if names else "MAPFILE"
    mark = options.get("d", "\n") or "\0"
    if state.input is None or "t" not in options or not options.keys() <= {"t", "d"} or HOLE in plain(state.input):
        state.lose([name] if name.isidentifier() else [])
        return _ended(state)
    lines: list[Text] = []
    at, text = 0, plain(state.input).removesuffix(mark)
    for line in text.split(mark) if state.input else ():
        first = state.input[0]
        lines.append(between(state.input, at, at + len(line)) if line else (replace(first, text="", end=first.start),))
        at += len(line) + 1
    state.set(name, Variable(tuple(lines), array=True))
    return _ended(state)


def _xargs(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow `xargs COMMAND`: the words that it reads stand behind those of the command, or where its mark is."""
    rest = list(words[1:])
    options: dict[str, Text | None] = {}
    while rest and plain(rest[0]).startswith("-"):
        word = rest.pop(0)
        letter = plain(word)[1:2]
        if letter in "nILPdas" and letter:
            options[letter] = behind(word, 2) if len(plain(word)) > 2 else rest.pop(0) if rest else None
        else:
            options[plain(word)] = None
    if not rest or (known(rest[0]) == "echo" and not {"I", "n"} & options.keys()):
        return _text_program(runner, script, node, [words[0]], state)
    file = options.get("a")
    given = runner.file(file, state) if file else state.input
    if given is None and "I" not in options:
        return runner.invoke(script, node, [*rest, (script.made(node, HOLE).splitting(),)], state)
    if given is None or re.search(r"['\"\\]", plain(given)):
        _print(state, None)
        return _ended(state, None)
    if "-0" in options or "d" in options:
        marks = {"-0": "\0"}.get("-0" if "-0" in options else "", plain(options.get("d") or ()))
        found = _fields(given, plain(given), 0, _unescaped(marks))
    elif "I" in options:
        found = _lines_of(given)
    else:
        found = list(words_of([piece.splitting() for piece in given]))
    units = [[word] for word in found]
    if "L" in options:
        units = [list(words_of([piece.splitting() for piece in line])) for line in _lines_of(given)]
    several = plain(options.get("n") or options.get("L") or ())
    each = int(several) if several.isdigit() and int(several) else len(units) or 1
    mark = plain(options.get("I") or ())
    ways = [Ended(state)]
    for at in range(0, len(units), 1 if "I" in options else each)[:_MOST_COMMANDS]:
        here = [word for unit in units[at : at + each] for word in unit]
        command = [_with_mark(word, mark, here[0]) for word in rest] if mark else [*rest, *here]
        ways = [end for way in ways for end in runner.invoke(script, node, command, way.state)]
    return ways


_MOST_COMMANDS = 16

_TAKE_VALUES = lazy_pattern(
    r"-[jnILlPNSCdasE]|--(?:jobs|max-args|max-procs|delay|joblog|results|timeout|retries|tmpdir|colsep|delimiter|arg-file"
    r"|env|sshlogin|sshloginfile|workdir|wd|header|halt|tagstring|load|memfree|nice|shuf|basefile|return|transferfile)"
)
"""Options of GNU parallel with a value behind them (parallel(1))."""
_SOURCES = (":::", ":::+", "::::", "::::+")
_MARK = lazy_pattern(r"\{(?P<number>\d*)(?P<change>\.|//?|/\.|[#%])?\}")


def _parallel(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow GNU `parallel COMMAND ::: VALUE …`: a shell is given the command once for each value (parallel(1)).

    Several lists of values are combined. Without a mark for it, the value stands behind the command, but with `-N0`.
    """
    at = 1
    while at < len(words) and plain(words[at]).startswith("-"):
        at += 1 + bool(_TAKE_VALUES.fullmatch(plain(words[at])))
    first = next((n for n, word in enumerate(words) if plain(word) in _SOURCES and n >= at), len(words))
    command = words[at:first]
    without = re.search(r"(?: |^)-[nN] ?0(?: |$)", " ".join(map(plain, words[1:at])))
    for values in _combined(_lists_of(runner, words[first:], state), script, node):
        text = _filled_command(command, () if without else values, script, node)
        runner.invoke(script, node, [(script.made(node, "bash"),), (script.made(node, "-c"),), text], state)
    return _ended(state, None)


def _lists_of(runner: Runner, words: Sequence[Text], state: State) -> list[tuple[str, list[Text] | None]]:
    """Return the lists of values, each with the word in front of it; None for one that is not known."""
    if not words:
        return [(":::", None if state.input is None else _lines_of(state.input))]
    found: list[tuple[str, list[Text] | None]] = []
    for word in words:
        if plain(word) in _SOURCES:
            found.append((plain(word), []))
        elif (values := found[-1][1]) is not None:
            text = runner.file(word, state) if found[-1][0].startswith("::::") else ()
            lines = [word] if not found[-1][0].startswith("::::") else None if text is None else _lines_of(text)
            found[-1] = found[-1][0], None if lines is None else [*values, *lines]
    return found


def _lines_of(text: Text) -> list[Text]:
    return [line for line in _fields(text, plain(text), 0, "\n") if plain(line)] if text else []


def _combined(lists: Sequence[tuple[str, list[Text] | None]], script: Script, node: Node) -> list[list[Text]]:
    """Return the values of each command: all combinations, but for lists that are read along with the one before."""
    unknown: list[Text] = [(script.made(node, HOLE).splitting(),)]
    ways: list[list[Text]] = [[]]
    rows: list[list[Text]] = []
    for mark, values in [*lists, (":::", [])]:
        given = unknown if values is None else values
        if mark.endswith("+"):
            rows = [[*row, value] for row, value in zip(rows, given, strict=False)]
            continue
        if rows:
            ways = [[*way, *row] for way in ways for row in rows][:_MOST_COMMANDS]
        rows = [[value] for value in given]
    return ways if ways != [[]] else []


def _filled_command(command: Sequence[Text], values: Sequence[Text], script: Script, node: Node) -> Text:
    """Return the text that the shell is given: the command with the values in place of its marks, or behind it."""
    blank = script.made(node, " ")
    marked = False
    said: list[Text] = []
    for word in command:
        at, parts = 0, list[Piece]()
        for mark in _MARK.finditer(plain(word)):
            number = int(mark["number"] or 0)
            place = between(word, *mark.span())[0]
            chosen = values[number - 1 : number] if number else values
            known_mark = not mark["change"] and len(chosen) > 0
            filling = _spaced([_quoted(each, place) for each in chosen], blank)
            parts += [*between(word, at, mark.start())] * (mark.start() > at)
            parts += filling if known_mark else (replace(place, text=HOLE),)
            at, marked = mark.end(), True
        said.append((*parts, *(behind(word, at) if at < len(plain(word)) else ())))
    if said and marked:
        return _spaced(said, blank)
    return _spaced([*said, *(_quoted(value, value[0]) if said else value for value in values)], blank)


def _spaced(parts: Sequence[Text], blank: Piece) -> Text:
    return tuple(piece for number, part in enumerate(parts) for piece in (*([blank] * (number > 0)), *part))


def _quoted(value: Text, place: Piece) -> Text:
    """Return a value as one word of a command line."""
    if HOLE in plain(value) or re.fullmatch(r"[\w@%+=:,./-]+", plain(value)):
        return value
    return (replace(place, text=shlex.quote(plain(value)), end=place.start),)


def _with_mark(word: Text, mark: str, value: Text) -> Text:
    """Return a word with a text in place of each mark in it."""
    said, found, at = plain(word), [], 0
    while (here := said.find(mark, at)) >= 0:
        found += [*between(word, at, here)] * (here > at) + list(value)
        at = here + len(mark)
    return (*found, *(behind(word, at) if at < len(said) else ()))


def _getopts(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow `getopts OPTSTRING NAME`: the next option of the arguments, where these are known."""
    arguments = words[3:] or state.arguments
    asked, name = (known(word) for word in words[1:3]) if len(words) > 2 else (None, None)
    place = known((state.variables.get("OPTIND") or LOST).text or (script.made(node, "1"),)) or ""
    at, _, within = place.partition(".")
    if arguments is None or not asked or not name or not at.isdigit():
        state.lose(each for each in (name, "OPTARG", "OPTIND") if each)
        return _ended(state, None)

    def note(variable: str, text: Text) -> None:
        state.set(variable, Variable((text or (script.made(node, ""),),)))

    number, letter_at = int(at), int(within or 1)
    word = arguments[number - 1] if number <= len(arguments) else ()
    said = plain(word)
    if len(said) < 2 or not said.startswith("-") or said == "--":
        note("OPTIND", (script.made(node, str(number + (said == "--"))),))
        note(name, (script.made(node, "?"),))
        return _ended(state, False)
    if HOLE in said[: letter_at + 1]:
        state.lose((name, "OPTARG", "OPTIND"))
        return _ended(state, None)
    letter = said[letter_at]
    is_last = letter_at + 1 == len(said)
    takes = f"{letter}:" in asked
    if takes:
        own = behind(word, letter_at + 1) if not is_last else None
        note("OPTARG", own or (arguments[number] if number < len(arguments) else ()))
        number += 1 if own else 2
    note(name, between(word, letter_at, letter_at + 1) if letter in asked.lstrip(":") else (script.made(node, "?"),))
    # The place within a word of several options is kept behind a dot.
    following = str(number) if takes else str(number + 1) if is_last else f"{number}.{letter_at + 1}"
    note("OPTIND", (script.made(node, following),))
    return _ended(state, True)


def _let(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    for word in words[1:]:
        calculate(Expander(runner, script, state), node, plain(word))
    return _ended(state, None)


def _trap(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    if len(words) > 2 and plain(words[1]).strip() not in ("", "-"):
        state.traps = (*state.traps, words[1])
    return _ended(state)


def _shift(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    count = known(words[1]) if len(words) > 1 else "1"
    if state.arguments is not None:
        state.arguments = state.arguments[int(count) :] if count and count.isdigit() else ()
    return _ended(state)


def _set(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    for number, word in enumerate(words[1:], 2):
        text = known(word)
        if text == "--":
            state.arguments = tuple(words[number:])
            break
        if text in ("-a", "+a"):
            state.exports_all = text == "-a"
    return _ended(state)


_MATTER = ("shwordsplit", "ksharrays", "globsubst")
"""Options of zsh that decide how a variable is read, as zsh compares their names (zshoptions(1))."""


def _options_of_zsh(runner: Runner, script: Script, node: Node, words: list[Text], state: State) -> Iterable[Ended]:
    """Follow `setopt`, `unsetopt` and `emulate`: what matters of them is not modelled, and undone by `emulate zsh`."""
    said = {plain(word).lower().replace("_", "") for word in words[1:]}
    if state.shell and plain(words[0]) == "emulate":
        state.shell = ZSH if said - {"-r", "-l", "-lr"} == {"zsh"} else ZSH_WITH_OPTIONS
    elif state.shell and not said.isdisjoint(_MATTER):
        state.shell = ZSH_WITH_OPTIONS
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
    if len(words) == 2 and (named := re.fullmatch(r"\{(\w+)\}", plain(words[1]))):
        state.lose([named[1]])
        return _ended(state)
    ended = list(runner.invoke(script, node, words[1:], state))
    for each in ended:
        each.state.leaving = ("exit",)
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
    "break": _leave_loops("break"),
    "continue": _leave_loops("continue"),
    "true": _status(True),
    ":": _status(True),
    "false": _status(False),
    "cd": _cd,
    "pushd": _cd,
    "pwd": _prints_path(lambda words, state: state.folder or "."),
    "dirname": _prints_path(lambda words, state: (path := located(words[-1])) and (posixpath.dirname(path) or ".")),
    "realpath": _prints_path(lambda words, state: located(words[-1])),
    "readlink": _prints_path(lambda words, state: located(words[-1])),
    "echo": _echo,
    **dict.fromkeys(TEXT_PROGRAMS, _text_program),
    "cat": _cat,
    "ls": _ls,
    "tee": _tee,
    "envsubst": _envsubst,
    "xargs": _xargs,
    "parallel": _parallel,
    "read": _read,
    "mapfile": _read_lines,
    "readarray": _read_lines,
    "printf": _printf,
    "let": _let,
    "getopts": _getopts,
    "shift": _shift,
    "set": _set,
    "trap": _trap,
    "command": _through,
    "builtin": _through,
    "exec": _exec,
    "unset": _unset,
    "setopt": _options_of_zsh,
    "unsetopt": _options_of_zsh,
    "emulate": _options_of_zsh,
}


def heredoc(expander: Expander, node: Node) -> Text:
    parts = {child.type: child for child in node.named_children}
    if not {"heredoc_start", "heredoc_end"} <= parts.keys():
        return ()
    script = expander.script
    # The grammar's own node begins behind the blanks and escaped signs of the first line.
    first = script.text.find("\n", script.bounds(parts["heredoc_start"])[1]) + 1
    text = script.cut(first, script.bounds(parts["heredoc_end"])[0])
    is_quoted = any(mark in script.source(parts["heredoc_start"]) for mark in "'\"\\")
    return text if is_quoted else expander.document(text)


_REFERENCE = lazy_pattern(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<bare>[A-Za-z_]\w*))")


def filled_in(text: Text, state: State, names: Sequence[str] = ()) -> Text:
    """Return a text with the exported variables in it filled in, or those with these names, as `envsubst` does.

    One that nobody sets is a HOLE.
    """

    def fill(reference: re.Match[str], piece: Piece) -> Iterable[Piece] | None:
        name = reference["braced"] or reference["bare"]
        if names and name not in names:
            return None
        variable = state.variables.get(name)
        if variable is not None and variable.exported and variable.text is not None:
            return [part.splitting(False) for part in variable.text]
        place = piece.cut(*reference.span())
        return (replace(place, text=HOLE, option="" if variable is not None else f"${name}"),)

    return filled(text, _REFERENCE, fill)


def written_to(expander: Expander, node: Node) -> tuple[str, bool] | None:
    """Return the file that the output of a redirected command goes to, and whether it is added there; None where there
    is none, or its name is not known.

    A name with holes is a name all the same (see `name_of_file`).
    """
    for child in node.named_children:
        redirects = (child, *child.named_children) if child.type == "heredoc_redirect" else (child,)
        for each in redirects:
            marks = [mark.type for mark in each.children if mark.type in (">", ">|", ">>")]
            is_output = not any(mark.type == "file_descriptor" and mark.text != b"1" for mark in each.children)
            if each.type == "file_redirect" and marks and is_output and each.named_children:
                text = expander.text(each.named_children[-1])
                if known(text) != "/dev/null":
                    return name_of_file(text), marks[0] == ">>"
    return None
