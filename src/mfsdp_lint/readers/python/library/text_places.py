"""Data with the places of its entries, also in texts whose parsers tell none: TOML, INI files, and tables in CSV.

An entry that is not found where it is looked for has no place. What a parser reads is asked of the parser alone.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Placed:
    """A value of a data file: a constant, a list of Placed, or a dictionary of them by key.

    `origin` is where it stands, None where that is not known. A value that is `open` is not known: it depends on what
    is not in the file.
    """

    value: Any
    origin: Origin | None = None
    open: bool = False


NOT_KNOWN = Placed(None, open=True)


class NoData(Exception):
    """A text that is not in the format: the loader refuses it."""


Key = tuple[str | int, ...]
"""The keys that lead to an entry, and the numbers of elements of lists."""

_HEADER = lazy_pattern(r"[ \t]*(?P<open>\[\[?)[ \t]*(?P<key>[^\[\]#\n]+?)[ \t]*\]\]?[ \t]*(?:#.*)?$")
_ONE_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_ENTRY = lazy_pattern(rf"[ \t]*(?P<key>{_ONE_PART}(?:[ \t]*\.[ \t]*{_ONE_PART})*)[ \t]*=[ \t]*")
_PART = lazy_pattern(_ONE_PART)


def toml_places(path: str, text: str) -> Mapping[Key, Origin]:
    """Return the place of each `key = value` of a TOML text, by the keys that lead to it."""
    lines, found = Lines(text), dict[Key, Origin]()
    table: Key = ()
    counts: dict[Key, int] = {}
    rows = text.splitlines(keepends=True)
    number = at = 0
    while number < len(rows):
        row = rows[number]
        header, entry = _HEADER.match(row.rstrip("\r\n")), _ENTRY.match(row)
        taken = 1
        if header is not None:
            table = _table(_parts(header["key"]), header["open"] == "[[", counts)
        elif entry is not None:
            taken = _rows_of_value(rows, number, entry.end())
            end = at + sum(map(len, rows[number : number + taken]))
            end -= len(text[:end]) - len(_without_comment(text[at:end], taken).rstrip()) - at
            focus = lines.span(path, at + entry.end(), end)
            whole = lines.span(path, at + len(row) - len(row.lstrip()), end)
            key: Key = (*table, *_parts(entry["key"]))
            found[key] = Origin(whole, "assigned", focus)
        at += sum(map(len, rows[number : number + taken]))
        number += taken
    return found


def _parts(key: str) -> Key:
    return tuple(part.strip("\"'") for part in _PART.findall(key))


def _table(key: Key, is_array: bool, counts: dict[Key, int]) -> Key:
    """Return the keys that lead to a table: elements of arrays of tables are counted."""
    table: Key = ()
    for place, part in enumerate(key):
        table = (*table, part)
        if is_array and place == len(key) - 1:
            counts[table] = counts.get(table, -1) + 1
        if table in counts:
            table = (*table, counts[table])
    return table


def _rows_of_value(rows: Sequence[str], number: int, start: int) -> int:
    """Return over how many lines a value goes that begins in a line: until it is a value by itself."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    for taken in range(1, min(len(rows) - number, 200) + 1):
        try:
            tomllib.loads("".join(["x = ", rows[number][start:], *rows[number + 1 : number + taken]]))
        except ValueError:
            continue
        return taken
    return 1


def _without_comment(row: str, taken: int) -> str:
    """Return a line without the comment behind its value, where no text in it can have the sign."""
    return row if taken > 1 or "'" in row or '"' in row.partition("#")[2] else row.partition("#")[0]


_SECTION = lazy_pattern(r"\[(?P<name>[^\]]+)\]")
_OPTION = lazy_pattern(r"(?P<name>[^\s:=#;][^:=]*?)[ \t]*[:=][ \t]*(?P<value>.*)")


def ini_places(path: str, text: str) -> Mapping[tuple[str, str], Origin]:
    """Return the place of each `name = value` of an INI text, by section and name in lower case."""
    lines, found, section, at = Lines(text), dict[tuple[str, str], Origin](), "", 0
    for row in text.splitlines(keepends=True):
        header, option = _SECTION.match(row), _OPTION.match(row.rstrip())
        if header is not None:
            section = header["name"]
        elif option is not None:
            focus = lines.span(path, at + option.start("value"), at + option.end("value"))
            found[section, option["name"].lower()] = Origin(lines.span(path, at, at + option.end()), "assigned", focus)
        at += len(row)
    return found


def csv_places(path: str, text: str, **options: Any) -> Iterator[list[Origin]]:
    """Yield the places of the cells of each row of a table: of a row with quotes, or of several lines, the row's."""
    lines = Lines(text)
    rows = text.splitlines(keepends=True)
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row))
    reader, begun = csv.reader(rows, **options), 0
    delimiter = str(options.get("delimiter", ","))
    for cells in reader:
        first, begun = begun, reader.line_num
        line = "".join(rows[first:begun]).rstrip("\r\n")
        at, whole = starts[first], lines.span(path, starts[first], starts[first] + len(line))
        plain = line.split(delimiter)
        if plain != cells:
            yield [Origin(whole, "assigned", whole)] * len(cells)
            continue
        places = []
        for cell in plain:
            focus = lines.span(path, at, at + len(cell))
            places.append(Origin(focus, "assigned", focus))
            at += len(cell) + len(delimiter)
        yield places
