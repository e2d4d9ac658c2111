"""Settings that are kept as they were written, and layers over other settings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from mfsdp_lint.core import kept
from mfsdp_lint.core.kept import NotKept
from mfsdp_lint.core.recipe import NamedWrite, Obstacle, Origin, Setting, Settings, Span, Undeclared
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import UNKNOWN, Known, Plain, Value

_T = TypeVar("_T")


class WrittenSettings(Settings):
    """Settings that are all known beforehand, by path."""

    __slots__ = ("_named", "_settings")

    def __init__(self, settings: Mapping[str, Setting] | None = None, named: Iterable[NamedWrite] = ()) -> None:
        self._settings = settings or {}
        self._named = tuple(named)

    @classmethod
    def of(cls, values: Mapping[str, Value]) -> WrittenSettings:
        """Build settings without known writers."""
        return cls({path: Setting(path, value) for path, value in values.items()})

    def get(self, path: str) -> Setting | None:
        return self._settings.get(path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def value(self, path: str) -> Value:
        found = self._settings.get(path)
        return UNKNOWN if found is None else found.value

    def named(self) -> tuple[NamedWrite, ...]:
        return self._named

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WrittenSettings):
            return NotImplemented
        return self._settings == other._settings and self._named == other._named

    __hash__ = None  # type: ignore[assignment]  # equal by what they hold, which need not be hashable


class Layer(Settings):
    """Settings that lie over others. What a layer says nothing about is as it is `below`.

    A layer that changes settings says so in `get`, `value`, `history`, `written` and `__iter__`.
    """

    __slots__ = ("below",)

    def __init__(self, below: Settings) -> None:
        self.below = below

    def get(self, path: str) -> Setting | None:
        return self.below.get(path)

    def __iter__(self) -> Iterator[str]:
        return iter(self.below)

    def value(self, path: str) -> Value:
        return self.below.value(path)

    def obstacle(self, path: str) -> Obstacle | None:
        return self.below.obstacle(path)

    def history(self, path: str) -> list[tuple[str, Origin]]:
        return self.below.history(path)

    def written(self) -> Iterable[str]:
        return self.below.written()

    def undeclared(self) -> tuple[Undeclared, ...]:
        return self.below.undeclared()

    def named(self) -> tuple[NamedWrite, ...]:
        return self.below.named()


class With(Layer):
    """Settings, and others on top."""

    __slots__ = ("_more",)

    def __init__(self, below: Settings, *more: Setting) -> None:
        super().__init__(below)
        self._more = {each.path: each for each in more}

    @classmethod
    def known(cls, below: Settings, values: Mapping[str, Plain]) -> With:
        """Put known values on top, which nobody wrote."""
        return cls(below, *(Setting(path, Known(value)) for path, value in values.items()))

    def get(self, path: str) -> Setting | None:
        return self._more.get(path) or self.below.get(path)

    def value(self, path: str) -> Value:
        found = self._more.get(path)
        return self.below.value(path) if found is None else found.value

    def obstacle(self, path: str) -> Obstacle | None:
        return None if path in self._more else self.below.obstacle(path)

    def history(self, path: str) -> list[tuple[str, Origin]]:
        if path not in self._more:
            return self.below.history(path)
        origin = self._more[path].origin
        return [(path, origin)] if origin else []

    def is_like(self, other: Settings) -> bool:
        if not isinstance(other, With) or self._more.keys() != other._more.keys():
            return super().is_like(other)
        return all(self._is_like_at(path, other) for path in self._more) and self.below.is_like(other.below)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self.below, *self._more)))

    def written(self) -> Iterable[str]:
        return dict.fromkeys((*self.below.written(), *(path for path, each in self._more.items() if each.origin)))


@dataclass(slots=True)
class Answers:
    """The answers that settings gave when they were asked; None where nobody asked for them.

    `every` are the paths of all settings. `compared` says that they were compared with other settings: whoever did so
    may ask for anything. `places` tell what further settings are taken from, which others may ask the next time.
    """

    settings: dict[str, Setting | None] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    obstacles: dict[str, Obstacle | None] = field(default_factory=dict)
    histories: dict[str, list[tuple[str, Origin]]] = field(default_factory=dict)
    every: tuple[str, ...] | None = None
    written: tuple[str, ...] | None = None
    undeclared: tuple[Undeclared, ...] | None = None
    compared: bool = False
    places: dict[str, tuple[str, tuple[Span, ...]]] = field(default_factory=dict)


class Answering(Settings):
    """Settings that remember their answers, and are kept as these."""

    def __init__(self) -> None:
        self.answers = Answers()

    def tell_places(self, paths: Iterable[str]) -> None:
        """Remember what settings are taken from, for another run, without having been asked."""
        asked, self.answers = self.answers, Answers()
        try:
            for path in paths:
                if path not in asked.settings and path not in asked.places:
                    asked.places[path] = self.taken_from(path)
        finally:
            self.answers = asked

    def __reduce__(self) -> tuple[object, ...]:
        # What they are read from is not for another run.
        answers = self.answers
        values = {sys.intern(path): _the_same(each) for path, each in answers.values.items()}
        taken_from = {sys.intern(path): _the_same(self.taken_from(path)) for path in answers.settings}
        return KeptSettings, (kept.dumps(replace(answers, values={})), answers.compared, values, taken_from)


_same: dict[str, Any] = {}


def _the_same(value: _T) -> _T:
    """Return one object for all equal values: it is kept once."""
    found: _T = _same.setdefault(repr(value), value)
    return found


class KeptSettings(Settings):
    """Settings of which only the answers were kept: every other question raises NotKept.

    Of most only the values are asked for, and what they are taken from.
    """

    __slots__ = ("_answers", "_content", "_taken_from", "_values", "compared")

    def __init__(
        self,
        content: bytes,
        compared: bool,
        values: Mapping[str, Value],
        taken_from: Mapping[str, tuple[str, tuple[Span, ...]]],
    ) -> None:
        self._content = content
        self._answers: Answers | None = None
        self._values = values
        self._taken_from = taken_from
        self.compared = compared

    def __reduce__(self) -> tuple[object, ...]:
        return KeptSettings, (self._content, self.compared, self._values, self._taken_from)

    @property
    def answers(self) -> Answers:
        """The other answers."""
        if self._answers is None:
            found: Answers = kept.loads(self._content)
            self._answers = found
        return self._answers

    def get(self, path: str) -> Setting | None:
        try:
            return self.answers.settings[path]
        except KeyError:
            raise NotKept from None

    def value(self, path: str) -> Value:
        found = self._values.get(path)
        if found is not None:
            return found
        setting = self.get(path)
        return UNKNOWN if setting is None else setting.value

    def taken_from(self, path: str) -> tuple[str, tuple[Span, ...]]:
        found = self._taken_from.get(path) or self.answers.places.get(path)
        return super().taken_from(path) if found is None else found

    def __iter__(self) -> Iterator[str]:
        if self.answers.every is None:
            raise NotKept
        return iter(self.answers.every)

    def obstacle(self, path: str) -> Obstacle | None:
        try:
            return self.answers.obstacles[path]
        except KeyError:
            raise NotKept from None

    def history(self, path: str) -> list[tuple[str, Origin]]:
        try:
            return self.answers.histories[path]
        except KeyError:
            raise NotKept from None

    def written(self) -> Iterable[str]:
        if self.answers.written is None:
            raise NotKept
        return self.answers.written

    def undeclared(self) -> tuple[Undeclared, ...]:
        if self.answers.undeclared is None:
            raise NotKept
        return self.answers.undeclared
