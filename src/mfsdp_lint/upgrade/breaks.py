"""Breaks: names of the library that a release lacks, and arguments that it does not take, with the edits.

An argument that a recipe does not take any more is written as the settings that it made: the old release says which
these are, asked with the argument and without it. Nothing is known by the names of arguments.
"""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Recipe, Span
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.values import CWD, NONE, NOT_NONE, Known, Plain, same, spell
from mfsdp_lint.fixes.edits import LINE_END
from mfsdp_lint.fixes.judged import equal
from mfsdp_lint.inputs.dependents import Importers, TooMany
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.upgrade.library import Library, LibraryCall, Name
from mfsdp_lint.upgrade.names import CallUse, FileNames, MemberUse, NameUse, keywords
from mfsdp_lint.upgrade.successors import Candidate, Succession, successor_of

Kind = Literal["name", "module", "argument", "setting", "raises", "unfollowed", "script"]

PROBE = 918273645
"""A number that no recipe has: what a recipe makes of it shows where an argument goes."""


@dataclass(frozen=True, slots=True)
class Break:
    """A place that does not work in the new release, and what to write there.

    `message` says what is gone, `successor` what took its place, `candidates` what may have. `edits` are the proposed
    change; `reason` says why there is none, or how the successor is known. `recipes` are the recipes that it stops, as
    far as that is known.
    """

    kind: Kind
    span: Span
    what: str
    message: str
    successor: str = ""
    candidates: tuple[Candidate, ...] = ()
    edits: tuple[Edit, ...] = ()
    reason: str = ""
    recipes: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[Span, str]:
        """Sort by place."""
        return self.span, self.what


def library_breaks(files: Iterable[FileNames], old: Library, new: Library) -> Iterator[Break]:
    """Yield the breaks of names and arguments in files."""
    for file in files:
        yield from _FileBreaks(file, old, new).breaks()


class _FileBreaks:
    def __init__(self, file: FileNames, old: Library, new: Library) -> None:
        self._file, self._old, self._new = file, old, new
        self._lines = Lines(file.text)
        self._calls: dict[Name, list[CallUse]] = defaultdict(list)
        for call in file.calls:
            self._calls[call.function].append(call)

    def breaks(self) -> Iterator[Break]:
        became: dict[Name, Succession] = {}
        for use in dict.fromkeys(self._file.names):
            if use.name is None:
                if self._old.has(use.module) and not self._new.has(use.module):
                    yield self._gone_module(use)
            elif self._is_gone(use.module, use.name):
                name = use.module, use.name
                if name not in became:
                    became[name] = self._succession(name)
                yield self._gone_name(use, became[name])
        for call in self._file.calls:
            found = became.get(call.function)
            target = call.function if found is None else found.successor
            if target is not None:
                yield from self._arguments(call, target)
        for member in self._file.members:
            yield from self._member(member)

    def _is_gone(self, module: str, name: str) -> bool:
        return self._old.has(module, name) and self._old.has(module) and not self._new.has(module, name)

    # -- names --------------------------------------------------------------------------------------------------------

    def _succession(self, name: Name) -> Succession:
        """Find what became of a name, in every call of the file: one answer, or none."""
        calls: Sequence[CallUse | None] = self._calls.get(name) or [None]
        found: dict[Name | None, Succession] = {}
        for call in calls:
            given = () if call is None else tuple((key, text) for key, text in _literals(call.node).items())
            one = successor_of(LibraryCall(name, given), self._old, self._new, name[0])
            if one.successor is None and given:
                one = successor_of(LibraryCall(name), self._old, self._new, name[0])
            found.setdefault(one.successor, one)
        if len(found) == 1:
            return next(iter(found.values()))
        candidates = tuple(each for one in found.values() for each in one.candidates)
        return Succession(None, candidates, why="its calls have different successors")

    def _gone_name(self, use: NameUse, found: Succession) -> Break:
        what = f"{use.module}.{use.name}"
        message = f"{what} is gone"
        if found.successor is None:
            reason = found.why or "nothing in the new release is known to have taken its place"
            return Break("name", use.span, what, message, candidates=found.candidates, reason=reason)
        edits = self._renamed(use, found.successor)
        reason = "" if edits else "the import has a form that is not edited"
        return Break(
            "name",
            use.span,
            what,
            message,
            ".".join(found.successor),
            found.candidates,
            tuple(edits),
            reason or found.why,
        )

    def _gone_module(self, use: NameUse) -> Break:
        what = f"module {use.module}"
        return Break("module", use.span, what, f"{what} is gone", reason="its names may be in several modules now")

    def _member(self, use: MemberUse) -> Iterator[Break]:
        """Yield the member of an enumeration that the new release lacks; the one with its value takes its place."""
        then, now = self._old.members(use.owner), self._new.members(use.owner)
        if use.name not in then or not now or use.name in now:
            return
        alike = [name for name, value in now.items() if name not in then and value == then[use.name]]
        what = f"{'.'.join(use.owner)}.{use.name}"
        if len(alike) != 1:
            yield Break("name", use.span, what, f"{what} is gone", reason=f"there are {', '.join(now)}")
            return
        edits = (Edit(use.span, alike[0]),)
        yield Break(
            "name", use.span, what, f"{what} is gone", alike[0], edits=edits, reason="the member with its value"
        )

    def _renamed(self, use: NameUse, to: Name) -> list[Edit]:
        """Return the edits that import another name in place of one, and use it; empty where that is not certain."""
        module, name = to
        node = use.statement
        if not isinstance(node, ast.ImportFrom):
            return [Edit(use.span, name)] if module == use.module else []
        if module == use.module:
            return self._name_edits(use, name)
        start, end = self._range(node)
        text = self._file.text[start:end]
        if len(node.names) == 1:
            place = re.match(r"from\s+([\w.]+)", text)
            if place is None:
                return []
            span = self._lines.span(self._file.path, start + place.start(1), start + place.end(1))
            return [Edit(span, module), *self._name_edits(use, name)]
        # One of several names: its own import stands before the others', which keep theirs.
        taken_out = self._without(node, use)
        if taken_out is None or self._file.text[self._lines.offset(node.lineno, 1) : start].strip():
            return []
        uses = self._name_edits(use, name)[1:]
        alias = "" if uses or use.local == name else f" as {use.local}"
        indent = self._file.text[self._lines.offset(node.lineno, 1) : start]
        line = f"from {module} import {name}{alias}{self._newline}{indent}"
        return [Edit(self._lines.span(self._file.path, start, start), line), taken_out, *uses]

    def _name_edits(self, use: NameUse, name: str) -> list[Edit]:
        """Return the edits that write another name in an import, and wherever the file uses it."""
        if name == use.name:
            return []
        own = use.local == use.name
        if own and use.uses is not None and not self._is_handed_on(use.local):
            return [Edit(use.span, name), *(Edit(span, name) for span in use.uses)]
        return [Edit(use.span, f"{name} as {use.local}" if own else name)]

    def _is_handed_on(self, local: str) -> bool:
        """Tell whether others may import the name from this file, or find it by its text."""
        by_text = re.search(rf"""["']{re.escape(local)}["']""", self._file.text)
        if os.path.basename(self._file.path) == "__init__.py" or by_text is not None:
            return True
        try:
            users = [path for path in Importers().of([self._file.path]) if path != self._file.path]
        except TooMany:
            return True
        return any(re.search(rf"\b{re.escape(local)}\b", Sources().text_or_none(path) or "") for path in users)

    def _without(self, node: ast.ImportFrom, use: NameUse) -> Edit | None:
        """Return the edit that takes a name out of an import of several; None where a comment is in the way."""
        spans = [self._lines.of_beginning(self._file.path, alias, alias.name) for alias in node.names]
        at = spans.index(use.span)
        following = node.names[at + 1] if at + 1 < len(node.names) else None
        if following is not None:
            start, end = self._range(node.names[at])[0], self._range(following)[0]
        else:
            start, end = self._range(node.names[at - 1])[1], self._range(node.names[at])[1]
        if "#" in self._file.text[start:end]:
            return None
        return Edit(self._lines.span(self._file.path, start, end), "")

    def _range(self, node: ast.stmt | ast.expr | ast.alias) -> tuple[int, int]:
        return self._lines.range(self._lines.of_node(self._file.path, node))

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self._file.text else "\n"

    # -- arguments ----------------------------------------------------------------------------------------------------

    def _arguments(self, call: CallUse, now: Name) -> Iterator[Break]:
        """Yield the arguments of a call that are not taken any more; the edits are with the first."""
        taken, took = self._new.takes(now), self._old.takes(call.function)
        given = keywords(call.node)
        if taken is None:
            return
        gone = [name for name in given if name not in taken and (took is None or name in took)]
        if not gone:
            return
        found = self._carried(call, now, gone)
        for name in gone:
            span = self._lines.of_beginning(self._file.path, given[name], name)
            what = f"{call.function[1]}({name}=)"
            message = f"{now[1]}() takes no argument {name}"
            if isinstance(found, str):
                yield Break("argument", span, what, message, reason=found)
                continue
            mine = found.settings.get(name, ())
            successor = ", ".join(mine) or ("no setting: it changed nothing" if found.edits else "")
            yield Break("argument", span, what, message, successor, edits=found.edits)

    def _carried(self, call: CallUse, now: Name, gone: Sequence[str]) -> _Carried | str:
        """Write the arguments that are gone as settings behind the call; or say why that is not possible."""
        entry = self._old.entry(call.function)
        if entry is None or entry[0] != "function":
            return "it is for a person to say what sets it now"
        probes = _Probes(call.node, gone, self._file.text)
        kept = LibraryCall(call.function, probes.kept)
        for name in probes.open:
            numbers, texts = ((*probes.kept, (name, spell(value))) for value in (PROBE, f"probe{PROBE}"))
            as_number, as_text = self._old.evaluated(LibraryCall(call.function, each) for each in (numbers, texts))
            probes.decide(name, is_text=not _shows(as_number, PROBE) and _shows(as_text, f"probe{PROBE}"))
        base, probe = self._old.evaluated((kept, LibraryCall(call.function, (*probes.kept, *probes.given))))
        if base is None or probe is None:
            return "what it sets could not be worked out"
        (after,) = self._new.evaluated([LibraryCall(now, probes.kept)])
        taken = set() if after is None else set(after.paths())
        made = [path for path in probe.paths() if _is_made(path, base, probe, after)]
        if made:
            return f"it also makes {made[0]}"
        lines: dict[str, str] = {}
        settings: dict[str, list[str]] = defaultdict(list)
        for path in probe.paths():
            value, default = probe.setting(path).value, base.setting(path).value
            if not isinstance(value, Known) or equal(value, default):
                continue
            if path.rpartition(".")[2].startswith("_") or (after and equal(after.setting(path).value, value)):
                continue
            if after is not None and path not in taken:
                settings[next(iter(probes.said(value.value)[1]), gone[0])].append(f"{path}, which is gone")
                continue
            text, names = probes.said(value.value)
            if text is None:
                return f"it also decides {path}, which is {spell(value.value)}"
            lines[path] = text
            for name in names or gone:
                settings[name].append(path)
        edits = self._edits(call, gone, lines)
        if isinstance(edits, str):
            return edits
        wants_os = any(text.startswith("os.path.") for text in lines.values())
        return _Carried((*self._import_of_os(), *edits) if wants_os else edits, settings)

    def _import_of_os(self) -> Iterator[Edit]:
        """Yield the edit that imports `os` before everything else that the file imports, unless it does already."""
        imports = [node for node in self._file.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        if any(isinstance(node, ast.Import) and ("os", None) in _aliases(node) for node in imports):
            return
        first = next(node for node in imports if getattr(node, "module", "") != "__future__")
        start = self._lines.offset(first.lineno, 1)
        yield Edit(self._lines.span(self._file.path, start, start), f"import os{self._newline}")

    def _edits(self, call: CallUse, gone: Sequence[str], lines: Mapping[str, str]) -> tuple[Edit, ...] | str:
        """Return the edits that take arguments out of a call and write settings behind it; or why there are none."""
        node, owner = call.node, call.owner
        start, end = self._range(node)
        _, function_end = self._range(node.func)
        kept = [each for each in (*node.args, *node.keywords) if getattr(each, "arg", None) not in gone]
        remarks = self._comments(function_end, end)
        if remarks and kept:
            return "comments stand between its arguments"
        given = ", ".join(ast.get_source_segment(self._file.text, each) or "" for each in kept)
        shortened = Edit(self._lines.span(self._file.path, function_end, end), f"({given})")
        if not (lines or remarks):
            return (shortened,)
        if owner is None:
            return "the call has no name: what it sets would be written behind it"
        first, last = self._range(owner)
        indent = self._file.text[self._lines.offset(owner.lineno, 1) : first]
        end_of_line = self._end_of_line(last)
        rest = self._file.text[last:end_of_line].strip()
        if indent.strip() or (rest and not rest.startswith("#")):
            return "the call shares its line with other statements"
        returned = isinstance(owner, ast.Return)
        name = self._new_name(owner) if returned else _only_target(owner)
        if name is None:
            return "the call has no name of its own: what it sets would be written behind it"
        rows = (*remarks, *(f"{name}.{path} = {text}" for path, text in lines.items()))
        written = "".join(f"{self._newline}{indent}{row}" for row in rows)
        if not returned:
            return shortened, Edit(self._lines.span(self._file.path, end_of_line, end_of_line), written)
        return (
            Edit(self._lines.span(self._file.path, first, start), f"{name} = "),
            shortened,
            Edit(self._lines.span(self._file.path, last, last), f"{written}{self._newline}{indent}return {name}"),
        )

    def _comments(self, start: int, end: int) -> list[str]:
        """Return the comments between the brackets of a call."""
        found = tokenize.generate_tokens(io.StringIO(self._file.text[start:end]).readline)
        return [token.string for token in found if token.type == tokenize.COMMENT]

    def _new_name(self, owner: ast.stmt) -> str:
        """Return a name for a configuration that the function around a statement does not use yet."""
        above = self._file.text[: self._range(owner)[0]].rpartition("def ")[2]
        return next((each for each in ("cfg", "config") if not re.search(rf"\b{each}\b", above)), "recipe_config")

    def _end_of_line(self, offset: int) -> int:
        found = LINE_END.search(self._file.text, offset)
        return found.start() if found else len(self._file.text)


def _aliases(node: ast.Import) -> list[tuple[str, str | None]]:
    return [(alias.name, alias.asname) for alias in node.names]


def _only_target(owner: ast.stmt) -> str | None:
    """Return the name that a statement gives its value, if it is one name alone."""
    targets = (
        owner.targets if isinstance(owner, ast.Assign) else [owner.target] if isinstance(owner, ast.AnnAssign) else []
    )
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


@dataclass(frozen=True, slots=True)
class _Carried:
    """The edits that write arguments as settings; `settings` are the paths that each argument decides."""

    edits: tuple[Edit, ...]
    settings: Mapping[str, Sequence[str]] = field(default_factory=dict)


class _Probes:
    """The arguments of a call, as the old release is asked with them: expressions stand as values that show again.

    `kept` are the literals that the new release takes as well, `given` the arguments that it does not take, and `open`
    the names of those that are expressions: `decide` says whether such a one is a text.
    """

    def __init__(self, node: ast.Call, gone: Sequence[str], text: str) -> None:
        literals = _literals(node)
        self.kept = tuple((name, said) for name, said in literals.items() if name not in gone)
        self.open = [name for name in gone if name not in literals]
        self._sources = {name: ast.get_source_segment(text, keywords(node)[name].value) or "" for name in gone}
        self._values: dict[str, Plain] = {
            name: ast.literal_eval(keywords(node)[name].value) for name in gone if name in literals
        }

    def decide(self, name: str, *, is_text: bool) -> None:
        number = PROBE + 1 + self.open.index(name)
        self._values[name] = f"probe{number}" if is_text else number

    @property
    def given(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, repr(value)) for name, value in self._values.items())

    def said(self, value: Plain) -> tuple[str | None, list[str]]:
        """Spell a value with the arguments that it is made of; None where it cannot be written."""
        exact = [name for name, each in self._values.items() if same(each, value)]
        if len(exact) == 1:
            return self._sources[exact[0]], exact
        if isinstance(value, str):
            parts = [name for name in self.open if str(self._values[name]) in value]
            if parts:
                return self._joined(value, parts), parts
            if value.startswith(f"{CWD}/") and value.count(CWD) == 1:
                return f"os.path.join(os.getcwd(), {spell(value.removeprefix(f'{CWD}/'))})", exact
            if CWD in value or value.startswith("torch."):
                return None, []
        return spell(value), exact

    def _joined(self, value: str, parts: Sequence[str]) -> str | None:
        """Write a text that is made of expressions as an f-string."""
        if re.search(r"""["\\{}\n]|<CWD>""", value) or any(
            re.search(r"""["\\{}\n]""", self._sources[each]) for each in parts
        ):
            return None
        for name in parts:
            value = value.replace(str(self._values[name]), f"{{{self._sources[name]}}}")
        return f'f"{value}"'


def _is_made(path: str, base: Recipe, probe: Recipe, after: Recipe | None) -> bool:
    """Tell whether arguments make an object that the recipe without them, and the new one, do not have."""
    then, now = (None if each is None else each.setting(path).value for each in (base, after))
    return probe.setting(path).value == NOT_NONE and then == NONE and now in (None, NONE)


def _shows(recipe: Recipe | None, value: Plain) -> bool:
    """Tell whether a setting of a recipe has a value, or a text with it."""
    if recipe is None:
        return False
    values = (recipe.setting(path).value for path in recipe.paths())
    known = (each.value for each in values if isinstance(each, Known))
    return any(
        same(each, value) or (isinstance(each, str) and isinstance(value, str) and value in each) for each in known
    )


def _literals(node: ast.Call) -> dict[str, str]:
    """Return the keyword arguments of a call that are literals, as texts of Python."""
    found = {}
    for name, each in keywords(node).items():
        try:
            ast.literal_eval(each.value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        found[name] = ast.unparse(each.value)
    return found
