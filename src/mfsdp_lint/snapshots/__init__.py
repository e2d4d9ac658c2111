"""A snapshot: what a Megatron release offers to import, as data that is read piece by piece.

A snapshot is made once from upstream source (tools/snapshot) and answers the evaluator afterwards (knowledge.py). It
holds, by upstream module and name, an *entry*, a JSON list that begins with its kind:

    ["from", module, name]    the same as that name of another module
    ["module", module]        a module
    ["value", node]           a value that the module keeps
    ["class", {...}]          keys below
    ["function", {...}]       keys below

Values are *nodes*: None, booleans, numbers and strings stand for themselves, everything else is a list that begins with
a tag:

    ["list"|"tuple"|"set", node...]
    ["dict", [key, node, write?]...]
    ["ext", "torch.bfloat16"]            a name of a package that no snapshot knows
    ["ref", module, name]                a class or function of a snapshot's module
    ["enum", node of its class, name]
    ["partial", node, [node...], {name: node}]
    ["?", not None?, text, {name: field}]
                                         unknown, with what was written into it
    ["or", node...]                      one of these
    ["missing"]                          not there
    ["obj", base, write, {name: field}, hazy?]
                                         an object: `base` is the node of its class, ["or", ...] several of these, or
                                         ["hf", method, architecture], the model provider that AutoBridge makes. Fields
                                         not given are those of the base. A field is ["w", write, node] where somebody
                                         wrote it, ["u", node] otherwise
    ["def", number, node], ["same", number]
                                         an object that occurs several times in a value

and, in what a function does:

    ["arg", parameter, attribute...]     this argument, or what it held before the call
    ["pass", parameter, node]            this argument if it is given, else `node`
    ["dep", [parameter...], node, [parameter...]?]
                                         `node` if none of these parameters was given, else not known; where several
                                         parameters are given, the second list counts; "*" are all that may be left out
    ["default"]                          what it was anyway

A *write* is the number of one of the snapshot's *places*: [file, line, end line, function, how]; None is nowhere.

A class: `kind` ("dataclass", "enum", "namedtuple", "typeddict", "plain"), `bases` (nodes), `fields` ([name, node or
["required"], "i" (not in __init__) and "k" (keyword only)]...), `attributes` ({name: node}), `methods` and `properties`
({name: function, or None where nothing is known of it}), `setters` (of the properties that may be assigned: the same),
`kinds` ({name: "classmethod" or "staticmethod"}), `frozen` (its fields cannot be assigned), `opaque`
(instances may have anything), `made` (what constructing changes: {field: node}, None where that is not known), `sets`
({name: [other names that take the value as well]}, None where that is not known), `forwards` (the fields of a
Forwarding, see upstream.py).

A function: `effects`, what a call with arguments does, in the terms of effects.py (it counts before all else);
`parameters` ([name, kind, node or ["required"]]...; the kinds are "p" positional only, "a", "*", "k"
keyword only, "**"), `keys` (those that `**` takes), `outcome` ({"result": node,
"writes": [[parameter, attribute...], write, node]..., "environment": [name, write, node]..., "forgets": [parameter,
attribute...]...}), `broken`, the parameters without whose default nothing is known, `cases` ({parameter: [value,
outcome]...}), outcomes for a known value of one parameter. `bound` ([[name...], contents?, result]) is what a call may
change at most in all that its arguments lead to: the attributes of these names, and with `contents` the items of lists
and dictionaries; it is all that is known where there is no `outcome` (and no `parameters`, where any may be given).

In the file, a part of these JSON values that occurs in several places is written once: recipes of one family differ
in a few settings, and most of what upstream's helpers leave behind is the same everywhere. Where it occurs again,
`{"": number}` is written, which no other value looks like.
"""

from __future__ import annotations

import json
import zlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any


class Archive:
    """The texts in some data: a header with their lengths, and blocks of them.

    A block is decompressed when one of its texts is first asked for.
    """

    def __init__(self, data: memoryview) -> None:
        self._data = data
        size = int.from_bytes(data[:4], "big")
        header = json.loads(zlib.decompress(data[4 : 4 + size]))
        self._compressed: list[int] = [4 + size, *accumulate(header["blocks"], initial=4 + size)][1:]
        self._places: list[tuple[int, int, int]] = []
        for block, lengths in enumerate(header["texts"]):
            ends = list(accumulate(lengths))
            self._places += [(block, end - length, end) for length, end in zip(lengths, ends, strict=True)]
        self._blocks: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._places)

    def text(self, number: int) -> str:
        """Read one of the texts, counted from 0."""
        block, start, end = self._places[number]
        if block not in self._blocks:
            first, last = self._compressed[block : block + 2]
            self._blocks[block] = zlib.decompress(self._data[first:last])
        return self._blocks[block][start:end].decode()


REFERENCE = ""
"""The only key of a dictionary that refers to a shared part."""


def reader(part: Callable[[int], Any]) -> Callable[[str], Any]:
    """Return a function that reads the value of a text. (A reader for each text costs more than most texts.)

    `part` returns the shared parts by number; its results must not be changed.
    """
    return json.JSONDecoder(object_hook=lambda found: part(found[REFERENCE]) if REFERENCE in found else found).decode


MAGIC = b"mfsdp-lint snapshot 4\n"

Node = Any
"""See the module's documentation."""

Place = Sequence[Any]
"""[file, line, end line, function, how]."""

PROVIDERS = "<providers>"
"""The name under which the model providers of AutoBridge are kept: entries by "method architecture"."""

PLACES_TOGETHER = 256


class NotASnapshot(ValueError):
    """A file that is no snapshot, or one of another version of the tool."""


class Snapshot:
    """A snapshot file, made from the versions `bridge` and `core`. An entry is decoded when it is asked for.

    Raises NotASnapshot for anything else.
    """

    def __init__(self, data: bytes) -> None:
        if not data.startswith(MAGIC):
            raise NotASnapshot("not a snapshot of this version of mfsdp-lint")
        start = len(MAGIC) + 8
        end = start + int(data[len(MAGIC) : start])
        header = json.loads(zlib.decompress(data[start:end]))
        self.bridge: str = header["bridge"]
        self.core: str = header["core"]
        self._numbers: dict[str, int] = {name: number for number, name in enumerate(header["modules"])}
        self._first_parts: list[int] = header["parts"]
        self._archive = Archive(memoryview(data)[end:])
        self._read = reader(self._part)
        self._lines: dict[str, tuple[dict[str, Any], list[str]]] = {}
        self._entries: dict[tuple[str, str], Any] = {}
        self._part_lines: dict[int, list[str]] = {}
        self._parts: dict[int, Any] = {}
        self._places: dict[int, list[Place]] = {}

    def modules(self) -> list[str]:
        """Return the names of all modules, in order."""
        return [name for name in self._numbers if name != PROVIDERS]

    def names(self, module: str) -> list[str] | None:
        """Return the names that a module has; None if nothing is known of the module."""
        return list(self._module(module)[0]) if module in self._numbers else None

    def entry(self, module: str, name: str) -> Any:
        """Return the entry of a name of a module. It must not be changed. Raises KeyError."""
        key = module, name
        if key not in self._entries:
            entries, lines = self._module(module)
            entry = entries[name]
            self._entries[key] = self._read(lines[entry]) if isinstance(entry, int) else entry
        return self._entries[key]

    def place(self, number: int) -> Place:
        """Return the place with the number of a write."""
        row, column = divmod(number, PLACES_TOGETHER)
        if row not in self._places:
            record = self._archive.text(len(self._numbers) + len(self._first_parts) + row)
            texts, *columns = json.loads(record)
            self._places[row] = [
                (texts[file], line, line + more, texts[function], texts[how])
                for file, line, more, function, how in zip(*columns, strict=True)
            ]
        return self._places[row][column]

    @property
    def decoded(self) -> list[str]:
        """The modules that were looked into so far."""
        return list(self._lines)

    def _module(self, name: str) -> tuple[dict[str, Any], list[str]]:
        if name not in self._lines:
            first, *lines = self._archive.text(self._numbers[name]).split("\n")
            self._lines[name] = self._read(first), lines
        return self._lines[name]

    def _part(self, number: int) -> Any:
        if number not in self._parts:
            row = bisect_right(self._first_parts, number) - 1
            if row not in self._part_lines:
                self._part_lines[row] = self._archive.text(len(self._numbers) + row).split("\n")
            self._parts[number] = self._read(self._part_lines[row][number - self._first_parts[row]])
        return self._parts[number]
