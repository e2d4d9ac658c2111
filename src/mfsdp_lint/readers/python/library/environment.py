"""The machine a program runs on: files and folders, environment variables, `sys.path`, leaving the process.

Files are those of the tree that is read as well, never executed; all others are not known.
"""

from __future__ import annotations

import ast
import os
import posixpath
import re
from collections.abc import Callable
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.values import CWD
from mfsdp_lint.inputs import disk
from mfsdp_lint.readers.python.eval.containers import set_entry
from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.eval.methods import lines_of, method
from mfsdp_lint.readers.python.eval.path_objects import (
    at_home,
    existing,
    folder_of,
    located,
    make_path,
    matching,
    normal,
    overwrite,
    parent,
    spelled,
    text_of,
    text_of_path,
)
from mfsdp_lint.readers.python.library.sequences import computes, settled
from mfsdp_lint.readers.python.library.subprocesses import written_file
from mfsdp_lint.readers.python.state.calling import Model, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.variables import (
    ENVIRONMENT,
    changeable_argv,
    copied_environment,
    is_set,
    no_text,
    variable,
)
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import IN_SOME_ORDER, PUT
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    SYMBOLS,
    DictObject,
    Frame,
    Module,
    Native,
    Object,
    Option,
    PartlyKnown,
    PathObject,
    Unknown,
    all_are,
    is_symbolic,
)

LONGEST = 200_000
"""Characters; a longer file is data, and no settings."""


def read(interp: Interpreter, path: Object, frame: Frame) -> str | None:
    """Read the file of the tree that a path names; None where that is not known.

    Raises Raised where the file is missing and the program is ready for that.
    """
    settled = interp.settle(path)
    if settled is None and interp.tries_files:
        settled = path  # an option that has to be given
    if isinstance(settled, Unknown) and type(settled) is not PathObject:
        interp.dependencies.asks_file.add(frame.module)
        settled = interp.file_meant(settled, frame)
    text = text_of_path(settled)
    if text is None:
        return None
    try:
        found = text_of(interp, text, frame.module)
    except FileNotFoundError:
        if interp.path.written is None:
            return None
        raise Raised("FileNotFoundError", text) from None
    if found is None or len(found[1]) > LONGEST:
        return None
    interp.finder.texts[found[1]] = found[0]
    return found[1]


@models("builtins.open", "io.open", "codecs.open")
def _open(interp: Interpreter, call: Call) -> Object:
    path = call.argument(0, "file")
    mode = interp.settle(call.argument(1, "mode", "r"))
    if not isinstance(mode, str) or set(mode) - set("rbtU"):
        text = text_of_path(interp.settle(path))
        if text is not None:
            overwrite(interp, text, call.frame.module)
            if mode in ("w", "wt", "x"):
                return written_file(interp, path, call)
        return interp.unknown("file", not_none=True)
    text = read(interp, path, call.frame)
    return interp.unknown("file", not_none=True) if text is None else _stream(interp, text)


@models("io.StringIO")
def _text_stream(interp: Interpreter, call: Call) -> Object:
    text = interp.settle(call.argument(0, "initial_value"))
    known = isinstance(text, str) and not is_symbolic(text)
    return _stream(interp, text) if known and isinstance(text, str) else interp.unknown("stream", not_none=True)


def _stream(interp: Interpreter, text: str) -> Unknown:
    made = interp.unknown("file", not_none=True)
    lines: list[Object] = [*text.splitlines(keepends=True)]
    methods: dict[str, Model] = {
        "read": lambda interp, call: text,
        "readlines": lambda interp, call: lines_of(interp, text, lines, call),
        "getvalue": lambda interp, call: text,
        "close": lambda interp, call: None,
        "__enter__": lambda interp, call: made,
    }
    made.fields.update({name: Native(f"io.{name}", method) for name, method in methods.items()})
    return made


def _env_file(interp: Interpreter, call: Call) -> list[tuple[str, str, Origin]] | None:
    """Return the variables of the `.env` file that a call of dotenv reads: by default that beside the file."""
    said = interp.settle(call.argument(0, "dotenv_path"))
    text = read(interp, ".env" if said is None else said, call.frame)
    path = interp.finder.texts.get(text or "")
    if text is None or path is None:
        return None
    lines, found, at = Lines(text), [], 0
    for row in text.splitlines(keepends=True):
        entry = _VARIABLE.match(row)
        if entry is not None:
            value = entry["quoted"] if entry["quoted"] is not None else (entry["plain"] or "").strip()
            if "$" in value or "\\" in value:
                return None  # dotenv expands these
            span = lines.span(path, at + entry.start("name"), at + len(row.rstrip()))
            found.append((entry["name"], value, Origin(span, "assigned", span)))
        at += len(row)
    return found


_VARIABLE = lazy_pattern(
    r"""[ \t]*(?:export[ \t]+)?(?P<name>\w+)[ \t]*=[ \t]*
    (?:(?P<quote>["'])(?P<quoted>[^"'\n]*)(?P=quote)|(?P<plain>[^\#\n]*))""",
    re.VERBOSE,
)
"""A row of a file that dotenv reads."""


@models("dotenv.dotenv_values")
def _dotenv_values(interp: Interpreter, call: Call) -> Object:
    entries = _env_file(interp, call)
    if entries is None:
        return interp.unknown("variables", not_none=True)
    made = DictObject({}, interp.tick())
    for name, value, origin in entries:
        made.fields[name] = value
        made.writes[name] = interp.note(origin, call.frame, None, "assigned", value, None)
    return made


@models("dotenv.load_dotenv")
def _load_dotenv(interp: Interpreter, call: Call) -> Object:
    """Set the variables of a file, those that are set already only with `override`."""
    override = interp.settle(call.argument(3, "override", False))
    for name, value, origin in _env_file(interp, call) or ():
        if override is True or is_set(interp, name, call.frame) is not True:
            said = (call.frame.module, origin, call.frame.function)
            found: Object = value if override is True else Option(interp.tick(), f"${name}", value, True, said)
            interp.put(interp.path.environment, name, found)
            write = interp.note(origin, call.frame, None, "assigned", value, None)
            interp.record(interp.path.environment, name, write)
    return True


@models("pathlib.Path.read_text")
def _read_text(interp: Interpreter, call: Call) -> Object:
    found = read(interp, call.arguments[0], call.frame)
    return interp.unknown("text", not_none=True) if found is None else found


models("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath")(
    lambda interp, call: make_path(interp, call.arguments or ["."])
)


def _listing(interp: Interpreter, folder: Object, pattern: str, call: Call, paths: bool) -> Object:
    """Return the files of the tree that match a pattern, as paths or texts; their order is not known."""
    text = text_of_path(interp.settle(folder))
    found = None if text is None else matching(interp, text, pattern, call.frame.module)
    made = interp.unknown("files", not_none=True)
    if found is not None:
        made.fields[IN_SOME_ORDER] = [PathObject(interp.tick(), each) if paths else each for each in found]
    return made


@models("pathlib.Path.glob", "pathlib.Path.rglob", "pathlib.Path.iterdir")
def _glob_below(interp: Interpreter, call: Call) -> Object:
    called = getattr(getattr(call.node, "func", None), "attr", "")
    pattern = "*" if called == "iterdir" else interp.settle(call.argument(1, "pattern"))
    if not isinstance(pattern, str):
        return interp.unknown("files", not_none=True)
    return _listing(interp, call.arguments[0], f"**/{pattern}" if called == "rglob" else pattern, call, paths=True)


@models("glob.glob", "glob.iglob")
def _glob(interp: Interpreter, call: Call) -> Object:
    pattern = text_of_path(interp.settle(call.argument(0, "pathname")))
    start = _FIXED.match(pattern or "")
    if pattern is None or start is None or not start[1].startswith(SYMBOLS) or "root_dir" in call.keywords:
        return interp.unknown("files", not_none=True)
    return _listing(interp, start[1], start[2], call, paths=False)


_FIXED = lazy_pattern(r"(.*?)/+([^/]*[*?\[].*)", re.DOTALL)
"""A pattern of paths: the folder that it says by name, and the rest."""


@models("os.listdir")
def _list_folder(interp: Interpreter, call: Call) -> Object:
    made = _listing(interp, call.argument(0, "path"), "*", call, paths=False)
    if isinstance(made, Unknown) and IN_SOME_ORDER in made.fields:
        made.fields[IN_SOME_ORDER] = [posixpath.basename(each) for each in made.fields[IN_SOME_ORDER]]
    return made


@models("os.fspath")
def _fspath(interp: Interpreter, call: Call) -> Object:
    path = interp.settle(call.argument(0))
    found = path if type(path) is PartlyKnown else text_of_path(path)
    return interp.unknown("path", not_none=True) if found is None else found


@models("importlib.resources.files")
def _resources(interp: Interpreter, call: Call) -> Object:
    package = interp.settle(call.arguments[0]) if call.arguments else call.frame.module
    if isinstance(package, str):
        package = interp.finder.resolve(package, call.frame.module.path)
    if type(package) is not Module or package.upstream is not None:
        return interp.unknown("resources", not_none=True)
    return make_path(interp, [interp.finder.symbol(os.path.dirname(package.path))])


models("os.getcwd", "os.getcwdb")(lambda interp, call: CWD)
models("pathlib.Path.cwd")(lambda interp, call: PathObject(interp.tick(), CWD))


def _texts(interp: Interpreter, call: Call) -> list[Any]:
    """Return the arguments; of a path, its text."""
    return [each.path if type(each) is PathObject else each for each in settled(interp, call.arguments)]


@models("os.path.join")
def _path_join(interp: Interpreter, call: Call) -> Object:
    parts = _texts(interp, call)
    rooted = [index for index, part in enumerate(parts) if isinstance(part, str) and part.startswith(SYMBOLS)]
    parts = parts[rooted[-1] :] if rooted else parts
    if not all_are(parts, str):
        if any(part is None or isinstance(part, (int, float)) for part in parts):
            raise Raised("TypeError", "join() argument must be str")
        return make_path(interp, parts)
    return posixpath.join(*parts)


def _of_path(function: Callable[[str], Any]) -> Model:
    """Return the model of a function of one path, which may begin with a symbol for a folder (an absolute one)."""
    computed = computes(function)

    def model(interp: Interpreter, call: Call) -> Object:
        arguments = _texts(interp, call)
        if not (len(arguments) == 1 and isinstance(arguments[0], str) and arguments[0].startswith(SYMBOLS)):
            return computed(interp, call.passing(arguments, call.keywords))
        found = function(f"/{arguments[0]}")
        parts = found if isinstance(found, tuple) else (found,)
        if isinstance(found, bool):
            return found
        if any(is_symbolic(part) and part[:2] != "/<" for part in parts) or parts[0] == "/" or ".." in arguments[0]:
            return interp.unknown("path", not_none=True)
        parts = tuple(part[1:] if is_symbolic(part) else part for part in parts)
        return parts if isinstance(found, tuple) else parts[0]

    return model


for _name in ("basename", "isabs", "split", "splitext"):
    models(f"os.path.{_name}")(_of_path(getattr(posixpath, _name)))


def _in_tree(found: Callable[[Interpreter, str], str], otherwise: Model) -> Model:
    """Return the model of a function of one path that is known where the path leads from a folder of the tree."""

    def model(interp: Interpreter, call: Call) -> Object:
        arguments = _texts(interp, call)
        if len(arguments) == 1 and isinstance(arguments[0], str) and folder_of(interp, arguments[0]) is not None:
            return found(interp, arguments[0])
        return otherwise(interp, call.passing(arguments, call.keywords))

    return model


def _depends_on_machine(interp: Interpreter, call: Call) -> Object:
    return interp.unknown(ast.unparse(call.node) if isinstance(call.node, ast.AST) else "", not_none=True)


_whole_path = _in_tree(normal, _depends_on_machine)


@models("os.path.expanduser")
def _expanduser(interp: Interpreter, call: Call) -> Object:
    text, *_ = _texts(interp, call)
    is_at_home = isinstance(text, str) and text.startswith("~")
    return at_home(interp, text) if is_at_home else _whole_path(interp, call)


models("os.path.dirname")(_in_tree(parent, _of_path(posixpath.dirname)))
models("os.path.normpath")(_in_tree(normal, _of_path(posixpath.normpath)))
models("os.path.abspath", "os.path.realpath")(_whole_path)


@models("os.path.exists", "os.path.isfile")
def _exists(interp: Interpreter, call: Call) -> Object:
    """Return True for a file of the tree; a file that is missing may be made later."""
    text = text_of_path(interp.settle(call.argument(0)))
    places = () if text is None else located(interp, text, call.frame.module)
    if len(existing(interp, places, call.frame.module)) == 1:
        return True
    return _depends_on_machine(interp, call)


models("os.path.isdir")(_depends_on_machine)


@models("platform.system")
def _system(interp: Interpreter, call: Call) -> Object:
    """Return the system that Megatron's processes run on: NCCL, through which they talk, is for it alone."""
    return "Linux"


models("os.environ.get", "os.getenv")(
    lambda interp, call: variable(
        interp, interp.settle(call.argument(0, "key")), call.frame, call.argument(1, "default")
    )
)
models("os.environ.__getitem__")(lambda interp, call: variable(interp, interp.settle(call.argument(0)), call.frame))
models("os.environ.__contains__")(lambda interp, call: is_set(interp, interp.settle(call.argument(0)), call.frame))


@models("os.environ.setdefault")
def _setdefault(interp: Interpreter, call: Call) -> Object:
    name = interp.settle(call.argument(0))
    if not isinstance(name, str) or len(call.arguments) != 2:
        return interp.unknown("environment")
    value = variable(interp, name, call.frame, call.arguments[1])
    if interp.path.environment.fields.get(name) is not value:
        set_entry(interp, ENVIRONMENT, name, value, call.node, call.frame, call.expression(1))
    return value


@models("os.environ.__setitem__")
def _setitem(interp: Interpreter, call: Call) -> Object:
    name, value = call.arguments
    set_entry(interp, ENVIRONMENT, name, value, call.node, call.frame, call.expression(1))
    return None


@models("os.putenv", "os.unsetenv")
def _putenv(interp: Interpreter, call: Call) -> Object:
    """Set a variable, or take it away, for the programs that are started from here on: `os.environ` does not see it."""
    name = interp.settle(call.argument(0))
    put: Any = (PUT, name)
    value = call.arguments[1] if len(call.arguments) > 1 else None
    set_entry(interp, interp.path.environment, put, value, call.node, call.frame, call.expression(1))
    return None


@models("os.environ.update")
def _update(interp: Interpreter, call: Call) -> Object:
    """Set variables one after the other, up to the first that cannot be set."""
    given = DictObject({}, interp.tick())
    method(interp, given, "update", call)
    errors = {name: error for name, value in given.fields.items() if (error := no_text(interp, value)) is not None}
    if errors:
        names = list(given.fields)
        for name in names[names.index(next(iter(errors))) :]:
            interp.drop_entry(given, name)
    method(interp, interp.path.environment, "update", call.passing([given], {}))
    for error in errors.values():
        raise error
    return None


@models("os.environ.pop", "os.environ.__delitem__")
def _pop(interp: Interpreter, call: Call) -> Object:
    name = interp.settle(call.argument(0))
    found = variable(interp, name, call.frame, call.argument(1, default=MISSING))
    set_entry(interp, interp.path.environment, name, None, call.node, call.frame)
    return found


@models("os.environ.clear")
def _clear(interp: Interpreter, call: Call) -> Object:
    environment = interp.path.environment
    for name in [each for each in environment.fields if isinstance(each, str)]:
        set_entry(interp, environment, name, None, call.node, call.frame)
    return None


models("os.environ.copy")(lambda interp, call: copied_environment(interp))


def _changing_argv(name: str) -> Model:
    """Return the model of a method of `sys.argv` that changes the list. Where nobody gives any words, none can go."""

    def model(interp: Interpreter, call: Call) -> Object:
        if name in ("pop", "remove") and interp.started_with() is None:
            return interp.unknown(f"sys.argv.{name}()")
        return method(interp, changeable_argv(interp, call.node, call.frame), name, call)

    return model


for _name in ("append", "extend", "insert", "pop", "remove", "clear"):
    models(f"sys.argv.{_name}")(_changing_argv(_name))


@models("sys.exit", "builtins.exit", "builtins.quit", "os._exit")
def _exit(interp: Interpreter, call: Call) -> Object:
    said = interp.settle(call.argument(0))
    raise Raised("SystemExit", said if isinstance(said, str) else "")


@models("sys.path.insert", "sys.path.append", "site.addsitedir")
def _add(interp: Interpreter, call: Call) -> Object:
    _add_folder(interp, call.arguments[-1] if call.arguments else None, call.frame)
    return None


@models("sys.path.extend")
def _extend(interp: Interpreter, call: Call) -> Object:
    for folder in iterate(interp, call.argument(0, default=()), call.frame) or ():
        _add_folder(interp, folder, call.frame)
    return None


def _add_folder(interp: Interpreter, folder: Object, frame: Frame) -> None:
    """Add a folder of the tree to the search path; any other is out of sight anyway."""
    text = text_of_path(interp.settle(folder))
    if text is None:
        return
    places = [place for place in located(interp, text, frame.module) if disk.is_folder(place)]
    if len(places) == 1:
        interp.finder.add_root(os.path.dirname(frame.module.path), spelled(places[0], frame.module))
