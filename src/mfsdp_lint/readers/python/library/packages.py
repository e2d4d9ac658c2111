"""Content of packages: `pkgutil` over packages of the tree, and `importlib`."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

from mfsdp_lint.readers.python.eval.imports import import_module, is_there, resolve_global
from mfsdp_lint.readers.python.eval.path_objects import text_of_path
from mfsdp_lint.readers.python.state.folders import folder_of, located, spelled
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import External, ListObject, Object, Unknown


class _OutOfSight(Exception):
    """A folder, or a package, whose content is not known."""


@models("builtins.__import__", "importlib.import_module")
def _import_module(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.arguments[0]) if call.arguments else None
    if isinstance(name, str) and name.startswith("."):
        name = _absolute(
            name, machine.settle(call.keywords["package"] if "package" in call.keywords else [*call.arguments, None][1])
        )
    if not isinstance(name, str):
        return machine.unknown("module")
    found = import_module(machine, name, call.frame.module)
    if not isinstance(found, External):
        return found
    if _is_missing(machine, name, call.frame.module):
        raise _not_found(machine, name)
    return machine.unknown(name, not_none=True)


def _absolute(name: str, package: Object) -> str | None:
    """Return the full name of a module that is named from a package; None where the package is not known."""
    if not isinstance(package, str):
        return None
    try:
        return importlib.util.resolve_name(name, package)
    except ImportError:  # beyond the top-level package
        return None


@models("importlib.util.spec_from_file_location")
def _spec_from_file(machine: Machine, call: Call) -> Object:
    made = machine.unknown("spec", not_none=True)
    given = dict(zip(("name", "location"), call.arguments, strict=False)) | call.keywords
    made.fields.update(
        name=given.get("name"), origin=given.get("location"), loader=External("importlib.machinery.SourceFileLoader")
    )
    return made


@models("importlib.util.module_from_spec")
def _module_from_spec(machine: Machine, call: Call) -> Object:
    spec = machine.settle(call.arguments[0] if call.arguments else call.keywords.get("spec"))
    location = text_of_path(machine.settle(spec.fields.get("origin"))) if isinstance(spec, Unknown) else None
    places = () if location is None else located(machine, location, call.frame.module)
    files = [place for place in places if machine.finder.sources.exists(place)]
    found = (
        machine.finder.load_for(call.frame.module.path, spelled(files[0], call.frame.module))
        if len(files) == 1
        else None
    )
    return machine.unknown("module", not_none=True) if found is None else found


@models("importlib.util.find_spec")
def _find_spec(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.arguments[0]) if call.arguments else machine.settle(call.keywords.get("name"))
    if not isinstance(name, str) or name.startswith("."):
        return machine.unknown("module specification")
    above = name.rpartition(".")[0]
    if above and _is_missing(machine, above, call.frame.module):
        raise _not_found(machine, above)
    there = False if _is_missing(machine, name, call.frame.module) else is_there(machine, name, call.frame.module)
    if there is False:
        return None
    return machine.unknown("module specification", not_none=there is True)


def _is_missing(machine: Machine, name: str, importer: Module) -> bool:
    """Tell whether a package of the tree, or of the release, surely has no such module."""
    if is_there(machine, name, importer) is False:
        return True
    above, _, last = name.rpartition(".")
    package = machine.finder.resolve(above, importer.path) if above else None
    folder = None if package is None else _own_folder(machine, package)
    if folder is None:
        return False
    names = machine.finder.entries(folder)
    return last not in names and not names.matching(f"{last}.*")


def _own_folder(machine: Machine, package: Module) -> str | None:
    """Return the folder that a package finds its modules in, where that is its own alone."""
    said = resolve_global(machine, package, "__path__")
    folders = said.items if isinstance(said, ListObject) else None
    found = folder_of(machine, folders[0]) if folders and len(folders) == 1 and isinstance(folders[0], str) else None
    return found if found is not None and os.path.abspath(os.path.dirname(package.path)) == found else None


def _not_found(machine: Machine, name: str) -> Raised:
    error = Raised("ModuleNotFoundError", f"No module named '{name}'")
    value = Unknown(machine.tick(), error.text, True)  # nothing is in doubt about it
    value.fields["name"] = name
    error.value = value
    return error


@models("pkgutil.iter_modules")
def _iter_modules(machine: Machine, call: Call) -> Object:
    return _listed(machine, call.arguments, call.keywords, call.frame, deep=False)


@models("pkgutil.walk_packages")
def _walk_packages(machine: Machine, call: Call) -> Object:
    return _listed(machine, call.arguments, call.keywords, call.frame, deep=True)


def _listed(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, *, deep: bool
) -> Object:
    given = [machine.settle(each) for each in (*arguments, None, "")][:2]
    path = machine.settle(keywords["path"]) if "path" in keywords else given[0]
    prefix = machine.settle(keywords["prefix"]) if "prefix" in keywords else given[1] or ""
    try:
        if not isinstance(prefix, str):
            raise _OutOfSight
        return ListObject(list(_modules(machine, path, prefix, frame.module, deep)), machine.tick())
    except _OutOfSight:
        return machine.unknown("modules", not_none=True)


def _modules(machine: Machine, path: Object, prefix: str, importer: Module, deep: bool) -> Iterator[Object]:
    """Yield `pkgutil.ModuleInfo` of all modules in folders of the tree, in the order that pkgutil finds them in."""
    if not isinstance(path, ListObject) or path.items is None:
        raise _OutOfSight
    seen: set[str] = set()
    for said in path.items:
        folder = folder_of(machine, said) if isinstance(said, str) else None
        if folder is None:
            raise _OutOfSight
        for entry in machine.finder.entries(folder).matching("*"):
            name, is_package = _module_in(machine, folder, entry)
            if not name or name in seen:
                continue
            seen.add(name)
            yield _info(machine, prefix + name, is_package)
            if deep and is_package:
                yield from _below(machine, prefix + name, importer)


def _module_in(machine: Machine, folder: str, entry: str) -> tuple[str, bool]:
    """Return the name of the module that an entry of a folder is, "" where it is none, and whether it is a package."""
    if entry.endswith(".py"):
        name = entry.removesuffix(".py")
        return ("" if name == "__init__" or "." in name else name), False
    inside = machine.finder.entries(os.path.join(folder, entry))
    return (entry if "." not in entry and "__init__.py" in inside else ""), True


def _below(machine: Machine, name: str, importer: Module) -> Iterator[Object]:
    found = import_module(machine, name, importer)
    if not isinstance(found, Module):
        raise _OutOfSight
    yield from _modules(machine, resolve_global(machine, found, "__path__"), f"{name}.", importer, True)


def _info(machine: Machine, name: str, is_package: bool) -> Object:
    made = Unknown(machine.tick(), f"module {name}", True)
    made.fields.update(name=name, ispkg=is_package)
    return made
