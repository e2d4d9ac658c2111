"""Settings as a formula needs them: a known value, or the reason why there is none."""

from __future__ import annotations

from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.core.values import Known, OneOf, Plain, Unknown, describe


class NotKnown(Exception):
    """The error for a result that depends on an unknown value; the text names it."""


class Facts:
    """The settings of one path through a recipe. Every method raises NotKnown for what has no single known value."""

    __slots__ = ("_settings",)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def get(self, path: str) -> Plain:
        """Return the value of a setting. Raises NotKnown."""
        value = self._settings.value(path)
        if isinstance(value, Known):
            return value.value
        if isinstance(value, Unknown):
            raise NotKnown(f"{path} is not known")
        raise NotKnown(f"{path} is {describe(value)}" + ("" if isinstance(value, OneOf) else " to what is not known"))

    def has(self, path: str) -> bool:
        """Tell whether anything is known of a setting: a release may not have it."""
        return path in self._settings

    def if_any(self, path: str) -> Plain:
        """Return the value of a setting that not every release has; None if it is not there."""
        return self.get(path) if self.has(path) else None

    def on(self, path: str) -> bool:
        """Tell whether a switch is on."""
        return bool(self.get(path))

    def number(self, path: str) -> int:
        """Return a whole number that is not negative."""
        value = self.get(path)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise NotKnown(f"{path} is {value!r}, which is no number of anything")
        return value

    def size(self, path: str, default: int | None = None) -> int:
        """Return a number of at least one; `default` replaces None, if it is given."""
        if default is not None and self.get(path) is None:
            return default
        value = self.number(path)
        if not value:
            raise NotKnown(f"{path} is 0")
        return value
