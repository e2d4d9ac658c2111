"""Words of a script → what the shell makes of them on one way through it: `$X`, `${X%.*}`, `$((…))`, `{a,b}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tree_sitter import Node

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.patterns_of_files import is_pattern
from mfsdp_lint.readers.shell.script import (
    BREAK,
    EXPANSIONS,
    Piece,
    Script,
    Text,
    known,
    located,
    option,
    placed,
    plain,
    words,
)
from mfsdp_lint.readers.shell.state import ZSH, Runner, State, Variable
from mfsdp_lint.readers.shell.text_changes import VARIABLE_RANGE, braced_words, changed_text, number_of

_ESCAPED = lazy_pattern(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES = lazy_pattern(r'\\([$`"\\\n])')
_ESCAPED_IN_A_DOCUMENT = lazy_pattern(r"\\([$`\\\n])")
_NUMBER = lazy_pattern(r"\$\(\((.*)\)\)", re.DOTALL)
_INNER = lazy_pattern(
    r"(?P<count>\$#|\$\{#\})|\$\{#(?P<length>\w+)\[[@*]\]\}|\$?\{?(?P<name>[A-Za-z_]\w*)\[(?P<index>[^][]+)\]\}?"
)
_IN_KEY = lazy_pattern(r"\$\{?(\w+)\}?")
_IN_ZSH = lazy_pattern(r"\$\{?(?P<split>=?)(?P<name>[A-Za-z_]\w*)(?:\[(?P<index>[^\]]*)\])?\}?")
_LIST = lazy_pattern(r"\$(?:@|\{(?:@|!?\w+\[@\])\})")
"""An expansion that is several words within quotes as well."""

_DEEPEST = 40


_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


_FOLDERS_OF_THE_TREE = frozenset(
    (
        *("PWD", "SLURM_SUBMIT_DIR", "PBS_O_WORKDIR", "LS_SUBCWD", "SGE_O_WORKDIR"),
        *("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "TRAVIS_BUILD_DIR", "BUILDKITE_BUILD_CHECKOUT_PATH"),
        *("CIRCLE_WORKING_DIRECTORY", "BITBUCKET_CLONE_DIR", "BUILD_SOURCESDIRECTORY"),
    )
)
"""Variables with the folder that a script is started in, which is that of a checkout: of bash, of the schedulers
(sbatch(1), qsub(1B), bsub(1), qsub(1)), and of the services that run pipelines."""


_TOP_OF_THE_TREE = lazy_pattern(r"(?:\$\(|`)\s*git\s[^;&|]*\brev-parse\s+--show-toplevel\b[^;&|]*[)`]")
"""The folder of the checkout, as git says it."""

_PRINTS_A_WORD = lazy_pattern(
    r"(?:\$\(|`)(?:[^;&|]*\|)*\s*(?:(?:nproc|hostname|mktemp|uuidgen|whoami)(?:\s+-\S+)*|wc\s+-[lwcm](?:\s*<[^;&|]*)?"
    r"|date(?:\s+-\S+)*\s+[\"']?\+(?:%[YymdHMSsNjFTIuV]|[\w.:/-])+[\"']?)\s*[)`]"
)
"""A command that ends with a program whose output is one word: a number, a name, a time."""


class Expander:
    """Expands words of a script on one way through it; `runner` follows the commands in them."""

    __slots__ = ("runner", "script", "state")

    def __init__(self, runner: Runner, script: Script, state: State) -> None:
        self.runner = runner
        self.script = script
        self.state = state

    def words(self, nodes: list[Node]) -> list[Text]:
        """Expand these nodes into words."""
        found: list[Text] = []
        for node in nodes:
            braced = self._braced(node)
            here = words(self._at_home(node, self.pieces(node)), self._separators()) if braced is None else braced
            found += self._files(node, here) if is_pattern(self.script, node) else here
        self.runner.steps += len(found) >> 5  # a list that doubles is not followed for ever
        return found

    def _files(self, node: Node, patterns: Iterable[Text]) -> list[Text]:
        """Return the files of the tree that patterns of names stand for; of one without any the pattern itself."""
        found: list[Text] = []
        for each in patterns:
            said = located(each)
            names = self.runner.matching(said, self.state) if said else []
            found += [(self.script.made(node, name),) for name in names] or [each]
        return found

    def _separators(self) -> str:
        """Return the characters that part words in what an expansion without quotes gives."""
        variable = self.state.variables.get("IFS")
        said = None if variable is None or variable.unset else known(variable.text or ())
        return " \t\n" if said is None else said

    def text(self, node: Node) -> Text:
        """Expand a node that is not split, as behind `=`."""
        pieces = self._at_home(node, self.pieces(node))
        return tuple(self.script.made(node, " ") if piece is BREAK else piece.splitting(False) for piece in pieces)

    def pieces(self, node: Node) -> list[Piece | None]:
        """Expand one word into pieces; BREAK stands where it becomes several words."""
        if self.runner.expansions > _DEEPEST:
            return [self.hole(node)]
        self.runner.expansions += 1
        try:
            return list(self._pieces(node))
        finally:
            self.runner.expansions -= 1

    def hole(self, node: Node, *, said: str = "", is_word: bool = False) -> Piece:
        """Make a piece whose text is not known."""
        return replace(self.script.made(node, HOLE, option=said), splits=not is_word, is_word=is_word)

    def _pieces(self, node: Node) -> Iterator[Piece | None]:
        match node.type:
            case (
                "word"
                | "number"
                | "variable_name"
                | "regex"
                | "extglob_pattern"
                | "special_variable_name"
                | "file_descriptor"
                | "test_operator"
                | "brace_expression"
            ):
                # An unknown part of a text that is read as a script may be several words.
                for piece in self._literal(*self.script.bounds(node), _ESCAPED):
                    yield piece.splitting() if HOLE in piece.text else piece
            case "raw_string":
                start, end = self.script.bounds(node)
                yield from self.script.cut(start + 1, end - 1) or (self.script.made(node, ""),)
            case "ansi_c_string":
                yield self._ansi(node)
            case "string" | "translated_string":
                yield from self._quoted(node)
            case "command_name":
                for child in node.children:
                    yield from self.pieces(child)
            case "concatenation":
                yield from self._between(node, _ESCAPED)
            case "simple_expansion" | "expansion" if self.state.shell:
                yield from self._in_zsh(node, self.script.source(node))
            case "expansion" if self.script.source(node).startswith("${"):
                yield from self._braces(node)
            case "simple_expansion" | "expansion":
                yield from self._variable(node, self.script.source(node)[1:])
            case "command_substitution":
                found = self.runner.substitute(self.script, node, self.state)
                if found is None and _TOP_OF_THE_TREE.fullmatch(self.script.source(node)):
                    yield replace(self.hole(node), stands=".")
                elif found is None:
                    yield self.hole(node, is_word=bool(_PRINTS_A_WORD.fullmatch(self.script.source(node))))
                else:
                    yield from (piece.splitting() for piece in found)
            case "process_substitution" if self.script.source(node).lstrip().startswith("<"):
                yield self._file_of(node)
            case "arithmetic_expansion":
                value, said = self.number(self.script.source(node)[3:-2])
                yield (
                    self.hole(node, is_word=True) if value is None else self.script.made(node, str(value), option=said)
                )
            case _:
                yield self.hole(node) if node.named_children else self.script.made(node, self.script.source(node))

    def _file_of(self, node: Node) -> Piece:
        """Expand `<(COMMAND)` to the name of a file that has what the command prints."""
        name = f"/dev/fd/{node.start_byte}"
        text = self.runner.substitute(self.script, node, self.state)
        self.state.files[name] = None if text is None else (*text, self.script.made(node, "\n"))
        return self.script.made(node, name)

    def _quoted(self, node: Node) -> Iterator[Piece | None]:
        start, end = self.script.bounds(node)
        inner = [child for child in node.children if child.type in EXPANSIONS]
        first = start + (2 if node.type == "translated_string" else 1)
        found = list(self.mixed(first, end - 1, inner, _ESCAPED_IN_QUOTES))
        yield from found
        if not found and "@" not in self.script.source(node):
            yield self.script.made(node, "")  # nothing is a word within quotes; a list of nothing is none

    def document(self, text: Text) -> Text:
        """Expand a here-document: like a string, in which a quote is a character as any other."""
        if not any(mark in piece.text for piece in text for mark in "$`\\"):
            return text
        script = Script.of_document(text)
        string = script.root
        while string.type != "string" and string.children:
            string = string.children[0]
        if script.bounds(string) != (0, len(script.text)):
            return (replace(text[0], text=HOLE),)
        inside = Expander(self.runner, script, self.state)
        inner = [child for child in string.children if child.type in EXPANSIONS]
        found = inside.mixed(1, len(script.text) - 1, inner, _ESCAPED_IN_A_DOCUMENT)
        return tuple(script.made(string, " ") if piece is BREAK else piece for piece in found)

    def mixed(self, start: int, end: int, inner: list[Node], escape: re.Pattern[str]) -> Iterator[Piece | None]:
        """Yield the pieces of a text with expansions in it, none of which is split."""
        at = start
        for child in inner:
            begins, ends = self.script.bounds(child)
            yield from self._literal(at, begins, escape)
            is_list = _LIST.match(self.script.source(child))
            for piece in self.pieces(child):
                yield piece if piece is BREAK or is_list else piece.splitting(False)
            at = ends
        yield from self._literal(at, end, escape)

    def _between(self, node: Node, escape: re.Pattern[str]) -> Iterator[Piece | None]:
        at, end = self.script.bounds(node)
        for child in node.children:
            begins, ends = self.script.bounds(child)
            yield from self._literal(at, begins, escape)
            yield from self.pieces(child)
            at = ends
        yield from self._literal(at, end, escape)

    def _variable(self, node: Node, name: str) -> Iterator[Piece | None]:
        """Expand `$NAME`, `$1`, `$@`."""
        if name in ("@", "*"):
            # Nobody is known to give the script itself arguments.
            yield from self._listed(node, self.state.arguments or (), star=name == "*")
            return
        if name == "#":
            yield self._length(node, "@", None)
            return
        if name.isdigit():
            yield from self._value(node, name[0])
            yield from (self.script.made(node, name[1:]),) if name[1:] else ()  # `$11` is `${1}1`
            return
        yield from self._value(node, name)

    def _in_zsh(self, node: Node, source: str) -> Iterator[Piece | None]:
        """Expand a variable as zsh does: all elements of an array, and nothing is split but `${=X}` (zshexpn(1)).

        What its options may make of it, and parts of an array that are taken another way than by number, are unknown.
        """
        found = _IN_ZSH.fullmatch(source)
        variable = self.state.variables.get(found["name"]) if found else None
        pieces: Iterator[Piece | None]
        if found is not None and found["split"]:
            yield from self._value(node, found["name"])
            return
        if found is not None and variable is not None and (variable.array or found["index"]):
            elements = self._elements_in_zsh(node, variable, found["index"] or "@")
            pieces = iter([self.hole(node)]) if elements is None else self._listed(node, elements, star=True)
        elif variable is None and found is None and source.startswith("${") and self._names_array(source):
            pieces = iter([self.hole(node)])
        else:
            pieces = self._braces(node) if source.startswith("${") else self._variable(node, source[1:])
        for piece in pieces:
            if piece is BREAK or HOLE in piece.text or not piece.text:
                yield piece
            elif self.state.shell == ZSH or not piece.splits or not re.search(r"\s", piece.text):
                yield piece.splitting(False)
            else:
                yield self.hole(node)

    def _elements_in_zsh(self, node: Node, variable: Variable, index: str) -> Sequence[Text] | None:
        """Return the elements that `$X`, `${X[@]}` or `${X[2]}` has; None where they are not known."""
        elements, behind = variable.elements, self.script.bounds(node)[1]
        is_subscript = self.script.text[behind : behind + 1] == "["  # of `$X[2]`
        if elements is None or is_subscript or not variable.array or self.state.shell != ZSH:
            return None
        if index in ("@", "*"):
            return [each for each in elements if plain(each)]
        if variable.keys is not None:
            return [text for key, text in zip(variable.keys, elements, strict=True) if key == self._key(node)]
        place = self.number(index)[0]
        if not place:
            return None
        return elements[place - 1 : place] if place > 0 else elements[place:][:1]

    def _names_array(self, source: str) -> bool:
        """Tell whether an expansion is of an array of this script."""
        named = re.match(r"\$\{[^A-Za-z_]*(\w+)", source)
        variable = self.state.variables.get(named[1]) if named else None
        return variable is not None and variable.array

    def _listed(self, node: Node, texts: Sequence[Text], *, star: bool) -> Iterator[Piece | None]:
        """Yield the pieces of a list: `"${A[@]}"` is a word for each element, `"${A[*]}"` one word with blanks between
        them, and without quotes all are split. What stands for any number of elements keeps to do so.
        """
        quoted = node.parent is not None and node.parent.type == "string"
        for number, text in enumerate(texts):
            if number:
                yield self.script.made(node, self._separators()[:1]) if quoted and star else BREAK
            yield from (each if HOLE in each.text and each.splits else each.splitting(not quoted) for each in text)

    def _value(self, node: Node, name: str) -> Iterator[Piece]:
        text = self._look_up(name)
        if text is not None:
            yield from (piece.splitting() for piece in text)
            return
        outside = name not in self.state.variables and not self.state.lost and name.isidentifier()
        # Nobody has given the script itself arguments, either.
        outside = outside or (name.isdigit() and self.state.arguments is None)
        hole = self.hole(node, said=f"${name}" if outside else "", is_word=name in ("$", "?"))
        yield replace(hole, stands=".") if outside and name in _FOLDERS_OF_THE_TREE else hole

    def _look_up(self, name: str) -> Text | None:
        """Look up the text of a parameter; return None where it is not known."""
        if name.isdigit() and name != "0":
            place = int(name) - 1
            if self.state.arguments is None:
                return None
            return self.state.arguments[place] if place < len(self.state.arguments) else ()
        variable = self.state.variables.get(name)
        if variable is None:
            return None
        return () if variable.unset else variable.text

    def _is_set(self, name: str, *, to_something: bool) -> bool | None:
        """Tell whether `${NAME:-…}` takes the variable; return None where that is not known."""
        if name in ("@", "*"):
            return bool(self.state.arguments)
        if name.isdigit():
            if self.state.arguments is None:
                return False  # nobody is known to give the script itself arguments
            text = self._look_up(name)
            given = int(name) <= len(self.state.arguments)
            return given and (not to_something or bool(plain(text or ())))
        variable = self.state.variables.get(name)
        if variable is None:
            return None if self.state.lost else False
        if variable.unset:
            return False
        if variable.words is None:
            return None
        text = variable.text
        if not to_something:
            return True
        if text and plain(text) and not plain(text).strip(HOLE):
            return None  # what is nothing but a hole may be nothing
        return bool(text and plain(text))

    def _braces(self, node: Node) -> Iterator[Piece | None]:
        """Expand `${…}`."""
        source = self.script.source(node)
        found = re.match(
            r"\$\{(?P<mark>[#!]?)(?P<name>\w+|[@*])(?:\[(?P<index>[^\]]*)\])?(?P<rest>.*)\}$", source, re.DOTALL
        )
        if found is None:
            yield self.hole(node)
            return
        mark, name, index, rest = found["mark"], found["name"], found["index"], found["rest"]
        is_list = index in ("@", "*") or name in ("@", "*")
        if mark == "#":
            yield self._length(node, name, index)
        elif mark == "!":
            if index in ("@", "*") and not rest:
                yield from self._keys_of(node, name, index)
            else:
                yield from (self._indirect(node, name) if not rest and index is None else [self.hole(node)])
        elif not rest:
            yield from self._element(node, name, index)
        elif rest[0] in ":-=+?" and rest.lstrip(":")[:1] in ("-", "=", "+", "?"):
            yield from self._default(node, name, index, rest)
        elif is_list:
            yield from self._changed_list(node, name, "*" in (name, index), self._with_values(rest))
        else:
            text = tuple(piece for piece in self._element(node, name, index) if piece is not None)
            yield from self._changed(node, text, self._with_values(rest))

    def _with_values(self, change: str) -> str | None:
        """Fill in the variables of a change, and what is calculated in it; None where one is not known."""
        if change[0] == ":" and re.search(r"[A-Za-z_]", change):
            numbers = [
                self.number(re.sub(r"^\$\(\((.*)\)\)$", r"\1", each.strip()))[0] for each in change[1:].split(":")
            ]
            return None if None in numbers else ":" + ":".join(map(str, numbers))
        unknown = False

        def value(found: re.Match[str]) -> str:
            nonlocal unknown
            text = self._look_up(found[1] or found[2])
            unknown = unknown or text is None or known(text) is None
            return plain(text or ())

        filled = re.sub(r"\$(?:\{(\w+)\}|(\w+))", value, change)
        return None if unknown or "$" in filled or "`" in filled else filled

    def _changed_list(self, node: Node, name: str, star: bool, change: str | None) -> Iterator[Piece | None]:
        """Expand `${A[@]:1}`, `${A[@]/#/--}`, `${@:2}`."""
        elements = (self.state.arguments or ()) if name in ("@", "*") else self.state.elements(name)
        if (
            change is None
            or elements is None
            or (sliced := re.fullmatch(r":(-?\d+)(?::(\d+))?|[^:].*", change)) is None
        ):
            yield self.hole(node)
            return
        if change[0] == ":":
            whole = [(self.script.made(node, "bash"),), *elements] if name in ("@", "*") else list(elements)
            start = int(sliced[1])
            kept = whole[start:][: None if sliced[2] is None else int(sliced[2])]
        else:
            kept = [tuple(self._changed(node, each, change)) for each in elements]
        yield from self._listed(node, kept, star=star)

    def _length(self, node: Node, name: str, index: str | None) -> Piece:
        if name in ("@", "*"):
            given = self.state.arguments
            return self.hole(node, is_word=True) if given is None else self.script.made(node, str(len(given)))
        variable = self.state.variables.get(name)
        if variable is None or variable.words is None:
            return self.hole(node, is_word=True)
        if index in ("@", "*"):
            return self.script.made(node, str(len(variable.words)))
        text = plain(variable.text or ())
        return self.hole(node, is_word=True) if HOLE in text else self.script.made(node, str(len(text)))

    def _indirect(self, node: Node, name: str) -> Iterator[Piece]:
        named = plain(self._look_up(name) or (self.hole(node),))
        if HOLE in named or not named.isidentifier():
            yield self.hole(node)
        else:
            yield from self._value(node, named)

    def _element(self, node: Node, name: str, index: str | None) -> Iterator[Piece | None]:
        if name in ("@", "*"):
            yield from self._variable(node, name)
            return
        if index is None:
            yield from self._value(node, name)
            return
        elements = self.state.elements(name)
        variable = self.state.variables.get(name)
        if variable is not None and variable.keys is not None and elements is not None and index not in ("@", "*"):
            yield from self._entry(node, dict(zip(variable.keys, elements, strict=True)))
            return
        place = None if elements is None or index in ("@", "*") else self.number(index)[0]
        if elements is not None and index in ("@", "*"):
            yield from self._listed(node, elements, star=index == "*")
        elif elements is not None and place is not None and place >= -len(elements):
            found = elements[place] if place < len(elements) else ()
            yield from (piece.splitting() for piece in found)
        else:
            outside = name not in self.state.variables and not self.state.lost and index in ("@", "*")
            yield self.hole(node, said=f"${name}" if outside else "")

    def _key(self, node: Node) -> str | None:
        """Return the key of `${NAME[key]}`; None where it is not known."""
        subscript = next((child for child in node.named_children if child.type == "subscript"), None)
        inner = subscript.child_by_field_name("index") if subscript is not None else None
        return None if inner is None else known(self.text(inner))

    def _entry(self, node: Node, entries: dict[str, Text]) -> Iterator[Piece]:
        key = self._key(node)
        if key is None:
            yield self.hole(node)
        else:
            yield from (piece.splitting() for piece in entries.get(key, ()))

    def _keys_of(self, node: Node, name: str, index: str) -> Iterator[Piece | None]:
        """Expand `${!NAME[@]}`."""
        variable = self.state.variables.get(name)
        if variable is None or variable.words is None:
            yield self.hole(node)
            return
        keys = variable.keys if variable.keys is not None else map(str, range(len(variable.words)))
        yield from self._listed(node, [(self.script.made(node, key),) for key in keys], star=index == "*")

    def _default(self, node: Node, name: str, index: str | None, rest: str) -> Iterator[Piece | None]:
        """Expand `${X:-d}` and its kin."""
        operator = rest[:2] if rest[0] == ":" else rest[0]
        is_set = self._is_set(name, to_something=operator[0] == ":")
        variable = self.state.variables.get(name)
        if index is not None and variable is not None and variable.keys is not None and variable.words is not None:
            entry = dict(zip(variable.keys, variable.words, strict=True)).get(self._key(node) or "")
            is_set = entry is not None and (operator[0] != ":" or bool(plain(entry)))
            is_set = is_set if self._key(node) is not None else None
        kind = operator[-1]
        start, end = self.script.bounds(node)
        word_start = start + self.script.text[start:end].index(operator, 2 + len(name)) + len(operator)
        inner = [
            child for child in node.children if self.script.offset(child.start_byte) >= word_start and child.type != "}"
        ]
        from_outside = name not in self.state.variables and not self.state.lost
        if kind == "+":
            if is_set:
                yield from self._word_of(word_start, end - 1, inner)
            elif is_set is None:
                yield self.hole(node)
            return
        if kind == "?":
            yield from self._required(node, name, index, is_set=is_set)
            return
        if is_set:
            yield from self._element(node, name, index)
            return
        if is_set is None:
            yield self.hole(node)
            return
        said = f"${name}" if from_outside or name.isdigit() else ""
        default = list(self._word_of(word_start, end - 1, inner))
        marked = [piece if piece is BREAK else replace(piece, option=piece.option or said) for piece in default]
        if not marked and said:
            marked = [self.script.made(node, "", option=said).splitting()]  # nothing, but somebody may give something
        if kind == "=" and name.isidentifier():
            text = tuple(piece for piece in marked if piece is not None)
            exported = self.state.exports_all or self.state.exports(name)
            self.state.set(name, Variable((text,), exported=exported, written=text[0] if text else None))
        yield from marked

    def _required(self, node: Node, name: str, index: str | None, *, is_set: bool | None) -> Iterator[Piece | None]:
        """Expand `${X:?message}`, which ends the script where X is missing: a script is read as started properly, so
        that X is taken as given if a person can give it.
        """
        if is_set is not False:
            yield from self._element(node, name, index)
        elif giver := self._giver(node, name):
            self.state.requires = tuple(dict.fromkeys((*self.state.requires, giver)))
            missing = self.hole(node, said=giver)
            if name in self.state.variables:
                self.state.set(name, replace(self.state.variables[name], words=((missing,),), array=False))
            yield missing
        else:
            self.state.leaving = ("exit",)
            yield self.hole(node)

    def _giver(self, node: Node, name: str) -> str:
        """Return the variable or argument by which a person gives a missing parameter: from outside, or in the file
        that leaves it empty. Return "" where another script surely gives none.
        """
        if name.isdigit():
            return f"${name}" if self.state.arguments is None else ""
        variable = self.state.variables.get(name)
        if variable is None:
            return f"${name}"
        here = variable.written is not None and variable.written.path == self.script.span(node).path
        return option(variable.text or ()) or (f"${name}" if here and not variable.unset else "")

    def _word_of(self, start: int, end: int, inner: list[Node]) -> Iterator[Piece | None]:
        """Expand the word of a default: its unquoted parts are split, as an expansion is."""
        number = _NUMBER.fullmatch(self.script.text, start, end)
        if number and not any(child.type == "arithmetic_expansion" for child in inner):
            # The grammar does not know arithmetic here.
            value, said = self.number(number[1])
            yield replace(
                self.script.cut(start, end)[0], text=HOLE if value is None else str(value), splits=True, option=said
            )
            return
        at = start
        for child in inner:
            begins, ends = self.script.bounds(child)
            if begins < at:
                continue
            yield from (piece.splitting() for piece in self._literal(at, begins, _ESCAPED))
            for piece in self._at_home(child, self.pieces(child)):
                is_plain = child.type in ("word", "number", "regex", "variable_name", "concatenation")
                yield piece.splitting() if piece is not None and is_plain else piece
            at = ends
        yield from (piece.splitting() for piece in self._literal(at, end, _ESCAPED))

    def _changed(self, node: Node, text: Text, change: str | None) -> Iterator[Piece]:
        """Expand `${X%.*}`, `${X//a/b}`, `${X,,}`: the result is known where the text and the pattern are known."""
        found = None if change is None or HOLE in plain(text) else changed_text(plain(text), change)
        if found is None:
            path = None if change is None else located(text)
            folder = path and change and changed_text(path if "/" in path else f"./{path}", change)
            yield replace(self.hole(node), stands=folder or "")  # `${BASH_SOURCE%/*}`
        else:
            pieces = placed(found, [text], lambda part: self.script.made(node, part)) or (self.script.made(node, ""),)
            yield from (replace(piece, splits=True, option=piece.option or option(text)) for piece in pieces)

    def number(self, source: str) -> tuple[int | None, str]:
        """Return an arithmetic expression's value, None if it is not known, and the environment variable behind it."""
        said: list[str] = []
        source = _INNER.sub(self._inner_number, source)

        def value(name: str) -> str | None:
            text = self._look_up(name) or ()
            said.append(option(text))
            return known(text) or None

        return number_of(source, value), next(filter(None, said), "")

    def _inner_number(self, found: re.Match[str]) -> str:
        """Return the number behind `$#`, `${#A[@]}` or `${A[i]}` within arithmetic, or the same text if not known."""
        if found["count"]:
            return found[0] if self.state.arguments is None else str(len(self.state.arguments))
        variable = self.state.variables.get(found["length"] or found["name"])
        if variable is None or variable.words is None:
            return found[0]
        if found["length"]:
            return str(len(variable.words))
        if variable.keys is not None:
            entries = dict(zip(variable.keys, variable.words, strict=True))
            key = _IN_KEY.sub(lambda inner: known(self._look_up(inner[1]) or ()) or HOLE, found["index"].strip("\"'"))
            text = entries.get(key)
            return found[0] if HOLE in key else "0" if text is None else known(text) or found[0]
        place, _ = self.number(found["index"])
        inside = place is not None and -len(variable.words) <= place < len(variable.words)
        return (known(variable.words[place]) if inside and place is not None else None) or found[0]

    def _literal(self, start: int, end: int, escape: re.Pattern[str]) -> Iterator[Piece]:
        """Yield literal text without the backslashes that quote; at the end of a line they join it with the next."""
        at = start
        for found in escape.finditer(self.script.text, start, end):
            yield from self.script.cut(at, found.start())
            at = found.end()
            if found[1] != "\n":
                yield from self.script.cut(found.start(1), at)
        yield from self.script.cut(at, end)

    def _ansi(self, node: Node) -> Piece:
        inner = self.script.source(node)[2:-1]
        escapes = re.findall(r"\\(.)", inner, re.DOTALL)
        if any(each not in _ANSI for each in escapes):
            return self.script.made(node, HOLE)
        return self.script.made(node, re.sub(r"\\(.)", lambda found: _ANSI[found[1]], inner, flags=re.DOTALL))

    def _at_home(self, node: Node, pieces: list[Piece | None]) -> list[Piece | None]:
        """Replace a leading `~` by a home folder that is not known."""
        first = pieces[0] if pieces else BREAK
        if first is BREAK or not re.match(r"~(?:/|$)", self.script.source(node)) or not first.text.startswith("~"):
            return pieces
        home = self.script.made(node, HOLE, option="$HOME")
        return [home, first.cut(1, len(first.text)), *pieces[1:]] if len(first.text) > 1 else [home, *pieces[1:]]

    def _braced(self, node: Node) -> list[Text] | None:
        """Return the words that braces make of one word; None where it has no braces."""
        if node.type not in ("word", "concatenation", "brace_expression"):
            return None
        source = self.script.source(node)
        parts = node.children if node.type == "concatenation" else [node]
        plain_parts = [child for child in parts if child.type in ("word", "number", "brace_expression")]
        marks = "".join(self.script.source(child) for child in plain_parts)
        if "{" not in marks or not ("," in marks or ".." in marks) or "\\" in marks:
            return None
        if "," not in marks and len(plain_parts) < len(parts) and VARIABLE_RANGE.search(source):
            return None  # braces are expanded before variables are
        texts = braced_words(source) if len(plain_parts) == len(parts) else None
        if texts is None:
            return [(self.script.made(node, HOLE).splitting(),)]
        return None if texts == [source] else [(self.script.made(node, text),) for text in texts]
