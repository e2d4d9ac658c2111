"""Texts that files hold, each piece at its place: scalars of YAML, environments, and words of commands as scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.script import Piece, Text, plain, sliced, standing_at
from mfsdp_lint.readers.shell.state import Held, Variable
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Variables = Mapping[str, Variable]

MOST_JOBS = 8
"""Jobs that a matrix makes of one; beyond, what differs between them is not known."""

_SHELLS = lazy_pattern(r"(?:\S*/)?(?:ba|da|k|z)?sh")
_SCRIPT_FOLLOWS = lazy_pattern(r"-\w*c")
_BARE = lazy_pattern(r"[\w@%+=:,./-]+")
"""A word that a shell leaves as it is."""

_FILLED_IN = lazy_pattern(
    r"\$?\{\{.{0,2000}?\}\}|\$\[\[.{0,2000}?\]\]|<<\s*[a-z_]+\.[\w.-]+\s*>>|\$\{[A-Za-z_][\w-]*\.[\w.\[\]-]+\}"
    r"|(?<![/#|,:;!])@[A-Z][A-Z0-9_]*@|\bRef::\w+",
    re.DOTALL,
)
"""Placeholders that GitHub, GitLab, CircleCI, Argo, configure, sed and AWS Batch fill in before a shell sees them.

Behind the sign that parts a command of sed a placeholder is what that command looks for.
"""


def entries(document: YamlDocument, node: Node | None) -> dict[str, Node]:
    """Return the values of a mapping by key; none where the node is no mapping."""
    target = document.follow(node) if node is not None else None
    if not isinstance(target, MappingNode):
        return {}
    return {name: values[-1] for name, values in document.effective(target).items()}


def items(document: YamlDocument, node: Node | None) -> Sequence[Node]:
    """Return the items of a list; any other node is a list of one."""
    target = document.follow(node) if node is not None else None
    if isinstance(target, SequenceNode):
        return target.items
    return () if target is None else (target,)


def mappings(document: YamlDocument, node: Node | None) -> Iterator[MappingNode]:
    """Yield every mapping at and below a node."""
    pending = [node]
    while pending:
        here = pending.pop()
        target = document.follow(here) if here is not None else None
        if isinstance(target, MappingNode):
            yield target
            pending += reversed([value for _, value in target.entries])
        elif isinstance(target, SequenceNode):
            pending += reversed(target.items)


def said(document: YamlDocument, node: Node | None) -> str | None:
    """Return the text of a scalar."""
    target = document.follow(node) if node is not None else None
    return target.text if isinstance(target, ScalarNode) and target.tag != "null" else None


def text_of(document: YamlDocument, node: Node | None, *, templated: bool = True) -> Text:
    """Return a scalar as a text that knows where it is written; empty for a node that is no scalar.

    With `templated`, what is filled in before a shell sees it is not known.
    """
    target = document.follow(node) if node is not None else None
    if not isinstance(target, ScalarNode) or target.tag == "null":
        return ()
    document = document.homes.get(target, document)
    whole = list(_lines_of(document, target)) if target.style == "|" else list(_folded(document, target))
    return template_of_script(tuple(whole)) or tuple(whole) if templated else tuple(whole)


def _folded(document: YamlDocument, scalar: ScalarNode) -> Iterator[Piece]:
    """Return a scalar whose lines are joined to one, each of its words at its place."""
    source = document.lines.text
    if source.find(scalar.text, scalar.start, scalar.end) >= 0 or not scalar.text.strip():
        yield _line_of(document, scalar)
        return
    at = scalar.start
    found: list[Piece] = []
    for part in re.findall(r"\s+|\S+", scalar.text):
        place = at if part.isspace() else source.find(part, at, scalar.end + 1)
        if place < 0:
            yield _line_of(document, scalar)
            return
        end = place if part.isspace() else place + len(part)
        found.append(Piece(part, document.path, document.lines, place, end))
        at = end
    yield from found


def _line_of(document: YamlDocument, scalar: ScalarNode) -> Piece:
    """Return a scalar's line at its place in the file, or somewhere within the scalar's own place."""
    at = document.lines.text.find(scalar.text, scalar.start, scalar.end) if scalar.text else scalar.start
    if at >= 0:
        return Piece(scalar.text, document.path, document.lines, at, at + len(scalar.text))
    return standing_at(scalar.text, Piece("", document.path, document.lines, scalar.start, scalar.end))


def _lines_of(document: YamlDocument, scalar: ScalarNode) -> Iterator[Piece]:
    """Yield the lines of a block; each is in the file, behind blanks."""
    source = document.lines.text
    at = source.find("\n", scalar.start) + 1 or scalar.end
    for line in scalar.text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        found = source.find(bare, at, scalar.end + 1)
        if found < 0:
            yield Piece(line, document.path, document.lines, scalar.start, scalar.end + 1)
            continue
        yield Piece(line, document.path, document.lines, found, found + len(line))
        at = source.find("\n", found + len(bare)) + 1 or scalar.end


def with_holes(piece: Piece) -> Iterator[Piece]:
    """Yield a piece with a HOLE for everything that is filled in before a shell sees it."""
    start = 0
    for found in _FILLED_IN.finditer(piece.text):
        yield piece.cut(start, found.start())
        yield replace(piece.cut(found.start(), found.end()), text=HOLE)
        start = found.end()
    yield piece.cut(start, len(piece.text))


_CONTROL = lazy_pattern(
    r"^[ \t]*(?:\{%[-+]?\s*(?P<jinja>\w+)[^\n]*%\}"
    r"|\{\{-?\s*(?P<go>if|else|end|range|with|define|template)\b[^\n]*\}\}"
    r"|%\{~?\s*(?P<terraform>if|else|endif|for|endfor)\b[^\n]*\})[ \t]*\n",
    re.MULTILINE,
)
_OPENING = {"if": "if", "for": "while", "range": "while", "with": "if"}
_SHELL_OF = {"if": 'if [ "{}" ]; then', "while": 'while [ "{}" ]; do', "elif": 'elif [ "{}" ]; then', "else": "else"}


def with_branches(text: Text) -> Text:
    """Return a template of a script with its branches as those of a shell, whose conditions nobody knows; within a
    command they are words that nobody knows.
    """
    whole = plain(text)
    if not _CONTROL.search(whole):
        return text
    found: list[Piece] = []
    at, inside, was_inside, in_array = 0, 0, False, False
    waiting: list[str] = []
    for control in _CONTROL.finditer(whole):
        kind = control["jinja"] or control["go"] or control["terraform"]
        opens, closes = kind in _OPENING, kind.startswith("end")
        place = next(iter(sliced(text, control.start(), control.end() - 1)))
        if inside:
            inside += opens - closes
            if not inside:
                outside = whole[:at] + whole[control.end() :]
                again = any(flag in outside for flag in re.findall(r"--[\w-]+", whole[at : control.start()]))
                words = replace(place, text=HOLE, option="" if again else "$1").splitting()
                found += [words, replace(place, text=" \n" if in_array else " \\\n")]
                at, was_inside = control.end(), True
            continue
        before = whole[at : control.start()]
        in_array = opens and _is_in_array(whole, control.start())
        is_within = in_array or before.endswith("\\\n") or (was_inside and not before)
        found += sliced(text, at, control.start())
        at, was_inside = control.end(), False
        if opens and is_within:
            inside = 1
            continue
        said = ":"
        if opens:
            waiting.append(_OPENING[kind])
            said = _SHELL_OF[waiting[-1]]
        elif closes and waiting:
            said = "fi" if waiting.pop() == "if" else "done"
        elif kind in ("else", "elif") and waiting:
            said = _SHELL_OF["elif" if " if " in control[0] or kind == "elif" else "else"]
        found.append(replace(place, text=said.format(HOLE) + "\n"))
    return (*found, *sliced(text, at, len(whole)))


def _is_in_array(text: str, place: int) -> bool:
    """Tell whether the elements of an array stand around a place of a script."""
    start = text.rfind("=(", 0, place)
    return start >= 0 and text.count("(", start, place) > text.count(")", start, place)


def template_of_script(text: Text) -> Text:
    """Return a script of which Jinja, or the like, fills in parts."""
    return tuple(each for piece in with_branches(text) for each in with_holes(piece) if each.text)


_PLACEHOLDER_NAME = lazy_pattern(r"[\w-]+(?:\.[\w-]+)*")


_WITH_DEFAULT = lazy_pattern(
    r"""\{\{-?[ ]*\.?(?P<name>[A-Za-z_][\w.-]*)[ ]*\|[ ]*(?:default|d)\b[ ]*\(?[ ]*
    (?:"(?P<double>[^"{}\n]*)"|'(?P<single>[^'{}\n]*)'|`(?P<raw>[^`{}\n]*)`|(?P<bare>[\w./-]+))[ ]*\)?[ ]*-?\}\}""",
    re.VERBOSE,
)
"""A placeholder of Go or Jinja with a default alone."""

_OR = lazy_pattern(r"\$\{\{[ ]*(?P<name>[A-Za-z_][\w.-]*)[ ]*\|\|[ ]*'(?P<said>[^'\n]*)'[ ]*\}\}")
"""A placeholder of GitHub with a text for where it is empty."""


def filled_in(values: Mapping[str, Text], text: Text) -> Text:
    """Fill in the placeholders of a text that have a value, by their name or its last part, else their default, which
    somebody may replace; others are not known.
    """
    found: list[Piece] = []
    for piece in text:
        written = piece.lines.text[piece.start : piece.end] if piece.text == HOLE else ""
        default = _WITH_DEFAULT.fullmatch(written) or _OR.fullmatch(written)
        name = default["name"] if default else written.strip("${}[]<>% \t.").strip()
        value = values.get(name, values.get(name.rpartition(".")[2])) if _PLACEHOLDER_NAME.fullmatch(name) else None
        if default is not None and not plain(value or ()):
            start, end = default.span(default.lastgroup or 0)
            own = (piece.path, piece.lines, piece.start + start, piece.start + end)
            value = (Piece(written[start:end], *own, option=f"${name}"),)
        found += (piece,) if value is None else value
    return tuple(found)


def variable(text: Text) -> Variable:
    """Return a variable of the environment. If its value refers to another variable, only its presence is known."""
    if not text or "$" in plain(text) or HOLE in plain(text):
        return Variable(None, exported=True)
    return Variable((text,), exported=True, written=text[0])


Fill = Callable[[Text], Text]
"""A function that fills in the placeholders of a format."""


def as_it_is(text: Text) -> Text:
    return text


def environment(document: YamlDocument, node: Node | None, fill: Fill = as_it_is) -> dict[str, Variable]:
    """Read an environment: `{NAME: value}`, `[{name: NAME, value: value}]` or `[NAME=value]`."""
    target = document.follow(node) if node is not None else None
    if isinstance(target, MappingNode):
        return {name: variable(fill(text_of(document, value))) for name, value in entries(document, target).items()}
    found: dict[str, Variable] = {}
    for item in items(document, node):
        own = entries(document, item)
        name, equals, _ = (said(document, item) or "").partition("=")
        if own:
            found[said(document, own.get("name")) or ""] = variable(fill(text_of(document, own.get("value"))))
        elif equals:
            first, *rest = text_of(document, item)
            found[name] = variable(fill((first.cut(len(name) + 1, len(first.text)), *rest)))
    return {name: each for name, each in found.items() if name.isidentifier()}


def command(document: YamlDocument, *parts: Node | None, fill: Fill = as_it_is) -> Text:
    """Return a command of words as a script: the text given to a shell, or the words themselves."""
    words = [fill(text_of(document, item)) for part in parts for item in items(document, part)]
    return script_of(words)


def script_of(words: Sequence[Text]) -> Text:
    """Return the script that words start. Single words are quoted, so that a shell would not look into them."""
    if not words or not all(words):
        return ()
    texts = [plain(word) for word in words]
    if _SHELLS.fullmatch(texts[0]):
        for number, text in enumerate(texts[1:-1], 1):
            if _SCRIPT_FOLLOWS.fullmatch(text):
                return words[number + 1]
    return tuple(piece for word in words for piece in (*_quoted(word), added(word[-1], " ")))


def _quoted(word: Text) -> Text:
    if _BARE.fullmatch(plain(word)) or HOLE in plain(word):
        return word
    if "'" not in plain(word):
        return (replace(word[0], text="'", end=word[0].start), *word, added(word[-1], "'"))
    return (added(word[0], HOLE),)


def added(piece: Piece, text: str) -> Piece:
    """Return a text that a shell has to see behind a piece, though the file does not contain it."""
    return replace(piece, text=text, start=piece.end, end=piece.end)


def joined(texts: Sequence[Text], mark: str = "\n") -> Text:
    """Join lines of a script, or parts of a command, that are written one by one."""
    return tuple(piece for text in texts if text for piece in (*text, added(text[-1], mark)))


def held(text: Text, *variables: Variables) -> Iterator[Held]:
    """Yield a script with its environment, the widest first; nothing for an empty script."""
    if text:
        yield Held(text, {name: each for of in variables for name, each in of.items()})


_LINE = lazy_pattern(
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
