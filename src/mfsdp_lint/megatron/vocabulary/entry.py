"""Entries of the vocabulary: settings, and the flags of Megatron-LM's command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Plain, Value
from mfsdp_lint.megatron.vocabulary import COMMAND_LINE_SECTIONS


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
            return "" if isinstance(value, bool) or value in (0, 1) else f"true or false{_meant(value, _SWITCH)}"
        if self.choices:
            known = tuple(map(str, self.choices))
            many = value if isinstance(value, list) else [value]
            # A member of an enumeration may be written with its class (`AttnBackend.flash`).
            wrong = next((each for each in many if str(each).rpartition(".")[2] not in known), None)
            return "" if wrong is None else f"one of {', '.join(known)}{_meant(wrong, known)}"
        return "" if isinstance(value, _PYTHON[self.type]) and not isinstance(value, bool) else _CALLED[self.type]

    @property
    def section(self) -> str:
        """`checkpoint` of `checkpoint.ckpt_format`."""
        return self.path.partition(".")[0]

    @property
    def name(self) -> str:
        """`ckpt_format` of `checkpoint.ckpt_format`."""
        return self.path.partition(".")[2]


_SWITCH = ("true", "false")
_PYTHON: Mapping[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str, int, float),
    "dtype": (str, dict),
    "list": (list, str),
}
_CALLED = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "dtype": "a type such as torch.bfloat16",
    "list": "a list such as [a, b]",
}


def _meant(value: Plain, known: Sequence[str]) -> str:
    return did_you_mean(str(value).lower(), known)


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
        value = _converted(self.type, word)
        if value == NOT_NONE and self.choices is not None and word in self.choices:
            return Known(word)  # an enum member by its name
        if isinstance(value, Known) and self.choices is not None and value.value not in self.choices:
            return UNKNOWN
        return value


def _converted(kind: str, word: str) -> Value:
    try:
        match kind:
            case "str":
                return Known(word)
            case "int":
                return Known(int(word))
            case "float":
                return Known(float(word))
            case "bool":  # argparse calls bool(), so that only the empty text is false
                return Known(bool(word))
            case _:
                return NOT_NONE
    except ValueError:
        return UNKNOWN
