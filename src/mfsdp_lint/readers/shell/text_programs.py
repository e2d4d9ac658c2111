"""Output of programs that only make a text of a text (`cut`, `sed`, `awk`, `seq`), worked out without starting them.

A program is given its arguments, the text on its standard input, and a function that reads files. It returns the text
that it prints; None where that depends on an option, or a construct of its language, that is not known here.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, Literal

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.readers.regular_expressions import NotMatched, compiled, matched
from mfsdp_lint.readers.shell.queries import documents, query, quoted
from mfsdp_lint.readers.shell.text_changes import number_of

Read = Callable[[str], "str | None"]
TextProgram = Callable[[Sequence[str], "str | None", Read], "str | None"]

_MOST_NUMBERS = 1_000


class OutputUnknown(Exception):
    """The output of a command, or what its options ask for, is not known."""


def split_options(
    arguments: Sequence[str], flags: str, valued: str = "", *, leading: bool = False, repeated: str = ""
) -> tuple[dict[str, str], list[str]]:
    """Split arguments into options (of one letter) and operands, as getopt does; with `leading`, as the shell's own
    commands do, which take no options behind an operand. The values of a `repeated` option are lines, of any other one
    the last value counts. Raises OutputUnknown for any other option.
    """
    found: dict[str, str] = {}
    rest = list(arguments)
    operands: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            return found, operands + rest
        if not word.startswith("-") or word == "-" or word.startswith("--"):
            if word.startswith("--"):
                raise OutputUnknown
            operands.append(word)
            if leading:
                return found, operands + rest
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in valued:
                if not letters and not rest:
                    raise OutputUnknown
                value, letters = letters or rest.pop(0), ""
                found[letter] = f"{found[letter]}\n{value}" if letter in repeated and letter in found else value
            elif letter in flags:
                found[letter] = ""
            else:
                raise OutputUnknown
    return found, operands


def _texts(files: Sequence[str], given: str | None, read: Read) -> str:
    """Return the text of files, or of the standard input where there are none."""
    texts = [given if each == "-" else read(each) for each in files or ("-",)]
    if any(text is None for text in texts):
        raise OutputUnknown
    return "".join(text for text in texts if text is not None)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _number(text: str) -> int:
    if not re.fullmatch(r"[-+]?\d{1,9}", text):
        raise OutputUnknown
    return int(text)


def _basename(arguments: Sequence[str], given: str | None, read: Read) -> str:
    options, names = split_options(arguments, "a", "s")
    if len(names) == 2 and not options:
        options, names = {"s": names[1]}, names[:1]
    ends = [posixpath.basename(name.rstrip("/")) or "/" for name in names]
    return _joined([each.removesuffix(options.get("s", "")) if each != options.get("s") else each for each in ends])


def _ranges(said: str) -> Iterator[tuple[int, int]]:
    for part in said.split(","):
        first, dash, last = part.partition("-")
        low = _number(first) if first else 1
        yield low, _number(last) if last else (1 << 30 if dash else low)


def _cut(arguments: Sequence[str], given: str | None, read: Read) -> str:
    options, files = split_options(arguments, "s", "dfc")
    ranges = list(_ranges(options.get("f") or options.get("c") or ""))
    mark = options.get("d", "\t") if "f" in options else ""
    found = []
    for line in _lines(_texts(files, given, read)):
        parts = line.split(mark) if mark else list(line)
        if mark and mark not in line:
            found += [] if "s" in options else [line]
        else:
            kept = [part for n, part in enumerate(parts, 1) if any(low <= n <= high for low, high in ranges)]
            found.append(mark.join(kept))
    return _joined(found)


_CLASSES = {
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:digit:]": "0-9",
    "[:alpha:]": "A-Za-z",
    "[:alnum:]": "A-Za-z0-9",
    "[:space:]": " \t\n\r\v\f",
    "[:blank:]": " \t",
}


def _signs(said: str) -> str:
    """Return the characters of a set of `tr`."""
    for name, signs in _CLASSES.items():
        said = said.replace(name, signs)
    if "[:" in said or "[=" in said or re.search(r"\\[^nrt\\0]", said):
        raise OutputUnknown
    said = re.sub(r"\\(.)", lambda found: {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}.get(found[1], found[1]), said)
    between = re.compile(r"(.)-(.)", re.DOTALL)
    return between.sub(lambda found: "".join(map(chr, range(ord(found[1]), ord(found[2]) + 1))), said)


def _tr(arguments: Sequence[str], given: str | None, read: Read) -> str:
    options, sets = split_options(arguments, "dsc")
    text, (first, *second) = _texts((), given, read), map(_signs, sets)
    if "c" in options:
        if "s" in options or ("d" not in options and len(second[0]) != 1):
            raise OutputUnknown
        return "".join(each if each in first else "" if "d" in options else second[0] for each in text)
    if "d" in options:
        return "".join(each for each in text if each not in first)
    if second:
        to = second[0] + second[0][-1:] * (len(first) - len(second[0]))
        text = text.translate({ord(old): to[at] for at, old in reversed(list(enumerate(first)))})
    if "s" in options:
        text = re.sub(rf"([{re.escape(second[0] if second else first)}])\1+", r"\1", text)
    return text


def _bounded(text: str, flags: int = 0) -> Any:
    """Compile a regular expression for `matched`. Raises OutputUnknown."""
    try:
        return compiled(text, flags)
    except NotMatched:
        raise OutputUnknown from None


@cache
def _pattern(said: str, *, extended: bool, ignores_case: bool = False) -> Any:
    """Compile a regular expression of POSIX."""
    try:
        return _bounded(_regular(said, extended=extended), re.IGNORECASE if ignores_case else 0)
    except re.error:
        raise OutputUnknown from None


def _regular(said: str, *, extended: bool) -> str:
    """Return a regular expression of POSIX as Python writes it."""
    found: list[str] = []
    pieces = re.compile(r"\\(?P<escaped>.)|(?P<set>\[\^?\]?(?:\[:\w+:\]|[^\]])*\])|(?P<other>.)", re.DOTALL)
    for piece in pieces.finditer(said):
        if (escaped := piece["escaped"]) is not None:
            special = escaped in "+?|(){}"
            same = escaped in "bwWsSB.*[]^$/\\" or escaped.isdigit()
            if not special and not same:
                found.append({"n": "\n", "t": "\t"}.get(escaped) or re.escape(escaped))
            else:
                found.append(escaped if special and not extended else f"\\{escaped}")
        elif piece["set"]:
            inner = piece["set"]
            for name, signs in _CLASSES.items():
                inner = inner.replace(name, signs)
            if "[:" in inner:
                raise OutputUnknown
            body = inner[2:-1] if inner.startswith("[^") else inner[1:-1]
            escaped_body = body.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
            found.append(f"[{'^' if inner.startswith('[^') else ''}{escaped_body}]")
        else:
            special = piece["other"] in "+?|(){}"
            found.append(f"\\{piece['other']}" if special and not extended else piece["other"])
    return "".join(found)


def posix_pattern(said: str) -> Any:
    """Compile an extended regular expression for `matched`; None where it is not known here."""
    try:
        return _pattern(said, extended=True)
    except OutputUnknown:
        return None


def _grep(arguments: Sequence[str], given: str | None, read: Read, *, extended: bool = False) -> str:
    options, operands = split_options(arguments, "vEiFohwxnqP", "em", repeated="e")
    said = options["e"] if "e" in options else operands.pop(0)
    if {"n", "q"} & options.keys() or (len(operands) > 1 and "h" not in options):
        raise OutputUnknown
    flags = re.IGNORECASE if "i" in options else 0
    if "P" in options:
        before, kept, after = said.partition(r"\K")
        pattern = _bounded(f"(?:{before})(?P<kept>{after})" if kept else said, flags)
    else:  # each line is a pattern
        is_extended = extended or "E" in options
        lines = [re.escape(one) if "F" in options else _regular(one, extended=is_extended) for one in said.split("\n")]
        pattern = _bounded(lines[0] if len(lines) == 1 else "|".join(f"(?:{one})" for one in lines), flags)
    if "w" in options or "x" in options:
        edge = ("^", "$") if "x" in options else (r"(?<!\w)", r"(?!\w)")
        pattern = _bounded(f"{edge[0]}(?:{pattern.pattern}){edge[1]}", flags)
    found: list[str] = []
    for line in _lines(_texts(operands, given, read)):
        matches = matched(pattern, "finditer", line)
        if bool(matches) is ("v" in options):
            continue
        group = "kept" if "kept" in pattern.groupindex else 0
        found += [each[group] for each in matches] if "o" in options else [line]
    return _joined(found[: _number(options["m"])] if "m" in options else found)


_SED = lazy_pattern(
    r"""\s*(?P<first>\d+|\$|/(?:\\.|[^/\\])*/)?(?:,(?P<last>\d+|\$|/(?:\\.|[^/\\])*/))?\s*(?P<negated>!)?\s*
    (?:(?P<command>[dpqD])|s(?P<mark>[^\w\s\\])(?P<old>(?:\\.|(?!(?P=mark))[^\\])*)(?P=mark)
       (?P<new>(?:\\.|(?!(?P=mark))[^\\])*)(?P=mark)(?P<flags>[gpIi\d]*))\s*(?:;|\n|$)""",
    re.VERBOSE | re.DOTALL,
)


def _sed(arguments: Sequence[str], given: str | None, read: Read) -> str:
    several = [arguments[n + 1] for n, each in enumerate(arguments[:-1]) if each == "-e"]
    rest = [each for n, each in enumerate(arguments) if each != "-e" and (n == 0 or arguments[n - 1] != "-e")]
    options, operands = split_options([each for each in rest if each != "--quiet"], "nEr")
    program = "\n".join(several) if several else operands.pop(0)
    extended, quiet = bool({"E", "r"} & options.keys()), "n" in options
    commands: list[re.Match[str]] = []
    at = 0
    while at < len(program.rstrip()):
        found = _SED.match(program, at)
        if found is None:
            raise OutputUnknown
        commands.append(found)
        at = found.end()
    lines = _lines(_texts(operands, given, read))
    inside: dict[int, bool] = {}
    printed: list[str] = []

    def is_at(address: str, number: int, line: str) -> bool:
        if address.startswith("/"):
            return bool(matched(_pattern(address[1:-1].replace("\\/", "/"), extended=extended), "search", line))
        return number == (len(lines) if address == "$" else int(address))

    for number, line in enumerate(lines, 1):
        kept, last = True, False
        for nth, each in enumerate(commands):
            here = each["first"] is None or is_at(each["first"], number, line)
            if each["last"] is not None:
                was = inside.get(nth, False)
                here = here or was
                ends = is_at(each["last"], number, line) and (was or not each["last"].startswith("/"))
                inside[nth] = here and not ends
            if here is bool(each["negated"]):
                continue
            if each["command"] in ("d", "D"):
                kept = False
                break
            if each["command"] == "p":
                printed.append(line)
            elif each["command"] == "q":
                last = True
                break
            else:
                line, changed = _substituted(each, line, extended=extended)
                printed += [line] if changed and "p" in each["flags"] else []
        printed += [line] if kept and not quiet else []
        if last:
            break
    return _joined(printed)


def _substituted(command: re.Match[str], line: str, *, extended: bool) -> tuple[str, bool]:
    mark, flags = command["mark"], command["flags"]
    old, new = (command[each].replace(f"\\{mark}", mark) for each in ("old", "new"))
    pattern = _pattern(old, extended=extended, ignores_case="i" in flags.lower())
    if digits := re.sub(r"\D", "", flags):
        raise OutputUnknown(digits)

    def replaced(found: re.Match[str]) -> str:
        def part(piece: re.Match[str]) -> str:
            said = piece[0]
            if said == "&":
                return found[0]
            if said[1].isdigit():
                return found[int(said[1])] or ""
            if said[1] in "ULEul":
                raise OutputUnknown
            return {"n": "\n", "t": "\t"}.get(said[1], said[1])

        return re.sub(r"\\.|&", part, new, flags=re.DOTALL)

    text, count = matched(pattern, "subn", replaced, line, count=0 if "g" in flags else 1)
    return text, bool(count)


_AWK = lazy_pattern(
    r"\s*(?:BEGIN\s*\{\s*FS\s*=\s*\"(?P<mark>[^\"]*)\"\s*;?\s*\}\s*;?)?\s*(?P<when>[^{}]*?)\s*"
    r"(?:\{\s*print(?P<form>f)?\b\s*(?P<said>[^{}]*?)\s*;?\s*(?P<exit>exit\s*;?\s*)?\})?\s*"
)
_AWK_TOKEN = lazy_pattern(
    r'\s*(?:(?P<text>"(?:\\.|[^"\\])*")|\$(?P<field>\d+|NF|\w+)|(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)|(?P<comma>,))'
)


def _awk(arguments: Sequence[str], given: str | None, read: Read) -> str:
    options, operands = [], list(arguments)
    while operands and operands[0].startswith("-") and len(operands[0]) > 1:
        word = operands.pop(0)
        options.append((word[1], word[2:] or operands.pop(0)))
    names = dict(each.split("=", 1) for letter, each in options if letter == "v" and "=" in each)
    rule = _AWK.fullmatch(operands.pop(0))
    if rule is None or any(letter not in "Fv" for letter, _ in options):
        raise OutputUnknown
    marks = [*(each for letter, each in options if letter == "F"), *filter(None, [rule["mark"]])]
    found: list[str] = []
    lines = _lines(_texts(operands, given, read))
    for number, line in enumerate(lines, 1):
        mark = {"\\t": "\t"}.get(marks[-1], marks[-1]) if marks else " "
        fields = line.split() if mark == " " else line.split(mark) if len(mark) == 1 else re.split(mark, line)
        here = {**names, "NR": str(number), "NF": str(len(fields)), "0": line}
        here |= {str(n): field for n, field in enumerate(fields, 1)}
        if not _awk_holds(rule["when"], here):
            continue
        said = re.findall(r'(?:"(?:\\.|[^"\\])*"|[^",])+', rule["said"] or "$0")
        parts = [_awk_text(part, here) for part in said if part.strip()]
        if not rule["form"]:
            found.append(" ".join(parts) + "\n")
        elif parts[0].count("%s") == parts[0].count("%") == len(parts) - 1 and "{" not in parts[0]:
            found.append(parts[0].replace("%s", "{}").format(*parts[1:]))
        else:
            raise OutputUnknown
        if rule["exit"]:
            break
    return "".join(found)


def _awk_text(said: str, names: dict[str, str]) -> str:
    """Return the text of an expression: fields, texts and variables, one behind the other; or a number."""
    said = re.sub(r"\$\(([^()]*)\)", lambda inner: f"${_awk_text(inner[1], names)}", said)
    if re.search(r"[-+*%]", re.sub(r'"(?:\\.|[^"\\])*"', "", said)):
        number = number_of(re.sub(r"\$(\w+)", lambda field: _awk_text(field[0], names), said), names.get)
        if number is None:
            raise OutputUnknown
        return str(number)
    found, at = "", 0
    while at < len(said.rstrip()):
        token = _AWK_TOKEN.match(said, at)
        if token is None or token["comma"]:
            raise OutputUnknown
        at = token.end()
        if token["text"] is not None:
            found += token["text"][1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t")
        elif token["field"] is not None:
            place = token["field"] if token["field"].isdigit() else names.get(token["field"], "0")
            found += names.get(place, "")
        else:
            found += token["number"] or names.get(token["name"], "")
    return found


_AWK_TEST = lazy_pattern(r"(?P<left>[^=!<>~]+?)\s*(?P<sign>==|!=|>=|<=|>|<|!?~)\s*(?P<right>.+)")
_SIGNS: dict[str, Callable[[str | float, str | float], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">=": lambda a, b: a >= b,  # type: ignore[operator]
    "<=": lambda a, b: a <= b,  # type: ignore[operator]
    ">": lambda a, b: a > b,  # type: ignore[operator]
    "<": lambda a, b: a < b,  # type: ignore[operator]
}


def _awk_holds(said: str, names: dict[str, str]) -> bool:
    if not said:
        return True
    if "&&" in said or "||" in said:
        mark = "&&" if "&&" in said else "||"
        each = [_awk_holds(part.strip(), names) for part in said.split(mark)]
        return all(each) if mark == "&&" else any(each)
    if (regular := re.fullmatch(r"(!?)\s*/((?:\\.|[^/\\])*)/", said)) is not None:
        return bool(matched(_pattern(regular[2], extended=True), "search", names["0"])) is not bool(regular[1])
    if said in ("NF", "1"):
        return names.get(said, said) != "0"
    test = _AWK_TEST.fullmatch(said)
    if test is None:
        raise OutputUnknown
    left = _awk_text(test["left"], names)
    if test["sign"].endswith("~"):
        holds = matched(_pattern(test["right"].strip().strip("/"), extended=True), "search", left)
        return bool(holds) is not test["sign"].startswith("!")
    right = _awk_text(test["right"], names)
    numbers = all(re.fullmatch(r"-?\d+(?:\.\d+)?", each) for each in (left, right))
    if not numbers and test["sign"] not in ("==", "!="):
        raise OutputUnknown
    return _SIGNS[test["sign"]](*((float(left), float(right)) if numbers else (left, right)))


def _head(arguments: Sequence[str], given: str | None, read: Read, *, end: bool = False) -> str:
    if arguments and re.fullmatch(r"-\d+", arguments[0]):
        arguments = ["-n", arguments[0][1:], *arguments[1:]]
    options, files = split_options(arguments, "q", "n")
    said = options.get("n", "10")
    lines, count = _lines(_texts(files, given, read)), _number(said)
    if end:
        return _joined(lines[count - 1 :] if said.startswith("+") else lines[len(lines) - min(count, len(lines)) :])
    return _joined(lines[:count])


def _seq(arguments: Sequence[str], given: str | None, read: Read) -> str:
    options, numbers = split_options(arguments, "", "s") if not arguments[0][1:2].isdigit() else ({}, list(arguments))
    first, step, last = {1: (1, 1), 2: (0, 1), 3: (0, 0)}[len(numbers)] + (_number(numbers[-1]),)
    first = _number(numbers[0]) if len(numbers) > 1 else first
    step = _number(numbers[1]) if len(numbers) > 2 else step
    if step == 0 or abs(last - first) // abs(step) > _MOST_NUMBERS:
        raise OutputUnknown
    found = list(map(str, range(first, last + (1 if step > 0 else -1), step)))
    return options.get("s", "\n").join(found) + "\n" if found else ""


def _sort(arguments: Sequence[str], given: str | None, read: Read) -> str:
    options, files = split_options(arguments, "runV")
    lines = _lines(_texts(files, given, read))
    if {"n", "V"} & options.keys() and not all(re.fullmatch(r"-?\d+", line) for line in lines):
        raise OutputUnknown
    ordered = sorted(lines, key=int if {"n", "V"} & options.keys() else str, reverse="r" in options)
    return _joined(list(dict.fromkeys(ordered)) if "u" in options else ordered)


def _wc(arguments: Sequence[str], given: str | None, read: Read) -> str:
    options, files = split_options(arguments, "lwc")
    if files or len(options) != 1:
        raise OutputUnknown
    text = _texts((), given, read)
    return f"{text.count(chr(10)) if 'l' in options else len(text.split()) if 'w' in options else len(text)}\n"


def _paste(arguments: Sequence[str], given: str | None, read: Read) -> str:
    options, files = split_options(arguments, "s", "d")
    mark = options.get("d", "\t")
    if len(mark) != 1:
        raise OutputUnknown
    if "s" in options:
        return mark.join(_lines(_texts(files, given, read))) + "\n"
    columns = [_lines(_texts([each], given, read)) for each in files]
    most = max(map(len, columns), default=0)
    return _joined([mark.join(column[n] if n < len(column) else "" for column in columns) for n in range(most)])


def _by_lines(change: Callable[[list[str]], list[str]]) -> TextProgram:
    """Make a program without options that changes the lines of its files."""

    def program(arguments: Sequence[str], given: str | None, read: Read) -> str:
        _, files = split_options(arguments, "")
        return _joined(change(_lines(_texts(files, given, read))))

    return program


def _expr(arguments: Sequence[str], given: str | None, read: Read) -> str:
    number = number_of(" ".join(arguments), lambda _: None)
    if number is None:
        raise OutputUnknown
    return f"{number}\n"


def _bc(arguments: Sequence[str], given: str | None, read: Read) -> str:
    split_options(arguments, "q")
    return _joined([_expr([line], None, read).rstrip() for line in _lines(_texts((), given, read))])


def _getopt(arguments: Sequence[str], given: str | None, read: Read) -> str:
    """Print the parameters of a script, options first and each quoted (getopt(1) of util-linux)."""
    import getopt

    try:
        own, words = getopt.getopt(list(arguments), "o:l:n:u", ["options=", "longoptions=", "name=", "unquoted"])
        shorts = [value for name, value in own if name in ("-o", "--options")]
        if not (shorts or words):
            raise OutputUnknown
        short = shorts[-1] if shorts else words.pop(0)
        every = (value for name, value in own if name in ("-l", "--longoptions"))
        long = [each for value in every for each in re.split(r"[\s,]+", value) if each]
        if short.startswith("-") or "::" in short or any("::" in each for each in long):
            raise OutputUnknown
        parse = getopt.getopt if short.startswith("+") else getopt.gnu_getopt
        options, others = parse(words, short.removeprefix("+"), [each.replace(":", "=") for each in long])
    except getopt.GetoptError:
        raise OutputUnknown from None
    as_it_was_first = not arguments[0].startswith("-")
    unquoted = as_it_was_first or {"-u", "--unquoted"} & dict(own).keys()
    written: Callable[[str], str] = str if unquoted else quoted
    takes = {f"-{found[1]}" for found in re.finditer(r"(\w):", short)}
    takes |= {f"--{each[:-1]}" for each in long if each.endswith(":")}
    said = [f" {name} {written(value)}" if name in takes else f" {name}" for name, value in options]
    return "".join((*said, " --", *(f" {written(each)}" for each in others), "\n"))


_QUERY_FLAGS = {
    "--raw-output": "r",
    "--join-output": "j",
    "--compact-output": "c",
    "--null-input": "n",
    "--exit-status": "e",
    "--slurp": "s",
}


_NAMING: Mapping[str, Callable[[str, Read], Any]] = {
    "--arg": lambda value, read: value,
    "--argjson": lambda value, read: json.loads(value),
    "--slurpfile": lambda value, read: documents(_texts([value], None, read)),
}
"""The options that give a variable of a query a value: a text, JSON, or the documents of a file."""


def _query(arguments: Sequence[str], given: str | None, read: Read) -> str:
    """Print what `jq` finds in a file."""
    rest = list(arguments)
    flags: set[str] = set()
    names: dict[str, Any] = {}
    operands: list[str] = []
    while rest:
        word = rest.pop(0)
        if word in _NAMING:
            name, value = rest.pop(0), rest.pop(0)
            names[f"${name}"] = _NAMING[word](value, read)
        elif word in ("-f", "--from-file"):
            operands.insert(0, re.sub(r"(?m)(?<!\S)#.*", "", _texts([rest.pop(0)], None, read)))
        elif re.fullmatch(r"-[rcejns]+", word):
            flags |= {*word[1:]}
        elif word in _QUERY_FLAGS:
            flags.add(_QUERY_FLAGS[word])
        elif word.startswith("-"):
            raise OutputUnknown
        else:
            operands.append(word)

    def layout(value: Any) -> str:
        if isinstance(value, str) and {"r", "j"} & flags:
            return value
        separators, indent = ((",", ":"), None) if "c" in flags else (None, 2)
        return json.dumps(value, ensure_ascii=False, separators=separators, indent=indent)

    text = None if "n" in flags and not operands[1:] and given is None else _texts(operands[1:], given, read)
    reads: Literal["each", "all", "none"] = "none" if "n" in flags else "all" if "s" in flags else "each"
    found = query(operands[0], text, names, layout=layout, reads=reads)
    if found is None:
        raise OutputUnknown
    return found.replace("\n", "") if "j" in flags else found


def _yq(arguments: Sequence[str], given: str | None, read: Read) -> str:
    """Print what `yq` finds in a file: a text or a number, as it has a layout of its own for the rest."""
    rest = [each for each in arguments if not re.fullmatch(r"-[rej]+|--raw-output|e|eval", each)]
    if not rest or any(each.startswith("-") for each in rest):
        raise OutputUnknown

    def layout(value: Any) -> str:
        if isinstance(value, (dict, list)):
            raise ValueError
        return value if isinstance(value, str) else json.dumps(value)

    found = query(rest[0], _texts(rest[1:], given, read), {}, layout=layout, reads="each")
    if found is None:
        raise OutputUnknown
    return found


TEXT_PROGRAMS: dict[str, TextProgram] = {
    "awk": _awk,
    "basename": _basename,
    "bc": _bc,
    "cut": _cut,
    "egrep": lambda arguments, given, read: _grep(arguments, given, read, extended=True),
    "expr": _expr,
    "gawk": _awk,
    "getopt": _getopt,
    "grep": _grep,
    "head": _head,
    "jq": _query,
    "mawk": _awk,
    "paste": _paste,
    "rev": _by_lines(lambda lines: [line[::-1] for line in lines]),
    "sed": _sed,
    "seq": _seq,
    "sort": _sort,
    "tac": _by_lines(lambda lines: lines[::-1]),
    "tail": lambda arguments, given, read: _head(arguments, given, read, end=True),
    "tr": _tr,
    "uniq": _by_lines(lambda lines: [line for line, _ in groupby(lines)]),
    "wc": _wc,
    # (Without a command it prints the words of its input on a line.)
    "xargs": lambda arguments, given, read: " ".join(shlex.split(_texts((), given, read))) + "\n",
    "yq": _yq,
}


def printed_by(name: str, arguments: Sequence[str], given: str | None, read: Read) -> str | None:
    """Return what a program prints; None where that is not known. Raises TimeoutError where that takes too long."""
    try:
        return TEXT_PROGRAMS[name](arguments, given, read)
    except (OutputUnknown, IndexError, KeyError, ValueError, RecursionError, re.error):
        return None
