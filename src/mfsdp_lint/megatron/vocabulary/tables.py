"""The whole vocabulary: every setting and flag with what is known of it, and how to find it by any of its names.

Facts that depend on a version are stored as runs over a list of versions: `[[first, last, fact], …]`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from mfsdp_lint.core import nearest as words
from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.store import Folder, store
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Plain, Value
from mfsdp_lint.megatron.versions import column_of

ARGUMENTS = "args"
"""Not a section: what only Megatron-LM's command line has, by the names of its parsed arguments."""

COMMAND_LINE_SECTIONS = frozenset(
    {"dist", "ddp", "checkpoint", "model", "optimizer", "train", "rng", "rerun_state_machine", "tokenizer", ARGUMENTS}
)
"""Sections whose settings Megatron-LM's command line has as well, under their own names unless `lm` says otherwise."""


class Versions(Protocol):
    """Versions that a default depends on; a target has them."""

    @property
    def bridge(self) -> str:
        """The version of Megatron-Bridge."""

    @property
    def core(self) -> str:
        """The version of Megatron-Core, and of Megatron-LM with it."""


class VocabularyError(ValueError):
    """settings.yaml has something that it cannot have."""


@dataclass(frozen=True, slots=True)
class Removed:
    """A name that a setting had; `until` tells the last versions that had it ("core 0.13")."""

    name: str
    until: str


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """A setting, by its path.

    `attributes` are the names that it has or had in Megatron-LM's parsed arguments, the present one first; if
    `inverted`, they mean the opposite. `perf` are the flags of Bridge's performance scripts that set it. `decides`:
    the evaluator keeps variants apart by it. `unread`: nothing reads it, and another setting is meant.
    """

    path: str
    meaning: str
    type: str
    optional: bool = False
    choices: tuple[Plain, ...] = ()
    unit: str = ""
    decides: bool = False
    attributes: tuple[str, ...] = ()
    inverted: bool = False
    perf: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    removed: tuple[Removed, ...] = ()
    unread: bool = False

    def expected(self, value: Plain) -> str:
        """Say what the setting takes, where that is not such a value; "" where it is.

        None is never refused: what a setting is then is for its code to say, and so is what an object is made of.
        """
        if value is None or self.type == "object":
            return ""
        if self.type == "bool":
            if isinstance(value, bool) or value in (0, 1):
                return ""
            return f"true or false{did_you_mean(str(value).lower(), ('true', 'false'))}"
        if self.choices:
            known = tuple(map(str, self.choices))
            many = value if isinstance(value, list) else [value]
            # A member of an enumeration may be written with its class (`AttnBackend.flash`).
            wrong = next((each for each in many if str(each).rpartition(".")[2] not in known), None)
            return "" if wrong is None else f"one of {', '.join(known)}{did_you_mean(str(wrong).lower(), known)}"
        kinds, called = _TAKEN[self.type]
        return "" if isinstance(value, kinds) and not isinstance(value, bool) else called

    @property
    def section(self) -> str:
        """`checkpoint` of `checkpoint.ckpt_format`."""
        return self.path.partition(".")[0]

    @property
    def name(self) -> str:
        """`ckpt_format` of `checkpoint.ckpt_format`."""
        return self.path.partition(".")[2]


_TAKEN: Mapping[str, tuple[tuple[type, ...], str]] = {
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "str": ((str, int, float), "a text"),
    "dtype": ((str, dict), "a type such as torch.bfloat16"),
    "list": ((list, str), "a list such as [a, b]"),
}
"""By type of setting: the classes of its values, and how a message calls them."""


_KEYS = frozenset({"meaning", "type", "choices", "unit", "decides", "lm", "perf", "aliases", "removed", "unread"})
_TYPES = frozenset({"bool", "int", "float", "str", "dtype", "list", "object"})
_NULLABLE = " or None"


def read_entry(path: str, data: Mapping[str, Any]) -> SettingEntry:
    """Read an entry of settings.yaml. Raises VocabularyError."""
    if unknown := set(data) - _KEYS:
        raise VocabularyError(f"{path}: {', '.join(sorted(unknown))}: no such key")
    if not data.get("meaning"):
        raise VocabularyError(f"{path}: no meaning")
    kind = str(data.get("type", ""))
    if kind.removesuffix(_NULLABLE) not in _TYPES:
        raise VocabularyError(f"{path}: {kind!r} is not a type")
    section, _, name = path.partition(".")
    attributes, inverted = _attributes(data.get("lm", name if section in COMMAND_LINE_SECTIONS else False))
    return SettingEntry(
        path=path,
        meaning=str(data["meaning"]),
        type=kind.removesuffix(_NULLABLE),
        optional=kind.endswith(_NULLABLE),
        choices=tuple(data.get("choices", ())),
        unit=data.get("unit", ""),
        decides=bool(data.get("decides")),
        attributes=attributes,
        inverted=inverted,
        perf=tuple(data.get("perf", ())),
        aliases=tuple(data.get("aliases", ())),
        removed=tuple(Removed(each["name"], each["until"]) for each in data.get("removed", ())),
        unread=bool(data.get("unread")),
    )


def _attributes(said: Any) -> tuple[tuple[str, ...], bool]:
    if said is False:
        return (), False
    if isinstance(said, list):
        return tuple(said), False
    text = str(said)
    return (text.removeprefix("not "),), text.startswith("not ")


CONSTANT_ACTIONS = {"store_true": True, "store_false": False}


@dataclass(frozen=True, slots=True)
class Flag:
    """An option of argparse: its names, the attribute of the parsed arguments that it sets, and how.

    `type` is `str`, `int`, `float`, `bool`, or the name of the function that converts; `nargs` is as in argparse.
    `default` is the attribute's value if no flag sets it.
    """

    names: tuple[str, ...]
    dest: str
    action: str = "store"
    type: str = "str"
    choices: tuple[Plain, ...] | None = None
    nargs: str | int | None = None
    const: Plain = None
    default: Value = NONE

    @property
    def is_switch(self) -> bool:
        """True if it takes no value."""
        return self.action in CONSTANT_ACTIONS or self.action in ("store_const", "append_const", "count")

    def read(self, words: Sequence[str] = ()) -> Value:
        """Return the attribute's value if the flag is given with these words behind it.

        The value is unknown if argparse would refuse them, and set if only the conversion is not known here.
        """
        if self.action in CONSTANT_ACTIONS:
            return UNKNOWN if words else Known(CONSTANT_ACTIONS[self.action])
        if self.action == "store_const":
            return Known(self.const)
        if self.action != "store":
            return NOT_NONE
        values = [self._convert(word) for word in words]
        if UNKNOWN in values:
            return UNKNOWN
        if self.nargs in (None, "?"):
            return values[0] if len(values) == 1 else Known(self.const) if self.nargs and not values else UNKNOWN
        if isinstance(self.nargs, int) and len(values) != self.nargs:
            return UNKNOWN
        known = [value.value for value in values if isinstance(value, Known)]
        return Known(known) if len(known) == len(values) else NOT_NONE

    def _convert(self, word: str) -> Value:
        if self.type not in _CONVERSIONS:
            # Another function converts it; a choice may be an enum member by its name.
            return NOT_NONE if self.choices is None or word not in self.choices else Known(word)
        try:
            value = _CONVERSIONS[self.type](word)
        except ValueError:
            return UNKNOWN
        return UNKNOWN if self.choices is not None and value not in self.choices else Known(value)


_CONVERSIONS: Mapping[str, Callable[[str], Plain]] = {"str": str, "int": int, "float": float, "bool": bool}
"""(argparse calls bool(), so that only the empty text is false.)"""


def raw_data() -> Mapping[str, Any]:
    """Return the reviewed and the generated facts as plain data: `settings`, `defaults`, `fields` and `flags`.

    Each is read when it is first needed. Raises OSError if there is nothing to read.
    """
    return Folder(store(), "vocabulary")


Runs = Sequence[tuple[int, int, Any]]

NOT_PLAIN = "?"
"""The key of the mapping that stands for a value that is no plain one."""


def at(runs: Runs, column: int, missing: Any = None) -> Any:
    """Return the fact of one column; `missing` if there is none."""
    return next((fact for first, last, fact in runs if first <= column <= last), missing)


def decode(data: Any) -> Value:
    """Decode a value that tools/vocabulary wrote as JSON."""
    if isinstance(data, dict) and set(data) == {NOT_PLAIN}:
        return NOT_NONE if data[NOT_PLAIN] == NOT_NONE.state else UNKNOWN
    plain: Plain = data
    return Known(plain)


ENVIRONMENT = "env."


@dataclass(frozen=True, slots=True)
class ConfigSection:
    """A section of Bridge's configuration: the names of the classes that it may be of, and their fields."""

    classes: tuple[str, ...]
    fields: tuple[str, ...]


class Table:
    """The vocabulary, made of what `raw_data` gives. Nothing is worked out before it is asked for."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._raw = raw
        self._flags: dict[int, Mapping[str, Flag]] = {}
        self._attributes: dict[int, Mapping[str, Flag]] = {}
        self._sections: dict[int, Mapping[str, ConfigSection]] = {}
        self._every_field: dict[str, Collection[str]] = {}

    # -- settings -----------------------------------------------------------------------------------------------------

    @cached_property
    def entries(self) -> Mapping[str, SettingEntry]:
        """Every setting by its path, in the order of settings.yaml."""
        return {
            f"{section}.{name}": read_entry(f"{section}.{name}", data)
            for section, names in self._raw["settings"].items()
            for name, data in names.items()
        }

    @cached_property
    def deciding(self) -> tuple[str, ...]:
        """The settings by which the evaluator keeps variants apart."""
        return tuple(path for path, entry in self.entries.items() if entry.decides)

    def entry(self, path: str) -> SettingEntry | None:
        """Return a setting by its path; None if there is none."""
        return self.entries.get(path)

    def named(self, name: str) -> tuple[SettingEntry, ...]:
        """Return the settings of this name, in all sections; aliases count."""
        return self._index(lambda entry: (entry.name, *(alias.rpartition(".")[2] for alias in entry.aliases)), name)

    def by_perf_flag(self, flag: str) -> tuple[SettingEntry, ...]:
        """Return the settings that a flag of Bridge's performance scripts sets."""
        return self._index(lambda entry: entry.perf, flag)

    def by_variable(self, name: str) -> SettingEntry | None:
        """Return an environment variable; None if it is not in the vocabulary."""
        return self.entries.get(ENVIRONMENT + name)

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of all environment variables."""
        return frozenset(path.removeprefix(ENVIRONMENT) for path in self.entries if path.startswith(ENVIRONMENT))

    def by_removed_name(self, name: str) -> tuple[SettingEntry, ...]:
        """Return the settings that once had this name, which may be written as a flag."""
        wanted = name.lstrip("-").replace("-", "_")
        return self._index(lambda entry: (removed.name for removed in entry.removed), wanted)

    def by_attribute(self, attribute: str) -> tuple[SettingEntry, ...]:
        """Return the settings that an attribute of Megatron-LM's parsed arguments becomes."""
        return self._by_attribute.get(attribute, ())

    @cached_property
    def _by_attribute(self) -> Mapping[str, tuple[SettingEntry, ...]]:
        found: dict[str, tuple[SettingEntry, ...]] = {}
        for entry in self.entries.values():
            for attribute in entry.attributes:
                found[attribute] = (*found.get(attribute, ()), entry)
        return found

    def _index(self, names: Callable[[SettingEntry], Iterable[str]], wanted: str) -> tuple[SettingEntry, ...]:
        return tuple(entry for entry in self.entries.values() if wanted in names(entry))

    # -- the classes of Bridge's configuration ------------------------------------------------------------------------

    def sections(self, bridge: str) -> Mapping[str, ConfigSection]:
        """Return the sections that a configuration has at a version of Bridge; empty before the first known one."""
        data = self._raw["fields"]
        column = column_of(data["versions"], bridge)
        if column is None:
            return {}
        if column not in self._sections:
            self._sections[column] = {
                name: ConfigSection(
                    tuple(classes), tuple(field for field, runs in said["fields"].items() if at(runs, column))
                )
                for name, said in data["sections"].items()
                if (classes := at(said["classes"], column)) is not None
            }
        return self._sections[column]

    def every_field(self, section: str) -> Collection[str]:
        """Return the fields that a section has at any version of Bridge; for "" the sections."""
        if section not in self._every_field:
            sections: Mapping[str, Any] = self._raw["fields"]["sections"]
            found = sections if not section else sections.get(section, {}).get("fields", {})
            self._every_field[section] = dict.fromkeys(found)
        return self._every_field[section]

    # -- Megatron-LM's flags ------------------------------------------------------------------------------------------

    @cached_property
    def core_versions(self) -> tuple[str, ...]:
        """The versions of Megatron-LM whose command line is known, oldest first."""
        return tuple(self._raw["flags"]["versions"])

    @cached_property
    def bridge_versions(self) -> tuple[str, ...]:
        """The versions of Megatron-Bridge whose defaults are known, oldest first."""
        return tuple(self._raw["defaults"]["bridge"]["versions"])

    def flags(self, core: str) -> Mapping[str, Flag]:
        """Return the command line's flags at a core version, by each of their names; empty before the first known."""
        column = column_of(self.core_versions, core)
        if column is None:
            return {}
        if column not in self._flags:
            self._flags[column] = {
                name: read_flag(name, data)
                for name, runs in self._raw["flags"]["flags"].items()
                if (data := at(runs, column)) is not None
            }
        return self._flags[column]

    def flag(self, name: str, core: str) -> Flag | None:
        """Return a flag (`--ckpt-format`) at a core version; None if it has none."""
        return self.flags(core).get(name)

    def flag_versions(self, name: str) -> tuple[str, ...]:
        """Return the core versions that have a flag."""
        runs: Runs = self._raw["flags"]["flags"].get(name, ())
        return tuple(self.core_versions[place] for first, last, _ in runs for place in range(first, last + 1))

    @property
    def every_flag(self) -> Iterable[str]:
        """The flags of all core versions."""
        names: Mapping[str, Any] = self._raw["flags"]["flags"]
        return names.keys()

    def setting_flags(self, entry: SettingEntry, core: str) -> tuple[Flag, ...]:
        """Return the flags that set a setting at a core version."""
        found = {flag.names: flag for flag in self.flags(core).values() if flag.dest in entry.attributes}
        return tuple(found.values())

    def attributes(self, core: str) -> Mapping[str, Flag]:
        """Map each attribute of the parsed arguments to its flag at a core version."""
        column = column_of(self.core_versions, core)
        if column is None:
            return {}
        if column not in self._attributes:
            found: dict[str, Flag] = {}
            for flag in self.flags(core).values():
                found.setdefault(flag.dest, flag)
            self._attributes[column] = found
        return self._attributes[column]

    # -- defaults -----------------------------------------------------------------------------------------------------

    def default(self, path: str, versions: Versions, front_end: FrontEnd = BRIDGE) -> Value | None:
        """Return a setting's default: the one that its class declares.

        If the front-end takes flags, it is the default of their parser, or that of the class in core if there is no
        flag.

        The default is unknown if only running the code would show it, or if the command line computes it from other
        settings; None if these versions have no such setting.
        """
        if path.startswith(ENVIRONMENT):
            return UNKNOWN
        if not front_end.takes_flags:
            return self._declared("bridge", path, versions.bridge)
        entry = self.entries.get(path)
        for attribute in entry.attributes if entry else ():
            flag = self.attributes(versions.core).get(attribute)
            if flag is not None:
                return opposite(flag.default) if entry and entry.inverted else flag.default
        declared = self._declared("core", path, versions.core)
        return UNKNOWN if declared is not None and entry is not None and not entry.attributes else declared

    def _declared(self, component: str, path: str, version: str) -> Value | None:
        data = self._raw["defaults"][component]
        column = column_of(data["versions"], version)
        runs = data["values"].get(path)
        if column is None or runs is None:
            return None
        fact = at(runs, column, missing=Table)
        return None if fact is Table else decode(fact)


def opposite(value: Value) -> Value:
    """Return a setting's value if the attribute that means its opposite has this value; None counts as not given."""
    return Known(not value.value) if isinstance(value, Known) and value.value in (None, True, False) else UNKNOWN


def read_flag(name: str, data: Mapping[str, Any]) -> Flag:
    """Read a flag as data/flags.json has it."""
    action = data.get("action", "store")
    implied = {"store_true": False, "store_false": True}.get(action)
    choices = data.get("choices")
    return Flag(
        names=tuple(data.get("names", (name,))),
        dest=data.get("dest", name.lstrip("-").replace("-", "_")),
        action=action,
        type=data.get("type", "str"),
        choices=None if choices is None else tuple(choices),
        nargs=data.get("nargs"),
        const=data.get("const"),
        default=decode(data["default"]) if "default" in data else Known(implied),
    )


_MOST = 3


@dataclass(frozen=True, slots=True)
class Lookup:
    """The settings that a word names, and the flag of Megatron-LM's command line ("" for none) if it is one.

    `removed` says that the word is a name which the settings no longer have.
    """

    entries: tuple[SettingEntry, ...]
    flag: str = ""
    removed: bool = False

    def __bool__(self) -> bool:
        return bool(self.entries or self.flag)


def find(word: str, table: Table) -> Lookup:
    """Find the settings or the flag that the word names; an empty result is falsy."""
    name = word.strip()
    if name.startswith("-"):
        return _flag(name, table)
    exact = table.entry(name) or table.by_variable(name)
    if exact is not None:
        return Lookup((exact,))
    if entries := tuple(each for each in table.entries.values() if name in each.aliases) or table.named(name):
        return Lookup(entries)
    if entries := table.by_removed_name(name.rpartition(".")[2]):
        return Lookup(entries, removed=True)
    return Lookup(table.by_attribute(name.removeprefix("args.")))


def _flag(name: str, table: Table) -> Lookup:
    if versions := table.flag_versions(name):
        flag = table.flag(name, versions[-1])
        entries = table.by_attribute(flag.dest) if flag is not None else ()
        return Lookup(entries, name)
    if entries := table.by_perf_flag(name):
        return Lookup(entries)
    return Lookup(table.by_removed_name(name), removed=True)


def nearest(word: str, table: Table) -> list[str]:
    """Find the names most like a word that names nothing."""
    return words.nearest(word, _names(word, table), _MOST, cutoff=0.7)


def _names(word: str, table: Table) -> Iterator[str]:
    if word.startswith("-"):
        yield from table.every_flag
        yield from (flag for entry in table.entries.values() for flag in entry.perf)
        return
    for path, entry in table.entries.items():
        yield path.removeprefix(ENVIRONMENT) if path.startswith(ENVIRONMENT) or "." not in word else path
        if "." not in word:
            yield entry.name
