"""Notations of settings: the key and the word for a value, in every notation that a YAML file may have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain, same
from mfsdp_lint.megatron.front_ends import SettingsPlace, profiles
from mfsdp_lint.megatron.vocabulary import table


class Unwritable(ValueError):
    """A value that a notation has no word for."""


@dataclass(frozen=True, slots=True)
class NotationKey:
    """The key of a setting in one notation. `inverted`: it means the opposite. `values`: words, and what each means."""

    words: tuple[str, ...]
    inverted: bool = False
    values: tuple[tuple[Plain, Plain], ...] = ()

    def word(self, value: Plain) -> Plain:
        """Return the word behind the key where the setting has this value. Raises Unwritable."""
        if self.inverted and isinstance(value, bool):
            return not value
        found = [word for word, meant in self.values if same(meant, value)] if self.values else [value]
        if self.inverted or not found:
            raise Unwritable(value)
        return found[0]


Naming = Callable[[str], Iterator[NotationKey]]
"""A notation: a setting → its keys."""


def by_path(setting: str) -> Iterator[NotationKey]:
    """Yield the key in Megatron-Bridge's notation: a section, and a field in it."""
    yield NotationKey(tuple(setting.split(".")))


def by_attribute(setting: str) -> Iterator[NotationKey]:
    """Yield the names of Megatron-LM's parsed arguments, some of which mean the opposite."""
    entry = table().entry(setting)
    for name in entry.attributes if entry else ():
        yield NotationKey((name,), entry is not None and entry.inverted)


def by_line(place: SettingsPlace) -> Naming:
    """Return the notation with the keys that a profile has for a setting."""

    def keys(setting: str) -> Iterator[NotationKey]:
        return (NotationKey(words, values=target.values) for words, target in place.keys(setting))

    return keys


def places_of(text: str, keys: Iterable[tuple[str, ...]]) -> list[tuple[tuple[str, ...], Naming]]:
    """Return the places where a framework's file with these keys may write settings, each with its notation.

    Empty, where the file is no framework's.
    """
    return [
        ((*key, *place.under), by_attribute if place.named == "attributes" else by_line(place))
        for profile in profiles()
        if profile.mention.search(text)
        for key in keys
        for place in profile.places
        if place.at and place.is_at(key)
    ]


@cache
def namings() -> tuple[Naming, ...]:
    """Return every notation, that of Megatron-Bridge first."""
    places = [place for profile in profiles() for place in profile.places]
    return by_path, by_attribute, *(by_line(place) for place in places if place.lines)


def at_the_end_of(words: tuple[str, ...], setting: str) -> Iterator[tuple[Naming, NotationKey]]:
    """Yield the notations in which the last of some words are this setting's key, each with that key."""
    for naming in namings():
        for key in naming(setting):
            if words[-len(key.words) :] == key.words:
                yield naming, key
