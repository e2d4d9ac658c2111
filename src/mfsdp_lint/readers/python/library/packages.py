"""Packages: their modules (`importlib`, `pkgutil` over packages of the tree), and the versions of those that the target
says are installed (PEP 440).
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import total_ordering

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.imports import ensure_ran, import_module, import_now, is_there, resolve_global
from mfsdp_lint.readers.python.eval.path_objects import existing, folder_of, located, spelled, text_of_path
from mfsdp_lint.readers.python.eval.standard_objects import NotKnown, answer
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.library.subprocesses import runs_as_program
from mfsdp_lint.readers.python.state.calling import Model, models
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.texts import binding, top
from mfsdp_lint.readers.python.values.code import Call, told_at
from mfsdp_lint.readers.python.values.objects import DictObject, External, ListObject, Module, Object, Unknown


class _OutOfSight(Exception):
    """A folder, or a package, whose content is not known."""


@models("builtins.__import__", "importlib.import_module")
def _import_module(interp: Interpreter, call: Call) -> Object:
    name = interp.settle(call.argument(0))
    if isinstance(name, str) and name.startswith("."):
        name = _absolute(name, interp.settle(call.argument(1, "package")))
    if not isinstance(name, str):
        return interp.unknown("module")
    importer = _importer(interp, call)
    found = import_module(interp, name, importer)
    if isinstance(found, Module) and interp.executing is not None and found.path:
        computed = interp.programs.computed.setdefault(interp.executing.path, [])
        if found.path not in computed:
            computed.append(found.path)
        if interp.followed is None or os.path.abspath(found.path) in interp.leading:
            import_now(interp, found)
    elif isinstance(found, Module) and found.path:
        import_now(interp, found)
        interp.apply_changes(found)
    if not isinstance(found, External):
        return found
    if _is_missing(interp, name, importer):
        raise _not_found(interp, name)
    return interp.unknown(name, not_none=True)


@models("hydra.utils.get_class", "hydra.utils.get_method", "hydra.utils.get_object", "hydra.utils.get_static_method")
def _located(interp: Interpreter, call: Call) -> Object:
    """Return what a dotted name means: an attribute of the module that the longest part of it names."""
    path = interp.settle(call.argument(0, "path"))
    module, _, name = path.rpartition(".") if isinstance(path, str) else ("", "", "")
    if not module:
        return interp.unknown("located")
    return get_attribute(interp, import_module(interp, module, _importer(interp, call)), name, call.node, call.frame)


def _importer(interp: Interpreter, call: Call) -> Module:
    """Return the module of the program on whose search path a name is looked for: a library has the program's."""
    importer = told_at(None, call.frame)[1].module
    return (interp.executing or interp.entry or importer) if importer.written else importer


def _absolute(name: str, package: Object) -> str | None:
    """Return the full name of a module that is named from a package; None where the package is not known."""
    if not isinstance(package, str):
        return None
    try:
        return importlib.util.resolve_name(name, package)
    except ImportError:  # beyond the top-level package
        return None


@models("importlib.util.spec_from_file_location")
def _spec_from_file(interp: Interpreter, call: Call) -> Object:
    made = interp.unknown("spec", not_none=True)
    made.fields.update(
        name=call.argument(0, "name"),
        origin=call.argument(1, "location"),
        loader=External("importlib.machinery.SourceFileLoader"),
    )
    return made


@models("importlib.util.module_from_spec")
def _module_from_spec(interp: Interpreter, call: Call) -> Object:
    spec = interp.settle(call.argument(0, "spec"))
    found = _module_at(interp, spec.fields.get("origin"), call) if isinstance(spec, Unknown) else None
    return interp.unknown("module", not_none=True) if found is None else found


def _module_at(interp: Interpreter, path: Object, call: Call) -> Module | None:
    """Return the module in the file of the tree that a path names; None where that is not known."""
    location = text_of_path(interp.settle(path))
    places = () if location is None else located(interp, location, call.frame.module)
    files = existing(interp, places, call.frame.module)
    if len(files) != 1:
        return None
    return interp.finder.load_for(call.frame.module.path, spelled(files[0], call.frame.module))


@models("runpy.run_path")
def _run_path(interp: Interpreter, call: Call) -> Object:
    if runs_as_program(interp, call, (call.argument(0, "path_name"),), call.argument(2, "run_name")):
        return unfollowed(interp, "runpy.run_path", call)
    found = _module_at(interp, call.argument(0, "path_name"), call)
    if found is None or len(call.arguments) > 1 or call.keywords.keys() - {"path_name"}:
        return interp.unknown("names", not_none=True)
    return names_of(interp, found)


@models("runpy.run_module")
def _run_module(interp: Interpreter, call: Call) -> Object:
    runs_as_program(interp, call, ("-m", call.argument(0, "mod_name")), call.argument(2, "run_name"))
    return unfollowed(interp, "runpy.run_module", call)


def names_of(interp: Interpreter, module: Module) -> DictObject:
    """Return the dictionary of the names that running a file's text makes, each with the place that gives its value."""
    ensure_ran(interp, module)
    made = DictObject({}, interp.tick())
    for name in [name for name in module.fields if isinstance(name, str)]:
        value = resolve_global(interp, module, name)
        bound = binding(module, name)
        made.fields[name] = deep_copy(interp, value)
        if bound is not None:
            made.writes[name] = interp.note(bound[0], top(module), bound[0], "assigned", value, None)
    return made


@models("importlib.util.find_spec")
def _find_spec(interp: Interpreter, call: Call) -> Object:
    name = interp.settle(call.argument(0, "name"))
    if not isinstance(name, str) or name.startswith("."):
        return interp.unknown("module specification")
    above = name.rpartition(".")[0]
    if above and _is_missing(interp, above, call.frame.module):
        raise _not_found(interp, above)
    there = False if _is_missing(interp, name, call.frame.module) else is_there(interp, name, call.frame.module)
    if there is False:
        return None
    return interp.unknown("module specification", not_none=there is True)


def _is_missing(interp: Interpreter, name: str, importer: Module) -> bool:
    """Tell whether a package of the tree, or of the release, surely has no such module."""
    if is_there(interp, name, importer) is False:
        return True
    above, _, last = name.rpartition(".")
    package = interp.finder.resolve(above, importer.path) if above else None
    folder = None if package is None else _own_folder(interp, package)
    if folder is None:
        return False
    names = interp.finder.entries(folder)
    return last not in names and not names.matching(f"{last}.*")


def _own_folder(interp: Interpreter, package: Module) -> str | None:
    """Return the folder that a package finds its modules in, where that is its own alone."""
    said = resolve_global(interp, package, "__path__")
    folders = said.items if isinstance(said, ListObject) else None
    found = folder_of(interp, folders[0]) if folders and len(folders) == 1 and isinstance(folders[0], str) else None
    return found if found is not None and os.path.abspath(os.path.dirname(package.path)) == found else None


def _not_found(interp: Interpreter, name: str) -> Raised:
    error = Raised("ModuleNotFoundError", f"No module named '{name}'")
    value = Unknown(interp.tick(), error.text, True)  # nothing is in doubt about it
    value.fields["name"] = name
    error.value = value
    return error


def _lists(deep: bool) -> Model:
    def model(interp: Interpreter, call: Call) -> Object:
        path, prefix = interp.settle(call.argument(0, "path")), interp.settle(call.argument(1, "prefix", ""))
        try:
            if not isinstance(prefix, str):
                raise _OutOfSight
            return ListObject(list(_modules(interp, path, prefix, call.frame.module, deep)), interp.tick())
        except _OutOfSight:
            return interp.unknown("modules", not_none=True)

    return model


models("pkgutil.iter_modules")(_lists(deep=False))
models("pkgutil.walk_packages")(_lists(deep=True))


def _modules(interp: Interpreter, path: Object, prefix: str, importer: Module, deep: bool) -> Iterator[Object]:
    """Yield `pkgutil.ModuleInfo` of all modules in folders of the tree, in the order that pkgutil finds them in."""
    if not isinstance(path, ListObject) or path.items is None:
        raise _OutOfSight
    seen: set[str] = set()
    for said in path.items:
        folder = folder_of(interp, said) if isinstance(said, str) else None
        if folder is None:
            raise _OutOfSight
        for entry in interp.finder.entries(folder).matching("*"):
            name, is_package = _module_in(interp, folder, entry)
            if not name or name in seen:
                continue
            seen.add(name)
            made = Unknown(interp.tick(), f"module {prefix}{name}", True)
            made.fields.update(name=prefix + name, ispkg=is_package)
            yield made
            if deep and is_package:
                yield from _below(interp, prefix + name, importer)


def _module_in(interp: Interpreter, folder: str, entry: str) -> tuple[str, bool]:
    """Return the name of the module that an entry of a folder is, "" where it is none, and whether it is a package."""
    if entry.endswith(".py"):
        name = entry.removesuffix(".py")
        return ("" if name == "__init__" or "." in name else name), False
    inside = interp.finder.entries(os.path.join(folder, entry))
    return (entry if "." not in entry and "__init__.py" in inside else ""), True


def _below(interp: Interpreter, name: str, importer: Module) -> Iterator[Object]:
    found = import_module(interp, name, importer)
    if not isinstance(found, Module):
        raise _OutOfSight
    yield from _modules(interp, resolve_global(interp, found, "__path__"), f"{name}.", importer, True)


_LONGEST = 200
_PATTERN = lazy_pattern(
    r"""\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_number>\d+)?)?
    (?P<post>-(?P<post_alone>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d+)?)?
    (?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d+)?)?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
"""A version as PEP 440 has it, appendix B."""
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_LEAST, _MOST = (0,), (2,)


class InvalidVersion(ValueError):
    """A text that is no version."""


@total_ordering
class Version:
    """A version with the attributes of packaging's own. Raises InvalidVersion."""

    __module__ = "packaging.version"

    def __init__(self, text: str) -> None:
        found = _PATTERN.fullmatch(text) if len(text) < _LONGEST else None
        if found is None:
            raise InvalidVersion(f"Invalid version: '{text}'")
        said = found.group
        letter, post = (said("pre") or "").lower(), said("post_alone") or said("post_number") or 0
        self.epoch, self.release = int(said("epoch") or 0), tuple(map(int, said("release").split(".")))
        self.pre = (_PRE.get(letter, letter), int(said("pre_number") or 0)) if letter else None
        self.post = int(post) if said("post") else None
        self.dev = int(said("dev_number") or 0) if said("dev") else None
        parts = [int(each) if each.isdigit() else each for each in re.split(r"[-_.]", (said("local") or "").lower())]
        self.local = ".".join(map(str, parts)) or None
        self.major, self.minor, self.micro = (*self.release, 0, 0)[:3]
        self.is_prerelease = self.dev is not None or self.pre is not None
        self.is_postrelease, self.is_devrelease = self.post is not None, self.dev is not None
        self.base_version = f"{self.epoch}!" * bool(self.epoch) + ".".join(map(str, self.release))
        self.public = self.base_version + "".join(map(str, self.pre or ()))
        self.public += f".post{self.post}" * self.is_postrelease + f".dev{self.dev}" * self.is_devrelease
        significant = len(self.release)
        while significant and not self.release[significant - 1]:
            significant -= 1
        self.key = (
            self.epoch,
            self.release[:significant],
            (1, *self.pre) if self.pre else _LEAST if self.is_devrelease and not self.is_postrelease else _MOST,
            (1, self.post) if self.is_postrelease else _LEAST,
            (1, self.dev) if self.is_devrelease else _MOST,
            (1, *((1, each, "") if isinstance(each, int) else (0, 0, each) for each in parts))
            if self.local
            else _LEAST,
        )

    def __str__(self) -> str:
        return self.public if self.local is None else f"{self.public}+{self.local}"

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: Version) -> bool:
        return self.key < other.key if isinstance(other, Version) else NotImplemented


@models("packaging.version.Version", "packaging.version.parse", "pkg_resources.parse_version")
def _version(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.argument(0, "version"))
    try:
        text = version_of(interp, "torch") if value == External("torch.__version__") else value
        return answer(interp, Version, [text], {})
    except NotKnown:
        return interp.unknown("version", not_none=True)


def version_of(interp: Interpreter, package: Object) -> Object:
    """Return the version of an installed package, as a text; unknown where the target does not say it."""
    package = package if isinstance(package, str) else "a package"
    found = interp.knowledge.version_of(package)
    return interp.unknown(f"the version of {package}", not_none=True) if found is None else found


@models("importlib.metadata.version", "importlib_metadata.version")
def _installed_version(interp: Interpreter, call: Call) -> Object:
    return version_of(interp, interp.settle(call.argument(0, "distribution_name")))


@models("importlib.metadata.distribution", "importlib_metadata.distribution", "pkg_resources.get_distribution")
def _distribution(interp: Interpreter, call: Call) -> Object:
    made = Unknown(interp.tick(), "distribution", True)
    made.fields["version"] = _installed_version(interp, call)
    return made


def _get_version(package: str) -> Model:
    return lambda interp, call: _version(interp, call.passing([version_of(interp, package)]))


def _is_min_version(package: str) -> Model:
    def model(interp: Interpreter, call: Call) -> Object:
        installed = version_of(interp, package)
        wanted = interp.settle(call.argument(0, "version"))
        equality = interp.settle(call.argument(1, "check_equality", True))
        if isinstance(installed, str) and isinstance(wanted, str) and isinstance(equality, bool):
            with suppress(InvalidVersion):
                there, least = Version(installed), Version(wanted)
                return there > least or (equality and there == least)
        return interp.unknown(f"the version of {package}", not_none=True)

    return model


for _package_name, _short in (("torch", "torch"), ("transformer-engine", "te")):
    models(f"megatron.core.utils.get_{_short}_version")(_get_version(_package_name))
    models(f"megatron.core.utils.is_{_short}_min_version")(_is_min_version(_package_name))
