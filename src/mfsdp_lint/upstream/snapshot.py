"""A snapshot: what a Megatron release offers to import, as data that is read piece by piece.

A snapshot is made once from upstream source (make_snapshot.py) and answers the evaluator afterwards (knowledge.py). It
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

A *write* is the number of an entry of the module's `origins`: [file, line, end line, function, how]; None is nowhere.

A class: `kind` ("dataclass", "enum", "namedtuple", "typeddict", "plain"), `bases` (nodes), `fields` ([name, node or
["required"], "i" (not in __init__) and "k" (keyword only)]...), `attributes` ({name: node}), `methods` and `properties`
({name: function, or None where nothing is known of it}), `kinds` ({name: "classmethod" or "staticmethod"}), `opaque`
(instances may have anything), `made` (what constructing changes: {field: node}, None where that is not known), `sets`
({name: [other names that take the value as well]}, None where that is not known).

A function: `parameters` ([name, kind, node or ["required"]]...; the kinds are "p" positional only, "a", "*", "k"
keyword only, "**"), `keys` (those that `**` takes), `outcome` ({"result": node,
"writes": [[parameter, attribute...], write, node]..., "environment": [name, write, node]..., "forgets": [parameter,
attribute...]...}), `broken`, the parameters without whose default nothing is known, `cases` ({parameter: [value,
outcome]...}), outcomes for a known value of one parameter.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAGIC = b"mfsdp-lint snapshot 1\n"

Node = Any
"""See the module's documentation."""


class NotASnapshot(ValueError):
    """A file that is no snapshot, or one of another version of the tool."""


@dataclass(slots=True)
class ModuleData:
    """What is known of one upstream module: entries by name, and the writes that they share."""

    names: dict[str, Any]
    origins: list[list[Any]] = field(default_factory=list)


PROVIDERS = "<providers>"
"""The name under which the model providers of AutoBridge are kept: entries by "method architecture"."""


class Snapshot:
    """A snapshot file, made from the versions `bridge` and `core`. A module is decoded when it is asked for.

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
        self._places: dict[str, list[int]] = header["modules"]
        self._data = data
        self._body = end
        self.decoded: dict[str, ModuleData] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def modules(self) -> list[str]:
        """The names of all modules, in order."""
        return [name for name in self._places if name != PROVIDERS]

    def module(self, name: str) -> ModuleData | None:
        """What is known of a module; None where nothing is."""
        if name not in self._places:
            return None
        if name not in self.decoded:
            offset, size = self._places[name]
            start = self._body + offset
            names, origins = json.loads(zlib.decompress(self._data[start : start + size]))
            self.decoded[name] = ModuleData(names, origins)
        return self.decoded[name]


def dump(bridge: str, core: str, modules: Mapping[str, ModuleData]) -> bytes:
    """A snapshot as the bytes of its file; the same for the same content."""
    places: dict[str, list[int]] = {}
    blobs: list[bytes] = []
    offset = 0
    for name in sorted(modules):
        module = modules[name]
        blob = zlib.compress(_compact([module.names, module.origins]), 9)
        places[name] = [offset, len(blob)]
        blobs.append(blob)
        offset += len(blob)
    header = zlib.compress(_compact({"bridge": bridge, "core": core, "modules": places}), 9)
    return b"".join([MAGIC, b"%08d" % len(header), header, *blobs])


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
