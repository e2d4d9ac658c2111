"""Entry points: functions, methods of class-based recipes, scripts and modules that may configure a training run."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from mfsdp_lint.core.recipe import Kind
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import Plain
from mfsdp_lint.megatron.vocabulary import LAUNCHERS, NAMES, SECTIONS
from mfsdp_lint.readers.python.eval.branches import known_truth
from mfsdp_lint.readers.python.eval.classes import ENUM_BASES, class_names, has_base, lookup, mro, namespace
from mfsdp_lint.readers.python.eval.configurations import CONTAINER, holds_container
from mfsdp_lint.readers.python.eval.definitions import function_elsewhere
from mfsdp_lint.readers.python.eval.imports import ensure_ran, functions_of, meant, resolve_global
from mfsdp_lint.readers.python.eval.unfollowed import may_launch
from mfsdp_lint.readers.python.state.calling import evaluate, isolated
from mfsdp_lint.readers.python.state.interpreter import Interpreter, remembered
from mfsdp_lint.readers.python.state.parsing import Unread
from mfsdp_lint.readers.python.state.trees import children
from mfsdp_lint.readers.python.values.code import calls_to
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    ClassObject,
    Descriptor,
    DictObject,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Native,
    Object,
    Partial,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A function, method, script or global name that can be evaluated to get a configuration."""

    name: str
    module: Module
    kind: Kind
    line: int
    function: Function | None = None
    arguments: Mapping[str, Plain] | None = None
    cls: ClassObject | None = None
    """The class of a method that needs an object of it, or the class itself, to be called."""
    partial: Partial | None = None
    """The partial object that a module calls the function by."""
    wrapper: Object = None
    """The result of the function's decorators, where that is something else."""

    @property
    def qualified_name(self) -> str:
        """Dotted, from the import root."""
        return f"{self.module.name}.{self.name}"


def functions(interp: Interpreter, module: Module) -> list[Entry]:
    """Return the functions that a module itself defines at its top level, also those under conditions there."""
    ensure_ran(interp, module)
    found = []
    for node in _defined(module.tree.body):
        value = resolve_global(interp, module, node.name)
        if isinstance(value, Choice):
            value = next((each for each in value.options if getattr(each, "node", None) is node), value)
        original = module.defined.get(node)
        if isinstance(value, Function) and value.node is node:
            found.append(Entry(node.name, module, "function", node.lineno, value))
        elif original is not None and isinstance(value, (Function, Instance, Partial, Bound, Native)):
            found.append(Entry(node.name, module, "function", node.lineno, original, wrapper=value))
        elif node not in module.tree.body and not node.decorator_list and _is_own(value, module):
            # The condition does not hold unless somebody sets a switch.
            other = function_elsewhere(interp, module, node)
            if isinstance(other, Function):
                found.append(Entry(node.name, module, "function", node.lineno, other))
    return found


def is_out_of_use(interp: Interpreter, module: Module, name: str) -> bool:
    """Tell whether all that names a function of a module stands where a condition at the top level does not hold: it is
    for another release, say.
    """
    text = interp.finder.sources.text_or_none(module.path) or ""
    named = {text.count("\n", 0, found.start()) + 1 for found in re.finditer(rf"(?<!\w){name}(?!\w)", text)}
    used = named - {node.lineno for node in module.tree.body if getattr(node, "name", None) == name}
    for node in module.tree.body if used else ():
        if isinstance(node, ast.If) and not used.isdisjoint(_lines(node)):
            known = isolated(interp, partial(_holds, interp, node.test, Frame(module)), module)
            if known is not None:
                used -= {line for each in (node.orelse if known else node.body) for line in _lines(each)}
    return bool(named) and not used and len(named) > 1


def _holds(interp: Interpreter, test: ast.expr, frame: Frame) -> bool | None:
    return known_truth(interp, evaluate(interp, test, frame), test, frame)


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def is_test(name: str) -> bool:
    """Tell whether a test runner calls a function of this name."""
    return name.startswith("test")


def _is_own(value: Object, module: Module) -> bool:
    """Tell whether a name has no value yet, or a value that the module itself defines."""
    return value is MISSING or (isinstance(value, Function) and value.module is module)


def _defined(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _defined(each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt))
            for handler in getattr(node, "handlers", ()):
                yield from _defined(handler.body)


def partials(interp: Interpreter, module: Module) -> Iterable[Entry]:
    """Yield the functions that a module binds to a name: made by another one or by `functools.partial`, and objects
    that can be called.

    A function in a table has the table's name and its key.
    """
    ensure_ran(interp, module)
    bound = [(name, line, module.fields.get(name, MISSING)) for name, line in _assigned(module).items()]
    for name, line, value in (*bound, *_on_demand(interp, module)):
        made: dict[str, Any] = {name: value}
        if isinstance(value, DictObject):
            made = {f"{name}.{key}": item for key, item in value.fields.items() if isinstance(key, str)}
        for full, each in made.items():
            if isinstance(each, Partial) and isinstance(each.function, Function):
                yield Entry(full, module, "function", line, each.function, partial=each)
            elif isinstance(each, Function) and (each.closure is not None or _is_own_lambda(each, module)):
                yield Entry(full, module, "function", line, each)
            elif isinstance(each, Instance) and isinstance(each.cls, ClassObject) and each.cls.module.is_project:
                hook, _ = lookup(interp, each.cls, "__call__")
                if isinstance(hook, Function):
                    yield Entry(full, module, "function", line, hook, partial=Partial(hook, [each], {}))


def _on_demand(interp: Interpreter, module: Module) -> Iterable[tuple[str, int, Object]]:
    """Yield functions that a module has by names which its text does not bind: those that it gives itself in a loop
    (`setattr`, `globals()[name]`), and those of `__all__` that its `__getattr__` makes when they are asked for.
    """
    bound = {*_assigned(module), *(each.name for each in _defined(module.tree.body))}
    # (A name of the loop's own has the value before the name that it is kept by.)
    kept = {value: name for name, value in module.fields.items() if isinstance(value, Function) and name not in bound}
    for value, name in kept.items():
        # A function that another file makes stands where this one asks for it.
        made = [] if value.closure is None else [node for where, node, _ in calls_to(value.closure) if where is module]
        if isinstance(name, str) and (made or (value.closure is not None and value.module is module)):
            yield name, value.node.lineno if value.module is module else made[0].lineno, value
    maker, said = module.fields.get("__getattr__"), module.fields.get("__all__")
    names = said.items if isinstance(said, ListObject) else said if isinstance(said, tuple) else None
    for name in names or () if isinstance(maker, Function) else ():
        if isinstance(name, str) and name not in module.fields and isinstance(maker, Function):
            yield name, maker.node.lineno, resolve_global(interp, module, name)


def _is_own_lambda(function: Function, module: Module) -> bool:
    return isinstance(function.node, ast.Lambda) and function.module is module


def may_configure(interp: Interpreter, entry: Entry) -> bool:
    """Tell whether a function's text gives reason to run it.

    It returns something, names a part of a configuration, or leads to a launcher.
    """
    assert entry.function is not None
    returns, parts = isinstance(entry.function.node, ast.Lambda), False
    for node in ast.walk(entry.function.node):
        returns = returns or (isinstance(node, ast.Return) and node.value is not None)
        parts = parts or (isinstance(node, ast.Attribute) and node.attr in SECTIONS)
        parts = parts or (isinstance(node, ast.keyword) and node.arg in SECTIONS)
    if parts or (returns and not needs_arguments(entry)) or says_container(entry.function.returns):
        return True
    return may_launch(interp, entry.function)


def says_container(annotation: ast.expr | None) -> bool:
    """Tell whether a function's annotation says that it returns a configuration."""
    return annotation is not None and CONTAINER in ast.unparse(annotation)


def needs_arguments(entry: Entry) -> bool:
    """Tell whether a parameter has no default."""
    return any(default(entry, name) is MISSING for name in open_parameters(entry))


def default(entry: Entry, name: str) -> Object:
    """Return the default of a parameter; MISSING where it has none."""
    for function in _callees(entry):
        if name in function.defaults:
            return function.defaults[name]
    return MISSING


def open_parameters(entry: Entry) -> list[str]:
    """Return the parameters of a function that neither its object nor `functools.partial` nor a decorator gives."""
    assert entry.function is not None
    if entry.wrapper is not None and not isinstance(entry.wrapper, Function):
        return []
    names: dict[str, None] = {}
    skipped, named = _given_by_wrapper(entry.wrapper) if entry.wrapper is not None else (0, set())
    for function in _callees(entry):
        parameters = function.node.args
        positional = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
        skip = positional_given(entry)
        if entry.wrapper is not None and function is entry.function:
            skip = skip + skipped if entry.wrapper.module.written else max(skip, skipped)
        names.update(dict.fromkeys([*positional[skip:], *(parameter.arg for parameter in parameters.kwonlyargs)]))
    return [
        name for name in names if name not in named and (entry.partial is None or name not in entry.partial.keywords)
    ]


def takes_more(entry: Entry) -> bool:
    """Tell whether a function takes keyword arguments that it does not name."""
    return entry.function is not None and any(each.node.args.kwarg is not None for each in _callees(entry))


def _callees(entry: Entry) -> tuple[Function, ...]:
    """Return the functions whose parameters the arguments go to: a wrapper may take some, and hand on the others."""
    assert entry.function is not None
    if not isinstance(entry.wrapper, Function):
        return (entry.function,)
    hands_on = entry.wrapper.node.args.kwarg is not None
    return (entry.wrapper, entry.function) if hands_on else (entry.wrapper,)


def _given_by_wrapper(wrapper: Function) -> tuple[int, set[str]]:
    """Return the arguments that a wrapper itself gives where it hands others on.

    The first value is the number of positional ones, the second the names of the others.
    """
    patchings = wrapper.fields.get("patchings")
    if wrapper.module.written and isinstance(patchings, ListObject):
        return sum(each.fields.get("mocks") is True for each in patchings.items), set()
    for node in ast.walk(wrapper.node):
        if isinstance(node, ast.Call) and any(keyword.arg is None for keyword in node.keywords):
            plain = [each for each in node.args if not isinstance(each, ast.Starred)]
            return len(plain), {keyword.arg for keyword in node.keywords if keyword.arg is not None}
    return 0, set()


def positional_given(entry: Entry) -> int:
    """Return the number of positional parameters that need no argument."""
    return (entry.cls is not None) + (len(entry.partial.arguments) if entry.partial is not None else 0)


def script(interp: Interpreter, module: Module) -> Entry | None:
    """Return a module as a script: its `if __name__ == "__main__":` part, or the lone calls at its top level."""
    start = guard(module) or next(_lone_calls(module.tree), None)
    return None if start is None else Entry(module.name.rpartition(".")[2], module, "script", start.lineno)


def guard(module: Module) -> ast.stmt | None:
    """Return the `if __name__ == "__main__":` part of a module."""
    for node in module.tree.body:
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test) and "__main__" in ast.dump(node.test):
            return node
    return None


def script_of(interp: Interpreter, entry: Entry) -> Entry | None:
    """Return the script that does nothing but to call a function, so that it comes to what the function comes to.

    None where the file has another script, or none. Its top level imports and defines, and assigns to names what is no
    configuration and is decided; no function assigns to these names, or asks whether the file is run as a script.
    """
    module, start = entry.module, guard(entry.module)
    match start:
        case ast.If(body=[ast.Expr(ast.Call(ast.Name(name), [], []))], orelse=[]) if name == entry.name:
            others = [each for each in module.tree.body if each is not start]
        case _:
            return None
    if entry.kind != "function" or needs_arguments(entry) or not all(map(_only_binds, others)):
        return None
    inner = [node for each in others for node in ast.walk(each)]
    if any(isinstance(node, ast.Global) or _asks_name(node) for node in inner):
        return None
    if any(isinstance(value, Choice) or holds_container(interp, value) for value in module.fields.values()):
        return None
    return script(interp, module)


def _only_binds(statement: ast.stmt) -> bool:
    """Tell whether a statement is an import, a definition, an assignment to names, or a text."""
    match statement:
        case ast.Assign(targets=targets):
            return all(isinstance(target, ast.Name) for target in targets)
        case ast.AnnAssign(target=ast.Name()) | ast.Expr(ast.Constant()):
            return True
    return isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _asks_name(node: ast.AST) -> bool:
    parts = (node.left, *node.comparators) if isinstance(node, ast.Compare) else ()
    parts = (node.slice,) if isinstance(node, ast.Subscript) else parts
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in parts)


def _lone_calls(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield calls that are statements of their own, outside of functions and classes."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
            yield inner
        elif isinstance(inner, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            yield from _lone_calls(inner)


def module_configurations(interp: Interpreter, module: Module) -> Iterable[Entry]:
    """Yield the global names that hold configurations: those that a module assigns, or gives itself by a computed name.

    The names of a loop's variables and of imports are not among them.
    """
    ensure_ran(interp, module)
    assigned = _assigned(module)
    for name, value in module.fields.items():
        if isinstance(name, str) and holds_container(interp, value) and (name in assigned or not _says(module, name)):
            yield Entry(name, module, "module", assigned.get(name, 1))


def _says(module: Module, name: str) -> bool:
    """Tell whether a module's text has a name, or imports it."""
    nodes = ast.walk(module.tree)
    return any(
        name in (getattr(each, "id", ""), getattr(each, "asname", ""), getattr(each, "name", "")) for each in nodes
    )


def _assigned(module: Module) -> dict[str, int]:
    """Return the names that a module's top level assigns to, each with its line."""
    return {
        target.id: node.lineno
        for node in module.tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


UPSTREAM = "megatron.bridge."

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def definitions(module: Module) -> Iterator[tuple[str, Definition | ast.Module]]:
    """Yield the functions of a file, methods and inner ones too, by their dotted names; its top level has no name."""
    yield "", module.tree
    pending: list[tuple[str, ast.AST]] = [("", module.tree)]
    while pending:
        prefix, node = pending.pop()
        for inner in _statements_in(node, "def", "class"):
            if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                pending.append((prefix, inner))
                continue
            name = f"{prefix}.{inner.name}" if prefix else inner.name
            pending.append((name, inner))
            if not isinstance(inner, ast.ClassDef):
                yield name, inner


_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Delete)


def _statements_in(node: ast.AST, *words: str) -> Iterator[ast.AST]:
    """Yield the statements (and handlers and cases) right inside a statement; nothing is defined in an expression.

    A function body that was not read yet is read only where it has one of these words.
    """
    if isinstance(node, _SIMPLE) or (type(node) is Unread and not any(word in node.cut.text for word in words)):
        return
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, block, ())


def configures(interp: Interpreter, module: Module, node: ast.AST) -> bool:
    """Tell whether a function or a top level makes, changes or launches a configuration itself, by its text.

    Functions inside it are not looked at. A called name is known by its import: a recipe or a launcher of upstream, a
    class of configurations.
    """
    if not reaches_upstream(interp, module):
        return False
    imports = _imports(interp, module)
    return any(
        _is_telling(interp, module, imports, inner.func) if isinstance(inner, ast.Call) else _changes(inner)
        for inner in _own(node)
    )


def reaches_upstream(interp: Interpreter, module: Module) -> bool:
    """Tell whether a file names upstream, or imports one that does."""
    return interp.finder.relevance.reaches(module.path, _names_upstream)


def _names_upstream(text: str) -> bool:
    return UPSTREAM in text or CONTAINER in text


def leads_to_configuration(interp: Interpreter, function: Function, *, named: bool = False) -> bool:
    """Tell whether a function of the files at hand configures something, or calls another that does, by the text.

    With `named`, a function that it only names, and may hand on to be called, counts as well.
    """
    return _leads_to(interp, function, configures, named)


def leads_to_launch(interp: Interpreter, function: Function) -> bool:
    """Tell whether a function of the files at hand calls a launcher of upstream, or another that does, by the text."""
    return _leads_to(interp, function, launches, named=False)


def leads_to_run(interp: Interpreter, function: Function) -> bool:
    """Tell whether a function makes or launches a configuration, or calls another that does, by the text."""
    return _leads_to(interp, function, _makes_or_launches, named=False)


def _makes_or_launches(interp: Interpreter, module: Module, node: ast.AST) -> bool:
    imports = _imports(interp, module)
    return any(_is_telling(interp, module, imports, each.func) for each in _own(node) if isinstance(each, ast.Call))


def launches(interp: Interpreter, module: Module, node: ast.AST) -> bool:
    """Tell whether a function or a top level itself calls a launcher of upstream, by its text."""
    imports = _imports(interp, module)
    calls = (inner.func for inner in _own(node) if isinstance(inner, ast.Call))
    return any(name in LAUNCHERS for called in calls for name in _called_names(interp, module, imports, called))


@remembered(meanwhile=False)
def _leads_to(
    interp: Interpreter, function: Function, tells: Callable[[Interpreter, Module, ast.AST], bool], named: bool
) -> bool:
    return tells(interp, function.module, function.node) or any(
        other.module.is_own and _leads_to(interp, other, tells, named)
        for node in _own(function.node)
        if isinstance(node, (ast.Name, ast.Attribute) if named else ast.Call) and not _is_receiver(function, node)
        for other in functions_of(interp, meant(interp, function.module, node, function))
    )


def _is_receiver(function: Function, node: ast.AST) -> bool:
    """Tell whether a name is that of a method's object, whose constructor ran before (a class method may call it)."""
    parameters = (*function.node.args.posonlyargs, *function.node.args.args)
    if function.cls is None or not parameters or not isinstance(node, ast.Name) or node.id != parameters[0].arg:
        return False
    return not any(isinstance(each, ast.Name) and each.id == "classmethod" for each in function.decorators)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function itself: not its head, nor the content of functions inside it."""
    body = getattr(node, "body", ())
    pending: list[ast.AST] = [body] if isinstance(body, ast.expr) else list(body)  # a lambda's is an expression
    while pending:
        here = pending.pop()
        yield here
        if isinstance(here, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        pending += children(here)


@remembered()
def _imports(interp: Interpreter, module: Module) -> Mapping[str, str]:
    """Return the names that a file imports from upstream, anywhere in it, each with its full dotted name."""
    found: dict[str, str] = {}
    pending: list[ast.AST] = [module.tree]
    while pending:
        node = pending.pop()
        pending.extend(_statements_in(node, "import"))
        match node:
            case ast.Import(names=names):
                told = (alias for alias in names if f"{alias.name}.".startswith(UPSTREAM))
                found.update((alias.asname or alias.name, alias.name) for alias in told)
            case ast.ImportFrom(module=str(source), names=names, level=0) if f"{source}.".startswith(UPSTREAM):
                found.update((alias.asname or alias.name, f"{source}.{alias.name}") for alias in names)
    return found


def _is_telling(interp: Interpreter, module: Module, imports: Mapping[str, str], function: ast.expr) -> bool:
    """Tell whether a call makes or launches a configuration, by what it calls."""
    if isinstance(function, ast.Call):
        # That call is asked itself; `getattr(recipes, name)()` may make any of the recipes there.
        owner = function.args[0] if function.args and getattr(function.func, "id", "") == "getattr" else None
        package = _dotted(owner)
        head, dot, rest = package.partition(".")
        return f"{imports.get(package) or imports.get(head, '') + dot + rest}.".startswith(f"{UPSTREAM}recipes.")
    names = _called_names(interp, module, imports, function)
    return any(name.rpartition(".")[2] == CONTAINER or _is_upstream_entry(name) for name in names)


def _called_names(interp: Interpreter, module: Module, imports: Mapping[str, str], function: ast.expr) -> Sequence[str]:
    """Return the dotted names of what an expression that is called means."""
    written = _dotted(function)
    head, dot, rest = written.partition(".")
    if head not in imports and written not in imports:
        value = meant(interp, module, function)
        if isinstance(value, ClassObject):
            return class_names(interp, value)
        if isinstance(value, Function):
            return [f"{value.module.name}.{value.name}"]
        return [value.name] if isinstance(value, External) else []
    return [imports.get(written) or f"{imports.get(head, head)}{dot}{rest}"]


def _dotted(node: ast.expr | None) -> str:
    """Return the text of a dotted name; "" for anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(names))) if isinstance(node, ast.Name) else ""


def _is_upstream_entry(name: str) -> bool:
    """Tell whether a name is that of an upstream recipe or launcher."""
    last = name.rpartition(".")[2]
    is_recipe = ".recipes." in name and last.islower() and "config" in last
    return name in LAUNCHERS or (name.startswith(UPSTREAM) and is_recipe)


_WRITING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension)


def _changes(node: ast.AST) -> bool:
    """Tell whether a statement writes a setting that the rules ask for, of a section of a configuration."""
    if not isinstance(node, _WRITING):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(
        isinstance(target, ast.Attribute)
        and target.attr in NAMES
        and isinstance(target.value, ast.Attribute)
        and target.value.attr in SECTIONS
        for target in targets
    )


def methods(interp: Interpreter, module: Module) -> Iterator[Entry]:
    """Yield methods that return a configuration when called on an object made without arguments: class-based recipes.

    A class also has its bases' methods: the configuration depends on the class's own overrides.
    """
    for node in module.tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        cls = resolve_global(interp, module, node.name)
        if not isinstance(cls, ClassObject) or cls.node is not node or has_base(interp, cls, *ENUM_BASES):
            continue
        seen: set[str] = set()
        for base in mro(interp, cls):
            if not isinstance(base, ClassObject) or base.node is None or not base.module.is_own:
                continue
            for name in _recipe_methods(interp, base):
                entry = method(interp, cls, base, name) if name not in seen else None
                seen.add(name)
                if entry is None or (entry.cls is None and base is not cls):
                    continue  # a static method of a base does what it does there
                # An inherited method is a recipe of the file whose class inherits it.
                yield entry if base.module is module else replace(entry, module=module, line=node.lineno)


def _recipe_methods(interp: Interpreter, cls: ClassObject) -> list[str]:
    """Return the methods that return a configuration (and need no argument for it), or launch or change one.

    A configuration of the constructor's is seen with every method: those that may hand it back count, else the first.
    """
    assert cls.node is not None
    public = [
        each
        for each in cls.node.body
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (not each.name.startswith("_") or each.name == "__iter__")
    ]
    constructor, _ = lookup(interp, cls, "__init__")
    constructed = isinstance(constructor, Function) and leads_to_configuration(interp, constructor, named=True)
    found = []
    for each in public:
        hands_back = says_container(each.returns) or (
            each.returns is None and (_returns(each) if constructed else _builds(each))
        )
        if (hands_back and not _needs_arguments(each)) or _leads(interp, cls, each.name):
            found.append(each.name)
    return found or [each.name for each in public[:1] if constructed]


def _leads(interp: Interpreter, cls: ClassObject, name: str) -> bool:
    """Tell whether a method configures something, or calls code that does, by the text.

    A test has to configure something itself: it calls much code for other reasons.
    """
    return any(
        configures(interp, each.module, each.node)
        if is_test(each.name)
        else leads_to_configuration(interp, each, named=True)
        for each in functions_of(interp, namespace(interp, cls).get(name))
    )


def _needs_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    parameters = node.args
    return len(parameters.args) - len(parameters.defaults) > 1 or None in parameters.kw_defaults


def _builds(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether an unannotated method's text gives reason to run it: it returns something and names sections."""
    return _returns(node) and any(
        isinstance(each, ast.Attribute) and each.attr in SECTIONS and isinstance(each.value, ast.Name)
        for each in ast.walk(node)
    )


def _returns(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Return) and each.value is not None for each in ast.walk(node))


def method(interp: Interpreter, cls: ClassObject, base: ClassObject, name: str) -> Entry | None:
    """Return the entry point for a method of `cls` that `base`, the class itself or a base of it, defines."""
    value = namespace(interp, base).get(name)
    kind = value.kind if isinstance(value, Descriptor) else ""
    function = value.function if isinstance(value, Descriptor) else value
    wrapper = None
    if isinstance(function, Function) and function.name != name:
        wrapper = function
        defined = (each for node, each in base.module.defined.items() if _is_method(base, node, name))
        function = next(defined, function.fields.get("__wrapped__", function))
    if (
        not isinstance(function, Function)
        or not isinstance(function.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        or kind == "property"
    ):
        return None
    receiver = None if kind == "staticmethod" else cls
    line = function.node.lineno
    return Entry(f"{cls.name}.{name}", base.module, "function", line, function, cls=receiver, wrapper=wrapper)


def _is_method(cls: ClassObject, node: ast.AST, name: str) -> bool:
    return cls.node is not None and node in cls.node.body and getattr(node, "name", "") == name
