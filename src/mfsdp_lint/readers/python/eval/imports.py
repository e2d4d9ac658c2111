"""Global names: what imports (also those that may fail), definitions and assignments of a module bind."""

from __future__ import annotations

import ast
import builtins
import functools
import math
import os
import string
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.imports import STDLIB, relative_target
from mfsdp_lint.readers.python.eval.classes import WRITTEN, lookup
from mfsdp_lint.readers.python.state.calling import LIBRARY, invoke, isolated, run_isolated
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.modules import submodule
from mfsdp_lint.readers.python.state.paths import ASSIGNED, IMPORTED, Raised
from mfsdp_lint.readers.python.values.code import READY, Call, Deferred, StarOut
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
    Object,
    Partial,
)


def ensure_ran(interp: Interpreter, module: Module, environment: DictObject | None = None) -> None:
    """Run a module's top level once, as an import does; it finds the variables of the `environment` of its importer."""
    if module.ran:
        return
    module.ran = True
    module.fields.setdefault("__name__", module.name)
    module.fields.setdefault("__package__", module.name if module.is_package else module.name.rpartition(".")[0])
    module.fields.setdefault("__file__", file_of(interp, module))
    module.fields.setdefault("__doc__", ast.get_docstring(module.tree, clean=False))
    frame = Frame(module)
    frame.fields, frame.bindings = module.fields, module.bindings
    with interp.aside(module):
        if module.is_package and interp.finder.sources.exists(module.path):
            folder = interp.finder.symbol(os.path.dirname(module.path))
            module.fields.setdefault("__path__", ListObject([folder], interp.tick()))
        before = interp.started_environment() if environment is None else environment
        interp.path.environment = after = DictObject(dict(before.fields), interp.tick())
        after.writes.update(before.writes)
        run_isolated(interp, module.tree.body, frame)
        _note_variables(interp, module, before)


def _note_variables(interp: Interpreter, module: Module, before: DictObject) -> None:
    """Note the variables of the process that a module's top level has changed, itself or by its own imports."""
    after = interp.path.environment
    module.variables = DictObject(_changed(before.fields, after.fields), interp.tick())
    module.variables.writes.update(_changed(before.writes, after.writes))
    imported = [each for each in module.variables.writes if isinstance(each, Module)]
    theirs = {name for each in imported for name in each.variables.fields}
    own = {name for name in module.variables.fields if isinstance(name, str)} - theirs
    if own:
        interp.setting.setdefault(os.path.abspath(module.path), set()).update(own)


def _changed(before: dict[Any, Any], after: dict[Any, Any]) -> dict[Any, Any]:
    return {key: value for key, value in after.items() if value is not before.get(key, MISSING)}


def take_variables(interp: Interpreter, module: Module) -> None:
    """Give a path the variables of the process that importing a module sets, once.

    An environment notes the modules that it has variables of among its writes.
    """
    environment = interp.path.environment
    if module.variables is None or module in environment.writes:
        return
    interp.record(environment, module, True)
    for name, value in module.variables.fields.items():
        interp.put(environment, name, value)
    for name, write in module.variables.writes.items():
        interp.record(environment, name, write)


def file_of(interp: Interpreter, module: Module) -> str:
    """Return `__file__` of a module."""
    return f"{interp.finder.symbol(os.path.dirname(module.path))}/{os.path.basename(module.path)}"


def resolve_global(interp: Interpreter, module: Any, name: str, seen: set[int] | None = None) -> Object:
    """Return the value of a global name of a module; MISSING where it has none."""
    if interp.path.may_assign:
        forget_assigned(interp, module)
    found: Object = module.fields.get(name, MISSING)
    if type(found) in READY and module.ran and not (module.decorated and type(found) is ClassObject):
        return found
    if getattr(module, "data", None) is not None:
        given: Object = module.data.get(interp, name)
        return given
    ensure_ran(interp, module)
    found = module.fields.get(name, MISSING)
    if isinstance(found, Deferred):
        found = _settle(interp, module, name, found)
    if module.decorated and isinstance(found, (DictObject, ListObject)):
        _run_decorators(interp, module, None)
    elif module.decorated and isinstance(found, (Instance, ClassObject)):
        _run_decorators(interp, module, name)
    if found is not MISSING:
        return found
    outermost = seen is None
    seen = seen or set()
    seen.add(id(module))
    for star in reversed(module.stars):
        if isinstance(star, StarOut):
            continue
        if id(star) not in seen and _is_exported(interp, star, name):
            found = resolve_global(interp, star, name, seen)
            if found is not MISSING:
                return found
    found = _made_on_demand(interp, module, name)
    if found is MISSING and module.is_package:
        found = _package_member(interp, module, name)
    if found is not MISSING:
        return found
    source = _out_of_sight(module, set()) if outermost and not hasattr(builtins, name) else None
    return MISSING if source is None else External(f"{source}.{name}")


def _is_exported(interp: Interpreter, module: Module, name: str) -> bool:
    """Tell whether `from module import *` binds a name: by the module's `__all__`, or as one without an underscore."""
    ensure_ran(interp, module)
    said = module.fields.get("__all__")
    names = said.items if isinstance(said, ListObject) else said if isinstance(said, tuple) else None
    if names is None or not all(isinstance(each, str) for each in names):
        return not name.startswith("_")
    return name in names


def _made_on_demand(interp: Interpreter, module: Module, name: str) -> Object:
    """Return a name that a module's own `__getattr__` gives, asked once (PEP 562); MISSING where it gives none."""
    if "__getattr__" not in module.fields or name.startswith("__"):
        return MISSING
    key = ("made on demand", module, name)
    if key not in interp.memo:
        interp.memo[key] = MISSING  # while it is asked: what it looks for itself, it does not give
        hook = resolve_global(interp, module, "__getattr__")
        if isinstance(hook, Function):
            with suppress(Raised):
                interp.memo[key] = isolated(
                    interp, lambda: invoke(interp, hook, Call([name], {}, hook.node, Frame(module))), module
                )
    found: Object = interp.memo[key]
    return found


def _out_of_sight(module: Module, seen: set[int]) -> str | None:
    """Return the package out of sight from which a module imports everything, perhaps through other modules."""
    seen.add(id(module))
    for star in module.stars:
        if isinstance(star, StarOut):
            return star.name
        found = _out_of_sight(star, seen) if id(star) not in seen else None
        if found is not None:
            return found
    return None


def _settle(interp: Interpreter, module: Module, name: str, deferred: Deferred) -> Object:
    if deferred.running:
        return MISSING
    deferred.running = True
    try:
        value = deferred.resolve()
    finally:
        deferred.running = False
    deferred.settled = True
    module.fields[name] = value
    return value


def _run_decorators(interp: Interpreter, module: Module, table: str | None) -> None:
    """Run the decorators that may fill an object of a module before it is read: those that name `table`, or all of
    them (None) before a plain table is read.
    """
    tables = {table}
    for name, _, names in module.decorated:
        if names & tables:
            tables.add(name)  # what derives from it, or is made with it, may be told as well
    waiting = [entry for entry in module.decorated if table is None or entry[2] & tables]
    module.decorated = [entry for entry in module.decorated if entry not in waiting]
    for name, deferred, _ in waiting:
        current = module.fields.get(name)
        if isinstance(current, Deferred) and current is deferred:
            _settle(interp, module, name, current)
        elif not deferred.settled:
            # Another definition has its name by now.
            deferred.settled = True
            deferred.resolve()


def _package_member(interp: Interpreter, module: Module, name: str) -> Object:
    folder = os.path.dirname(module.path)
    found = submodule(interp.finder, module, os.path.join(folder, name), f"{module.name}.{name}")
    return MISSING if found is None else found


def bind_import(interp: Interpreter, node: ast.Import | ast.ImportFrom, frame: Frame) -> None:
    """Bind the names of an import statement in `frame`; no module is read before a name is used."""
    module = frame.module
    if frame.fields is module.fields:
        if interp.leading:
            for path in _files_of(interp, node, module):
                # What is imported runs now, if it leads to something that changes other modules.
                found = interp.finder.load_for(module.path, path) if os.path.abspath(path) in interp.leading else None
                if found is not None:
                    import_now(interp, found)
    elif interp.within_functions:
        _run_within_function(interp, node, module)
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                _bind(interp, frame, alias.asname, _import_later(interp, alias.name, module))
            else:
                top = alias.name.split(".")[0]
                _bind(
                    interp,
                    frame,
                    top,
                    Deferred(functools.partial(import_module, interp, top, module, alias.name)),
                )
        return
    if any(alias.name == "*" for alias in node.names):
        _bind_star(interp, node, frame)
        return
    for alias in node.names:
        name = alias.asname or alias.name
        frame.bindings[name] = {node: (MISSING, None)}
        later = Deferred(functools.partial(_from_import, interp, node, alias.name, module))
        _bind(interp, frame, name, later)
        if alias.name in interp.contested and frame.fields is module.fields:
            _settle_now(interp, module, name, later)


def forget_assigned(interp: Interpreter, module: Any) -> None:
    """Forget the global names of a module that an unfollowed call may have assigned on the path."""
    facts = interp.path.facts
    key = (ASSIGNED, getattr(module, "path", None))
    names = facts.fields.get(key)
    if names:
        interp.put(facts, key, None)
        ensure_ran(interp, module)
        for name in names & module.fields.keys():
            interp.put(module, name, interp.unknown(name))


def _run_within_function(interp: Interpreter, node: ast.Import | ast.ImportFrom, module: Module) -> None:
    """Apply the changes of a function's import statement to other modules, until the end of the path it is on."""
    for path in _files_of(interp, node, module):
        found = _changing_others(interp, path, module)
        interp.runs_with(found)
        done, facts = (IMPORTED, path, module.path), interp.path.facts
        if done not in facts.fields:
            for each in found:
                import_now(interp, each)
                interp.apply_changes(each)
            interp.put(facts, done, True)


def _changing_others(interp: Interpreter, path: str, module: Module) -> list[Module]:
    """List the modules that importing a file in a function of a module runs and that change others, in their order."""
    key = ("changing others", path, module.path)
    if key not in interp.memo:
        ends = reversed(dict.fromkeys(reversed(interp.programs.order(path))))
        files = [each for each in ends if os.path.abspath(each) in interp.within_functions]
        loaded = (interp.finder.load_for(module.path, each) for each in files)
        interp.memo[key] = [each for each in loaded if each is not None]
    found: list[Module] = interp.memo[key]
    return found


def _files_of(interp: Interpreter, node: ast.Import | ast.ImportFrom, module: Module) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        names = [alias.name for alias in node.names]
        return interp.programs.imported(module.path, node.level, node.module or "", names)
    return [path for alias in node.names for path in interp.programs.imported(module.path, 0, alias.name, ())]


def import_now(interp: Interpreter, module: Module) -> None:
    """Run a module's top level once, and its decorators: other modules, and whoever imports it, find what these did."""
    if not module.ran:
        ensure_ran(interp, module, interp.path.environment)
        _run_decorators(interp, module, None)
    take_variables(interp, module)


def _settle_now(interp: Interpreter, module: Module, name: str, later: Deferred) -> None:
    """Look an imported name up before somebody changes what it means, if it is there by now."""
    value = later.resolve()
    if value is not MISSING and type(value) is not External and module.fields.get(name) is later:
        later.settled = True
        module.fields[name] = value


def _bind(interp: Interpreter, frame: Frame, name: str, value: Deferred) -> None:
    if frame.fields is frame.module.fields:
        frame.fields[name] = value
    else:
        interp.put(frame, name, value.resolve())


def _import_later(interp: Interpreter, name: str, module: Module) -> Deferred:
    return Deferred(lambda: import_module(interp, name, module))


def import_module(interp: Interpreter, name: str, importer: Module, full: str | None = None) -> Object:
    """Return the module of `import name` in the file of `importer`; an External if its source is not at hand."""
    found = interp.finder.resolve(name, importer.path)
    if found is not None:
        return found
    known = interp.knowledge.module(interp, name)
    if known is not None:
        return known
    return (
        NamespacePackage(interp, name, importer) if full and interp.finder.has(full, importer.path) else External(name)
    )


class NamespacePackage(Module):
    """A package without `__init__.py`: only its submodules can be reached."""

    __slots__ = ("data",)

    def __init__(self, interp: Interpreter, name: str, importer: Module) -> None:
        super().__init__(name, name, ast.Module([], []))
        self.ran = True
        self.data = _NamespaceData(name, importer)


@dataclass(slots=True, eq=False)
class _NamespaceData:
    name: str
    importer: Module

    def get(self, interp: Interpreter, name: str) -> Object:
        full = f"{self.name}.{name}"
        found = interp.finder.resolve(full, self.importer.path)
        return found if found is not None else NamespacePackage(interp, full, self.importer)


def _source(interp: Interpreter, node: ast.ImportFrom, module: Module) -> tuple[Module | None, str]:
    """Return the module that a from-import takes names from, and its dotted name."""
    if not node.level:
        name = node.module or ""
        return interp.finder.resolve(name, module.path), name
    target = relative_target(module.path, node.level, node.module)
    package = module.name.split(".")
    package = package[: len(package) - node.level + (1 if module.is_package else 0)]
    name = ".".join([*package, *([node.module] if node.module else [])])
    return submodule(interp.finder, module, target, name), name


def _from_import(interp: Interpreter, node: ast.ImportFrom, name: str, module: Module) -> Object:
    source, source_name = _source(interp, node, module)
    interp.memo["from", node, name] = source
    if source is not None:
        found = resolve_global(interp, source, name) if source is not module else MISSING
        if found is MISSING and source is module:
            found = _package_member(interp, module, name)
        if found is not MISSING:
            return found
    else:
        member = None
        if node.level:
            member = submodule(
                interp.finder,
                module,
                os.path.join(relative_target(module.path, node.level, node.module), name),
                f"{source_name}.{name}",
            )
        else:
            member = interp.finder.resolve(f"{source_name}.{name}", module.path)
        if member is not None:
            return member
    known = interp.knowledge.member(interp, source_name, name)
    return outside(interp, source_name, name) if known is None else known


def outside(interp: Interpreter, module: str, name: str) -> Object:
    """Return a name of a module that is out of sight; the target gives the version of some packages."""
    if name == "__version__" and module == "transformer_engine":
        version = interp.knowledge.version_of("transformer-engine")
        if version is not None:
            return version
    modelled = WRITTEN[0](interp, f"{module}.{name}")
    if isinstance(modelled, Instance):
        return modelled
    if (of_linux := _OF_LINUX.get(f"{module}.{name}")) is not None:
        return of_linux
    found = getattr(_WITH_VALUES.get(module), name, None)
    return found if isinstance(found, (str, float)) and not name.startswith("_") else External(f"{module}.{name}")


_WITH_VALUES = {"math": math, "string": string}
"""Modules whose texts and numbers are the same everywhere: `math.pi`, `string.digits`."""


_OF_LINUX: dict[str, Object] = {
    "sys.platform": "linux", "os.name": "posix", "os.sep": "/", "os.linesep": "\n", "os.pathsep": ":",
    "sys.version_info.major": 3,
}  # fmt: skip
"""Megatron's processes talk through NCCL, which is for Linux alone, and it needs Python 3 (pyproject.toml)."""


def _bind_star(interp: Interpreter, node: ast.ImportFrom, frame: Frame) -> None:
    source, name = _source(interp, node, frame.module)
    star: Any = source
    if source is None:
        star = interp.knowledge.module(interp, name)
    module = frame.module
    # A name that the module has already is the other one's from here on.
    if isinstance(star, Module) and star is not module:
        for each in [each for each in module.fields if isinstance(each, str) and _gives(interp, star, each, module)]:
            module.fields.pop(each, None)
            frame.bindings.pop(each, None)
    module.stars.append(star if star is not None else StarOut(name))


def _gives(interp: Interpreter, source: Module, name: str, to: Module) -> bool:
    """Tell whether `from source import *` surely binds a name in a module to something that it does not have from
    there.
    """
    text = interp.finder.sources.text_or_none(source.path)
    if text is not None and name not in text and "import *" not in text:
        return False
    return _is_exported(interp, source, name) and resolve_global(interp, source, name, {id(to)}) is not MISSING


INSTALLED = frozenset((
    "torch", "numpy", "transformers", "datasets", "accelerate", "omegaconf", "hydra", "yaml", "tensorboard", "wandb",
    "mlflow", "rich", "six", "regex", "tqdm", "typing_extensions", "packaging", "einops", "safetensors",
    "huggingface_hub", "tokenizers", "requests", "transformer_engine", "mamba_ssm", "causal_conv1d", "fla", "timm",
    "open_clip", "qwen_vl_utils", "nvidia_resiliency_ext", "pkg_resources", "setuptools",
))  # fmt: skip
"""Requirements of Megatron-Bridge 0.2.0 to 0.6.0 (pyproject.toml), and the packages that these require."""


def import_guarded(interp: Interpreter, node: ast.Import | ast.ImportFrom, frame: Frame) -> bool:
    """Bind what an import in a `try` binds, where it may fail; False where it is an import like any other.

    Raises Raised where it surely fails.
    """
    if isinstance(node, ast.Import):
        answers = [is_there(interp, alias.name, frame.module) for alias in node.names]
        if all(answers):
            return False
        if False in answers:
            raise Raised("ModuleNotFoundError", ast.unparse(node))
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            interp.put(frame, alias.asname or name, External(name))
    else:
        answers = [_has_name(interp, node, alias.name, frame.module) for alias in node.names]
        if all(answers):
            return False
        if False in answers:
            missing = not node.level and is_there(interp, node.module or "", frame.module) is False
            raise Raised("ModuleNotFoundError" if missing else "ImportError", ast.unparse(node))
        for alias in node.names:
            if alias.name != "*":
                interp.put(frame, alias.asname or alias.name, External(f"{node.module}.{alias.name}"))
    interp.doubts += 1
    return True


def is_there(interp: Interpreter, name: str, module: Module) -> bool | None:
    """Tell whether a module is installed, or at hand; None where that is not known."""
    top = name.partition(".")[0]
    if top in STDLIB or top in INSTALLED or interp.finder.has(name, module.path):
        return True
    if not interp.knowledge.covers(name):
        return True if top == "megatron" else None
    if interp.knowledge.module(interp, name) is not None:
        return True
    return False if interp.knowledge.lacks(name) else None


def _has_name(interp: Interpreter, node: ast.ImportFrom, name: str, module: Module) -> bool | None:
    """Tell whether `from … import name` finds the name; None where that is not known."""
    if node.level:
        target = relative_target(module.path, node.level, node.module)
        source = submodule(interp.finder, module, target, node.module or "")
        if source is None:
            return disk.is_folder(target) and (name == "*" or _is_module(interp, module, target, name))
        return _module_has(interp, source, name) or _is_module(interp, module, target, name)
    full = node.module or ""
    source = interp.finder.resolve(full, module.path)
    if source is not None:
        return _module_has(interp, source, name) or interp.finder.has(f"{full}.{name}", module.path)
    if interp.finder.has(f"{full}.{name}", module.path):
        return True
    if interp.knowledge.lacks(full, None if name == "*" else name):
        return False
    if f"{full}.{name}" in LIBRARY:
        return True
    if not interp.knowledge.covers(full):
        return is_there(interp, full, module)
    # A release may have names that nothing is known of.
    return True if interp.knowledge.member(interp, full, name) is not None else None


def _is_module(interp: Interpreter, module: Module, target: str, name: str) -> bool:
    return submodule(interp.finder, module, os.path.join(target, name), name) is not None


def _module_has(interp: Interpreter, source: Module, name: str) -> bool:
    if name == "*" or any(isinstance(star, StarOut) for star in source.stars):
        return True
    return resolve_global(interp, source, name) is not MISSING


_MADE_BY = ("__init__", "__post_init__", "__call__")
_DEEPEST = 4


_LONGEST_CHAIN = 64


def meant(
    interp: Interpreter, module: Module, node: ast.AST, function: Function | None = None, links: int = _LONGEST_CHAIN
) -> Object:
    """Tell what a name, or what is reached from one, means in a module or in one of its functions.

    Of a call, it is what is called: `Recipes().build` means a method of the class. MISSING where that takes running it.
    """
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    match node:
        case ast.Name(id=name):
            here: Frame | None = None if function is None else function.closure
            while here is not None:
                if name in here.fields:
                    found: Object = here.fields[name]
                    return found
                here = here.enclosing
            if function is not None and function.cls is not None:
                parameters = (*function.node.args.posonlyargs, *function.node.args.args)
                if parameters and parameters[0].arg == name:
                    return function.cls
            return resolve_global(interp, module, name)
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name) if function and function.cls:
            return lookup(interp, function.cls, name, function.cls)[0]
        case ast.Attribute(value=inner, attr=name) if links:
            owner = meant(interp, module, inner, function, links - 1)
            if isinstance(owner, Module):
                return resolve_global(interp, owner, name)
            if isinstance(owner, Instance):
                owner = owner.cls
            return lookup(interp, owner, name)[0] if isinstance(owner, ClassObject) else MISSING
    return MISSING


def functions_of(interp: Interpreter, value: Object, depth: int = 0) -> Iterator[Function]:
    """Yield the functions that may run when a value, or a value that it holds, is called."""
    if isinstance(value, Function):
        yield value
    elif isinstance(value, (Partial, Bound, Descriptor)):
        yield from functions_of(interp, value.function, depth)
    elif isinstance(value, ClassObject):
        for name in _MADE_BY:
            yield from functions_of(interp, lookup(interp, value, name)[0], depth)
    elif depth < _DEEPEST:
        for inner in _held(value):
            yield from functions_of(interp, inner, depth + 1)


def _held(value: Object) -> tuple[Object, ...]:
    if isinstance(value, Choice):
        return tuple(value.options)
    if isinstance(value, DictObject):
        return tuple(value.fields.values())
    if isinstance(value, ListObject):
        return tuple(value.items or ())
    return value if isinstance(value, tuple) else ()
