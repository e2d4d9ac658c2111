"""Functions of the standard library that depend on their arguments alone: Python answers for itself.

A function that looks at the machine (`datetime.now`), that may take long or give much (`math.factorial`), or that calls
what it is given is not listed. Regular expressions run under a limit of time (the package `regex`), because a pattern
may take exponential time.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any

from mfsdp_lint.readers.python.eval.standard_objects import (
    CONSTANTS_OF,
    LARGEST,
    LARGEST_FACTOR,
    NotKnown,
    answer,
    changed,
)
from mfsdp_lint.readers.python.library.files import read
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.objects import ListObject, Object, PathObject, StandardObject, Unknown

_LISTED: Mapping[str, str] = {
    "base64": "b64decode b64encode",
    "configparser": "BasicInterpolation ConfigParser ExtendedInterpolation RawConfigParser",
    "datetime": "date datetime time timedelta timezone",
    "datetime.date": "fromisoformat fromordinal",
    "datetime.datetime": "combine fromisoformat strptime",
    "datetime.time": "fromisoformat",
    "decimal": "Decimal",
    "difflib": "get_close_matches",
    "fnmatch": "filter fnmatchcase",
    "html": "escape unescape",
    "math": (
        "ceil cos degrees erf exp expm1 fabs floor fmod fsum gcd hypot isclose isfinite isinf isnan isqrt lcm log "
        "log10 log1p log2 modf pow radians remainder sin sqrt tan tanh trunc"
    ),
    "shlex": "join quote",
    "statistics": "fmean mean median mode",
    "string": "Template capwords",
    "textwrap": "dedent fill shorten wrap",
    "urllib.parse": (
        "parse_qs parse_qsl quote quote_plus unquote unquote_plus urlencode urljoin urlparse urlsplit urlunparse"
    ),
}
_MULTIPLYING: Mapping[str, str] = {"json": "dumps", "textwrap": "indent"}
"""Functions whose result may be as large as one argument times another."""

_CONSTANTS: Mapping[str, str] = {
    "re": "A ASCII DOTALL I IGNORECASE M MULTILINE S VERBOSE X",
    "datetime.timezone": "utc",
    "math": "e inf nan pi tau",
}
_MATCHING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("findall", "finditer", "fullmatch", "match", "search"), ("string", "flags")),
    "split": ("string", "maxsplit", "flags"),
    **dict.fromkeys(("sub", "subn"), ("repl", "string", "count", "flags")),
}
"""The functions of `re` that match, with their parameters behind the pattern (CPython 3.13, re/__init__.py)."""
_LONGEST_PATTERN = 1_000
PATIENCE = 0.2
"""Seconds that a regular expression may take."""
TIRED = "a regular expression took too long"
"""The note of a program in which one did: no more are tried there."""


@cache
def _named(dotted: str) -> Any:
    """Find a function by its dotted name; the module is imported when it is first asked."""
    owner, _, name = dotted.rpartition(".")
    try:
        module: Any = import_module(owner)
    except ModuleNotFoundError:
        module = _named(owner)
    return getattr(module, name)


def _answers(dotted: str, largest: int) -> Model:
    def model(machine: Machine, call: Call) -> Object:
        return answer(machine, _named(dotted), call.arguments, call.keywords, largest)

    return model


for _table, _size in ((_LISTED, LARGEST), (_MULTIPLYING, LARGEST_FACTOR)):
    for _module, _names in _table.items():
        for _name in _names.split():
            models(f"{_module}.{_name}")(_answers(f"{_module}.{_name}", _size))
for _module, _names in _CONSTANTS.items():
    for _name in _names.split():
        CONSTANTS_OF[f"{_module}.{_name}"] = partial(_named, f"{_module}.{_name}")


def compiled(pattern: str | bytes, flags: int = 0) -> Any:
    """Compile a regular expression with the package that can limit its time.

    Raises NotKnown where that package reads the pattern in another way than Python does.
    """
    try:
        import regex
    except ImportError:
        raise NotKnown from None  # in a browser

    if len(pattern) > _LONGEST_PATTERN:
        raise NotKnown
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            re.compile(pattern, flags)
        except Warning:
            raise NotKnown from None  # `[[` and the like mean something else there
    # `{e<=1}` is a text here, and an approximate match there.
    if re.search(r"\{(?!\d*,?\d*\})", pattern if isinstance(pattern, str) else pattern.decode("latin-1")):
        raise NotKnown
    return regex.compile(pattern, int(flags))


def matched(expression: Any, method: str, *arguments: Any, **keywords: Any) -> Any:
    """Call a method of a compiled expression. Raises TimeoutError after PATIENCE."""
    if method not in ("findall", "finditer"):
        return getattr(expression, method)(*arguments, **keywords, timeout=PATIENCE)
    matches = list(expression.finditer(*arguments, **keywords, timeout=PATIENCE))
    return matches if method == "finditer" else list(map(_found, matches))


def _found(match: Any) -> Any:
    """Return an item of `re.findall`: the package's own gives a tuple for a single group that is repeated."""
    groups = tuple(match.string[:0] if group is None else group for group in match.groups())
    return match.group() if not groups else groups[0] if len(groups) == 1 else groups


def _of_module(method: str) -> Callable[..., Any]:
    """Make the function of `re` that compiles a pattern, or takes a compiled one, and calls a method of it."""

    def function(*arguments: Any, **keywords: Any) -> Any:
        names = ("pattern", *_MATCHING[method])
        if len(arguments) > len(names) or set(keywords) - set(names[len(arguments) :]):
            raise TypeError(f"{method}() got unexpected arguments")
        given = dict(zip(names, arguments, strict=False)) | keywords
        text, flags = given.pop("pattern"), given.pop("flags", 0)
        return matched(compiled(text, flags) if isinstance(text, (str, bytes)) else text, method, **given)

    return function


def _of_pattern(method: str) -> Callable[..., Any]:
    """Make the method of a compiled expression."""
    return lambda expression, *arguments, **keywords: matched(expression, method, *arguments, **keywords)


def _in_time(function: Callable[..., Any], largest: int) -> Model:
    """Model a function that matches. Once one took too long, the calls of the program are not followed."""

    def model(machine: Machine, call: Call) -> Object:
        if TIRED in machine.memo:
            raise NotKnown
        try:
            return answer(machine, function, call.arguments, call.keywords, largest)
        except TimeoutError:
            machine.memo[TIRED] = True
            return machine.unknown()

    return model


for _name in _MATCHING:
    _size = LARGEST_FACTOR if _name in ("sub", "subn") else LARGEST
    models(f"re.{_name}")(_in_time(_of_module(_name), _size))
    models(f"_regex.Pattern.{_name}")(_in_time(_of_pattern(_name), _size))


@models("re.compile")
def _compile(machine: Machine, call: Call) -> Object:
    return answer(machine, compiled, call.arguments, call.keywords)


@models("re.escape")
def _escape(machine: Machine, call: Call) -> Object:
    return answer(machine, re.escape, call.arguments, call.keywords)


def _lines(machine: Machine, source: Object, node: Any, frame: Frame) -> Object:
    """List the lines of a file of the tree that was opened; any other value is given back."""
    readlines = source.fields.get("readlines") if type(source) is Unknown else None
    return source if readlines is None else invoke(machine, readlines, Call([], {}, node, frame))


def _rows(reader: str) -> Model:
    def read_rows(*arguments: Any, **keywords: Any) -> list[Any]:
        return list(_named(f"csv.{reader}")(*arguments, **keywords))

    def model(machine: Machine, call: Call) -> Object:
        lines = [_lines(machine, each, call.node, call.frame) for each in call.arguments[:1]]
        return answer(machine, read_rows, [*lines, *call.arguments[1:]], call.keywords)

    return model


models("csv.reader")(_rows("reader"))
models("csv.DictReader")(_rows("DictReader"))


@models("configparser.ConfigParser.read", "configparser.RawConfigParser.read")
def _read(machine: Machine, call: Call) -> Object:
    """Read files of the tree. Python passes over a missing one, which may be there when the program runs."""
    parser, paths = (
        call.arguments[0],
        machine.settle(call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("filenames")),
    )
    assert type(parser) is StandardObject
    several = paths.items if type(paths) is ListObject else [paths]
    texts = [read(machine, each, call.frame) for each in several or ()]

    def change(copy: Any) -> Object:
        for text in texts:
            if text is None or len(text) > LARGEST:
                raise NotKnown
            answer(machine, copy.read_string, [text], {})
        return ListObject([each.path if type(each) is PathObject else each for each in several or ()], machine.tick())

    return changed(machine, parser, change)


@models("configparser.ConfigParser.read_file", "configparser.RawConfigParser.read_file")
def _read_file(machine: Machine, call: Call) -> Object:
    parser, lines = call.arguments[0], _lines(machine, call.arguments[1], call.node, call.frame)
    assert type(parser) is StandardObject
    return changed(machine, parser, lambda copy: answer(machine, copy.read_file, [lines], {}))
