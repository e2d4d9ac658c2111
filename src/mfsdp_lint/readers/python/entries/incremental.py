"""Incremental reading: results that a reading of changed texts takes over from the reading before it.

Running an entry point reads its own file and all that this file reaches by imports. Where none of these has changed,
the result is the same: proofs of fixes change few files of many. An entry point also keeps its result where only
settings in functions have changed that it did not call, as fixes write them: attributes and entries that are assigned,
and named arguments; or numbers that local names are bound to or that are defaults. Then no name is bound otherwise, no
new call is made, and all other code stays on its line.
"""

from __future__ import annotations

import ast
import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache

from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.recipe import Kind, Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.inputs.imports import closure
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.python.entries.entries import Entry
from mfsdp_lint.readers.python.entries.exposed import names_switch, words_of_scopes
from mfsdp_lint.readers.python.entries.interpreters import ImportEffects
from mfsdp_lint.readers.python.entries.running import Found
from mfsdp_lint.readers.python.eval.unfollowed import OF_UPSTREAM
from mfsdp_lint.readers.python.state.parsing import parse
from mfsdp_lint.readers.python.state.trees import functions_in
from mfsdp_lint.readers.python.values.objects import Function


def key_of(function: Function) -> Key:
    """Return a key that identifies a function in every reading of the same texts."""
    return function.module.path, function.node.lineno, function.name


def keys_within(function: Function) -> Iterator[Key]:
    """Yield the keys of a function and of the functions inside of it."""
    yield key_of(function)
    for node in functions_in(function.node):
        yield function.module.path, node.lineno, node.name


@dataclass(frozen=True, slots=True)
class KeptEntry:
    """An entry point of an earlier run. `own` is the key of its function, `within` are those of all functions in it,
    where these matter."""

    name: str
    kind: Kind
    line: int
    own: Key | None
    within: frozenset[Key]


@dataclass(slots=True)
class Tried:
    """An entry point that was found in the file `path`, and the result of running it.

    A `late` entry point is run by itself only where no other one `called` it: whether it `ran` depends on other files.
    `called_otherwise` are the functions that ran for its variants with other arguments. `may_stand_alone` says whether
    its text gives reason to run it then, where that was asked.
    """

    path: str
    entry: Entry | KeptEntry
    late: bool = False
    ran: bool = False
    found: tuple[Found, ...] = ()
    lost: Unfollowed | None = None
    called: frozenset[Key] = frozenset()
    called_otherwise: frozenset[Key] = frozenset()
    may_stand_alone: bool | None = None

    def __reduce__(self) -> tuple[object, ...]:
        entry = self.entry
        if isinstance(entry, Entry):
            asked = self.late or self.lost is not None
            entry = KeptEntry(entry.name, entry.kind, entry.line, self.own, frozenset(self.within if asked else ()))
        called = (self.called, self.called_otherwise)
        return Tried, (self.path, entry, self.late, self.ran, self.found, self.lost, *called, self.may_stand_alone)

    @property
    def own(self) -> Key | None:
        """The key of its function; None for a script, and for what a module holds."""
        if isinstance(self.entry, KeptEntry):
            return self.entry.own
        return None if self.entry.function is None else key_of(self.entry.function)

    @property
    def within(self) -> Iterable[Key]:
        """The keys of its function, and of the functions inside of that, which only it can have made."""
        if isinstance(self.entry, KeptEntry):
            return self.entry.within
        return () if self.entry.function is None else keys_within(self.entry.function)

    @property
    def key(self) -> Key:
        """Return a key that identifies the entry point in every reading of the same texts."""
        return self.path, self.entry.line, self.entry.name

    @property
    def code(self) -> Iterator[Key]:
        """The functions that ran: the entry point's own, whatever it is called by, and those that it called."""
        yield self.key
        yield from self.called
        yield from self.called_otherwise
        if self.own is not None:
            yield self.own


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Results that changed texts do not affect: entry points of `whole` files, `single` ones, and imports' effects."""

    whole: Mapping[str, list[Tried]] = field(default_factory=dict)
    single: Mapping[Key, Tried] = field(default_factory=dict)
    effects: ImportEffects | None = None


@dataclass(frozen=True, slots=True)
class NotReached:
    """The code of a file that configures something and was not followed, where the lines `told` are told already."""

    told: frozenset[int]
    found: tuple[Unfollowed, ...]


@dataclass(frozen=True, slots=True)
class KeptEntries:
    """Facts about files of a reading that another one need not parse: the names of their modules, and their code that
    was not reached. `inspected` are functions whose text was looked at, called or not."""

    names: Mapping[str, str] = field(default_factory=dict)
    not_reached: Mapping[str, NotReached] = field(default_factory=dict)
    inspected: frozenset[Key] = frozenset()


@dataclass(frozen=True, slots=True)
class Before:
    """A reading: its texts, the entry points of every file that was `asked` for, and the `users` of every file.

    `called_aside` are the functions that were called for what the entry points share, the `effects` of imports among
    that. `kept` is for a later run; `is_kept` says that it is of an earlier one. It is `complete` where all files that
    could not be read are among those that a reading of the same files looks at again.
    """

    sources: Sources
    tried: dict[str, list[Tried]]
    users: Mapping[str, set[str]]
    asked: frozenset[str] = frozenset()
    called_aside: frozenset[Key] = frozenset()
    effects: ImportEffects | None = None
    kept: KeptEntries = field(default_factory=KeptEntries)
    is_kept: bool = False
    complete: bool = True

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.sources, self.tried, self.users, self.asked, self.called_aside, self.effects)
        return Before, (*parts, self.kept, True, self.complete)

    def kept_of(self, unchanged: Unchanged) -> KeptEntries:
        """Return what is kept of an earlier run of whole files, which need not be parsed."""
        names = {path: name for path, name in self.kept.names.items() if self.is_kept and path in unchanged.whole}
        not_reached = {path: each for path, each in self.kept.not_reached.items() if path in names}
        return KeptEntries(names, not_reached, self.kept.inspected)

    def forget(self, says: Callable[[Recipe], bool]) -> None:
        """Forget the files of which a recipe is such a one."""
        for path in [path for path, tried in self.tried.items() if any(says(f.recipe) for e in tried for f in e.found)]:
            del self.tried[path]

    def unchanged(self, sources: Sources, asked: Iterable[str]) -> Unchanged:
        """Return the results that changed texts do not affect, where these files are asked for.

        Where a file is asked for that was not, or the other way round, its users tell other places of what raises in
        it; and a module of upstream's, or one that appears under another path, is another one to them.
        """
        changed = self._changed(sources)
        pieces = {path: self._touched(path, sources) for path in changed}
        otherwise = self.asked ^ frozenset(asked)
        places = set(map(os.path.abspath, otherwise))
        used = [path for path in self.users if places and os.path.abspath(path) in places]
        alike = {path for path in used if path in otherwise and self._is_alike(path, sources)}
        pieces |= dict.fromkeys(path for path in used if path not in alike)
        through_and_through = self._with_users({path for path, found in pieces.items() if found is None})
        functions = frozenset[Key]().union(*filter(None, pieces.values()))
        raising = self._with_users(alike)
        whole: dict[str, list[Tried]] = {}
        single: dict[Key, Tried] = {}
        for path, tried in self.tried.items():
            if path in through_and_through:
                continue
            same = [each for each in tried if functions.isdisjoint(each.code)]
            if path in raising:
                same = [each for each in same if each.lost is None]
            if path not in changed and len(same) == len(tried):
                whole[path] = tried
            else:
                single |= {each.key: each for each in same if each.ran}
        return Unchanged(whole, single, None if None in pieces.values() else self.effects)

    def _changed(self, sources: Sources) -> set[str]:
        """Return the files with another text than before."""
        paths = {*self.tried, *self.users, *self.asked}  # (some that were tried are forgotten)
        touched = sources.changed_since(self.sources)
        if touched is not None:
            sources.note(map(sources.key, paths))
            paths = {path for path in paths if sources.key(path) in touched}
        return {path for path in paths if self.sources.text_or_none(path) != sources.text_or_none(path)}

    def _is_alike(self, path: str, sources: Sources) -> bool:
        """Tell whether a file is the same module to those that import it, asked for or not."""
        if not OF_UPSTREAM.isdisjoint(os.path.splitext(os.path.abspath(path))[0].split(os.sep)):
            return False
        with suppress(Unreadable):
            return path in self.kept.names or bool(parse(path, sources.text(path)))
        return False

    def _touched(self, path: str, sources: Sources) -> frozenset[Key] | None:
        old, new = self.sources.text_or_none(path), sources.text_or_none(path)
        found = None if old is None or new is None else touched(path, old, new)
        if found is None or old is None or new is None or found & self.called_aside:
            return None
        # A fix writes what is known of; people write anything.
        return None if self.is_kept and (found & self.kept.inspected or changes_words(old, new)) else found

    def _with_users(self, paths: set[str]) -> set[str]:
        """Return these files, and those that reach them by imports."""
        return set(closure(paths, lambda path: self.users.get(path, ())))


def together(*readings: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Merge the users that each file has in several readings."""
    found: dict[str, set[str]] = {}
    for users in readings:
        for path, more in users.items():
            found.setdefault(path, set()).update(more)
    return found


Key = tuple[str, int, str]
"""A function: its file, its line and its name."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def touched(path: str, old: str, new: str) -> frozenset[Key] | None:
    """Return the old functions of a file whose text or place has changed; None where more than that differs."""
    pairs = _changed(old, new)
    if pairs is None:
        return None
    inner = (each for was, _ in pairs for each in ast.walk(was) if isinstance(each, _Function))
    return frozenset((path, each.lineno, each.name) for each in inner)


def changes_words(old: str, new: str) -> bool:
    """Tell whether the words beside switches differ in texts between which only functions are `touched`: these words
    matter to whoever uses any function of the file.
    """
    if not any(map(names_switch, (old, new))):
        return False
    return any(words_of_scopes(was) != words_of_scopes(now) for was, now in _changed(old, new) or ())


@lru_cache(maxsize=64)
def _changed(old: str, new: str) -> tuple[tuple[_Function, _Function], ...] | None:
    """Return the functions whose text or place has changed, as they were and are; None where more than that differs."""
    try:
        before, after = _outline(old), _outline(new)
    except (SyntaxError, ValueError, RecursionError):
        return None
    if before.around != after.around or len(before.functions) != len(after.functions):
        return None
    found: list[tuple[_Function, _Function]] = []
    for was, now in zip(before.functions, after.functions, strict=True):
        old_text, new_text = before.text(was), after.text(now)
        if was.lineno == now.lineno and old_text == new_text:
            continue
        if old_text != new_text and _without_settings(old_text) != _without_settings(new_text):
            return None
        found.append((was, now))
    return tuple(found)


@lru_cache(maxsize=8)
def _outline(text: str) -> _Outline:
    """Return the outline of a text; proofs compare one text with many others."""
    return _Outline(text)


class _Outline:
    """A module's functions, at its top level and in the classes there, and the code around them, with its places."""

    def __init__(self, text: str) -> None:
        self._lines = split_lines(text)
        self.functions: list[_Function] = []
        self.around: list[tuple[object, ...]] = []
        for node in ast.parse(text).body:
            self._add(node)

    def text(self, node: ast.stmt) -> str:
        """Return the lines of a statement."""
        return "".join(self._lines[node.lineno - 1 : node.end_lineno])

    def _add(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions.append(node)
                # Where it begins may differ: that touches the function, and not what is around it.
                parts = (*node.decorator_list, _without_defaults(node.args), *filter(None, [node.returns]))
                self.around.append((node.name, *map(ast.dump, parts)))
            case ast.ClassDef():
                self.around.append((node.lineno, *map(_placed, (*node.decorator_list, *node.bases, *node.keywords))))
                for inner in node.body:
                    self._add(inner)
            case _ if _has_no_place(node):
                self.around.append((ast.dump(node),))
            case _:
                self.around.append((_placed(node),))


def _has_no_place(node: ast.stmt) -> bool:
    """Tell whether no value and no recipe comes from the line of a statement: it only names what others make."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.Assign(targets=[ast.Name()], value=ast.Name()):
            return True
        case _:
            return False


def _placed(node: ast.AST) -> str:
    """Dump a piece of the tree, with its place."""
    return ast.dump(node, include_attributes=True)


@lru_cache(maxsize=64)
def _without_settings(function: str) -> str:
    """Dump the text of a function without the settings in it that call nothing: attributes and entries that are
    assigned, and named arguments; and without the numbers that local names are bound to."""
    is_indented = function[:1].isspace()
    return ast.dump(_WithoutSettings().visit(ast.parse(f"if True:\n{function}" if is_indented else function)))


def _without_defaults(parameters: ast.arguments) -> ast.arguments:
    """Return parameters whose defaults that are numbers are all the same one."""
    found = copy.copy(parameters)
    found.defaults = [ast.Constant(0) if _is_number(each) else each for each in found.defaults]
    found.kw_defaults = [ast.Constant(0) if each and _is_number(each) else each for each in found.kw_defaults]
    return found


class _WithoutSettings(ast.NodeTransformer):
    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        return _without_defaults(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        named = all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
        if named and _is_plain(node.value):
            return None
        if all(isinstance(target, ast.Name) for target in node.targets) and _is_number(node.value):
            return ast.Assign(node.targets, ast.Constant(0))
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        # The key of os.getenv decides which variables a program depends on, as subscripts and comparisons do.
        return None if node.arg not in (None, "key") and _is_plain(node.value) else self.generic_visit(node)


def _is_number(node: ast.AST) -> bool:
    """Tell whether an expression is a number, a truth value or None as it stands: it names nothing."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes)


_NOT_PLAIN = (
    *(ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda),
    *(ast.Subscript, ast.Compare),
)


def _is_plain(node: ast.AST) -> bool:
    """Tell whether an expression calls and binds nothing, and looks nothing up."""
    return not any(isinstance(inner, _NOT_PLAIN) for inner in ast.walk(node))
