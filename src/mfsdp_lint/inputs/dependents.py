"""Files of a project that use a file: importers, and files that name it; launch scripts that may start a recipe.

They are found in their text, unparsed, and more are found than there are: a text may only look like an import or a
launch. The evaluator, or the reader, that reads them decides.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.discover import (
    CI,
    KUSTOMIZATIONS,
    FileType,
    FileTypes,
    way_behind,
    written_folders,
    written_links,
)
from mfsdp_lint.inputs.imports import closure
from mfsdp_lint.inputs.index import facts, text_of
from mfsdp_lint.inputs.module_users import Modules, Names
from mfsdp_lint.inputs.projects import is_project, repository_above, shown
from mfsdp_lint.inputs.sources import NOTEBOOK

MOST_FILES = 20_000
"""Files that are looked at; a larger tree is no project but a disk."""

MOST_BYTES_OF_ALL = 256 * 1024 * 1024
"""Of all of them together."""

_PYTHON = FileType("python", "a Python file", suffixes=(".py",))


class TooMany(Exception):
    """The project is too large to be searched."""


class Importers:
    """Importers of files, found in projects each of which is read once."""

    def __init__(self) -> None:
        self._modules: dict[frozenset[str], Modules] = {}

    def of(self, paths: Collection[str]) -> list[str]:
        """Return the Python files of the same projects that may import one of these, directly or through others.

        They are sorted. Hidden folders, those that nobody writes by hand, and links are not entered. Raises TooMany.
        """
        wanted = {disk.real(path) for path in paths}
        roots = frozenset(root for path in wanted if (root := repository_above(os.path.dirname(path))))
        if roots not in self._modules:
            self._modules[roots] = Modules({path: facts(path) for path, _ in _written(roots, [_PYTHON])})
        modules = self._modules[roots]
        found = closure(wanted, lambda path: (user for user, _ in modules.importing(path)))
        return sorted(map(shown, found.keys() - wanted))


def users(paths: Collection[str], types: Sequence[FileType], enough: int) -> dict[str, Names]:
    """Return the files of these types, in the projects of these files, that use one of them, the nearest first. Each
    has the names by which others reach these files through it.

    Python uses what it imports, directly or through others: those who mean the names by which a module hands it on, or
    uses it itself. A notebook uses what it imports itself. All others use the files that they name, perhaps through
    others, and the programs that use one. A file is also used by a link to it. Where more than `enough` are found,
    those that are farther away are not looked for. Outside of any project no folder is entered. Raises TooMany.
    """
    given = {disk.real(path) for path in paths}
    roots = {repository_above(os.path.dirname(path)) for path in given}
    wanted = {*given, *_by_links(given, roots)}
    kinds: dict[str, FileType] = {path: type_ for path in wanted if (type_ := _type_of(path, types))}
    kinds |= dict(_written(roots, types, in_projects=True))
    known = {path: facts(path) for path in kinds}

    def naming(files: Collection[str], *, imports: bool) -> list[str]:
        return [
            path
            for path, type_ in kinds.items()
            if type_.imports == imports
            and path not in wanted
            and (
                any(known[path].has(_word_for(file)) and _names(text_of(path), type_, file) for file in files)
                or (os.path.basename(path) in KUSTOMIZATIONS and builds_on(text_of(path), files))
            )
        ]

    modules = Modules({path: known[path] for path, type_ in kinds.items() if type_.imports})
    distance: dict[str, int] = {}
    reached: dict[str, Names] = {}
    layer, starts, farthest = [path for path in wanted if path in kinds], [*wanted], 0
    while layer and len(distance) <= enough:
        naming_these = naming(layer, imports=False)
        # Python that names data uses it, and so does what imports that.
        reading = naming([path for path in layer if not kinds[path].imports], imports=True)
        programs: dict[str, int] = {}
        for path, (far, names) in modules.users([*starts, *reading], enough).items():
            reached[path] = names
            programs[path] = farthest + far
        programs = {
            path: far for path, far in (programs | dict.fromkeys(reading, farthest + 1)).items() if path not in distance
        }
        last = max([farthest, *programs.values()])
        starting = naming([path for path in programs if not path.endswith(NOTEBOOK)], imports=False)
        layer = [path for path in dict.fromkeys((*naming_these, *starting)) if path not in distance]
        distance |= programs | {path: (farthest if path in naming_these else last) + 1 for path in layer}
        starts, farthest = [], last + 1
    nearest = sorted(distance, key=lambda path: (distance[path], path))
    return {shown(path): reached.get(path, None if kinds[path].imports else frozenset()) for path in nearest}


def _by_links(paths: Collection[str], roots: Iterable[str]) -> Iterator[str]:
    """Yield the paths that lead to files through links in these projects."""
    for root in filter(is_project, sorted(roots)):
        for link in written_links(root):
            yield from (link + way for path in paths if (way := way_behind(link, path)) is not None)


def _type_of(path: str, types: Iterable[FileType]) -> FileType | None:
    """Return the type of a file by its name; of one whose name says nothing, by its first line."""
    found = next((each for each in types if each.is_named(path)), None)
    if found is None and "." not in os.path.basename(path):
        return FileTypes(types).of(path)
    return found


def _word_for(file: str) -> str:
    """Return what is in every text that names a file: its name without the suffix, of a package its folder's."""
    stem = os.path.splitext(os.path.basename(file))[0]
    return os.path.basename(os.path.dirname(file)) if stem == "__main__" else stem


def builds_on(text: str, files: Iterable[str]) -> bool:
    """Tell whether the text of a kustomization names the folder of one of these files, which it may be built of."""
    folders = {os.path.basename(os.path.dirname(os.path.abspath(file))) for file in files}
    return any(re.search(rf"(?<![\w.-]){re.escape(each)}/?[\"'\s,\]]", f"{text}\n") for each in folders)


_OF_HYDRA = (".yaml", ".yml")


def _names(text: str, type_: FileType, file: str) -> bool:
    """Tell whether the text of a file of some type names a file: in its own folder, where it says one; or as a module.

    Lists of defaults name the files of their kind without the suffix.
    """
    folder, name = os.path.split(file)
    stem, suffix = os.path.splitext(name)
    if stem == "__init__":
        return False
    above = os.path.basename(folder)
    for found in re.finditer(rf"(?<![\w.-])(?:([\w-][\w.-]*)/)?{re.escape(name)}(?!\.?[\w-])", text):
        if found[1] in (None, above) or text[: found.start()].endswith("$"):
            return True
    if stem == "__main__":
        return re.search(rf"-m\s+(?:[\w.]+\.)?{re.escape(above)}(?![\w.-])", text) is not None
    if suffix == ".py":
        return re.search(rf"\b{re.escape(above)}\.{re.escape(stem)}\b", text) is not None
    # Hydra knows a file by its name without the suffix, on a command line by its folder and that.
    if suffix not in _OF_HYDRA:
        return False
    if re.search(rf"(?<![\w-]){re.escape(above)}(?:@[\w.]+)?=[\w/]*\b{re.escape(stem)}(?![\w.-])", text):
        return True
    by_stem = "hydra" in text if type_.imports else suffix in type_.suffixes and "defaults" in text
    return by_stem and re.search(rf"(?<![\w.-]){re.escape(stem)}(?![\w.-])", text) is not None


def _written(
    roots: Iterable[str], types: Sequence[FileType], *, in_projects: bool = False
) -> Iterator[tuple[str, FileType]]:
    """Yield the files of these types that people write below these folders, each with its type.

    With `in_projects` no folder is entered outside of a project. Raises TooMany.
    """
    number = size = 0
    for root in sorted(roots):
        is_deep = not in_projects or is_project(root)
        for depth, (folder, names) in enumerate(written_folders(root)):
            if depth and not is_deep:
                break
            for name in names:
                path = os.path.join(folder, name)
                type_ = None if name.startswith(".") and name not in CI else _type_of(path, types)
                if type_ is not None and (bytes_ := size_of(path)) is not None:
                    number += 1
                    size += bytes_
                    if number > MOST_FILES or size > MOST_BYTES_OF_ALL:
                        disk.is_not_all()
                        raise TooMany
                    yield path, type_


def size_of(path: str) -> int | None:
    """Return the size of a regular file; None for links and for pipes, on which a reader would wait."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


MOST_FOLDERS = 5_000
"""Folders that are looked into; a larger tree is no project but a disk."""

_WORD = lazy_pattern(r"\w+")

_CONVERTS = "convert-torch-dist-to-fsdp-dtensor"
_LOADS = lazy_pattern(r"--load\b")
_LOADED = lazy_pattern(r"(?:--load[\s=]|checkpoint\.(?:load|pretrained_checkpoint)=)\s*(?P<path>\S+)")
_SAVES = lazy_pattern(rf"--save\b|--megatron-path\b|checkpoint\.save\b|{_CONVERTS}")
_NAMES = lazy_pattern(r"[A-Za-z_][\w.-]{2,}")


def launchers(paths: Sequence[str], type_: FileType, too_large: set[str] | None = None) -> list[str]:
    """Return the scripts of this type, in the projects of these files, that name a file or a function in it, sorted.

    Hidden folders, and those that nobody writes by hand, are not entered; outside of any project, no folder is.
    `too_large` receives the projects that were not searched to their end.
    """
    return _having({word for path in paths for word in _words_for(path)}, paths, type_, too_large)


def asking_for(recipes: Mapping[str, Names], type_: FileType) -> list[str]:
    """Return the scripts of this type, in the projects of these modules, that have a name of a function in one of them
    that may be a recipe, of the names that each has here (None: all). They are sorted.
    """
    words = {
        each
        for path, names in recipes.items()
        for each in facts(disk.real(path)).functions
        if names is None or each in names
    }
    return _having(words, recipes, type_, None)


def _having(words: Collection[str], paths: Collection[str], type_: FileType, too_large: set[str] | None) -> list[str]:
    known = {disk.real(path) for path in paths}
    roots = {repository_above(os.path.dirname(path)) for path in known}
    found = (path for root in sorted(roots) for path in _scripts(root, type_, too_large) if path not in known)
    return sorted({shown(path) for path in found if facts(path).has_any(words)})


def loading(paths: Iterable[str], type_: FileType, too_large: set[str] | None = None) -> list[str]:
    """Return the scripts of this type, in the projects of these files, that may load files that one of them converts,
    or save what one of them loads.

    The search is that of `launchers`.
    """
    roots: dict[str, list[str]] = {}
    for path in map(disk.real, paths):
        roots.setdefault(repository_above(os.path.dirname(path)), []).append(path)
    found: set[str] = set()
    for root, own in sorted(roots.items()):
        exchanges = exchanging(map(text_of, own))
        if exchanges is not None:
            found.update(shown(path) for path in _scripts(root, type_, too_large) if exchanges(text_of(path)))
    return sorted(found)


def exchanging(scripts: Iterable[str]) -> Callable[[str], bool] | None:
    """Return a test whether the text of another script may load files that one of these texts converts, or save what
    one of them loads: it speaks of a part of its path, or of its variable. None where they do neither.
    """
    texts = list(scripts)
    names = {name for text in texts for name in _loaded(text)}
    converts = any(_CONVERTS in text for text in texts)

    def exchanges(text: str) -> bool:
        loads = converts and _CONVERTS not in text and _LOADS.search(text) is not None
        return loads or (_SAVES.search(text) is not None and not names.isdisjoint(_NAMES.findall(text)))

    return exchanges if converts or names else None


def _loaded(text: str) -> Iterator[str]:
    """Yield the names in the paths that a script may load: of folders and of variables, and of the values of these."""
    waiting = [name for found in _LOADED.finditer(text) for name in _NAMES.findall(found["path"])]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            values = re.findall(rf"(?m:^|[\s;]){re.escape(name)}=(\S+)", text)
            waiting += [each for value in values for each in _NAMES.findall(value)]
            yield name


def _words_for(path: str) -> Iterator[str]:
    """Yield the words by which a launch may name a file, or a recipe in it."""
    stem, suffix = os.path.splitext(os.path.basename(path))
    if stem == "__main__":
        yield os.path.basename(os.path.dirname(disk.real(path)))
    elif stem != "__init__":  # a package is not what is started
        yield stem
    if suffix == ".py":
        yield from facts(disk.real(path)).functions


def _scripts(root: str, type_: FileType, too_large: set[str] | None) -> Iterable[str]:
    is_inside = is_project(root)
    for number, (folder, names) in enumerate(written_folders(root)):
        if number and not is_inside:
            return  # as it will another time: every folder up to here is looked at again
        if number > MOST_FOLDERS:
            if too_large is not None:
                too_large.add(shown(root))
            return
        paths = (os.path.join(folder, name) for name in names if not name.startswith("."))
        yield from (path for path in paths if type_.is_named(path))
