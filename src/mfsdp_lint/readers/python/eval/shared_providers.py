"""Providers of an unknown Hugging Face model, worked out once for all interpreters of a run.

Which provider the registered bridges may make depends on upstream's source alone, and takes longer than all else of a
recipe: dozens of bridges are evaluated. So it is worked out by an interpreter of its own, and rebuilt in others from
what it made. The result holds while no text that was read for it differs. A program that changes upstream's modules,
or an environment that they look at, gets an answer of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.inputs.sources import Shared
from mfsdp_lint.readers.python.eval.classes import enum_members, lookup
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.copies import template
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Dependencies
from mfsdp_lint.readers.python.values.code import ClassObject, Module
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    EnumMember,
    External,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Partial,
    Unknown,
    Write,
    is_constant,
)

_MOST_ENVIRONMENTS = 3
"""Variables of the environment may decide which others are looked at."""

Work = Callable[[Interpreter, Function], Object]
"""Works out the provider that a method makes, in an interpreter; None where none is known."""


class NotPortable(Exception):
    """A value that only the interpreter that made it can have."""


@dataclass(frozen=True, slots=True, eq=False)
class _Provider:
    """A provider as an interpreter of its own worked it out; None where other interpreters cannot have it.

    `files` were imported for it, of which some were `asked_for`. With `opens`, facts of the
    release were needed. Variables of the environment were looked at by the code that is `asking`.
    """

    value: Object
    is_portable: bool
    dependencies: Dependencies = field(default_factory=Dependencies)
    files: frozenset[str] = frozenset()
    asked_for: frozenset[str] = frozenset()
    opens: bool = False
    asking: Mapping[str, Mapping[ast.AST, Module]] = field(default_factory=dict)


def shared_provider(interp: Interpreter, method: Function, wanted: str | None, work: Work) -> Object:
    """Return the provider that a method of AutoBridge makes for an architecture (None: for any).

    `work` is asked once for all interpreters of the run, if upstream is the same for all of them.
    """
    if interp.followed or interp.within_functions or interp.patches_upstream or interp.module_level:
        return work(interp, method)
    finder = interp.finder
    options = (interp.knowledge.targets, interp.tracing, interp.followed is None, tuple(finder.search_path))
    variables: dict[str, Object] = {}
    for _ in range(_MOST_ENVIRONMENTS):
        key = ("upstream by itself", *options, tuple(sorted(variables.items())))
        shared = finder.sources.shared(key, interp.anew)
        provider = _provider_of(shared, variables, interp, method, wanted, work)
        if provider is None:
            return work(interp, method)
        fields = interp.path.environment.fields
        given = {name: fields[name] for name in provider.dependencies.variables if name in fields}
        if given.items() <= variables.items():
            break
        if not all(map(is_constant, given.values())):
            return work(interp, method)
        variables |= given
    else:
        return work(interp, method)
    try:
        value = _Rebuilding(interp, method.module.path).rebuild(provider.value)
    except NotPortable:
        return work(interp, method)
    if provider.opens:
        interp.knowledge.use()
    interp.shared_dependencies.add(provider.dependencies)
    for name, scopes in provider.asking.items():
        interp.asked_for.setdefault(name, {}).update(scopes)
    finder.sources.note(shared.texts)
    for path in shared.texts:
        if path.endswith(".py"):
            finder.users.setdefault(finder.spellings.get(path, path), set()).add(method.module.path)
    return value


def _provider_of(
    shared: Shared[Interpreter],
    variables: Mapping[str, Object],
    interp: Interpreter,
    method: Function,
    wanted: str | None,
    work: Work,
) -> _Provider | None:
    """Return the provider as the shared interpreter has it; None where `interp` has to work it out itself."""
    alone = shared.result
    key = ("provider by itself", method.module.path, method.name, wanted)
    if alone is interp:
        return None
    if key not in alone.memo:
        with alone.finder.sources.reading_for(shared):
            # A path of its own, so that what its code forgets is there again for the next provider.
            alone.begin(())
            alone.path.environment.fields.update(variables)
            alone.memo[key] = _worked_out(alone, method, work)
            alone.finish()
    found: _Provider = alone.memo[key]
    # The first texts were those of another interpreter; it may have read files for this that are different here.
    is_alike = (
        interp.finder.asked_among(found.files) == found.asked_for
        and interp.finder.sources.has(shared.texts)
        and not interp.path.environment.writes.get(MAY_HAVE_CHANGED)
    )
    return found if found.is_portable and is_alike else None


def _worked_out(alone: Interpreter, method: Function, work: Work) -> _Provider:
    module = alone.finder.load(method.module.path)
    cls = None if module is None or method.cls is None else resolve_global(alone, module, method.cls.name)
    own = lookup(alone, cls, method.name)[0] if isinstance(cls, ClassObject) else None
    if not isinstance(own, Function):
        return _Provider(None, is_portable=False)
    # A copy: what other providers share with it is undone, and changed again.
    value = template(work(alone, own)).make(alone, {})
    # What only some programs are given would make the provider theirs alone.
    dependencies = Dependencies()
    dependencies.add(alone.dependencies)
    dependencies.add(alone.shared_dependencies)
    files = frozenset(alone.finder.by_path)
    return _Provider(
        value,
        not dependencies.asks_start,
        dependencies,
        files,
        alone.finder.asked_among(files),
        alone.knowledge.is_used,
        alone.asked_for,
    )


@dataclass(slots=True, eq=False)
class _Rebuilding:
    """A value of one interpreter that is made again in another one; modules are found from the file `importer`."""

    interp: Interpreter
    importer: str
    made: dict[int, Object] = field(default_factory=dict)
    orders: dict[int, int] = field(default_factory=dict)
    in_write: int = 0

    def rebuild(self, value: Object) -> Object:
        """Make the value again. Raises NotPortable."""
        orders: set[int] = set()
        _find_orders(value, orders, set())
        # Writes keep their order among each other, and come after all that was written here before.
        self.orders = {order: self.interp.tick() for order in sorted(orders)}
        return self._rebuilt(value)

    def _rebuilt(self, value: Object) -> Object:
        if value is MISSING or is_constant(value) or isinstance(value, (External, Native)):
            return value
        # A write shows that a value is not known; nobody asks for its parts there.
        if isinstance(value, Unknown) and (value.fields or value.writes) and not self.in_write:
            raise NotPortable
        if id(value) not in self.made:
            self.made[id(value)] = self._made_of(value)
        return self.made[id(value)]

    def _made_of(self, value: Object) -> Object:
        match value:
            case tuple():
                return tuple(map(self._rebuilt, value))
            case Choice(of=None):
                return Choice(tuple(map(self._rebuilt, value.options)), is_selection=value.is_selection)
            case ClassObject():
                return self._of_module(value.module, value.name, ClassObject)
            case Function(cls=None):
                return self._of_module(value.module, value.name, Function)
            case EnumMember():
                cls = self._of_module(value.cls.module, value.cls.name, ClassObject)
                assert isinstance(cls, ClassObject)
                return enum_members(self.interp, cls)[value.name]
            case Unknown() if type(value) is Unknown:
                return Unknown(value.born and self.interp.tick(), value.text, value.not_none, value.obstacle)
            case Partial():
                function, arguments = self._rebuilt(value.function), list(map(self._rebuilt, value.arguments))
                keywords = {name: self._rebuilt(each) for name, each in value.keywords.items()}
                return Partial(function, arguments, keywords, value.made, method=value.method)
            case ListObject() if type(value) is ListObject:
                items = value.items
                return ListObject(None if items is None else list(map(self._rebuilt, items)), self.interp.tick())
            case DictObject(view_of=None):
                return self._filled(value, DictObject({}, self.interp.tick()))
            case Instance():
                cls = self._rebuilt(value.cls)
                assert isinstance(cls, (ClassObject, Choice, External))
                return self._filled(value, Instance(cls, self.interp.tick()))
        raise NotPortable

    def _filled(self, value: Instance | DictObject, made: Instance | DictObject) -> Object:
        self.made[id(value)] = made
        made.made = self._written(value.made)
        made.fields = {key: self._rebuilt(each) for key, each in value.fields.items()}
        made.writes = {key: self._written(each) for key, each in value.writes.items()}
        return made

    def _written(self, write: Write | None) -> Write | None:
        if write is None:
            return None
        if not isinstance(write, Write):
            raise NotPortable
        self.in_write += 1
        value = self._rebuilt(write.value)
        self.in_write -= 1
        return write._replace(value=value, order=self.orders[write.order], earlier=self._written(write.earlier))

    def _of_module(self, there: Module, name: str, kind: type) -> Object:
        interp = self.interp
        if there.upstream is None:
            module = interp.finder.load_for(self.importer, there.path)
        else:
            module = interp.knowledge.module(interp, there.name)
        found = None if module is None else resolve_global(interp, module, name)
        if not isinstance(found, kind):
            raise NotPortable
        return found


def _find_orders(value: Object, found: set[int], seen: set[int]) -> None:
    if id(value) in seen or not isinstance(value, (Instance, DictObject, ListObject, Choice, tuple)):
        return
    seen.add(id(value))
    parts: Iterable[Object]
    match value:
        case Instance() | DictObject():
            parts = value.fields.values()
            for write in (value.made, *value.writes.values()):
                while isinstance(write, Write):
                    found.add(write.order)
                    _find_orders(write.value, found, seen)
                    write = write.earlier
        case ListObject():
            parts = value.items or ()
        case Choice():
            parts = value.options
        case _:
            parts = value
    for part in parts:
        _find_orders(part, found, seen)
