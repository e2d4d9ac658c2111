"""A rule of the tool's own data file: what every run asks of it is known at once, the rest is read when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mfsdp_lint.conditions.applicability import parse_applicability
from mfsdp_lint.conditions.language import Condition, Terms, deferred
from mfsdp_lint.core.records import fields
from mfsdp_lint.rules.model import Rule, Sees

_AT_ONCE = ("code", "name", "judges", "preset", "preview", "file")


class StoredRule(Rule):
    """Like any other rule, for whoever looks at it."""

    __slots__ = ("_gate", "_read", "_versions", "_views")
    _gate: Condition
    _read: Callable[[], Rule]
    _versions: str
    _views: tuple[Sees, ...]

    @classmethod
    def of(cls, head: Mapping[str, Any], terms: Terms, read: Callable[[], Rule]) -> StoredRule:
        """`head` is what `tools/compile.py` says of a rule, `read` gives all of it."""
        rule = object.__new__(cls)
        known = {name: head[name] for name in _AT_ONCE}
        known |= {name: tuple(head[name]) for name in ("groups", "weaker_than")}
        known |= {"_gate": deferred(head["gate"], terms), "_views": tuple(head["views"])}
        known |= {"_versions": head["versions"], "_read": read}
        for name, value in known.items():
            object.__setattr__(rule, name, value)
        return rule

    def __new__(cls, *args: Any, **fields: Any) -> Any:
        """With other fields (`replace`) it is a rule like any other."""
        return Rule(*args, **fields)

    def __getattr__(self, name: str) -> Any:
        """A field that is not there yet."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "versions":  # the rest is read only for versions that it is about
            return parse_applicability(self._versions).of_a_rule()
        whole = self._read()
        for each in fields(Rule):
            object.__setattr__(self, each.name, getattr(whole, each.name))
        return object.__getattribute__(self, name)

    @property
    def gate(self) -> Condition:
        return self._gate

    @property
    def views(self) -> tuple[Sees, ...]:
        return self._views
