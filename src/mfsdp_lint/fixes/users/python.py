"""Users of an edited piece of Python: other code that names the function, the class, the constant or the variable."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, TypeGuard

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known
from mfsdp_lint.fixes.judged import FixRequest, Need, anchors_of
from mfsdp_lint.fixes.statements import blocks
from mfsdp_lint.fixes.users.derived import DIGESTS
from mfsdp_lint.fixes.users.fixtures import switched, test_without
from mfsdp_lint.fixes.users.objects import sharer_of
from mfsdp_lint.fixes.users.takers import OF_TOOLS, is_computed, taker_of
from mfsdp_lint.inputs.imports import imports_in, parsed, parses
from mfsdp_lint.inputs.mentions import uncommented
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.readers.registry import is_python, kind_of

if TYPE_CHECKING:
    from mfsdp_lint.fixes.users import EditUsers

_IMPORT = lazy_pattern(r"\s*(import os|from os import environ)\s*")
_CHOICE = lazy_pattern(r".+ if .+ else .+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an edit stands: the functions and classes around it, outermost first, and the names that others use."""

    around: tuple[str, ...]
    names: tuple[str, ...]


def user_of(users: EditUsers, request: FixRequest, edit: Edit, settings: Collection[str]) -> str:
    """Return another user of what an edit of Python changes; "" where there is none."""
    path, text = edit.span.path, users.texts(edit.span.path)
    if _IMPORT.fullmatch(edit.text):
        return ""
    if (tree := parsed(text)) is None:
        return ""
    if _is_for_one_mode(request, path, text, tree, edit):
        return f"whoever gives {path} other options chooses otherwise"
    place = _place(tree, edit)
    module = _module(path)
    old = Lines(text).cut(edit.span)
    variables = [name for each in settings if (name := each.removeprefix("env.")) != each and name in edit.text + old]
    accounted = _ComparedCode(users, settings)
    for variable in variables:
        found = accounted.outside(path, text, (variable,), edit) or _user_in_others(
            users, accounted, path, module, variable
        )
        if found:
            return found
    if variables and not place.around:
        return ""
    if found := _expecting(users, accounted, request, path, settings):
        return found
    at_fault = {need.recipe.name for need in request.needs if need.recipe.path == path}
    if at_fault.intersection(place.around) or (not place.around and at_fault and not place.names):
        # The proof compares whoever else is read, so that only a user that is not read remains.
        name = place.around[0] if place.around else ""
        if name and (found := sharer_of(users, path, tree, name, settings, at_fault)):
            return found
        unread = _unread(users, request, path, module, name) if name else iter(())
        switches = {each.rpartition(".")[2] for need in request.needs for each in need.anchors}
        return (
            next(unread, "")
            or _chooser(users, request, path, module)
            or test_without(users, path, module, place.around[:1], switches)
        )
    if _CHOICE.fullmatch(edit.text) and old and edit.text.endswith(f"else {old}"):
        return ""  # whoever does not turn it on keeps the old value
    if chosen := _chosen_by_callers(tree, edit, place, settings):
        return chosen
    if not place.around and (found := accounted.outside(path, text, place.names, edit)):
        return found
    found = next(filter(None, (_user_in_others(users, accounted, path, module, name) for name in place.names)), "")
    return found or _user_out_of_sight(users, request, path, tree, at_fault, place)


_CHOOSES = lazy_pattern(
    r"\bgetattr\(\s*\w[\w.]*\s*,\s*(?![\"'])[^()\n]{1,80}\)\(|\w\[(?![\"'])[^\n\"']{1,80}\]\(|\bentry_points\b"
    r"|\bgetattr\(\s*\w*recipes?\w*\s*,\s*(?![\"'])|\b(?:instantiate|locate|resolve_name|import_string)\("
    r"|\bhydra\.utils\.call\("
)
"""Calls of what a name, a table or a configuration says when the program runs."""

_NAMES_OF_SWITCHES = sorted({each.rpartition(".")[2] for each in SWITCHES})
_SWITCHED = lazy_pattern(rf"\.(?:{'|'.join(_NAMES_OF_SWITCHES)})\s*=(?!=|\s*True\b)")


def _chooser(users: EditUsers, request: FixRequest, path: str, module: str) -> str:
    """Return a program that calls recipes of a module which it chooses when it runs, and turns off there what the
    finding is about: which recipe that is nobody sees, so that the proof does not compare it.
    """
    anchors = {each for need in request.needs for each in need.anchors}
    at_fault = {need.recipe.path for need in request.needs}
    if anchors.isdisjoint(SWITCHES):
        return ""
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    said = re.compile(rf"(?<!\w)(?:{re.escape(module)}|{re.escape(folder)})(?!\w)")
    choosing = {
        other: text
        for name in _NAMES_OF_SWITCHES
        for other, text in users.search(path, {name}).items()
        if is_python(other) and other not in at_fault and _turns_off_what_it_chose(text)
    }
    configured = f"_target_: {module}."
    named = choosing and any(configured in text for text in users.search(path, {"_target_", module}).values())
    return next(
        (f"{other} chooses a recipe when it runs" for other, text in choosing.items() if named or said.search(text)), ""
    )


@lru_cache(maxsize=1024)
def _turns_off_what_it_chose(text: str) -> bool:
    """Tell whether a program calls what is chosen when it runs, and writes a switch that may be off."""
    if not (_SWITCHED.search(text) and (_CHOOSES.search(text) or is_computed(text))):
        return False
    return any(each.attr in _NAMES_OF_SWITCHES for each in switched(parsed(text) or ast.Module([], [])))


_CONDITIONAL = lazy_pattern(r"\s*if\s|.+ if .+ else .+", re.DOTALL)


def _is_for_one_mode(request: FixRequest, path: str, text: str, tree: ast.Module, edit: Edit) -> bool:
    """Tell whether options that a program is given turn the feature on, in the function that is edited, and the edit is
    for whatever they are: the proof compares only what the program does with their defaults.
    """
    if _CONDITIONAL.match(edit.text):
        return False
    spans = [each for each in anchors_of(request) if each.path == path]
    options = _options(text)
    for default in options.defaults:
        if any(_is_within(default, each) for each in spans) and not _is_within(default, edit.span):
            return True
    lines = {
        origin.point.line
        for need in request.needs
        for setting in need.anchors
        if setting not in need.named
        if (origin := need.variant.origin(setting)) is not None and origin.point.path == path
    }
    around = _around(tree, edit.span.line)
    return any(_around(tree, line)[:1] == around[:1] for line in lines & options.taken)


@dataclass(frozen=True, slots=True)
class _Options:
    """Options of a file, and variables of the environment: the values that they have where nobody gives another, and
    the lines that give one to an attribute.
    """

    defaults: Sequence[ast.expr]
    taken: frozenset[int]


@lru_cache(maxsize=256)
def _options(text: str) -> _Options:
    defaults: list[ast.expr] = []
    given: list[tuple[int, str]] = []
    made: set[str] = set()
    for node in ast.walk(parsed(text) or ast.Module([], [])):
        match node:
            case ast.Call(func=ast.Attribute(attr="get" | "getenv"), args=[_, default]):
                defaults.append(default)
            case ast.keyword(arg="default", value=default):
                defaults.append(default)
            case ast.Assign(targets=[ast.Attribute(), *_], value=ast.Attribute(value=ast.Name(id=owner))):
                given.append((node.lineno, owner))
            case ast.Assign(targets=targets, value=ast.Call()):
                made.update(each.id for each in targets if isinstance(each, ast.Name))
    # (Options and settings are attributes of what a call has made.)
    return _Options(defaults, frozenset(line for line, owner in given if owner in made))


def _is_within(node: ast.expr, span: Span) -> bool:
    first, last = (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return first <= (span.line, span.column - 1) <= last


def _user_out_of_sight(
    users: EditUsers, request: FixRequest, path: str, tree: ast.Module, at_fault: Collection[str], place: _Place
) -> str:
    """Return who may use data of a module: a text that takes the whole file, or, of a constant in a file of its own
    from which one file of recipes alone is seen to take it, anybody.
    """
    takers = {need.recipe.path for need in request.needs}
    if place.around and place.around[0] in _functions(tree):
        return ""
    if not at_fault and place.names and not place.around and len(takers) == 1:
        return f"a constant in a file of its own is for others too ({path})"
    return taker_of(users.search(path, ()), path, takers)


def _expecting(
    users: EditUsers, compared: _ComparedCode, request: FixRequest, path: str, settings: Collection[str]
) -> str:
    """Return code, as a test, that compares a setting of the recipes at fault with another value than its new one."""
    wanted = {each: value for need in request.needs for each, value in need.set.items()}
    values = {each.rpartition(".")[2]: value for each, value in wanted.items() if each in settings}
    before = {name: text for need in request.needs for name, text in _texts_before(need, wanted.keys() & settings)}
    places = dict.fromkeys((path, *(need.recipe.path for need in request.needs)))
    for place in (each for each in places if is_python(each)):
        module = _module(place)
        for other, text in users.search(place, {module}).items():
            if not is_python(other) or not any(name in text for name in values) or not _imports(text, module):
                continue
            for line, names, constants in _comparisons(text):
                for name in names & values.keys():
                    tree = None if values[name] in constants else parsed(text)
                    if tree is not None and not compared.is_compared(other, tree, line):
                        return f"{other} compares {name}"
            for line, said, texts in _compared_in_scopes(text):
                for name in said & before.keys():
                    tree = parsed(text) if before[name] in texts else None
                    if tree is not None and not compared.is_compared(other, tree, line):
                        return f"{other} compares {name}"
    return ""


def _texts_before(need: Need, settings: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the settings that are texts before the fix, by the last part of their names."""
    for path in settings:
        value = need.variant.value(path)
        if isinstance(value, Known) and isinstance(value.value, str):
            yield path.rpartition(".")[2], value.value


@lru_cache(maxsize=512)
def _compared_in_scopes(text: str) -> Sequence[tuple[int, frozenset[str], frozenset[str]]]:
    """Return, for each function, its line, the attributes and texts in it, and the texts that something is compared
    with, or looked up by, in it.
    """
    found: list[tuple[int, frozenset[str], frozenset[str]]] = []
    for function in ast.walk(parsed(text) or ast.Module([], [])):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = list(ast.walk(function))
            said = {each.attr for each in inner if isinstance(each, ast.Attribute)} | set(_texts_in(inner))
            asking = (each for each in inner if _compares(each) or isinstance(each, ast.MatchValue | ast.Dict))
            compared = frozenset(one for each in asking for one in _texts_in(ast.walk(each)))
            if compared:
                found.append((function.lineno, frozenset(said), compared))
    return found


def _texts_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    return (each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str))


@lru_cache(maxsize=512)
def _comparisons(text: str) -> Sequence[tuple[int, frozenset[str], Sequence[object]]]:
    """Return the comparisons in a text: the line, the names of attributes, and the constants in each; names that an
    assertion expects, as of the settings that a recipe changes, without any constant.
    """
    found: list[tuple[int, frozenset[str], Sequence[object]]] = []
    by_name = "getattr(" in text
    nodes = list(ast.walk(parsed(text) or ast.Module([], [])))
    held = {ast.unparse(to): each.value for each in nodes if isinstance(each, ast.Assign) for to in each.targets}
    for node in nodes:
        if _compares(node):
            if expected := frozenset(_expected_names(node, held)):
                found.append((node.lineno, expected, ()))
            inner = list(ast.walk(node))
            names = frozenset(each.attr for each in inner if isinstance(each, ast.Attribute))
            constants = [each.value for each in inner if isinstance(each, ast.Constant)]
            if names and (constants or not isinstance(node, ast.Assert)):
                found.append((node.lineno, names, constants))
        elif by_name:
            found += _expected_by_name(node)
    return found


def _compares(node: ast.AST) -> TypeGuard[ast.Compare | ast.Call | ast.Assert]:
    return isinstance(node, ast.Compare | ast.Assert) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert")
    )


def _expected_names(node: ast.Compare | ast.Call | ast.Assert, held: Mapping[str, ast.expr]) -> Iterator[str]:
    """Yield the last parts of the names in the collections that an assertion compares something with."""
    if isinstance(node, ast.Assert):
        sides = [
            side for each in ast.walk(node) if isinstance(each, ast.Compare) for side in (each.left, *each.comparators)
        ]
    else:
        sides = node.args if isinstance(node, ast.Call) else []
    for side in sides:
        pieces = ast.walk(held.get(ast.unparse(side), side))
        collections = (each.elts for each in pieces if isinstance(each, ast.Set | ast.List | ast.Tuple))
        yield from (each.rpartition(".")[2] for elements in collections for each in _texts_in(elements))


def _expected_by_name(node: ast.AST) -> Iterator[tuple[int, frozenset[str], Sequence[object]]]:
    """Yield the names of attributes in a table or a row, each with the value beside it."""
    match node:
        case ast.Dict(keys=keys, values=values):
            pairs: list[tuple[ast.expr | None, ast.expr]] = list(zip(keys, values, strict=True))
        case ast.Tuple(elts=[first, second, *_]) | ast.List(elts=[first, second, *_]):
            pairs = [(first, second)]
        case _:
            return
    for name, value in pairs:
        match name, value:
            case ast.Constant(value=str(said)), ast.Constant(value=expected):
                yield name.lineno, frozenset({said.rpartition(".")[2]}), (expected,)


def _chosen_by_callers(tree: ast.Module, edit: Edit, place: _Place, settings: Collection[str]) -> str:
    """Tell that an edit in the body of a helper overrules a parameter, by which every caller chooses the setting."""
    names = {each.rpartition(".")[2] for each in settings}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or function.name not in place.around:
            continue
        if edit.span.line < function.body[0].lineno:
            continue  # a default
        parameters = {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Attribute(attr=attr)], value=ast.Name(id=name)):
                    if attr in names and name in parameters:
                        return f"callers of {function.name} choose {name}"
    return ""


_AS_TEXT = lazy_pattern(rf"{DIGESTS.pattern}|\b(?:repr|str|dumps|frozenset|sorted)\(|![rs]\}}|\.encode\(")
"""Makes a text of a value: of a digest of it nobody can say which recipes it is for."""


class _ComparedCode:
    """The code that the proof compares: functions that make recipes, and statements that write the settings."""

    def __init__(self, users: EditUsers, settings: Collection[str]) -> None:
        self._made = {(recipe.path, recipe.name) for recipe in users.recipes}
        # Of a script that starts other programs only the starts are compared.
        self._scripts = {recipe.path for recipe in users.recipes if recipe.kind != "arguments"}
        self._starts = {(recipe.path, recipe.line) for recipe in users.recipes if recipe.kind == "arguments"}
        self._lines: dict[str, set[int]] = {}
        for _, spans in users.writes(settings):
            for span in spans:
                self._lines.setdefault(span.path, set()).update(range(span.line, span.end_line + 1))

    def outside(self, path: str, text: str, names: Collection[str], edit: Edit | None = None) -> str:
        """Return "PATH uses NAME" where a Python file names one of these elsewhere than in what is compared.

        At the top level a name hands its value on to those of the statement.
        """
        tree = parsed(text)
        assert tree is not None  # who asks has seen that it is Python
        has_digests = DIGESTS.search(text) is not None
        waiting, seen = list(names), set(names)
        while waiting:
            name = waiting.pop(0)
            word = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, (name, *_aliases(tree, name))))})(?!\w)")
            for line, said in enumerate(uncommented(text).splitlines(), 1):
                if not word.search(said) or _defines(tree, line, name):
                    continue
                if has_digests and _AS_TEXT.search(said):
                    return f"{path} makes a digest of {name}"
                if line in self._lines.get(path, ()) or self.is_compared(path, tree, line):
                    continue
                statement = None if edit is None or _around(tree, line) else _statement(tree, line)
                if edit is not None and statement is not None and edit.span.line in _lines(statement):
                    continue
                bound = set(_bound(statement))
                if statement is None or not bound or any(map(_compares, ast.walk(statement))):
                    return f"{path} uses {name}"
                waiting += bound - seen
                seen |= bound
        return ""

    def is_compared(self, path: str, tree: ast.Module, line: int) -> bool:
        """Tell whether a line is part of a recipe or of a start."""
        around = _around(tree, line)
        if around:
            return any((path, name) in self._made for name in around)
        if path in self._scripts:
            return not any((path, each) in self._made for each in _functions(tree))
        statement = _statement(tree, line)
        return statement is not None and any((path, each) in self._starts for each in _lines(statement))


def _user_in_others(users: EditUsers, compared: _ComparedCode, path: str, module: str, name: str) -> str:
    """Return a user in another file of what a module calls `name`, also one that has it through a third file."""
    for other, text in users.search(path, {module}).items():
        if is_python(other) and _imports(text, module) and _looks_through(text, module):
            return f"{other} uses {module}"
    waiting, seen = [(path, module, name)], {(path, name)}
    while waiting:
        here, module, name = waiting.pop()
        for other, text in users.search(here, {module}).items():
            # (What hands all names on says none of them.)
            if (other, name) not in seen and is_python(other) and _takes_all(text, module):
                seen.add((other, name))
                waiting.append((other, _module(other), name))
        for other, text in users.search(here, {name, module}).items():
            if (other, name) in seen:
                continue
            if not is_python(other) or not parses(text):
                if _is_named(text, module, name):
                    return f"{other} uses {name if name != module else module}"
                continue
            if not _imports(text, module):
                if _means_in_words(text, module, name):
                    return f"{other} uses {name}"
                continue
            if other.endswith(".py") and not users.is_read(other):
                continue  # it will be, before anything is called proved
            if found := compared.outside(other, text, (name,)):
                return found
            for known_as in (name, *_aliases(parsed(text) or ast.Module([], []), name)):
                seen.add((other, known_as))
                waiting.append((other, _module(other), known_as))
    return ""


def _takes_all(text: str, module: str) -> bool:
    """Tell whether a text imports all names of a module: `from module import *`."""
    return "*" in text and re.search(rf"\bfrom\s+[\w.]*\b{re.escape(module)}\s+import\s*\*", text) is not None


_LOADS = lazy_pattern(r"\b(?:import_module|__import__|load_module|run_module|entry_points)\b")


def _means_in_words(text: str, module: str, name: str) -> bool:
    """Tell whether a text that does not import a module says in a string where a name of it is: as `module:name`, by
    the module's file, or by the module alone, which it imports by a name that is worked out.
    """
    if re.search(rf"[\"'][^\"'\n]*\b{re.escape(module)}(\.py|[.:]{re.escape(name)})\b", text):
        return True
    alone = _LOADS.search(text) and re.search(rf"[\"'](?:[\w.]*\.)?{re.escape(module)}[\"']", text)
    return alone is not None


_COMPARED = ("python", "notebook")
"""Kinds of files of which the proof compares every piece of Python."""


def _unread(users: EditUsers, request: FixRequest, path: str, module: str, name: str) -> Iterator[str]:
    """Yield the users of a recipe that cannot be read: code in a notebook, a template, a string of shell.

    Of a file that is read for its launches, as a script is, a piece of Python counts that may change what the finding
    is about.
    """
    parts = {part for need in request.needs for each in (*need.anchors, *need.named) for part in each.split(".")}
    changes = re.compile(rf"[.\"'](?:{'|'.join(map(re.escape, parts))})(?!\w)")
    for other, text in users.search(path, {name, module}).items():
        if is_python(other) and parses(text):
            continue
        if users.is_read(other) and (kind_of(other) in _COMPARED or not changes.search(uncommented(text))):
            continue
        if _is_imported(text, module) and _takes(text, module, name):
            yield f"{other} uses {module}"
    # (Another language imports it by its whole name, and may have that of the function from elsewhere.)
    above = os.path.basename(os.path.dirname(os.path.abspath(path)))
    whole = re.compile(rf"[\"'](?:[\w.]+\.)?{re.escape(above)}\.{re.escape(module)}[\"']")
    for other, text in users.search(path, {above, module}).items():
        if kind_of(other) in ("", "job") and os.path.basename(other) not in OF_TOOLS and whole.search(text):
            yield f"{other} uses {module}"


def _is_named(text: str, module: str, name: str) -> bool:
    said = uncommented(text)
    direct = rf"\b{re.escape(module)}(\.py)?\s*[.:/]\s*{re.escape(name)}\b"
    loaded = rf"\b{re.escape(module)}\.py\b"
    return bool(re.search(direct, said) or re.search(loaded, said)) or _is_imported(text, module)


_LOOKS = lazy_pattern(r"\b(?:vars|dir|getattr|getmembers)\(|\.__dict__")
_AS = lazy_pattern(r"\bas\s+(\w+)")
_LOOKED_THROUGH = (
    lazy_pattern(r"\b(?:vars|dir|getattr|getmembers)\(\s*(?:\w+\.)*(?P<name>\w+)\s*(?:\)|,\s*(?![\"']))"),
    lazy_pattern(r"\b(?P<name>\w+)\.__dict__"),
)


def _looks_through(text: str, module: str) -> bool:
    """Tell whether a text asks a module for names that are not written: with `vars`, `dir`, `getattr`, `__dict__`."""
    names, are_renamed = _looked_through(text)
    if module in names:
        return parses(text)
    tree = parsed(text) if are_renamed else None
    if tree is None:
        return False
    imported = (each for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names)
    given = (each.asname for each in imported if each.asname and each.name.rpartition(".")[2] == module)
    return not names.isdisjoint((*_aliases(tree, module), *given))


@lru_cache(maxsize=2048)
def _looked_through(text: str) -> tuple[frozenset[str], bool]:
    """Return the names of what a text asks so, those behind dots by their last part; and whether imports may have given
    one of them.
    """
    said = uncommented(text) if _LOOKS.search(text) else ""
    names = frozenset(found["name"] for each in _LOOKED_THROUGH for found in each.finditer(said))
    return names, not names.isdisjoint(_AS.findall(said))


@lru_cache(maxsize=1024)
def _is_imported(text: str, module: str) -> bool:
    named = rf"\bfrom\s+[\w.]*\b{re.escape(module)}\s+import\b|\bimport\s+[\w., ]*\b{re.escape(module)}\b"
    return bool(re.search(named, uncommented(text))) or _imports(text, module)


def _takes(text: str, module: str, name: str) -> bool:
    """Tell whether what a text imports from a module may be, or lead to, a name of it."""
    said = uncommented(text)
    from_it = rf"\bfrom\s+[\w.]*\b{re.escape(module)}\s+import\s+(\([^)]*\)|[\w., ]+)"
    taken = [set(re.findall(r"\w+|\*", found[1])) for found in re.finditer(from_it, said)]
    if not taken or re.search(rf"\bfrom\s+[\w.]*\b{re.escape(module)}\s+import\s*\*", said):
        return True
    rest = re.sub(from_it, "", said)
    return any(name in names for names in taken) or bool(re.search(rf"(?<!\w){re.escape(module)}(?!\w)", rest))


def _imports(text: str, module: str) -> bool:
    return module in _imported_words(text)


@lru_cache(maxsize=512)
def _imported_words(text: str) -> frozenset[str]:
    """Return the names in the imports of a text."""
    every = ((*each.module.split("."), *each.names, *each.words) for each in imports_in(text))
    return frozenset(chain.from_iterable(every))


def _module(path: str) -> str:
    stem = os.path.splitext(os.path.basename(path))[0]
    return os.path.basename(os.path.dirname(os.path.abspath(path))) if stem == "__init__" else stem


def _place(tree: ast.Module, edit: Edit) -> _Place:
    # What is put in front of a line belongs to the block of the line above, if it is indented as that is.
    above = edit.span.column == 1 and edit.text[:1] in " \t" and edit.span.line > 1
    line = edit.span.line - above
    around = _around(tree, line)
    if around:
        return _Place(around, around[:1])
    return _Place((), tuple(_bound(_statement(tree, line))))


def _statement(tree: ast.Module, line: int) -> ast.stmt | None:
    return next((each for each in tree.body if line in _lines(each)), None)


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _bound(statement: ast.stmt | None) -> Iterator[str]:
    """Yield the names by which others reach what a statement at the top level makes or changes."""
    match statement:
        case ast.Assign(targets=targets):
            written: list[ast.expr] = list(targets)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            written = [target]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))):
            written = [owner]
        case _:
            return
    for each in written:
        yield from (node.id for node in ast.walk(each) if isinstance(node, ast.Name))


def _around(tree: ast.Module, line: int) -> tuple[str, ...]:
    """Return the names of the functions and classes around a line, the outermost first."""
    names: list[str] = []
    pending: list[list[ast.stmt]] = [tree.body]
    while pending:
        for node in pending.pop():
            if node.lineno <= line <= (node.end_lineno or node.lineno):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    names.append(node.name)
                pending += blocks(node)
    return tuple(names)


def _aliases(tree: ast.Module, name: str) -> Iterator[str]:
    """Yield the other names that imports give to a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (each.asname for each in node.names if each.name == name and each.asname)


def _functions(tree: ast.Module) -> Iterator[str]:
    yield from (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _defines(tree: ast.Module, line: int, name: str) -> bool:
    """Tell whether a line only imports a name, or begins its definition."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return True
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno == line and node.name == name:
            return True
    return False
