"""Flags of Megatron-LM's command line: their names, the attributes that they set, and the values of given texts."""

from __future__ import annotations

from collections.abc import Sequence

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Plain, Value

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
