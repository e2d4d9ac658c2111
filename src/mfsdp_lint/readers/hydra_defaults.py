"""Hydra's composition: the files that a configuration is composed of, in their order, each with its package.

    defaults:
      - model_engine: dp                                  # model_engine/dp.yaml, in the package model_engine
      - actor@actor_rollout_ref.actor: ${model_engine}_actor
      - override model_engine: megatron                   # another choice than the one that was made elsewhere
      - _self_                                            # the entries of this file itself; last, where it is not named

As Hydra 1.3 does it (`_create_defaults_tree_impl` in hydra/_internal/defaults_list.py, `InputDefault` in
hydra/core/default_element.py, `version_base` 1.2). Entries of files are whatever the caller loads.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import NONE, Known
from mfsdp_lint.readers.trees import LONGEST_CHAIN, MANDATORY, Leaf, Section, Tree

HYDRA = "hydra"
"""The group of what configures Hydra itself."""

_MOST = 500
"""Files that one configuration may be composed of."""

_SELF = "_self_"
AT_ROOT = "_global_"
"""The package of entries that lie at the root."""

_WORDS = lazy_pattern(r"(?P<optional>optional +)?(?P<override>override +)?(?P<name>[^@\s]+)(?:@(?P<package>[^:\s]*))?")
_CHOICE = lazy_pattern(r"\$\{([^{}]+)\}")
_HEAD = lazy_pattern(r"(?:[ \t]*(?:#\s*@[^\n]*)?\n)*")
_PACKAGE = lazy_pattern(r"^#\s*@package\s+(\S+)\s*$", re.MULTILINE)

Entries = TypeVar("Entries")
Options = tuple[str, ...]
"""The options that are chosen of a group: none, one, or several files."""


class NotComposed(Exception):
    """A configuration whose parts are not known, or that Hydra refuses; the text says why."""


@dataclass(frozen=True, slots=True)
class ConfigFile(Generic[Entries]):
    """A file: its entries, its defaults list if there is one, and the package that its head names, if any."""

    entries: Entries
    defaults: Tree | None = None
    header: str | None = None


@dataclass(frozen=True, slots=True)
class Part(Generic[Entries]):
    """The entries of one file, to be merged under a package ("" for the root)."""

    package: str
    entries: Entries


@dataclass(frozen=True, slots=True)
class Default:
    """An element of a defaults list: a file, or the options of a group. With `override` it only chooses."""

    name: str
    options: Options | None = None
    package: str | None = None
    optional: bool = False
    override: bool = False

    @property
    def _inside(self) -> str:
        return self.name if self.options is not None else posixpath.dirname(self.name)

    def group(self, above: str) -> str:
        """Return the folder of the element's files, for a list in a file of another folder."""
        return self._inside[1:] if self.name.startswith("/") else posixpath.join(above, self._inside).rstrip("/")

    def final_package(self, above: str, group: str, header: str | None) -> str:
        """Return the package of the files: the element's own, else the one of their head, else their folder's name."""
        own = self.package if self.package is not None else header
        if own is None:
            own = self._inside.strip("/").replace("/", ".")
        elif "_group_" in own:
            own = f"{AT_ROOT}.{own.replace('_group_', group.replace('/', '.'))}"
        whole = ".".join(part for part in (above, "" if own == "_here_" else own) if part)
        _, star, behind = whole.rpartition(AT_ROOT)
        return behind.removeprefix(".") if star else whole


Load = Callable[[str], "ConfigFile[Entries] | None"]
"""From the path of a file inside the folders, without its suffix, to its content; None where there is no such file.
Raises NotComposed where the content is not known."""


class Composer(Generic[Entries]):
    """A composition. `choices` are options that the caller sets, by group (`group@package`), `added` more elements.

    A part that is not known is `missing`: entries that may be any. Without `missing`, NotComposed is raised for it, and
    for everything that Hydra refuses.
    """

    def __init__(
        self,
        load: Load[Entries],
        choices: Mapping[str, Options] | None = None,
        added: Sequence[Default] = (),
        missing: Entries | None = None,
    ) -> None:
        self.load = load
        self.choices = dict(choices or {})
        self.added = added
        self.missing = missing
        self.made: dict[str, Options] = {}
        self.files = 0

    def composed(self, name: str) -> list[Part[Entries]]:
        """Return the parts of a primary configuration in the order in which they are merged."""
        parts = self._chosen(Default(name), "", "", 0)
        if unused := self.choices.keys() - self.made.keys():
            self._refuse(f"no defaults list has {min(unused)}")
        return parts

    def unlisted(self) -> list[Part[Entries]]:
        """Return the parts of the files that are chosen for groups which no known defaults list has."""
        return [
            part
            for key, options in self.choices.items()
            if key not in self.made
            for group, at, package in [key.partition("@")]
            for part in self._chosen(Default(group, options, package if at else None, optional=True), "", "", 0)
        ]

    def expanded(self, file: ConfigFile[Entries], group: str, package: str, depth: int = 0) -> list[Part[Entries]]:
        """Return the parts of a file of a group that is merged under a package."""
        self.files += 1
        defaults = _elements(file.defaults)
        if defaults is None or depth > LONGEST_CHAIN or self.files > _MOST:
            return self._missing("a defaults list is not known, or the lists are too long")
        selves = sum(map(_is_self, defaults))
        if selves > 1:
            self._refuse(f"{_SELF} stands twice in a defaults list")
        # The caller's elements belong to the primary configuration, which is the first.
        defaults += [*(() if selves else (Default(_SELF),)), *self.added]
        self.added = ()
        defaults = [each for each in defaults if each.name.lstrip("/").partition("/")[0] != HYDRA]
        for each in defaults:
            if each.override:
                self.choices.setdefault(self._key(each, group, package), each.options or ())
        chosen = [each for each in defaults if not each.override]
        found: dict[int, list[Part[Entries]]] = {}
        later = []
        # Those behind choose for those in front; the choices that others refer to are made first.
        for place, each in reversed(list(enumerate(chosen))):
            if _is_self(each):
                found[place] = [Part(package, file.entries)]
                continue
            each = self._as_chosen(each, group, package)
            if any("${" in option for option in each.options or (each.name,)):
                later.append((place, each))
            else:
                found[place] = self._chosen(each, group, package, depth)
        for place, each in later:
            each = self._filled(each)
            if any("${" in option for option in each.options or (each.name,)):
                self._refuse(f"{each.name} is chosen when the program starts")
            if each.options is not None:
                self.made[self._key(each, group, package)] = each.options
            found[place] = self._chosen(each, group, package, depth)
        return [part for place in sorted(found) for part in found[place]]

    def _as_chosen(self, default: Default, group: str, package: str) -> Default:
        if default.options is None:
            return default
        key = self._key(default, group, package)
        if key in self.made:
            self._refuse(f"{key} is chosen twice")
        self.made[key] = self.choices.get(key, default.options)
        return replace(default, options=self.made[key])

    def _chosen(self, default: Default, above: str, package: str, depth: int) -> list[Part[Entries]]:
        """Return the parts of the files that an element names."""
        group = default.group(above)
        parts: list[Part[Entries]] = []
        for name in (posixpath.basename(default.name),) if default.options is None else default.options:
            path = posixpath.join(group, name)
            try:
                if MANDATORY in path:
                    raise NotComposed(f"{path} is chosen when the program starts")
                file = self.load(path)
            except NotComposed as error:
                parts += self._missing(str(error))
                continue
            if file is not None:
                here = default.final_package(package, group, file.header)
                if "_name_" in here:
                    self._refuse(f"the package {here} is one of an older Hydra")
                parts += self.expanded(file, posixpath.dirname(path), here, depth + 1)
            elif not default.optional:
                parts += self._missing(f"{path} is no file of the tree")
        return parts

    def _filled(self, default: Default) -> Default:
        """Return an element with the choices of other groups that it refers to."""

        def choice(found: re.Match[str]) -> str:
            made = self.made.get(found[1].strip(), ())
            return made[0] if len(made) == 1 else MANDATORY

        options = None if default.options is None else tuple(_CHOICE.sub(choice, each) for each in default.options)
        return replace(default, name=_CHOICE.sub(choice, default.name), options=options)

    def _key(self, default: Default, above: str, package: str) -> str:
        """Return the name of a choice for others: the group, and the package where it is not the group's own."""
        group = default.group(above)
        final = default.final_package(package, group, None)
        return group if final == group.replace("/", ".") else f"{group}@{final or AT_ROOT}"

    def _missing(self, reason: str) -> list[Part[Entries]]:
        self._refuse(reason)
        return [] if self.missing is None else [Part("", self.missing)]

    def _refuse(self, reason: str) -> None:
        if self.missing is None:
            raise NotComposed(reason)


def package_of(text: str) -> str | None:
    """Return the package that the head of a file names (`# @package _global_`); it begins at the root."""
    head = _HEAD.match(text)
    found = _PACKAGE.search(head[0]) if head else None
    if found is None or found[1] == "_group_":
        return None
    return found[1] if found[1].startswith(AT_ROOT) else f"{AT_ROOT}.{found[1]}"


def _is_self(default: Default) -> bool:
    return default.name == _SELF and default.options is None


def _elements(defaults: Tree | None) -> list[Default] | None:
    """Return the elements of a defaults list; None where they are not known."""
    if defaults is None:
        return []
    items = defaults.items if isinstance(defaults, Leaf) else None
    elements = [_element(item) for item in items or ()]
    return None if items is None or None in elements else [each for each in elements if each]


def _element(item: Tree) -> Default | None:
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
    return Default(
        found["name"], options, found["package"], optional or bool(found["optional"]), bool(found["override"])
    )


def _options(option: Tree) -> Options | None:
    """Return the options chosen of a group; None where they are not known."""
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
    if isinstance(item.value, Known) and not isinstance(item.value.value, (str, float)):
        return str(item.value.value)
    return item.text if item.text is not None else str(item.value.value) if isinstance(item.value, Known) else None
