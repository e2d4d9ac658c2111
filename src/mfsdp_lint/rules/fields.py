"""The fields of a rule file, each read as what it has to be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, cast, get_args

from mfsdp_lint.core.values import Plain
from mfsdp_lint.megatron.conditions.applicability import Applicability, ByVersion, parse_applicability
from mfsdp_lint.megatron.conditions.language import (
    SECTIONS,
    Condition,
    ConditionError,
    Terms,
    deferred,
    parse,
    parse_value,
)
from mfsdp_lint.megatron.conditions.nodes import Expression
from mfsdp_lint.megatron.versions.ranges import VersionError
from mfsdp_lint.readers import registry
from mfsdp_lint.rules.model import ErrorText, MessageText

T = TypeVar("T")

Component = Literal["te", "torch"]
"""Components of which an example may give the version."""

SETTING = re.compile(r"\w+(\.\w+)+")
_BRACE = re.compile(r"\{([^{}]*)\}?")


class RuleError(ValueError):
    """A rule file that does not have the form; the message names the file and the field."""


class Fields:
    """The fields of one mapping; each is taken once, and what nobody took is an error."""

    def __init__(self, data: Mapping[str, object], where: str, checked: bool) -> None:
        self.data = dict(data)
        self.where = where
        self.checked = checked

    @classmethod
    def of(cls, data: object, where: str, checked: bool = False) -> Fields:
        if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
            raise RuleError(f"{where}: expected a mapping with text keys")
        return cls(data, where, checked)

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def items(self) -> list[tuple[str, object]]:
        return list(self.data.items())

    def error(self, key: str, message: str) -> RuleError:
        return RuleError(f"{self.where}: {key}: {message}")

    def done(self) -> None:
        if self.data:
            raise RuleError(f"{self.where}: unknown field {next(iter(self.data))!r}")

    def text(self, key: str, default: str | None = None) -> str:
        value = self.data.pop(key, default)
        if not isinstance(value, str):
            raise self.error(key, "is missing" if value is None else "expected text")
        return value.strip() if "\n" not in value.strip() else value

    def template(self, key: str, default: str) -> MessageText:
        template = self.text(key, default)
        if not template:
            raise self.error(key, "is missing")
        if self.checked:
            return MessageText(template)
        for found in _BRACE.finditer(template):
            if not SETTING.fullmatch(found[1]):
                raise self.error(key, f"{found[0]!r} names no setting")
        return MessageText(template)

    def matching(self, key: str, pattern: re.Pattern[str]) -> str:
        value = self.text(key)
        if not pattern.fullmatch(value):
            raise self.error(key, f"{value!r} does not match {pattern.pattern}")
        return value

    def flag(self, key: str) -> bool:
        """Read a key with true or false; false if it is missing."""
        value = self.data.pop(key, False)
        if not isinstance(value, bool):
            raise self.error(key, "expected true or false")
        return value

    def choice(self, key: str, literal: object, default: str | None = None) -> Any:
        return self._chosen(key, self.text(key, default), literal)

    def range(self, key: str) -> Applicability:
        return self._range(key, self.text(key, ""))

    def condition(self, key: str, terms: Terms) -> Condition:
        return self._condition(key, self.text(key), terms)

    def conditions(self, key: str, terms: Terms) -> ByVersion[Condition]:
        return ByVersion(
            tuple((span, self._condition(key, text, terms)) for span, text in self._versioned(key, required=True))
        )

    def values(self, key: str, terms: Terms) -> ByVersion[Expression]:
        versioned = self._versioned(key)
        return ByVersion(tuple((span, self._parsed(key, parse_value, text, terms)) for span, text in versioned))

    def conditions_list(self, key: str, terms: Terms) -> tuple[Condition, ...]:
        return tuple(self._condition(key, text, terms) for text in self.texts(key))

    def by_version(self, key: str, literal: object) -> ByVersion[Any]:
        return ByVersion(tuple((span, self._chosen(key, text, literal)) for span, text in self._versioned(key)))

    def error_texts(self, key: str) -> ByVersion[ErrorText]:
        return ByVersion(tuple((span, ErrorText(text)) for span, text in self._versioned(key)))

    def texts(self, key: str, pattern: re.Pattern[str] | None = None) -> tuple[str, ...]:
        value = self.data.pop(key, [])
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
            raise self.error(key, "expected text, or a list of texts")
        for item in values:
            if pattern and not pattern.fullmatch(item):
                raise self.error(key, f"{item!r} does not match {pattern.pattern}")
        return tuple(values)

    def raw_text(self, key: str) -> str:
        """Read text in which blanks and line ends count."""
        value = self.data.pop(key, None)
        if not isinstance(value, str):
            raise self.error(key, "is missing" if value is None else "expected text")
        return value

    def pattern(self, key: str) -> re.Pattern[str]:
        text = self.raw_text(key)
        try:
            return re.compile(text, re.MULTILINE)
        except (re.error, RecursionError, OverflowError) as problem:
            raise self.error(key, f"{text!r} is no pattern: {problem}") from None

    def kinds(self, key: str) -> tuple[str, ...]:
        """Read kinds of files, by the names of their readers."""
        known = [reader.type.name for reader in registry.READERS]
        values = self.texts(key)
        for value in values:
            if value not in known:
                raise self.error(key, f"{value!r} is none of {', '.join(known)}")
        return values

    def components(self, key: str) -> Mapping[str, str]:
        value = self.data.pop(key, {})
        if not isinstance(value, Mapping) or not all(isinstance(version, str) for version in value.values()):
            raise self.error(key, "expected versions as text, by component")
        for component in value:
            self._chosen(key, str(component), Component)
        return cast(Mapping[str, str], value)

    def settings(self, key: str) -> Mapping[str, Plain]:
        value = self.data.pop(key, {})
        if not isinstance(value, Mapping):
            raise self.error(key, "expected settings with their values")
        for path in value:
            if not isinstance(path, str) or not (SETTING.fullmatch(path) or path in SECTIONS):
                raise self.error(key, f"{path!r} is not the path of a setting")
        return cast(Mapping[str, Plain], value)

    def fields(self, key: str) -> Fields | None:
        value = self.data.pop(key, None)
        return None if value is None else Fields.of(value, f"{self.where}: {key}", self.checked)

    def list_of_fields(self, key: str) -> list[Fields]:
        value = self.data.pop(key, [])
        if not isinstance(value, list):
            raise self.error(key, "expected a list")
        return [Fields.of(item, f"{self.where}: {key}[{index}]", self.checked) for index, item in enumerate(value)]

    def one_or_more(self, key: str) -> list[Fields]:
        """Read fields, or a list of them; none if the key is missing."""
        if isinstance(self.data.get(key), list):
            return self.list_of_fields(key)
        fields = self.fields(key)
        return [] if fields is None else [fields]

    def _versioned(self, key: str, required: bool = False) -> list[tuple[Applicability, str]]:
        """Read text, or one text for each range of versions."""
        value = self.data.pop(key, None)
        if value is None and required:
            raise self.error(key, "is missing")
        if value is None:
            return []
        entries: list[tuple[Applicability, str]] = []
        for span, text in (value if isinstance(value, Mapping) else {"": value}).items():
            if not isinstance(span, str) or not isinstance(text, str):
                raise self.error(key, "expected text, or a text for each range of versions")
            entries.append((self._range(key, span), text))
        return entries

    def _range(self, key: str, text: str) -> Applicability:
        return self._parsed(key, parse_applicability, text)

    def _condition(self, key: str, text: str, terms: Terms) -> Condition:
        return deferred(text, terms) if self.checked else self._parsed(key, parse, text, terms)

    def _parsed(self, key: str, read: Callable[..., T], *arguments: object) -> T:
        try:
            return read(*arguments)
        except (VersionError, ConditionError) as problem:
            raise self.error(key, str(problem)) from None

    def _chosen(self, key: str, text: str, literal: object) -> Any:
        if not self.checked and text not in get_args(literal):
            raise self.error(key, f"{text!r} is none of {', '.join(get_args(literal))}")
        return text
