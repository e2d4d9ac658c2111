"""Configurations that a launcher is given on its command line: the files of its project that have the keys it reads.

A file is tried where it has keys that the program reads; the evaluation then shows whether it has all of them.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import TypeGuard

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.dependents import MOST_FOLDERS
from mfsdp_lint.inputs.discover import written_folders
from mfsdp_lint.inputs.projects import is_project, repository_above, shown
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.vocabulary import NAMES, SWITCHES, table
from mfsdp_lint.readers.python.eval.branches import one_key
from mfsdp_lint.readers.python.eval.path_objects import like
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.objects import MISSING, Frame, Module, Object, Option, PartlyKnown, Unknown

_FORMATS = {
    r"\b(?:yaml|OmegaConf)\b": (
        (".yaml", ".yml"),
        lazy_pattern(r"^[ \t]*(?:- +)?[\"']?([\w.-]+)[\"']?[ \t]*:(?=\s|$)", re.M),
    ),
    r"\bjson\b": ((".json",), lazy_pattern(r"\"([\w.-]+)\"\s*:")),
    r"\b(?:tomllib|tomli?)\b": ((".toml",), lazy_pattern(r"^[ \t]*\[*[\"']?([\w.-]+)[\"']?(?:\]|[ \t]*=)", re.M)),
}
"""By the words of a program that reads a format: the suffixes of its files, and a key in their text."""

_LARGEST = 200_000
"""Bytes of a configuration that people write."""

_LEAST_FLAGS = 3

_NAMES_OF_SWITCHES = frozenset(each.rpartition(".")[2] for each in SWITCHES)

MOST_FILES = 16
"""Files that a script is started with, one after the other."""


def configurations_for(modules: Sequence[Module], reading: Module, sources: Sources) -> list[str] | None:
    """Return the files of the project that a program may be given to read, those with most of its keys first; None
    where it reads no data.

    A file counts if it has one of the keys that the program reads without a default, and about as many of all that it
    names as the others; or if all of its keys are flags of Megatron-LM, or one turns FSDP on, where the program reads
    none by name.
    """
    formats = _formats(sources.text_or_none(reading.path) or "")
    if not formats:
        return None
    required = frozenset[str]().union(*(_required(module.tree) for module in modules))
    found: list[tuple[int, str]] = []
    root = _root_of(reading.path)
    for suffixes, key in formats:
        for path, keys in _configurations(sources, root, suffixes, key):
            shared = len(keys & required)
            if shared or (not required and (_are_flags(keys) or not keys.isdisjoint(_NAMES_OF_SWITCHES))):
                found.append((shared, path))
    most = max((shared for shared, _ in found), default=0)
    return [path for shared, path in sorted(found, key=lambda each: (-each[0], each[1])) if 2 * shared >= most]


def own_modules(interp: Interpreter) -> list[Module]:
    """Return the modules of the program itself."""
    return [each for each in interp.finder.by_path.values() if each is not None and each.is_own]


def chosen_file(interp: Interpreter, path: Object, frame: Frame) -> Object:
    """Return the file of the project that a path means which whoever starts the program gives: another one on each path
    through it. It stays unknown where no file, or more than a few, have keys of which the program knows all.
    """
    if not is_left_open(path):
        return path
    files = files_like(interp, path, frame) or files_for(interp, frame.module)
    return one_file(interp, path, files, _MOST_TURNS)[0] if 0 < len(files) <= MOST_FILES else path


def is_left_open(path: Object) -> TypeGuard[Unknown]:
    """Tell whether whoever starts the program says what a path is: it is not known, and no option with a default."""
    return isinstance(path, Unknown) and not (type(path) is Option and path.default not in (None, MISSING))


def files_like(interp: Interpreter, path: Unknown, frame: Frame) -> list[str]:
    """Return the files that a path may mean of which a part is known; none where nothing is."""
    return like(interp, path, frame.module) if isinstance(path, PartlyKnown) else []


def what_it_says(path: Unknown) -> str:
    """Return how the program calls a path that is not known."""
    return path.text or "its configuration"


def one_file(interp: Interpreter, path: Unknown, files: Sequence[str], turns: int) -> tuple[Object, dict[str, str]]:
    """Take a path to mean one of several files, another one on each path through the program; return what it is then,
    and the files by what it may be. It stays unknown where there is no room for that many paths.
    """
    known = {f"{interp.finder.symbol(os.path.dirname(file))}/{os.path.basename(file)}": file for file in files}
    meant = one_key(interp, path, list(known), what_it_says(path), turns, lambda key: shown(known[str(key)]))
    return meant, known


def files_for(interp: Interpreter, reading: Module) -> list[str]:
    """Return the files of the project that a module of the program at hand may be given to read: those of which the
    texts of the program have all keys; none if these are more than a few.
    """
    sources = interp.finder.sources
    formats = _formats(sources.text_or_none(reading.path) or "")
    if not formats:
        return []
    texts = (sources.text_or_none(path) or "" for path in interp.program_of(interp.entry))
    words = NAMES.union(*map(_words, texts))
    files = [path for path, keys in _with_top_keys(reading.path, formats, sources) if keys and keys <= words]
    return files if len(files) <= MOST_FILES else []


_MOST_TURNS = 4
"""Decisions about files on one path."""


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


_WORD = lazy_pattern(r"[A-Za-z_][\w-]*")


def _with_top_keys(path: str, formats: Formats, sources: Sources) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the files of the project around a file in some formats, with their keys at the top."""
    root = _root_of(path)
    for suffixes, _ in formats:
        every = sources.shared(("files of formats", root, suffixes), partial(_list_of_files, root, suffixes)).result
        for path in every:
            yield path, _top_keys(path)


def _list_of_files(root: str, suffixes: tuple[str, ...]) -> list[str]:
    return list(_files(root, suffixes))


_TOP_KEY = lazy_pattern(r"^(?:\[+)?[\"']?([\w-]+)[\"']?(?:[.\w-]*\]+|[ \t]*[:=])", re.M)
"""A key of a mapping at the left edge: of YAML, or of TOML."""


def _top_keys(path: str) -> frozenset[str]:
    return _keys_at_the_top(_text_of(path), path.endswith(".json"))


@lru_cache(maxsize=512)
def _keys_at_the_top(text: str, is_json: bool) -> frozenset[str]:
    if not is_json:
        return frozenset(_TOP_KEY.findall(text))
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(found) if isinstance(found, dict) else frozenset()


def files_with(keys: Collection[str], path: str, sources: Sources) -> list[str]:
    """Return the files in YAML or JSON of the project around a script that have all of some keys; none if many have."""
    formats = [each for each in _FORMATS.values() if {".yaml", ".json"} & {*each[0]}]
    every = (_configurations(sources, _root_of(path), *each) for each in formats)
    found = [file for files in every for file, own in files if own.issuperset(keys)]
    return found if len(found) <= MOST_FILES else []


def _root_of(path: str) -> str:
    """Return the project that a file is in; its folder where it is in none."""
    folder = os.path.abspath(os.path.dirname(path))
    root = repository_above(folder)
    return root if is_project(root) else folder


Formats = Sequence[tuple[tuple[str, ...], re.Pattern[str]]]
"""Formats of data, each as in `_FORMATS`."""


@lru_cache(maxsize=512)
def _formats(text: str) -> Formats:
    """Return the formats that a file of a program reads."""
    return [each for words, each in _FORMATS.items() if re.search(words, text)]


@lru_cache(maxsize=512)
def _required(tree: ast.Module) -> frozenset[str]:
    """Return the names that a file asks for with `[...]`, but for variables of the environment."""
    return frozenset(_asked_for(tree))


def _asked_for(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Attribute(attr="environ") | ast.Name(id="environ")):
                continue
            case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Load()):
                yield key
            case ast.Attribute(value=ast.Name(id=name), attr=key, ctx=ast.Load()) if _is_configuration(
                name
            ) and not hasattr(dict, key):
                yield key


_CONFIGURATION = lazy_pattern(r"(?i)(?:\w*_)?(?:c(?:on)?fi?g|conf|settings|job|spec|params?)(?:_\w*)?")


def _is_configuration(name: str) -> bool:
    return _CONFIGURATION.fullmatch(name) is not None


def _configurations(
    sources: Sources, folder: str, suffixes: tuple[str, ...], key: re.Pattern[str]
) -> Sequence[tuple[str, frozenset[str]]]:
    """Return the files of a project, or of a folder that is in none, that have some keys: each once a run."""

    def found() -> Iterator[tuple[str, frozenset[str]]]:
        for path in _files(folder, suffixes):
            if keys := _keys(path, key):
                yield path, keys

    return sources.shared(("keys of configurations", folder, suffixes), lambda: list(found())).result


def _files(folder: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    folders = written_folders(folder) if is_project(folder) else iter([(folder, disk.Listing(folder).matching("*"))])
    for there, names in islice(folders, MOST_FOLDERS):
        yield from (os.path.join(there, name) for name in sorted(names) if name.endswith(suffixes))


def _keys(path: str, key: re.Pattern[str]) -> frozenset[str]:
    return frozenset(key.findall(_text_of(path)))


def _text_of(path: str) -> str:
    """Return the text of a configuration; "" where it cannot be read, or is too large."""
    try:
        content = disk.read(path, _LARGEST + 1) if disk.is_file(path) else b""
    except OSError:
        return ""
    return content.decode("utf-8", "replace") if len(content) <= _LARGEST else ""


def _are_flags(keys: frozenset[str]) -> bool:
    names = {f"--{each.replace('_', '-')}" for each in keys}
    return len(names) >= _LEAST_FLAGS and all(table().flag_versions(each) for each in names)
