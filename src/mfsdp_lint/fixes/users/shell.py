"""Users of an edited piece of a launch script: readers of its variable, callers of its function, who sources it."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.fixes.judged import FixRequest, anchors_of
from mfsdp_lint.fixes.users.derived import is_sourced, is_start, joiner_of, maker_of_another, mentions_of
from mfsdp_lint.inputs.mentions import QUOTING, uncommented
from mfsdp_lint.readers.registry import kind_of
from mfsdp_lint.readers.shell.launch_command import STARTS_NOTHING, may_start
from mfsdp_lint.readers.shell.script import Script

if TYPE_CHECKING:
    from mfsdp_lint.fixes.users import EditUsers

_COMMENT = lazy_pattern(r"(?<=\S)[ \t]+#[^\n]*\s*\Z")
_LINE = lazy_pattern(r"\s*(?:unset|export) (?P<name>\w+)(?:=\S+)?\s*")
_EXPORTING = lazy_pattern(r"(?:export|(?:declare|typeset)\s+-\w*x\w*)\b")
_PRINTING = lazy_pattern(r"(?:declare|typeset|export|readonly|local)\s+-\w*p")
_ALL_EXPORTED = lazy_pattern(r"^\s*set\s+(?:-\w*a\w*|-o\s+allexport)\b", re.MULTILINE)
_ASSIGNS = lazy_pattern(r"\$\{(?P<name>\w+):?=")
"""An expansion that sets a variable that has no value."""
_CODE = lazy_pattern(r"(?:.*/)?(?:python[\d.]*|bash|sh|zsh|make|printenv|env)|.*\.(?:py|sh|bash|ipynb)|\./.*")
"""Words of a command that runs code, which may read every variable that it inherits."""
_PROGRAM = lazy_pattern(r"\$|(?!/(?:usr/)?s?bin/)[^=]*/")
"""The beginning of a command that is a program of somebody's own: a path, or a variable."""
_UNKNOWN = r"\$\{\{[^}\n]*\}\}|\$?\$\{[^}\n]*\}|\$?\$\([^)\n]*\)"
"""A part of a word that is put in when it is run: by a workflow, the shell or make."""
_SOURCING = lazy_pattern(
    rf"(?:\bsource|(?:^|(?<=[\s;&|(\"'{{]))\.)[ \t]+(?P<word>(?:{_UNKNOWN}|\"[^\"\n]*\"|[^\s;&|)\"])+)", re.MULTILINE
)
_BY_OTHER_NAME = lazy_pattern(r"\$\{!\w+(?:[@*]?\}|[:#%/^,])")
"""An expansion of the variable whose name another one holds, or of those whose names begin so."""
_EXPANSION = lazy_pattern(rf"{_UNKNOWN}|\$?\$[\w@*#?]+|`[^`]*`")


@dataclass(frozen=True, slots=True)
class _Changed:
    """A variable that an edit changes (and whether programs inherit it), or a function. Places are offsets."""

    path: str
    start: int
    end: int
    variable: str = ""
    inherited: bool = False
    function: str = ""


def user_of(
    users: EditUsers, request: FixRequest, edit: Edit, settings: Collection[str], alone: str | None = None
) -> str:
    """Return another user of what an edit of a script changes; "" where there is none.

    Of a script in another kind of file `alone` is the text, with blanks for the rest of the file.
    """
    path = edit.span.path
    text = users.texts(path) if alone is None else alone
    if _is_for_one_mode(users, request, path, text, edit):
        return f"{path} has other ways to this launch"
    open_to = next(_left_to_callers(request), "")
    if open_to and (words := next(_words_of_callers(Script.of_file(path, text)), "")):
        return f"whoever starts {path} may give {open_to} ({words})"
    changed = _changed(path, text, edit)
    spans = (edit.span, *anchors_of(request))
    others = users.search(path, ())
    if Lines(text).range(edit.span)[0] == len(text) and (joiner := joiner_of(others, path)):
        return joiner
    pieces = [Lines(users.texts(each.path)).cut(each) for each in spans]
    maker = maker_of_another(others, path, pieces, {each.path for each in spans})
    if maker or changed is None:
        return maker
    compared = _ComparedCommands(users, settings, request)
    if changed.variable:
        for here in sorted(compared.paths | {path}):
            if kind_of(here) == "shell" or here == path:
                found = _reader(changed, here, text if here == path else users.texts(here), compared)
                if found:
                    return found
    launches = {need.recipe.path for need in request.needs}
    waiting, seen = [path], {path, *launches}
    while waiting:
        here = waiting.pop()
        name = os.path.basename(here)
        for other, said in () if name.startswith(".") else others.items():
            if other in seen or not _may_source(said, here, launches=here in launches):
                continue
            if changed.function and not re.search(rf"(?<!\w){re.escape(changed.function)}(?!\w)", said):
                continue
            if other not in compared.paths:
                return f"{other} uses {name}"
            seen.add(other)
            waiting.append(other)
        for other, said in users.search(here, {name}, quoting=True).items():
            if other.endswith(QUOTING) and any(is_sourced(said, each) for each in mentions_of(said, name)):
                return f"{other} uses {name}"
    return ""


def _may_source(text: str, path: str, *, launches: bool) -> bool:
    """Tell whether a text names a script for something else than to start it, or may source it by a pattern."""
    name = os.path.basename(path)
    plain = uncommented(text) if name in text else ""
    if not all(is_start(plain, each) for each in mentions_of(plain, name)):
        return True
    return _sources_by_pattern(text, name, launches=launches) or (not launches and _takes_by_pattern(text, path))


def _left_to_callers(request: FixRequest) -> Iterator[str]:
    """Yield the settings that a finding rests on, and that nobody writes: other words of the launch may do so."""
    for need in request.needs:
        for setting in need.anchors:
            origin = need.variant.origin(setting)
            if setting not in need.named and (origin is None or origin.how == "default" or origin.upstream):
                yield setting


_PASSED_ON = lazy_pattern(
    r"\"?\$\{?[@*].*|(?P<quote>\"?)\$\{?(?P<name>[A-Za-z_]\w*)(?P<all>\[[@*]\])?\}?\"?", re.DOTALL
)


def _words_of_callers(script: Script) -> Iterator[str]:
    """Yield the words of commands, and elements of lists, that whoever starts a script gives, any number at once."""
    assigned = {script.source(each.children[0]) for each in script.nodes() if each.type == "variable_assignment"}
    for node in (each for each in script.nodes() if each.type in ("command", "array")):
        words = [script.source(each) for each in node.named_children if each.type != "command_name"]
        for before, word in zip(["", *words], words, strict=False):
            found = None if before.startswith("-") else _PASSED_ON.fullmatch(word)
            if found is None or found["name"] in assigned or (found["quote"] and not found["all"]):
                continue
            yield word


_CLAUSES = ("if_statement", "elif_clause", "else_clause", "case_item", "list", "expansion")


def _is_for_one_mode(users: EditUsers, request: FixRequest, path: str, text: str, edit: Edit) -> bool:
    """Tell whether the feature is turned on in a clause of a condition, or by a value that a variable need not have,
    and the edit stands outside of it: there it is also for ways that an argument or a variable leads to, of which only
    that of the default is followed.
    """
    start, _ = Lines(text).range(edit.span)
    for span in anchors_of(request):
        there = span.path
        if there != path and kind_of(there) != "shell":
            continue
        said = text if there == path else users.texts(there)
        script = Script.of_file(there, said)
        around = list(_upwards(script.node_at(*Lines(said).range(span))))
        clause = next((each for each in around if each.type in _CLAUSES), None) or _replaced_in_clause(script, around)
        if clause is None:
            continue
        first, last = script.bounds(clause)
        if there != path or not first <= start <= last:
            return True
    return False


def _replaced_in_clause(script: Script, around: Sequence[Node]) -> Node | None:
    """Return the assignment around a place whose variable a clause gives another value: `--ddp) ARGS="" ;;`."""
    own = next((each for each in around if each.type == "variable_assignment"), None)
    if own is None:
        return None
    name = re.escape(script.source(own.children[0]))
    for node in script.nodes():
        if (
            node.type != "variable_assignment"
            or node == own
            or not (said := re.match(rf"{name}=", script.source(node)))
        ):
            continue
        keeps = re.search(rf"\$\{{?{name}(?!\w)", script.source(node)[said.end() :])
        if not keeps and any(each.type in _CLAUSES for each in _upwards(node)):
            return own
    return None


def reader_of(
    users: EditUsers, request: FixRequest, settings: Collection[str], path: str, text: str, variable: str
) -> str:
    """Return the reader of a variable that a whole script has from elsewhere, but for what the proof compares."""
    return _reader(
        _Changed(path, -1, -1, variable, inherited=True), path, text, _ComparedCommands(users, settings, request)
    )


def _sources_by_pattern(text: str, name: str, *, launches: bool) -> bool:
    """Tell whether a text may source a file of this name by a pattern, or by a name that is put together.

    A script that `launches` is not what a wholly unknown name means.
    """
    if "source" not in text and ". " not in text:
        return False
    said = uncommented(text)
    for found in _SOURCING.finditer(said):
        last = re.sub(r"[\"']", "", _EXPANSION.sub("*", found["word"])).rpartition("/")[2]
        if "*" not in last or not fnmatch.fnmatchcase(name, last):
            continue
        if last.strip("*") or not launches:
            return True
    return False


def _takes_by_pattern(text: str, path: str) -> bool:
    """Tell whether a text says the folder of a file with a pattern behind it that means the file, or with nothing: it
    may copy all that is there, join it, or include it.
    """
    folder, name = os.path.split(path)
    if not (above := os.path.basename(folder)) or above not in text:
        return False
    for found in re.finditer(rf"(?<![\w.-]){re.escape(above)}/(?P<word>(?:{_UNKNOWN}|[^\s;&|)\"'/,:])*)(?!/)", text):
        last = _EXPANSION.sub("*", found["word"])
        if not last or ("*" in last and fnmatch.fnmatchcase(name, last)):
            return True
    return False


class _ComparedCommands:
    """The commands that the proof compares: those of launches, and the statements that write the settings.

    `paths` are their files, with those that turn on what a finding is about.
    """

    def __init__(self, users: EditUsers, settings: Collection[str], request: FixRequest) -> None:
        self.lines: dict[str, set[int]] = {}
        needing = {id(need.recipe) for need in request.needs}
        for recipe in users.recipes:
            if id(recipe) in needing:
                self.lines.setdefault(recipe.path, set()).add(recipe.line)
        for recipe, spans in users.writes(settings):
            if id(recipe) in needing:
                for span in spans:
                    self.lines.setdefault(span.path, set()).update(range(span.line, span.end_line + 1))
        self.paths = {*self.lines, *(span.path for span in anchors_of(request))}

    def has(self, path: str, first: int, last: int) -> bool:
        """Tell whether one of these lines is compared."""
        return not self.lines.get(path, set()).isdisjoint(range(first, last + 1))


def _changed(path: str, text: str, edit: Edit) -> _Changed | None:
    """Return what an edit changes for others; None for the words of a single command, or variables of its own."""
    lines = Lines(text)
    start, end = lines.range(edit.span)
    script = Script.of_file(path, text)
    if added := _LINE.fullmatch(edit.text):
        return _Changed(path, start, start, added["name"], inherited=True)
    body = _COMMENT.sub("", text[start:end])
    first = start + len(body) - len(body.lstrip()) if body.strip() else max(start - 1, 0)
    node = script.node_at(first, max(start + len(body.rstrip()), first))
    around = list(_upwards(node))
    if any(each.type in ("comment",) for each in around[:1]):
        return None
    function = next((script.source(each.children[0]) for each in around if each.type == "function_definition"), "")
    statement = next((each for each in around if each.type in ("variable_assignment", "declaration_command")), None)
    command = next((each for each in around if each.type == "command"), None)
    default = next((each for each in around if each.type == "expansion"), None)
    if default is not None and (assigned := _ASSIGNS.match(script.source(default))):
        return _Changed(path, start, end, assigned["name"], bool(_ALL_EXPORTED.search(text)))
    if statement is None:
        words = script.source(command) if command is not None else ""
        if words.startswith("eval") and (named := re.search(r"(\w+)=", body)):
            return _Changed(path, start, end, named[1], inherited="export" in words)
        return _Changed(path, start, end, function=function) if function else None
    if statement.parent is not None and statement.parent.type == "command":
        return None  # for this command alone
    declared = next((each for each in around if each.type == "declaration_command"), None)
    written = re.search(r"(?<!\w)(\w+)\+?=", script.source(statement if declared is None else around[0])) or re.search(
        r"(?<!\w)(\w+)\+?=", body
    )
    assignment = next((each for each in around if each.type == "variable_assignment"), None)
    name = script.source(assignment.children[0]) if assignment is not None else written[1] if written else ""
    exported = declared is not None and bool(_EXPORTING.match(script.source(declared)))
    exported = (
        exported or bool(re.search(rf"\bexport\s[^\n]*\b{re.escape(name)}\b", text)) or bool(_ALL_EXPORTED.search(text))
    )
    outer = script.bounds(statement)
    return _Changed(path, min(start, outer[0]), max(end, outer[1]), name, exported) if name else None


def _upwards(node: Node | None) -> Iterator[Node]:
    while node is not None:
        yield node
        node = node.parent


def _reader(changed: _Changed, path: str, text: str, compared: _ComparedCommands) -> str:
    """Return "PATH uses NAME" where a script reads a changed variable, or runs code that inherits it."""
    script = Script.of_file(path, text)
    if _BY_OTHER_NAME.search(uncommented(text)):
        return f"{path} may use {changed.variable} by another name"
    waiting, seen = [changed.variable], {changed.variable}
    while waiting:
        name = waiting.pop()
        for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", script.text):
            if path == changed.path and changed.start <= found.start() < max(changed.end, changed.start + 1):
                continue
            use = _use(script, script.node_at(*found.span()), path, compared)
            if use is None:
                return f"{path} uses {name}"
            if use and use not in seen:
                seen.add(use)
                waiting.append(use)
    if not changed.inherited:
        return ""
    for node in script.nodes():
        first, last = node.start_point.row + 1, node.end_point.row + 1
        late = (
            path != changed.path
            or script.bounds(node)[0] >= changed.start
            or _in_function(node)
            or _traps(script, node)
        )
        if node.type == "command" and late and not compared.has(path, first, last) and _runs_code(script, node):
            return f"{path} runs {' '.join(script.source(node).split())[:40]}"
    return ""


def _use(script: Script, node: Node | None, path: str, compared: _ComparedCommands) -> str | None:
    """Return the variable that a mention hands the value on to, "" for no use or a compared one; None for another."""
    inner = node
    for each in _upwards(node):
        first, last = each.start_point.row + 1, each.end_point.row + 1
        match each.type:
            case "comment" | "unset_command":
                return ""
            case "variable_assignment":
                target = script.source(each.children[0])
                return "" if inner is each.children[0] or inner == each.children[0] else target.partition("[")[0]
            case "declaration_command":
                return None if _PRINTING.match(script.source(each)) else ""
            case "command" if compared.has(path, first, last):
                return ""
            case "command" | "program" | "test_command":
                return None
        inner = each
    return None


def _in_function(node: Node) -> bool:
    return any(each.type == "function_definition" for each in _upwards(node))


def _traps(script: Script, node: Node) -> bool:
    """Tell whether a command is one for later: what a signal, or the end, starts."""
    return node.type == "command" and script.source(node).startswith("trap ")


def _starts_program(command: str) -> bool:
    """Tell whether a command in a text starts a program of the project, or code that is given to one."""
    words = [each.strip("\"'(){}") for each in command.split()]
    words = [each for each in words if each and "=" not in each]
    return bool(words) and (_PROGRAM.match(words[0]) is not None or any(_CODE.fullmatch(word) for word in words))


def _runs_code(script: Script, command: Node) -> bool:
    words = [script.source(each).strip("\"'") for each in command.named_children if each.type != "variable_assignment"]
    if words[:1] == ["trap"] and len(words) > 1:
        return any(map(_starts_program, re.split(r"[;&|\n]+", words[1])))
    if not words or words[0] in ("source", ".", "cd", "echo", "printf", "cat", "mkdir", "test", "["):
        return False
    starts_others = may_start(words[0]) and not any(map(STARTS_NOTHING.fullmatch, words))
    programs = [each for each in words if not each.startswith("-")] if starts_others else words[:1]
    return any(map(_CODE.fullmatch, words)) or any(map(_PROGRAM.match, programs))
