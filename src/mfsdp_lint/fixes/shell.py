"""Edits of launch scripts: flags and overrides in commands, arrays and texts, and variables of the environment.

A setting and its value → the words that say so on a command line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tree_sitter import Node

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Source, Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.fixes.editor import ABSENT, Absent, Assignments, Editable, Old
from mfsdp_lint.fixes.edits import FileText, path_written
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT, Flag, opposite
from mfsdp_lint.readers.shell.script import Script

_BARE = lazy_pattern(r"[\w@%+=:,./-]+")
"""A word that a shell takes as it stands."""


def bare(value: Plain) -> str | None:
    """Write a value as a word of a script; None if it would need quotes, or is no word."""
    if value is None or isinstance(value, (list, dict)):
        return None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if _BARE.fullmatch(text) else None


def flags_for(path: str, value: Plain) -> Iterator[str]:
    """Yield the flags of Megatron-LM that give a setting a value, those of the newest versions first.

    The proof shows which of them the version at hand has.
    """
    entry = table().entries.get(path)
    told: set[str] = set()
    for core in reversed(table().core_versions):
        for flag in table().setting_flags(entry, core) if entry else ():
            for text in _said(flag, opposite(Known(value)) if entry and entry.inverted else Known(value)):
                if text not in told:
                    told.add(text)
                    yield text


def _said(flag: Flag, value: object) -> Iterator[str]:
    if flag.is_switch:
        if flag.read() == value:
            yield flag.names[0]
        return
    word = bare(value.value) if isinstance(value, Known) else None
    if word is not None and flag.read([word]) == value:
        yield f"{flag.names[0]} {word}"


_OVERRIDE = lazy_pattern(r"(?P<mark>\+{0,2})[A-Za-z_]\w*(?:\.\w+)+=")
_GIVEN = lazy_pattern(r"--[\w-]+=")
_ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*=")
_LITERAL = lazy_pattern(r"[^\s$`\"'\\]+")
_BLOCKS = ("program", "compound_statement", "do_group", "if_statement", "elif_clause", "else_clause", "case_item")
_DECLARING = lazy_pattern(r"(?:export|declare|typeset|readonly)(?:\s+-\w+)*\s+\Z")
_GIVEN_BY = lazy_pattern(r"(?<!\S)(?:-e|--env|-x)[ =][\"']?\Z")
"""Options of containers and of MPI that pass one variable."""
_ENV = lazy_pattern(r"(?<![\w/.-])env[ \t]+\Z")
_VARIABLE = lazy_pattern(r"(?:[ \t]|\\\n)*\"?(?P<word>\$(?:[A-Za-z_]\w*|\{\w+\}))(?![^\s;&|)\"'])")
"""A variable behind a flag, by which its value is written."""
_ENDED = lazy_pattern(r"[ \t]*(?:[\"';&|)\n]|\Z)")
_COMMENT = lazy_pattern(r"[ \t]+#.*")
_CONTINUED = lazy_pattern(r"[ \t]*\\$")


def open_shell(path: str, text: str) -> ShellEdits | None:
    """Open a script for editing; None if its lines end with CR LF, or the grammar cannot parse all of it."""
    if "\r" in text:
        return None
    script = Script.of_file(path, text)
    return None if script.root.has_error else ShellEdits(FileText(path, text), script)


@dataclass(frozen=True, slots=True)
class ShellEdits(Editable):
    """The edits of one script (see `Editable`)."""

    document: FileText
    script: Script

    def replace_value(self, origin: Origin, path: str, value: Plain, old: Old) -> list[Edit] | None:
        """Replace the word behind a flag, an override's or a variable's value, or a bare flag by its opposite."""
        if origin.focus is not None and origin.focus != origin.span:  # which may lie in another file
            return self._word(*self.document.range(origin.focus), value)
        start, end = self.document.range(origin.span)
        given = _GIVEN.match(self.document.text, start, end)
        if given or _lacks_value(self.document.text[start:end], path):
            behind = given.end() if given else end
            variable = _VARIABLE.match(self.document.text, behind)
            if variable and (word := bare(value)) is not None:
                return [self.document.edit(*variable.span("word"), word)]
            return self._word(behind, end, value)
        if path.startswith(ENVIRONMENT) or not self.document.text.startswith("-", start):
            return None
        text = next(flags_for(path, value), None)
        if text is None:
            return self.delete_write(origin, path)  # what is off where nobody gives it
        return [self.document.edit(start, end, text)]

    def replace_source(
        self, source: Source, path: str, value: Plain, old: Old, uses: Collection[Span]
    ) -> list[Edit] | None:
        """Replace the word that a variable holds."""
        return self._word(*self.document.range(source.span), value)

    def assign_after(self, anchor: Origin, setting: str, new: Assignments) -> list[Edit] | None:
        """Add flags or overrides behind an existing one, and variables on a line of their own around the statement."""
        start, end = self.document.range(anchor.span)
        of_environment = [each for each in new if each[0].startswith(ENVIRONMENT)]
        others = [each for each in new if not each[0].startswith(ENVIRONMENT)]
        edits: list[Edit] = []
        if others:
            text = self.document.text[start:end]
            override = _OVERRIDE.match(text)
            words = _words(others, text[: override.end()] if override else "")
            if words is None or not (override or text.startswith("-")) or _lacks_value(text, setting):
                return None
            place = self._behind(start, end)
            edits.append(self.document.edit(place, place, self._between(place) + words))
        if of_environment:
            line = self._line_for(start, end, of_environment)
            if line is None:
                return None
            edits.append(line)
        return edits

    def assign_at_end(self, scope: Origin, new: Assignments) -> list[Edit] | None:
        """Add words at the end of the command that starts the run."""
        command = self._command(scope.span)
        words = None if command is None else _words(new, "")
        if command is None or words is None:
            return None
        end = self.script.bounds(command.children[-1])[1]
        return [self.document.edit(end, end, self._between(end) + words)]

    def assign_for_command(self, command: Origin, new: Assignments) -> list[Edit] | None:
        """Put `env` with the variables in front of the program of the command."""
        node = self._command(command.span)
        name = None if node is None else node.child_by_field_name("name")
        words = [_variable(path, value, "", "-u ") for path, value in new]
        if name is None or None in words or self.script.source(name) in ("eval", "source", ".", "exec"):
            return None
        if node is not None and _is_asked_for(self.script.source(node), new):
            return None
        start, _ = self.script.bounds(name)
        return [self.document.edit(start, start, f"env {' '.join(filter(None, words))} ")]

    def rename(self, origin: Origin, path: str, meant: str) -> list[Edit] | None:
        """Replace the path of an override."""
        return path_written(self.document, origin, path, meant)

    def delete_write(self, origin: Origin, path: str) -> list[Edit] | None:
        """Delete a flag with its value, an override, or the assignment of a variable."""
        start, end = self.document.range(origin.span)
        text = self.document.text[start:end]
        if text.startswith("-") or _OVERRIDE.match(text):
            return [self.document.edit(*self._with_line(start, end), "")]
        if not _ASSIGNMENT.match(text):
            return self._given_out(start, end, path)
        declared = self.script.node_at(start, end)
        while declared is not None and declared.type not in ("declaration_command", "command", *_BLOCKS):
            declared = declared.parent
        if declared is None or declared.type in _BLOCKS:
            return None
        others = [each for each in declared.named_children if not self.script.source(each).startswith("-")]
        alone = declared.type == "declaration_command" and len(others) == 1
        if not alone and _DECLARING.search(self.document.text, 0, start) and _ENDED.match(self.document.text, end):
            return None  # without an assignment it would print every variable
        if not alone:
            behind = re.compile(r"[ \t]*").match(self.document.text, end)
            if _ENDED.match(self.document.text, end):
                start -= len(self.document.text[:start]) - len(self.document.text[:start].rstrip(" \t"))
            return [self.document.edit(start, behind.end() if behind else end, "")]
        block = declared.parent
        # A condition, or the pattern of a case, is a child as well.
        least = 2 if block is not None and block.type in ("do_group", "compound_statement", "else_clause") else 3
        if block is None or (block.type != "program" and block.named_child_count < least):
            return None  # nothing may be left of the block
        return [self.document.edit(*self._with_line(*self.script.bounds(declared)), "")]

    def _given_out(self, start: int, end: int, path: str) -> list[Edit] | None:
        """Take out a variable that one command is given by an option or by `env`; the span is that of its value."""
        given = f"{path.removeprefix(ENVIRONMENT)}="
        text = self.document.text
        quotes = len(text[:start]) - len(text[:start].rstrip("'\""))
        if not path.startswith(ENVIRONMENT) or not text.endswith(given, 0, start - quotes):
            return None
        first, last = start - quotes - len(given), end + quotes
        if option := _GIVEN_BY.search(text, 0, first):
            return [self.document.edit(*self._with_line(option.start(), last), "")]
        if text.startswith(",", last) or text.endswith(",", 0, first):
            behind = text.startswith(",", last)
            return [self.document.edit(first - (not behind), last + behind, "")]
        if not (program := _ENV.search(text, 0, first)):
            return None
        rest = re.compile(r"[ \t]*").match(text, last)
        other = re.compile(r"[ \t]*(?:-|\w+=)").match(text, last)
        return [self.document.edit(first if other else program.start(), rest.end() if rest else last, "")]

    def _word(self, start: int, end: int, value: Plain) -> list[Edit] | None:
        text = self.document.text[start:end]
        start, end = start + len(text) - len(text.lstrip("'\"")), end - len(text) + len(text.rstrip("'\""))
        word = bare(value)
        if word is None or not _LITERAL.fullmatch(self.document.text, start, end):
            return None
        return [self.document.edit(start, end, word)]

    def _command(self, span: Span) -> Node | None:
        """Find the command that begins on the line of a span."""
        place = self.document.range(span)[0]
        first = self.document.text.find(self.document.text[place : self.document.line_end(place)].lstrip(), place)
        node = self.script.node_at(first, first + 1)
        while node is not None and node.type != "command":
            node = node.parent
        return node if node is not None and node.start_point.row == span.line - 1 else None

    def _behind(self, start: int, end: int) -> int:
        """Find the place for another word of a list: behind the quotes around a word of an array, or of a command."""
        node = self.script.node_at(start, end)
        while node is not None and node.type in ("string_content", "word"):
            node = node.parent
        quoted = node is not None and node.type in ("string", "raw_string")
        if node is None or not quoted or self.script.bounds(node) != (start - 1, end + 1):
            return end
        listed = node.parent is not None and node.parent.type in ("array", "command")
        return end + 1 if listed else end

    def _between(self, place: int) -> str:
        """Return the text to put before a new word: the separator before the next word on the line, or a blank."""
        document = self.document
        first, last = document.line_start(place), document.line_end(place)
        row, rest = document.text[first:place], document.text[place:last]
        indentation = row[: len(row) - len(row.lstrip())]
        above = document.text[document.line_start(max(first - 1, 0)) : max(first - 1, 0)]
        if not re.fullmatch(r"[\"']?--?[\w-]+(?:[ =]\S+)?[\"']?", row.strip()):
            return " "
        if _CONTINUED.fullmatch(rest) or _CONTINUED.search(above):
            return f" \\\n{indentation}"
        return f"\n{indentation}" if not rest.strip() else " "

    def _line_for(self, start: int, end: int, new: Assignments) -> Edit | None:
        """Put `export` and `unset` behind the statement of a flag, or in front of the command that it belongs to."""
        node = self.script.node_at(start, end)
        while node is not None and node.parent is not None and node.parent.type not in _BLOCKS:
            if node.type in ("heredoc_body", "string", "raw_string") and node.parent.type != "array":
                return None if node.type == "heredoc_body" else self._around(node, new)
            node = node.parent
        return None if node is None else self._around(node, new)

    def _around(self, node: Node, new: Assignments) -> Edit | None:
        while node.parent is not None and node.parent.type not in _BLOCKS:
            node = node.parent
        lines = [_variable(path, value, "export ", "unset ") for path, value in new]
        first, last = self.script.bounds(node)
        if None in lines or _is_asked_for(self.document.text[first:last], new):
            return None
        indentation = self.document.text[self.document.line_start(first) : first]
        if indentation.strip():
            return None
        text = "".join(f"{indentation}{line}\n" for line in lines)
        place = self.document.next_line(last) if "assignment" in node.type else self.document.line_start(first)
        return self.document.edit(place, place, text)

    def _with_line(self, start: int, end: int) -> tuple[int, int]:
        """Extend a piece to its line if nothing else is on it, and else by the blanks in front of it."""
        document = self.document
        first, last = document.line_start(start), document.line_end(end)
        rest = document.text[end:last]
        alone = _CONTINUED.fullmatch(rest) or _COMMENT.fullmatch(rest) or not rest.strip()
        if document.text[first:start].strip() or not alone:
            blanks = re.compile(r"[ \t]*$").search(document.text, first, start)
            return (blanks.start() if blanks else start), end
        above = document.text[document.line_start(max(first - 1, 0)) : max(first - 1, 0)]
        continued = _CONTINUED.search(above)
        if continued and not _CONTINUED.fullmatch(rest):
            return first - 1 - len(continued[0]), last  # the line above ends the command now
        return first, document.next_line(end)


def _lacks_value(text: str, setting: str) -> bool:
    """Tell whether a text is a flag alone whose value stands behind it."""
    entry = table().entries.get(setting)
    flags = (flag for core in table().core_versions for flag in (table().setting_flags(entry, core) if entry else ()))
    return any(text in flag.names and not flag.is_switch for flag in flags)


def _words(new: Assignments, override: str) -> str | None:
    """Write settings as words in the notation of an override (`++model.x=`), or as flags."""
    found = [_override(path, value, override) if override else _flag(path, value) for path, value in new]
    # Several settings may be of one flag.
    return None if None in found else " ".join(dict.fromkeys(filter(None, found)))


def _flag(path: str, value: Plain | Absent) -> str | None:
    return None if value is ABSENT else next(flags_for(path, value), None)


def _override(path: str, value: Plain | Absent, like: str) -> str | None:
    word = None if value is ABSENT else bare(value)
    mark = like[: len(like) - len(like.lstrip("+"))]
    return None if word is None else f"{mark}{path}={word}"


def _is_asked_for(command: str, new: Assignments) -> bool:
    """Tell whether a variable that would be taken away is named for a job: Bridge's script refuses an unset one."""
    gone = [path.removeprefix(ENVIRONMENT) for path, value in new if value is ABSENT or value is None]
    return "setup_experiment.py" in command and any(
        re.search(rf"--env[ =][\"']?{re.escape(name)}(?![\w=])", command) for name in gone
    )


def _variable(path: str, value: Plain | Absent, sets: str, unsets: str) -> str | None:
    name = path.removeprefix(ENVIRONMENT)
    if value is ABSENT or value is None:
        return f"{unsets}{name}"
    word = bare(value)
    return None if word is None else f"{sets}{name}={word}"
