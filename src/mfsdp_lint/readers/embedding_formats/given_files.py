"""Configurations that a launcher is given on its command line: the files of its project that have the keys it reads.

A file is tried where it has keys that the program reads; the evaluation then shows whether it has all of them.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.dependents import MOST_FOLDERS
from mfsdp_lint.inputs.discover import written_folders
from mfsdp_lint.inputs.projects import is_project, repository_above
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.readers.python.values.objects import Module

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

MOST_FILES = 16
"""Files that a script is started with, one after the other."""


def configurations_for(modules: Sequence[Module], reading: Module, sources: Sources) -> list[str] | None:
    """Return the files of the project that a program may be given to read, those with most of its keys first; None
    where it reads no data.

    A file counts if it has one of the keys that the program reads without a default, and about as many of all that it
    names as the others; or if all of its keys are flags of Megatron-LM, where the program reads none by name.
    """
    formats = _formats(reading.tree)
    if not formats:
        return None
    required = frozenset[str]().union(*(_required(module.tree) for module in modules))
    found: list[tuple[int, str]] = []
    folder = os.path.abspath(os.path.dirname(reading.path))
    root = repository_above(folder)
    for suffixes, key in formats:
        for path, keys in _configurations(sources, root if is_project(root) else folder, suffixes, key):
            shared = len(keys & required)
            if shared or (not required and _are_flags(keys)):
                found.append((shared, path))
    most = max((shared for shared, _ in found), default=0)
    return [path for shared, path in sorted(found, key=lambda each: (-each[0], each[1])) if 2 * shared >= most]


def files_with(keys: Collection[str], path: str, sources: Sources) -> list[str]:
    """Return the files in YAML or JSON of the project around a script that have all of some keys; none if many have."""
    folder = os.path.abspath(os.path.dirname(path))
    root = repository_above(folder)
    formats = [each for each in _FORMATS.values() if {".yaml", ".json"} & {*each[0]}]
    every = (_configurations(sources, root if is_project(root) else folder, *each) for each in formats)
    found = [file for files in every for file, own in files if own.issuperset(keys)]
    return found if len(found) <= MOST_FILES else []


@lru_cache(maxsize=512)
def _formats(tree: ast.Module) -> Sequence[tuple[tuple[str, ...], re.Pattern[str]]]:
    """Return the formats that a file of a program reads, each as in `_FORMATS`."""
    text = ast.unparse(tree)
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
    try:
        content = disk.read(path, _LARGEST + 1) if disk.is_file(path) else b""
    except OSError:
        return frozenset()
    return frozenset(key.findall(content.decode("utf-8", "replace"))) if len(content) <= _LARGEST else frozenset()


def _are_flags(keys: frozenset[str]) -> bool:
    names = {f"--{each.replace('_', '-')}" for each in keys}
    return len(names) >= _LEAST_FLAGS and all(table().flag_versions(each) for each in names)
