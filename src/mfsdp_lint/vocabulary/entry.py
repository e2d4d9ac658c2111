"""What is known of one setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain
from mfsdp_lint.vocabulary.sections import COMMAND_LINE_SECTIONS


class Versions(Protocol):
    """What a default depends on; a target has it."""

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
class Entry:
    """One setting, by its path.

    `attributes` are the names that it has or had in Megatron-LM's parsed arguments, the present one first; where
    `inverted`, they mean the opposite. `perf` are the flags of Bridge's performance scripts that set it. `decides`:
    the evaluator keeps variants apart by it. `unread`: nothing reads it, and another one is meant.
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

    @property
    def section(self) -> str:
        """`checkpoint` of `checkpoint.ckpt_format`."""
        return self.path.partition(".")[0]

    @property
    def name(self) -> str:
        """`ckpt_format` of `checkpoint.ckpt_format`."""
        return self.path.partition(".")[2]


_KEYS = frozenset({"meaning", "type", "choices", "unit", "decides", "lm", "perf", "aliases", "removed", "unread"})
_TYPES = frozenset({"bool", "int", "float", "str", "dtype", "list", "object"})
_NULLABLE = " or None"


def read_entry(path: str, data: Mapping[str, Any]) -> Entry:
    """An entry of settings.yaml. Raises VocabularyError."""
    if unknown := set(data) - _KEYS:
        raise VocabularyError(f"{path}: {', '.join(sorted(unknown))}: no such key")
    if not data.get("meaning"):
        raise VocabularyError(f"{path}: no meaning")
    kind = str(data.get("type", ""))
    if kind.removesuffix(_NULLABLE) not in _TYPES:
        raise VocabularyError(f"{path}: {kind!r} is not a type")
    section, _, name = path.partition(".")
    attributes, inverted = _attributes(data.get("lm", name if section in COMMAND_LINE_SECTIONS else False))
    return Entry(
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
