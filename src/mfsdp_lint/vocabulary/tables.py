"""The whole vocabulary: every setting with what is known of it, and how to find it by any of its names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.values import UNKNOWN, Known, Value
from mfsdp_lint.vocabulary.columns import Runs, at, column_of, decode
from mfsdp_lint.vocabulary.entry import Entry, Versions, read_entry
from mfsdp_lint.vocabulary.flags import Flag

ENVIRONMENT = "env."


class Table:
    """`raw` is what `load.raw_data` gives. Nothing is worked out before it is asked for."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._raw = raw
        self._flags: dict[int, Mapping[str, Flag]] = {}
        self._attributes: dict[int, Mapping[str, Flag]] = {}

    # -- settings -----------------------------------------------------------------------------------------------------

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
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

    def entry(self, path: str) -> Entry | None:
        """A setting by its path."""
        return self.entries.get(path)

    def named(self, name: str) -> tuple[Entry, ...]:
        """The settings of this name, in all sections; aliases count."""
        return self._index(lambda entry: (entry.name, *(alias.rpartition(".")[2] for alias in entry.aliases)), name)

    def by_perf_flag(self, flag: str) -> tuple[Entry, ...]:
        """The settings that a flag of Bridge's performance scripts sets."""
        return self._index(lambda entry: entry.perf, flag)

    def by_variable(self, name: str) -> Entry | None:
        """An environment variable."""
        return self.entries.get(ENVIRONMENT + name)

    def by_removed_name(self, name: str) -> tuple[Entry, ...]:
        """The settings that once had this name, which may be written as a flag."""
        wanted = name.lstrip("-").replace("-", "_")
        return self._index(lambda entry: (removed.name for removed in entry.removed), wanted)

    def by_attribute(self, attribute: str) -> tuple[Entry, ...]:
        """The settings that an attribute of Megatron-LM's parsed arguments becomes."""
        return self._by_attribute.get(attribute, ())

    @cached_property
    def _by_attribute(self) -> Mapping[str, tuple[Entry, ...]]:
        found: dict[str, tuple[Entry, ...]] = {}
        for entry in self.entries.values():
            for attribute in entry.attributes:
                found[attribute] = (*found.get(attribute, ()), entry)
        return found

    def _index(self, names: Any, wanted: str) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries.values() if wanted in names(entry))

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
        """Every flag of the command line at a core version, by each of its names; empty before the first known one."""
        column = column_of(self.core_versions, core)
        if column is None:
            return {}
        if column not in self._flags:
            found = {}
            for name, runs in self._raw["flags"]["flags"].items():
                data = _fact(runs, column)
                if data is not None:
                    found[name] = read_flag(name, data)
            self._flags[column] = found
        return self._flags[column]

    def flag(self, name: str, core: str) -> Flag | None:
        """A flag (`--ckpt-format`) at a core version."""
        return self.flags(core).get(name)

    def flag_versions(self, name: str) -> tuple[str, ...]:
        """The core versions that have a flag."""
        runs: Runs = self._raw["flags"]["flags"].get(name, ())
        return tuple(self.core_versions[place] for first, last, _ in runs for place in range(first, last + 1))

    @property
    def every_flag(self) -> Iterable[str]:
        """The flags of all core versions."""
        names: Mapping[str, Any] = self._raw["flags"]["flags"]
        return names.keys()

    def setting_flags(self, entry: Entry, core: str) -> tuple[Flag, ...]:
        """The flags that set a setting at a core version."""
        found = {flag.names: flag for flag in self.flags(core).values() if flag.dest in entry.attributes}
        return tuple(found.values())

    def attributes(self, core: str) -> Mapping[str, Flag]:
        """The flag that stands for each attribute of the parsed arguments at a core version."""
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
        """What a setting is when nobody writes it: what its class declares.

        Where the front-end takes flags, it is what their parser says, or the class in core where there is no flag.

        Unknown where only running the code would tell, and where the command line works it out from other settings;
        None where these versions have no such setting.
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
        fact = _fact(runs, column, missing=Table)
        return None if fact is Table else decode(fact)


def opposite(value: Value) -> Value:
    """What a setting is where the attribute that means its opposite has this value; None counts as not given."""
    return Known(not value.value) if isinstance(value, Known) and value.value in (None, True, False) else UNKNOWN


def read_flag(name: str, data: Mapping[str, Any]) -> Flag:
    """A flag as data/flags.json has it."""
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


def _fact(runs: Runs, column: int, missing: Any = None) -> Any:
    try:
        return at(runs, column)
    except LookupError:
        return missing
