"""The tool's own data in one file that is read in pieces: rules, terms, start-up, vocabulary, front-ends. Plain data.

The first line says where each piece is; the rest are the pieces, as JSON, one a line. A wheel carries the file. In a
checkout the first run makes it of the files that people edit, and so does every run that finds one of them changed.

`read_yaml` and `read_json` read what people edit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mfsdp_lint.core import files
from mfsdp_lint.core.files import PACKAGE, RULES, put, read

if TYPE_CHECKING:
    from pathlib import Path


FILE = os.path.join(PACKAGE, "compiled.jsonl")

_BESIDE = (
    "megatron/startup/startup.yaml",
    "megatron/startup/startup-tables.json",
    "megatron/vocabulary/settings.yaml",
    "megatron/vocabulary/data/defaults.json",
    "megatron/vocabulary/data/fields.json",
    "megatron/vocabulary/data/flags.json",
    "core/store.py",
    "checkout.py",
)
"""The files that the data is made of, beside rules and front-ends, and the code that makes it."""

_MAKER = "mfsdp_lint.checkout"


class Store(Mapping[str, Any]):
    """The pieces by name, each read when it is asked for."""

    def __init__(self, content: bytes) -> None:
        end = content.index(b"\n")
        head = json.loads(content[:end])
        self.digest: str = head["digest"]
        self._places: Mapping[str, tuple[int, int]] = head["pieces"]
        self._content = content
        self._start = end + 1

    def __getitem__(self, name: str) -> Any:
        start, end = self._places[name]
        return json.loads(self._content[self._start + start : self._start + end])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Folder(Mapping[str, Any]):
    """The pieces of a store whose names begin with a folder's, by the rest of the name, each read once."""

    def __init__(self, store: Mapping[str, Any], folder: str) -> None:
        self._store = store
        self._folder = folder
        self._pieces: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._pieces:
            self._pieces[name] = self._store[f"{self._folder}/{name}"]
        return self._pieces[name]

    def __iter__(self) -> Iterator[str]:
        start = f"{self._folder}/"
        return (name[len(start) :] for name in self._store if name.startswith(start))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def store() -> Store:
    """Load the tool's own data.

    Raises OSError where an installation lacks it, and RuleError and the like where the data of a checkout is wrong.
    """
    kept = None
    with suppress(OSError, ValueError, KeyError, TypeError):  # it is missing, or cannot be read
        kept = Store(read(FILE))
    if not os.path.isdir(RULES):
        if kept is None:
            raise FileNotFoundError(f"{FILE}: the installation is not complete")
        return kept
    now = digest(sources())
    if kept is not None and kept.digest == now:
        return kept
    content: bytes = import_module(_MAKER).compiled(now)
    with suppress(OSError):  # where a checkout cannot be written, the next run makes it again
        put(FILE, content)
    return Store(content)


def sources() -> dict[str, str]:
    """Return the paths of the files that the data is made of, and made by, each under its name."""
    folders = {"rules": RULES, "front-ends": os.path.join(PACKAGE, "megatron", "front_ends", "data")}
    found = {
        f"{name}/{file}": os.path.join(folder, file)
        for name, folder in folders.items()
        for file in sorted(os.listdir(folder))
        if file.endswith(".yaml")
    }
    return found | {name: os.path.join(PACKAGE, name) for name in _BESIDE}


def digest(files: Mapping[str, str]) -> str:
    """Return a hash that changes with any byte of any of the files, and with their names."""
    from mfsdp_lint.core.digests import blake2b

    found = blake2b(digest_size=16)
    for name, path in files.items():
        content = read(path)
        found.update(f"{name} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def written(pieces: Mapping[str, Any], digest: str) -> bytes:
    """Return the content of the file that holds these pieces."""
    lines, places, start = [], {}, 0
    for name, data in pieces.items():
        line = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
        lines.append(line)
        places[name] = (start, start + len(line))
        start += len(line) + 1
    head = json.dumps({"digest": digest, "pieces": places}, separators=(",", ":")).encode()
    return b"\n".join([head, *lines, b""])


def read_yaml(path: Path) -> Any:
    """Read a YAML file. Raises OSError and ValueError, and yaml.YAMLError for a file that is none. Imports PyYAML."""
    import yaml

    return yaml.load(files.text(path), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises OSError, and ValueError for a file that is none."""
    return json.loads(files.text(path))
