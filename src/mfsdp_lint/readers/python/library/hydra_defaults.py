"""Files that a Hydra configuration is composed of, in their order, each with its package.

After hydra-core 1.3.2, hydra/_internal/defaults_list.py and hydra/core/default_element.py, with `version_base` 1.2.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import Any

from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.readers.python.values.places import Placed

SELF = "_self_"
_GLOBAL = "_global_"
_HEADER = re.compile(r"#\s*@package\s+(\S+)\s*\Z")
_KEY = re.compile(r"(?P<words>(?:(?:optional|override)\s+)*)(?P<group>[^@\s]+)(?:@(?P<package>[^:\s]*))?\Z")

Choice = str | None | list[str]
"""The option of a group: a file, none, or several files."""


class NotComposed(Exception):
    """A configuration whose parts are not known, or that Hydra refuses; the text says why."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file: its entries, and the package that its head names, if any."""

    entries: dict[Any, Placed]
    header: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """The entries of one file, to be merged under a package ("" for the root)."""

    package: str
    entries: dict[Any, Placed]


@dataclass(frozen=True, slots=True)
class Default:
    """An element of a defaults list: a file, or the option of a `group`. With `override` it only chooses."""

    choice: Choice
    group: str | None = None
    package: str | None = None
    optional: bool = False
    override: bool = False


Load = Callable[[str], Document | None]
"""From the path of a file inside the folder, without its suffix, to its content; None where there is no such file."""


def composed(load: Load, name: str, chosen: dict[str, Choice], added: list[Default]) -> list[Part]:
    """Return the parts of a configuration in the order in which they are merged.

    `chosen` are options that the caller sets, by group (`group@package`), `added` further elements. Raises
    NotComposed.
    """
    composer = _Composer(load, dict(chosen), added)
    parts = composer.parts(Default(name), "", "", primary=True)
    if unused := composer.choices.keys() - composer.used:
        raise NotComposed(f"no defaults list has {min(unused)}")
    return parts


def package_of(text: str) -> str | None:
    """Return the package that the head of a file names."""
    for line in map(str.strip, text[:512].splitlines()):
        if line and not line.startswith("#"):
            return None
        if found := _HEADER.match(line):
            return found[1]
    return None


class _Composer:
    def __init__(self, load: Load, choices: dict[str, Choice], added: list[Default]) -> None:
        self.load = load
        self.choices = choices
        self.added = added
        self.used: set[str] = set()
        self.known: set[str] = set()
        self.depth = 0

    def parts(self, default: Default, folder: str, package: str, *, primary: bool = False) -> list[Part]:
        """Return the parts that an element of a list brings.

        The list is in a file of `folder` that is merged under `package`.
        """
        group = _group_path(default, folder)
        if default.group is not None:
            default = self._as_chosen(default, group, package)
        if isinstance(default.choice, list):
            several = [replace(default, choice=f"{default.group}/{each}", group=None) for each in default.choice]
            found = [self.parts(each, folder, package) for each in reversed(several)]
            return [part for parts in reversed(found) for part in parts]
        if default.choice is None:
            return []
        path = posixpath.join(group, posixpath.basename(default.choice))
        document = self._document(path)
        if document is None:
            if default.optional:
                return []
            raise NotComposed(f"{path} is no file of the tree")
        header = None if document.header is None else f"{_GLOBAL}.{document.header}"
        final = _final_package(default, group, package, header)
        return self._expanded(document, group, final, primary)

    def _expanded(self, document: Document, group: str, package: str, primary: bool) -> list[Part]:
        own = [Part(package, {key: value for key, value in document.entries.items() if key != "defaults"})]
        defaults = [] if "defaults" not in document.entries else _elements(document.entries["defaults"])
        selves = sum(each.choice == SELF and each.group is None for each in defaults)
        if selves > 1:
            raise NotComposed(f"{SELF} stands twice in a defaults list")
        added = self.added if primary else []
        if not selves and (any(not each.override for each in defaults) or (added and not defaults)):
            defaults = [*defaults, Default(SELF)]
        defaults = [each for each in (*defaults, *added) if not _is_hydras(each)]
        for each in defaults:
            if each.override:
                self.choices.setdefault(self._key(each, _group_path(each, group), package), each.choice)
        found = []
        # Those behind choose for those in front.
        for each in reversed(defaults):
            if each.choice == SELF and each.group is None:
                found.append(own)
            elif not each.override:
                found.append(self.parts(each, group, package))
        return [part for parts in reversed(found) for part in parts] if found else own

    def _as_chosen(self, default: Default, group: str, package: str) -> Default:
        key = self._key(default, group, package)
        if key in self.known:
            raise NotComposed(f"{key} is chosen twice")
        self.known.add(key)
        if key in self.choices:
            self.used.add(key)
            return replace(default, choice=self.choices[key])
        return default

    def _key(self, default: Default, group: str, package: str) -> str:
        usual, final = group.replace("/", "."), _final_package(default, group, package, None)
        return group if usual == final else f"{group}@{final or _GLOBAL}"

    def _document(self, path: str) -> Document | None:
        if "???" in path or "${" in path:
            raise NotComposed(f"{path} is chosen when the program starts")
        self.depth += 1
        if self.depth > 200:
            raise NotComposed("the defaults lists are too long")
        return self.load(path)


def _group_path(default: Default, folder: str) -> str:
    """Return the folder of an element's file: within the list's folder, or from the root after a slash."""
    inside = default.group if default.group is not None else posixpath.dirname(str(default.choice))
    return (
        inside[1:]
        if inside.startswith("/") or str(default.choice).startswith("/")
        else posixpath.join(folder, inside).rstrip("/")
    )


def _final_package(default: Default, group: str, parent: str, header: str | None) -> str:
    """Return the package that a file's entries belong to: its element's, else its head's, else its folder's name."""
    package = default.package if default.package is not None else header
    if package is None:
        inside = default.group if default.group is not None else posixpath.dirname(str(default.choice))
        package = inside.strip("/").replace("/", ".")
    elif "_group_" in package:
        package = f"{_GLOBAL}.{package.replace('_group_', group.replace('/', '.'))}"
    package = "" if package == "_here_" else package
    if "_name_" in package:
        raise NotComposed(f"the package {package} is one of an older Hydra")
    joined = ".".join(filter(None, (parent, package)))
    return joined.rpartition(_GLOBAL)[2].lstrip(".") if _GLOBAL in joined else joined


def _is_hydras(default: Default) -> bool:
    """Tell whether an element configures Hydra itself."""
    where = default.group if default.group is not None else str(default.choice)
    return where.lstrip("/").split("/")[0] == "hydra"


def _elements(placed: Placed) -> list[Default]:
    if not isinstance(placed.value, list):
        raise NotComposed("a defaults list that is no list")
    return [_element(each) for each in placed.value]


def _element(placed: Placed) -> Default:
    value = placed.value
    if isinstance(value, str):
        path, _, package = value.partition("@")
        return Default(path, package=package or None)
    if not isinstance(value, dict) or len(value) != 1:
        raise NotComposed("an element of a defaults list depends on what is not in the file")
    ((key, option),) = value.items()
    found = _KEY.match(str(key))
    if found is None:
        raise NotComposed(f"an element {key} of a defaults list")
    choice = [each.value for each in option.value] if isinstance(option.value, list) else option.value
    if option.open or not all(
        isinstance(each, str) for each in (choice if isinstance(choice, list) else [choice or ""])
    ):
        raise NotComposed(f"the option of {key} is chosen when the program starts")
    words = found["words"].split()
    return Default(choice, found["group"], found["package"] or None, "optional" in words, "override" in words)
