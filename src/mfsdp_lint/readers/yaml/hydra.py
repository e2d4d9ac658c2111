"""Hydra's composition: the `defaults` list of a configuration names others, each of which is put into a package.

    defaults:
      - model_engine: dp                                  # model_engine/dp.yaml, in the package model_engine
      - actor@actor_rollout_ref.actor: ${model_engine}_actor
      - override model_engine: megatron                   # another choice than the one that was made elsewhere
      - _self_                                            # the entries of this file itself; last, where it is not named

As Hydra 1.3 does it (`_create_defaults_tree_impl` in hydra/_internal/defaults_list.py, `InputDefault` in
hydra/core/default_element.py). A choice that is not in the tree may contain any entry.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import NONE, Known
from mfsdp_lint.readers.paths import above
from mfsdp_lint.readers.trees import MANDATORY, MISSING, Leaf, Section, Tree, merge
from mfsdp_lint.readers.yaml.files import LONGEST_CHAIN, Files
from mfsdp_lint.readers.yaml.interpolation import resolved

_SELF = "_self_"
_GLOBAL = "_global_"
_HYDRA = "hydra"
_WORDS = re.compile(r"(?P<optional>optional +)?(?P<override>override +)?(?P<name>[^@\s]+)(?:@(?P<package>\S*))?")
_MOST = 500
"""Configurations that one may be put together from."""

_CHOICE = re.compile(r"\$\{([^{}]+)\}")


def compose_hydra(path: str, root: Section, files: Files) -> Section:
    """Compose a primary configuration from all that its defaults choose, with references filled in."""
    if root.get("defaults") is None:
        return resolved(root, files.environment)
    name, _ = posixpath.splitext(posixpath.basename(path))
    whole = Section()
    for part in _Choices(files, list(_folders(path, root))).parts(_Config(name, "", ""), root, 0):
        whole = merge(whole, part)
    return resolved(whole.without(_HYDRA), files.environment)


def _folders(path: str, root: Section) -> Iterator[str]:
    """Yield the folders that are searched for configurations, the first place first."""
    yield posixpath.dirname(path)
    found = root.get(_HYDRA, "searchpath")
    entries = found.value.value if isinstance(found, Leaf) and isinstance(found.value, Known) else None
    for entry in entries if isinstance(entries, list) else ():
        scheme, _, there = str(entry).partition("://")
        if scheme in ("file", "pkg"):
            there = there.replace(".", "/") if scheme == "pkg" else there
            yield from (posixpath.join(folder, there) for folder in above(path))


@dataclass(frozen=True, slots=True)
class _Config:
    """A configuration: its name from the search path, the group that it is in, and the package of its entries."""

    name: str
    group: str
    package: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of a defaults list. A group has options; a single configuration (and _self_) has none."""

    name: str
    options: tuple[str, ...] | None
    package: str | None
    optional: bool
    override: bool

    def group(self, inside: str) -> str:
        """Return the path of the group, for an entry in a configuration of another group."""
        path = self.name if self.options is not None else posixpath.dirname(self.name)
        return path[1:] if self.name.startswith("/") else posixpath.join(inside, path) if path else inside

    def in_package(self, parent: str, header: str | None) -> str:
        """Return the package of the configuration that the entry names."""
        own = self.package if self.package is not None else header
        if own is None:
            own = (self.name if self.options is not None else posixpath.dirname(self.name)).strip("/").replace("/", ".")
        whole = ".".join(part for part in (parent, "" if own == "_here_" else own) if part)
        _, star, behind = whole.rpartition(_GLOBAL)
        return behind.removeprefix(".") if star else whole


class _Choices:
    """The choices of one composition."""

    def __init__(self, files: Files, folders: list[str]) -> None:
        self.files = files
        self.folders = folders
        """By the key of a choice, what is chosen instead; and what is chosen."""
        self.overridden: dict[str, tuple[str, ...]] = {}
        self.made: dict[str, str] = {}
        self.taken = 0

    def parts(self, config: _Config, root: Section, depth: int) -> list[Section]:
        """Return the parts of a configuration, in the order in which they are merged."""
        own = _nested(root.without("defaults"), config.package)
        entries = _entries(root)
        self.taken += 1
        if entries is None or depth > LONGEST_CHAIN or self.taken > _MOST:
            return [MISSING]
        chosen = [entry for entry in entries if not entry.override]
        for entry in entries:
            if entry.override:
                self.overridden.setdefault(self.key(entry, config), entry.options or ())
        if not any(entry.name == _SELF for entry in chosen):
            chosen.append(_Entry(_SELF, None, None, False, False))
        found: dict[int, list[Section]] = {}
        later = []
        for place, entry in reversed(list(enumerate(chosen))):
            if entry.name == _SELF:
                found[place] = [own]
                continue
            options = self.overridden.get(self.key(entry, config), entry.options)
            entry = replace(entry, options=options)
            if any("${" in option for option in options or (entry.name,)):
                later.append((place, entry))
            else:
                found[place] = self.chosen(entry, config, depth)
        for place, entry in later:
            found[place] = self.chosen(self.filled(entry), config, depth)
        return [part for place in sorted(found) for part in found[place]]

    def chosen(self, entry: _Entry, config: _Config, depth: int) -> list[Section]:
        """Return the parts that an entry chooses."""
        group = entry.group(config.group)
        if group == _HYDRA or group.startswith(f"{_HYDRA}/"):
            return []
        if entry.options is None:
            names = [posixpath.join(group, posixpath.basename(entry.name))]
        else:
            names = [posixpath.join(group, option) for option in entry.options]
            if len(entry.options) == 1:
                self.made[self.key(entry, config)] = entry.options[0]
        parts = []
        for name in names:
            path = self.path(name)
            tree = self.files.tree(path) if path and MANDATORY not in name else None
            if tree is None:
                parts += [] if entry.optional and path is None else [MISSING]
                continue
            package = entry.in_package(config.package, _header(self.files.head(path)) if path else None)
            parts += self.parts(_Config(name, posixpath.dirname(name), package), tree, depth + 1)
        return parts

    def path(self, name: str) -> str | None:
        """Return the file of a configuration, if there is one."""
        candidates = (posixpath.normpath(posixpath.join(folder, f"{name}.yaml")) for folder in self.folders)
        return next((path for path in candidates if self.files.exists(path)), None)

    def filled(self, entry: _Entry) -> _Entry:
        """Return an entry with the choices of other groups that it refers to."""

        def choice(found: re.Match[str]) -> str:
            return self.made.get(found[1].strip(), MANDATORY)

        options = None if entry.options is None else tuple(_CHOICE.sub(choice, option) for option in entry.options)
        return replace(entry, name=_CHOICE.sub(choice, entry.name), options=options)

    def key(self, entry: _Entry, config: _Config) -> str:
        """Return the name of this choice for others: the group, and the package where it is not the group's own."""
        group = entry.group(config.group)
        package = entry.in_package(config.package, None)
        return group if package == group.replace("/", ".") else f"{group}@{package or _GLOBAL}"


def _entries(root: Section) -> list[_Entry] | None:
    """Return the defaults list of a configuration; None where it is not known."""
    found = root.get("defaults")
    if found is None:
        return []
    entries = [_entry(item) for item in found.items] if isinstance(found, Leaf) and found.items is not None else [None]
    return None if None in entries else [entry for entry in entries if entry]


def _entry(item: Tree) -> _Entry | None:
    options, optional = None, False
    if isinstance(item, Section):
        # `optional: true` beside the group is how it was said before Hydra 1.1.
        marker = item.get("optional")
        optional = isinstance(marker, Leaf) and marker.value == Known(True)
        named = list(item.without("optional").entries.items())
        words, option = named[0] if len(named) == 1 else ("", item)
        options = _options(option)
        if options is None:
            return None
    else:
        words = _text(item) or ""
    found = _WORDS.fullmatch(words.strip())
    if found is None:
        return None
    return _Entry(
        found["name"], options, found["package"], optional or bool(found["optional"]), bool(found["override"])
    )


def _options(option: Tree) -> tuple[str, ...] | None:
    """Return the options chosen of a group: none, one, or several; None where they are not known."""
    if isinstance(option, Section):
        return None
    if option.items is not None:
        texts = [_text(item) for item in option.items]
        return None if None in texts else tuple(text for text in texts if text)
    text = _text(option)
    return () if option.value == NONE else None if text is None else (text,)


def _text(item: Tree) -> str | None:
    """Return the text as it is written, references and all."""
    if isinstance(item, Section):
        return None
    if item.text is not None:
        return item.text
    return str(item.value.value) if isinstance(item.value, Known) else None


def _header(head: str) -> str | None:
    """Return the package that a file puts itself into (`# @package _global_`), which begins at the root."""
    found = re.search(r"^#\s*@package\s+(\S+)\s*$", head, re.MULTILINE)
    if found is None or found[1] == "_group_":
        return None
    return found[1] if found[1].startswith(_GLOBAL) else f"{_GLOBAL}.{found[1]}"


def _nested(section: Section, package: str) -> Section:
    for name in reversed(package.split(".") if package else []):
        section = Section({name: section}, section.origin)
    return section
