"""Functions of the standard library that depend on their arguments alone: Python answers for itself.

A function that looks at the machine (`datetime.now`), that may take long or give much (`math.factorial`), or that calls
what it is given is not listed. Regular expressions run under a limit of time (the package `regex`), because a pattern
may take exponential time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cache, partial, reduce
from importlib import import_module
from shlex import quote
from typing import Any

from mfsdp_lint.readers import regular_expressions
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.python.eval.iteration import iterate, known_part, text_of_parts
from mfsdp_lint.readers.python.eval.standard_objects import (
    CONSTANTS_OF,
    LARGEST,
    LARGEST_FACTOR,
    NotKnown,
    answer,
    changed,
)
from mfsdp_lint.readers.python.library.data import standing
from mfsdp_lint.readers.python.library.environment import read
from mfsdp_lint.readers.python.library.text_places import csv_places, ini_places
from mfsdp_lint.readers.python.state.calling import Model, invoke, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import ENTRIES
from mfsdp_lint.readers.python.values.objects import (
    DictObject,
    ListObject,
    Object,
    PathObject,
    StandardObject,
    Unknown,
    all_are,
)
from mfsdp_lint.readers.regular_expressions import NotMatched, matched

LISTED: Mapping[str, str] = {
    "base64": (
        "b16decode b16encode b32decode b32encode b64decode b64encode b85decode b85encode standard_b64decode "
        "standard_b64encode urlsafe_b64decode urlsafe_b64encode"
    ),
    "binascii": "crc32 hexlify unhexlify",
    "builtins.bytes": "fromhex maketrans",
    "builtins.float": "fromhex",
    "builtins.int": "from_bytes",
    "builtins.str": "maketrans",
    "calendar": "isleap leapdays timegm",
    "configparser": "BasicInterpolation ConfigParser ExtendedInterpolation RawConfigParser",
    "datetime": "date datetime time timedelta timezone",
    "datetime.date": "fromisocalendar fromisoformat fromordinal",
    "datetime.datetime": "combine fromisocalendar fromisoformat fromordinal strptime",
    "datetime.time": "fromisoformat",
    "decimal": "Decimal",
    "difflib": "get_close_matches",
    "fnmatch": "filter fnmatchcase translate",
    "getopt": "getopt gnu_getopt",
    "hashlib": "blake2b blake2s sha1 sha224 sha256 sha384 sha512",
    "html": "escape unescape",
    "keyword": "iskeyword",
    "math": (
        "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees dist erf erfc exp expm1 fabs floor fmod "
        "frexp fsum gamma gcd hypot isclose isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf "
        "nextafter pow radians remainder sin sinh sqrt tan tanh trunc ulp"
    ),
    "re": "escape",
    "statistics": (
        "fmean geometric_mean harmonic_mean mean median median_high median_low mode multimode pstdev pvariance stdev "
        "variance"
    ),
    "string": "Template capwords",
    "textwrap": "dedent fill shorten wrap",
    "urllib.parse": (
        "parse_qs parse_qsl quote quote_from_bytes quote_plus unquote unquote_plus unquote_to_bytes urldefrag "
        "urlencode urljoin urlparse urlsplit urlunparse urlunsplit"
    ),
    "zlib": "adler32 crc32",
}
MULTIPLYING: Mapping[str, str] = {
    "math": "comb factorial perm",
    "statistics": "quantiles",
    "textwrap": "indent",
}
"""Functions whose result may be as large as one argument times another, or as the product of many."""

_OF_POSIX: Mapping[str, str] = {
    "fnmatch.fnmatch": "fnmatch.fnmatchcase",
    "os.path.commonpath": "posixpath.commonpath",
    "os.path.commonprefix": "posixpath.commonprefix",
}
"""Functions that depend on the machine, by what they are where training runs."""

_CONSTANTS: Mapping[str, str] = {
    "re": "A ASCII DOTALL I IGNORECASE M MULTILINE S VERBOSE X",
    "datetime.timezone": "utc",
}
_MATCHING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("findall", "finditer", "fullmatch", "match", "search"), ("string", "flags")),
    "split": ("string", "maxsplit", "flags"),
    **dict.fromkeys(("sub", "subn"), ("repl", "string", "count", "flags")),
}
"""The functions of `re` that match, with their parameters behind the pattern (CPython 3.13, re/__init__.py)."""
TIRED = "a regular expression took too long"
"""The note of a program in which one did: no more are tried there."""


@cache
def named(dotted: str) -> Any:
    """Find a function by its dotted name; the module is imported when it is first asked."""
    owner, _, name = dotted.rpartition(".")
    try:
        module: Any = import_module(owner)
    except ModuleNotFoundError:
        module = named(owner)
    return getattr(module, name)


def _answers(dotted: str, largest: int) -> Model:
    def model(interp: Interpreter, call: Call) -> Object:
        return answer(interp, named(dotted), call.arguments, call.keywords, largest)

    return model


for _table, _size in ((LISTED, LARGEST), (MULTIPLYING, LARGEST_FACTOR)):
    for _module, _names in _table.items():
        for _name in _names.split():
            models(f"{_module}.{_name}")(_answers(f"{_module}.{_name}", _size))
for _name, _same in _OF_POSIX.items():
    models(_name)(_answers(_same, LARGEST))
for _module, _names in _CONSTANTS.items():
    for _name in _names.split():
        CONSTANTS_OF[f"{_module}.{_name}"] = partial(named, f"{_module}.{_name}")


def compiled(pattern: str | bytes, flags: int = 0) -> Any:
    """Compile a regular expression. Raises NotKnown where its time cannot be limited."""
    try:
        return regular_expressions.compiled(pattern, int(flags))
    except NotMatched:
        raise NotKnown from None


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

    def model(interp: Interpreter, call: Call) -> Object:
        if (TIRED, interp.entry) in interp.memo:
            raise NotKnown
        try:
            return answer(interp, function, call.arguments, call.keywords, largest)
        except TimeoutError:
            interp.memo[TIRED, interp.entry] = True
            return interp.unknown()

    return model


for _name in _MATCHING:
    _size = LARGEST_FACTOR if _name in ("sub", "subn") else LARGEST
    models(f"re.{_name}")(_in_time(_of_module(_name), _size))
    models(f"_regex.Pattern.{_name}")(_in_time(_of_pattern(_name), _size))


models("re.compile")(lambda interp, call: answer(interp, compiled, call.arguments, call.keywords))


@models("json.dumps")
def _dumps(interp: Interpreter, call: Call) -> Object:
    """Write JSON; a number is a width where lines are indented, and text of its own length elsewhere."""
    largest = LARGEST_FACTOR if "indent" in call.keywords else LARGEST
    return answer(interp, named("json.dumps"), call.arguments, call.keywords, largest)


@models("hashlib.md5")
def _md5(interp: Interpreter, call: Call) -> Object:
    import hashlib  # it loads OpenSSL

    return answer(interp, partial(hashlib.md5, usedforsecurity=False), call.arguments, call.keywords)


@models("shlex.quote")
def _quote(interp: Interpreter, call: Call) -> Object:
    """Quote a word for a shell."""
    return _quoted(interp, [call.argument(0)])


@models("shlex.join")
def _join(interp: Interpreter, call: Call) -> Object:
    """Join words into a command line for a shell."""
    items = iterate(interp, interp.settle(call.argument(0)), call.frame)
    return interp.unknown("", not_none=True) if items is None else _quoted(interp, items)


def _quoted(interp: Interpreter, items: list[Object]) -> Object:
    """Quote words; one of which not all is known is one word all the same."""
    if not all(isinstance(interp.settle(each), (str, Unknown)) for each in items):
        return interp.unknown("", not_none=True)
    parts = [known_part(interp, each) for each in items]
    return text_of_parts(interp, [" ".join(quote(HOLE if each is None else each) for each in parts)], items)


@models("shlex.split")
def _split(interp: Interpreter, call: Call) -> Object:
    """Split the words of a command; of a text that is not known they are some list."""
    if not isinstance(interp.settle(call.argument(0, "s")), str):
        return ListObject(None, interp.tick())
    try:
        return answer(interp, named("shlex.split"), call.arguments, call.keywords)
    except NotKnown:
        return ListObject(None, interp.tick())


def _lines(interp: Interpreter, source: Object, call: Call) -> Object:
    """List the lines of a file of the tree that was opened; any other value is given back."""
    readlines = source.fields.get("readlines") if type(source) is Unknown else None
    return source if readlines is None else invoke(interp, readlines, call.passing([]))


def _joined(lines: Object) -> str | None:
    """Return the text that lines make; None where they are not known."""
    items = lines.items if isinstance(lines, ListObject) else None
    return "".join(map(str, items)) if items is not None and all_are(items, str) else None


def _rows(reader: str) -> Model:
    def read_rows(*arguments: Any, **keywords: Any) -> list[Any]:
        return list(named(f"csv.{reader}")(*arguments, **keywords))

    def model(interp: Interpreter, call: Call) -> Object:
        lines = [_lines(interp, each, call) for each in call.arguments[:1]]
        found = answer(interp, read_rows, [*lines, *call.arguments[1:]], call.keywords)
        if lines and type(found) is ListObject and len(call.arguments) == 1:
            _place_rows(interp, found, lines[0], call)
        return found

    return model


def _place_rows(interp: Interpreter, rows: ListObject, source: Object, call: Call) -> None:
    """Give the cells of a table's rows their places, where the table is a file of the tree or a text of the program."""
    text = _joined(source)
    known = None if text is None else standing(interp, text, call)
    options = {name: call.keywords[name] for name in ("delimiter",) if name in call.keywords}
    if known is None or text is None or not all_are(list(options.values()), str):
        return
    places = [[known[1](cell) for cell in row] for row in csv_places(known[0], text, **options)]
    if None in reduce(operator.iadd, places, []):
        return
    named = [row for row in rows.items or () if isinstance(row, DictObject)]
    if named and "fieldnames" not in call.keywords:
        places = [row for row in places[1:] if row]  # (the first one names the columns; empty ones are passed over)
    for row, cells in zip(rows.items or (), places, strict=False):
        if isinstance(row, DictObject):
            for (key, value), origin in zip(row.fields.items(), cells, strict=False):
                said: Any = origin  # of data it is the origin, and no node
                row.writes[key] = interp.note(said, call.frame, None, "assigned", value, None)
        elif type(row) is ListObject:
            row.loaded_from([(call.frame.module, origin, call.frame.function) for origin in cells])


models("csv.reader")(_rows("reader"))
models("csv.DictReader")(_rows("DictReader"))


@models("configparser.ConfigParser.read", "configparser.RawConfigParser.read")
def _read(interp: Interpreter, call: Call) -> Object:
    """Read files of the tree. Python passes over a missing one, which may be there when the program runs."""
    parser, paths = call.arguments[0], interp.settle(call.argument(1, "filenames"))
    assert type(parser) is StandardObject
    several = paths.items if type(paths) is ListObject else [paths]
    texts = [read(interp, each, call.frame) for each in several or ()]

    def change(copy: Any) -> Object:
        for text in texts:
            if text is None or len(text) > LARGEST:
                raise NotKnown
            answer(interp, copy.read_string, [text], {})
        return ListObject([each.path if type(each) is PathObject else each for each in several or ()], interp.tick())

    found = changed(interp, parser, change)
    for text in texts:
        _place_options(interp, parser, text, call)
    return found


def _place_options(interp: Interpreter, parser: StandardObject, text: str | None, call: Call) -> None:
    """Remember the places of the options in a text that a parser has read."""
    known = None if text is None else standing(interp, text, call)
    if known is None or text is None:
        return
    places = dict(parser.fields.get(ENTRIES, {}))
    for key, origin in ini_places(known[0], text).items():
        if (moved := known[1](origin)) is not None:
            places[key] = (call.frame.module, moved, call.frame.function)
    interp.put(parser, ENTRIES, places)


@models("configparser.ConfigParser.read_file", "configparser.RawConfigParser.read_file")
def _read_file(interp: Interpreter, call: Call) -> Object:
    parser, lines = call.arguments[0], _lines(interp, call.arguments[1], call)
    assert type(parser) is StandardObject
    found = changed(interp, parser, lambda copy: answer(interp, copy.read_file, [lines], {}))
    _place_options(interp, parser, _joined(lines), call)
    return found


@models("configparser.ConfigParser.read_string", "configparser.RawConfigParser.read_string")
def _read_string(interp: Interpreter, call: Call) -> Object:
    parser, text = call.arguments[0], interp.settle(call.argument(1, "string"))
    assert type(parser) is StandardObject
    found = changed(interp, parser, lambda copy: answer(interp, copy.read_string, [text], {}))
    _place_options(interp, parser, text if isinstance(text, str) else None, call)
    return found
