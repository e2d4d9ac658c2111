"""Data that a program loads from files of the tree or from texts: `yaml.safe_load`, `json.load`, `literal_eval`.

Each value keeps its place: in the file, or in a literal of the program's own text. Nothing is ever constructed. The
parser of a format is imported for the first text of it.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.python.library.text_places import NOT_KNOWN, Key, NoData, Placed, toml_places
from mfsdp_lint.readers.python.state.calling import Model, invoke, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.texts import LOOKS, Text, behind, place, top, trace
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import (
    DictObject,
    ListObject,
    Module,
    Native,
    Object,
    Option,
    Unknown,
    is_symbolic,
)

Read = Callable[[str, str], list[Placed]]
"""From the path and the text of a file to the documents in it. Raises NoData."""

_QUOTES = lazy_pattern("[rRuU]?(\"\"\"|'''|[\"'])")
"""The beginning of a literal that holds its text as it is, or nearly."""


def in_place(interp: Interpreter, read: Read, text: str, call: Call) -> list[Placed]:
    """Load the documents of a text with their places: in the file that has it, or in a literal of the program.

    Raises NoData where the loader refuses the text.
    """
    known = standing(interp, text, call)
    if known is None:
        return [moved(each, lambda _: None) for each in read("", text)]
    path, move = known
    return [moved(each, move) for each in read(path, text)]


def standing(interp: Interpreter, text: str, call: Call) -> tuple[str, Callable[[Origin], Origin | None]] | None:
    """Return the file that a text stands in, and the way from places in the text to places in the file; None if it is
    neither a file that was read nor a literal of the program.
    """
    path = interp.finder.texts.get(text)
    if path is not None:
        return path, lambda origin: origin
    start = _start_in_code(interp, text, call)
    if start is not None:
        return start.path, partial(_from, start)
    template = _template_in_code(interp, text, call)
    return None if template is None else (template[0].path, partial(_row_of, interp, *template, text.splitlines()))


def moved(placed: Placed, move: Callable[[Origin], Origin | None]) -> Placed:
    """Return a value with other places."""
    value = placed.value
    if isinstance(value, dict):
        value = {key: moved(item, move) for key, item in value.items()}
    elif isinstance(value, list):
        value = [moved(item, move) for item in value]
    return Placed(value, placed.origin and move(placed.origin), placed.open)


def _start_in_code(interp: Interpreter, text: str, call: Call) -> Span | None:
    """Return where in the program's own text a loaded text begins; None where it is not written there as it is."""
    for given in call.node.args if isinstance(call.node, ast.Call) else ():
        interp.looks = LOOKS
        for module, said, _ in reversed((place(Text(given, call.frame)), *trace(interp, Text(given, call.frame)))):
            if isinstance(said, ast.Constant) and said.value == text and module.upstream is None:
                return _written_out(interp, module, said, text)
    return None


_FILLED = (ast.Constant, ast.JoinedStr)


def _template_in_code(interp: Interpreter, text: str, call: Call) -> tuple[Module, int] | None:
    """Return the module and the first line of the literal that a text was filled in from (an f-string, a template, a
    text with `format`), row by row; None if none has as many rows.
    """
    rows = text.count("\n")
    for given in call.node.args if isinstance(call.node, ast.Call) and rows else ():
        interp.looks = LOOKS
        for module, said, _ in reversed(behind(interp, Text(given, call.frame))):
            while isinstance(said, ast.Call) and isinstance(said.func, ast.Attribute):
                said = said.func.value
            frame = call.frame if module is call.frame.module else top(module)
            for there, node, _ in behind(interp, Text(said, frame)) if isinstance(said, ast.AST) else ():
                for each in ast.walk(node) if isinstance(node, ast.AST) and there.upstream is None else ():
                    if isinstance(each, _FILLED) and (each.end_lineno or 0) - each.lineno == rows:
                        return there, each.lineno
    return None


def _row_of(interp: Interpreter, module: Module, first: int, rows: list[str], origin: Origin) -> Origin | None:
    """Convert a place in a text that was filled in to the row that it was made of; None where the row was filled in."""
    lines = Lines(interp.finder.sources.text(module.path))
    row = lines.text.splitlines()[first + origin.span.line - 2]
    if row != rows[origin.span.line - 1]:
        return None
    start = lines.offset(first + origin.span.line - 1, 1)
    span = lines.span(module.path, start + len(row) - len(row.lstrip()), start + len(row))
    return Origin(span, "assigned", span)


def _written_out(interp: Interpreter, module: Module, literal: ast.Constant, text: str) -> Span | None:
    """Return where behind the opening quotes of a literal its text begins; None where the text has escapes."""
    try:
        lines = Lines(interp.finder.sources.text(module.path))
    except Unreadable:
        return None
    span = lines.of_node(module.path, literal)
    opening = _QUOTES.match(lines.cut(span))
    if opening is None:
        return None
    start = lines.offset(span.line, span.column) + opening.end()
    return lines.span(module.path, start, start) if lines.text.startswith(text, start) else None


def _from(start: Span, origin: Origin) -> Origin:
    """Convert a place in a text to a place in the file that holds the text from `start` on."""

    def point(line: int, column: int) -> tuple[int, int]:
        return line + start.line - 1, column + (start.column - 1 if line == 1 else 0)

    def there(span: Span) -> Span:
        return Span(start.path, *point(span.line, span.column), *point(span.end_line, span.end_column))

    return replace(origin, span=there(origin.span), focus=origin.focus and there(origin.focus))


def from_yaml(path: str, text: str) -> list[Placed]:
    """Load the documents of a YAML text as PyYAML's `safe_load` does. Raises NoData."""
    from mfsdp_lint.readers.python.library.yaml_data import YamlData

    return YamlData(path, text, omegaconf=False).documents()


@lru_cache(maxsize=256)
def from_omegaconf(path: str, text: str) -> list[Placed]:
    """Load the documents of a YAML text as `OmegaConf.load` does: interpolations are open. Raises NoData.

    Every start of one of Hydra's programs composes the same files.
    """
    from mfsdp_lint.readers.python.library.yaml_data import YamlData

    return YamlData(path, text, omegaconf=True).documents()


def from_json(path: str, text: str) -> Placed:
    """Load a JSON text as `json.loads` does. Raises NoData."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoData(str(error)) from None
    try:
        # Places are only known of JSON that is YAML as well, as nearly all is.
        placed = from_yaml(path, text)[0]
    except (NoData, IndexError):
        return _placed_at(value, {})
    return _with_places(value, placed)


def from_toml(path: str, text: str) -> Placed:
    """Load a TOML text as `tomllib.loads` does. Raises NoData."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        value = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoData(str(error)) from None
    return _placed_at(value, toml_places(path, text))


def _placed_at(value: Any, places: Mapping[Key, Origin], key: Key = (), around: Origin | None = None) -> Placed:
    """Give each value the place of its entry, or of the entry that it is a part of."""
    origin = places.get(key, around)
    if isinstance(value, dict):
        return Placed({name: _placed_at(item, places, (*key, name), origin) for name, item in value.items()}, origin)
    if isinstance(value, list):
        return Placed([_placed_at(item, places, (*key, at), origin) for at, item in enumerate(value)], origin)
    known = isinstance(value, (str, int, float, bool, type(None)))
    return Placed(value if known else None, origin, open=not known)


def from_literal(path: str, text: str) -> Placed:
    """Load a literal as `ast.literal_eval` does. Raises NoData."""
    try:
        stripped = text.lstrip(" \t")
        node = ast.parse(stripped, mode="eval").body
        ast.literal_eval(node)
        blanks = len(text) - len(stripped)
        for part in ast.walk(node):
            if isinstance(part, ast.expr):
                part.col_offset += blanks if part.lineno == 1 else 0
                part.end_col_offset = (part.end_col_offset or 0) + (blanks if part.end_lineno == 1 else 0)
        return _literal(path, Lines(text), node)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise NoData(str(error)) from None


def _literal(path: str, lines: Lines, node: ast.expr, pair: ast.expr | None = None) -> Placed:
    focus = lines.of_node(path, node)
    first = focus if pair is None else lines.of_node(path, pair)
    origin = Origin(replace(focus, line=first.line, column=first.column), "assigned", focus)
    match node:
        case ast.Dict(keys=keys, values=values):
            entries = zip(keys, values, strict=True)
            return Placed({ast.literal_eval(k): _literal(path, lines, v, k) for k, v in entries if k}, origin)
        case ast.List(elts=items):
            return Placed([_literal(path, lines, item) for item in items], origin)
        case _:
            return Placed(ast.literal_eval(node), origin)


def _with_places(value: Any, placed: Placed) -> Placed:
    if isinstance(value, dict) and isinstance(placed.value, dict):
        texts = {str(key): item for key, item in placed.value.items()}
        entries = {key: _with_places(item, texts.get(key, NOT_KNOWN)) for key, item in value.items()}
        return Placed(entries, placed.origin)
    if isinstance(value, list) and isinstance(placed.value, list) and len(value) == len(placed.value):
        items = [_with_places(item, known) for item, known in zip(value, placed.value, strict=True)]
        return Placed(items, placed.origin)
    found = _placed_at(value, {})
    return Placed(found.value, placed.origin, found.open)


def to_object(interp: Interpreter, placed: Placed, option: Option | None, call: Call) -> Object:
    """Convert loaded data to the evaluator's object; entries of dictionaries keep their places in the data.

    `option` is the option that the text came from, if whoever starts the program may change it.
    """
    if placed.open:
        return interp.unknown("data")
    if isinstance(placed.value, list):
        items = [to_object(interp, item, option, call) for item in placed.value]
        listed = ListObject(items, interp.tick())
        if all(item.origin for item in placed.value):
            listed.loaded_from([(call.frame.module, item.origin, call.frame.function) for item in placed.value])
        return listed
    if isinstance(placed.value, dict):
        made = DictObject({}, interp.tick())
        said: Any = placed.origin or call.node
        made.made = interp.note(said, call.frame, None, "default", None, None)
        for key, item in placed.value.items():
            value = to_object(interp, item, option, call)
            made.fields[key] = value
            made.writes[key] = interp.note(item.origin or call.node, call.frame, None, "assigned", value, None)
        return made
    return placed.value if option is None else Option(interp.tick(), option.text, placed.value)


def loaded(interp: Interpreter, source: Object, read: Read, call: Call) -> list[Object] | None:
    """Return the documents of a text or of a file that was opened; None where they are not known.

    Raises Raised where the loader refuses the text.
    """
    stream = source.fields.get("read") if isinstance(source, Unknown) else None
    if isinstance(stream, Native):
        source = invoke(interp, stream, call.passing([]))
    text = interp.settle(source)
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    if not isinstance(text, str) or is_symbolic(text):
        return None
    try:
        found = in_place(interp, read, text, call)
    except NoData as error:
        raise Raised("ValueError", str(error)) from None
    option = source if type(source) is Option else None
    interp.charge(len(text))
    return [to_object(interp, each, option, call) for each in found]


def _loader(read: Callable[[str, str], Placed]) -> Model:
    def model(interp: Interpreter, call: Call) -> Object:
        source = call.arguments[0] if call.arguments else next(iter(call.keywords.values()), None)
        hook = call.keywords.get("object_hook")
        hooked = any(("hook" in name and name != "object_hook") or name == "cls" for name in call.keywords)
        found = None if hooked else loaded(interp, source, lambda path, text: [read(path, text)], call)
        if found is None:
            return interp.unknown("data")
        return found[0] if hook is None else _made_of(interp, found[0], hook, call)

    return model


def _made_of(interp: Interpreter, value: Object, hook: Object, call: Call) -> Object:
    """Return what a hook makes of every dictionary in loaded data, the inner ones first (`json`, object_hook)."""
    if isinstance(value, DictObject):
        value.fields = {key: _made_of(interp, item, hook, call) for key, item in value.fields.items()}
        return interp.settle(invoke(interp, hook, call.passing([value])))
    if type(value) is ListObject and value.items is not None:
        return ListObject([_made_of(interp, item, hook, call) for item in value.items], interp.tick())
    return value


def _yaml(path: str, text: str) -> Placed:
    documents = from_yaml(path, text)
    if len(documents) > 1:
        raise NoData("expected a single document")
    return documents[0] if documents else Placed(None)


models("json.load", "json.loads", "orjson.loads")(_loader(from_json))
models("tomllib.load", "tomllib.loads", "tomli.load", "tomli.loads", "toml.load", "toml.loads")(_loader(from_toml))
models("ast.literal_eval")(_loader(from_literal))
models("yaml.safe_load", "yaml.full_load")(_loader(_yaml))


@models("yaml.load")
def _yaml_load(interp: Interpreter, call: Call) -> Object:
    """Load YAML with a safe loader; with any other loader, data can be anything."""
    loader = call.argument(1, "Loader")
    if getattr(loader, "name", "").rpartition(".")[2] not in ("SafeLoader", "CSafeLoader", "FullLoader", "CFullLoader"):
        return interp.unknown("data")
    return _loader(_yaml)(interp, call.passing(call.arguments[:1]))


models("yaml.safe_load_all")(
    lambda interp, call: ListObject(loaded(interp, call.arguments[0], from_yaml, call), interp.tick())
)
