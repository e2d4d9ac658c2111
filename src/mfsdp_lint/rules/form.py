"""The form of a rule file: from plain data (YAML, or the compiled rules) to a `Rule`, and what is wrong with it if not.

The data is what `rules/*.yaml` says, field for field; model.py tells what the fields mean.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from mfsdp_lint.conditions.applicability import Applicability, parse_applicability
from mfsdp_lint.conditions.byversion import ByVersion
from mfsdp_lint.conditions.expressions import Expression
from mfsdp_lint.conditions.language import SECTIONS, Condition, ConditionError, Terms, parse, parse_value
from mfsdp_lint.core.finding import Severity, Stage
from mfsdp_lint.core.values import Plain
from mfsdp_lint.readers import registry
from mfsdp_lint.rules.errortext import ErrorText
from mfsdp_lint.rules.model import (
    Blame,
    Case,
    Confirm,
    EnforcedBy,
    Evidence,
    Example,
    FixSpec,
    Judges,
    Preset,
    Rule,
    Sees,
    Text,
    Written,
)
from mfsdp_lint.versions.ranges import VersionError, numbers

Component = Literal["te", "torch"]
"""What an example may give the version of."""

CODE = re.compile(r"[A-Z]+\d{3}")
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SETTING = re.compile(r"\w+(\.\w+)+")
EVIDENCE = re.compile(r"(bridge|megatron-lm) (\S+):(\d+)")
_EVIDENCED = re.compile(r"(?:core )?(\S+)")
_GROUP = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_BRACE = re.compile(r"\{([^{}]*)\}?")


class RuleError(ValueError):
    """A rule file that does not have the form; the message names the file and the field."""


def read_terms(data: object, file: str, known: Terms = MappingProxyType({})) -> Terms:
    """The terms of rules/terms.yaml: name → {meaning, condition | value}, each of which may use the ones before it.

    They come on top of those that are known already, of which none can mean something else.
    """
    terms: dict[str, ByVersion[Condition] | ByVersion[Expression]] = dict(known)
    for name, fields in _Fields.of(data, file).items():
        if name in known:
            raise RuleError(f"{file}: {name}: the tool has a term of that name")
        term = _Fields.of(fields, f"{file}: {name}")
        term.text("meaning")
        terms[name] = term.values("value", terms) if "value" in term else term.conditions("condition", terms)
        term.done()
    return terms


def read_rule(data: object, file: str, terms: Terms) -> Rule:
    """One rule. Raises RuleError for an unknown field, a missing one, or a value that is not of its kind."""
    fields = _Fields.of(data, file)
    message, consequence = fields.text("message", ""), fields.text("consequence", "")
    sees = fields.choice("sees", Sees) if "sees" in fields else None
    judges = fields.choice("judges", Judges, "settings")
    confirm, unconfirmed = fields.tier("confirm")
    finds = fields.pattern("finds") if judges == "text" else None
    rule = Rule(
        code=fields.matching("code", CODE),
        name=fields.matching("name", NAME),
        summary=fields.text("summary"),
        why=fields.text("why"),
        judges=judges,
        written=fields.choice("written", Written) if judges == "writes" else None,
        finds=finds,
        files=fields.kinds("files") if judges == "text" else (),
        applies=fields.condition("applies", terms),
        cases=tuple(_case(case, terms, message, consequence, sees, confirm) for case in fields.list_of_fields("cases")),
        blame=_blame(fields.fields("blame"), terms),
        versions=fields.range("versions").of_a_rule(),
        evidence=_evidence(fields.fields("evidence")),
        fixes=tuple(_fix(each, terms, finds) for each in fields.one_or_more("fix")),
        control=fields.settings("control"),
        intended=fields.settings("intended"),
        confirm=confirm,
        unconfirmed=unconfirmed,
        preset=fields.choice("preset", Preset) if "preset" in fields else None,
        preview=fields.flag("preview"),
        groups=fields.texts("groups", _GROUP),
        weaker_than=fields.texts("weaker_than"),
        examples=tuple(_examples(fields.fields("examples"))),
        file=file,
    )
    fields.done()
    if not rule.cases:
        raise RuleError(f"{file}: cases: at least one is needed")
    return rule


def _case(fields: _Fields, terms: Terms, message: str, consequence: str, sees: Sees | None, confirm: Confirm) -> Case:
    stage = fields.choice("stage", Stage)
    # What start-up refuses it refuses before it has made its own last changes; what comes later comes of those.
    by_stage = "validation" if stage == "startup" else "run"
    case = Case(
        when=fields.condition("when", terms) if "when" in fields else None,
        severity=fields.choice("severity", Severity),
        stage=stage,
        sees=fields.choice("sees", Sees, sees or by_stage),
        message=fields.template("message", message),
        consequence=fields.template("consequence", consequence),
        enforced_by=fields.by_version("enforced_by", EnforcedBy),
        raises=fields.error_texts("raises"),
        versions=fields.range("versions"),
        confirm=fields.choice("confirm", Confirm, confirm),
        intended=fields.settings("intended"),
    )
    fields.done()
    return case


def _blame(fields: _Fields | None, terms: Terms) -> Blame:
    if fields is None:
        return Blame(())
    blame = Blame(fields.conditions_list("value", terms), fields.conditions_list("enabled_by", terms))
    fields.done()
    return blame


def _replacement(fields: _Fields, finds: re.Pattern[str]) -> str:
    replacement = fields.raw_text("replace")
    try:
        finds.sub(replacement, "")
    except (re.error, IndexError) as problem:
        raise fields.error("replace", f"{replacement!r} is no replacement: {problem}") from None
    return replacement


def _fix(fields: _Fields, terms: Terms, finds: re.Pattern[str] | None) -> FixSpec:
    versions = fields.range("versions")
    when = fields.condition("when", terms) if "when" in fields else None
    if "none" in fields:
        fix = FixSpec({}, (), ByVersion(), versions, fields.text("none"), when=when)
        fields.done()
        return fix
    fix = FixSpec(
        set=fields.settings("set"),
        unset=fields.texts("unset"),
        safe=fields.conditions("safe", terms),
        versions=versions,
        unsafe=fields.condition("unsafe", terms) if "unsafe" in fields else None,
        rename=fields.matching("rename", SETTING) if "rename" in fields else "",
        when=when,
        drop=fields.texts("drop"),
        else_advice=fields.text("else_advice", ""),
        replace=_replacement(fields, finds) if finds and "replace" in fields else None,
    )
    fields.done()
    return fix


def _evidence(fields: _Fields | None) -> Mapping[str, tuple[Evidence, ...]]:
    if fields is None:
        return {}
    evidence: dict[str, tuple[Evidence, ...]] = {}
    for version in list(fields.data):
        named = _EVIDENCED.fullmatch(version)
        try:
            numbers(named[1] if named else version)
        except VersionError:
            raise fields.error(version, 'expected a version of Megatron-Bridge, or "core 0.16.1"') from None
        places = []
        for line in fields.texts(version):
            match = EVIDENCE.fullmatch(line)
            if match is None:
                raise fields.error(version, f"expected `bridge PATH:LINE` or `megatron-lm PATH:LINE`, not {line!r}")
            places.append(Evidence(cast(Any, match[1]), match[2], int(match[3])))
        evidence[version] = tuple(places)
    return evidence


def _examples(fields: _Fields | None) -> list[Example]:
    if fields is None:
        return []
    examples = []
    for kind in ("bad", "good"):
        for example in fields.list_of_fields(kind):
            examples.append(
                Example(
                    settings=example.settings("settings"),
                    python=example.text("python", ""),
                    yaml=example.text("yaml", ""),
                    megatron_lm=example.text("megatron_lm", ""),
                    versions=example.range("target"),
                    components=example.components("components"),
                    severity=example.choice("severity", Severity) if kind == "bad" else None,
                )
            )
            example.done()
    fields.done()
    return examples


class _Fields:
    """The fields of one mapping; each is taken once, and what nobody took is an error."""

    def __init__(self, data: Mapping[str, object], where: str) -> None:
        self.data = dict(data)
        self.where = where

    @classmethod
    def of(cls, data: object, where: str) -> _Fields:
        if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
            raise RuleError(f"{where}: expected a mapping with text keys")
        return cls(data, where)

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

    def template(self, key: str, default: str) -> Text:
        template = self.text(key, default)
        if not template:
            raise self.error(key, "is missing")
        for found in _BRACE.finditer(template):
            if not SETTING.fullmatch(found[1]):
                raise self.error(key, f"{found[0]!r} names no setting")
        return Text(template)

    def matching(self, key: str, pattern: re.Pattern[str]) -> str:
        value = self.text(key)
        if not pattern.fullmatch(value):
            raise self.error(key, f"{value!r} does not match {pattern.pattern}")
        return value

    def flag(self, key: str) -> bool:
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
        return ByVersion(tuple((span, self._value(key, text, terms)) for span, text in self._versioned(key)))

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
        """Text in which blanks and line ends count."""
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
        """Kinds of files, by the names of their readers."""
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

    def fields(self, key: str) -> _Fields | None:
        value = self.data.pop(key, None)
        return None if value is None else _Fields.of(value, f"{self.where}: {key}")

    def tier(self, key: str) -> tuple[Confirm, str]:
        """A tier of the dry run; or none, with `{none: why there is none}`."""
        if not isinstance(self.data.get(key), Mapping):
            return self.choice(key, Confirm, "none"), ""
        fields = _Fields.of(self.data.pop(key), f"{self.where}: {key}")
        reason = fields.text("none")
        fields.done()
        return "none", reason

    def list_of_fields(self, key: str) -> list[_Fields]:
        value = self.data.pop(key, [])
        if not isinstance(value, list):
            raise self.error(key, "expected a list")
        return [_Fields.of(item, f"{self.where}: {key}[{index}]") for index, item in enumerate(value)]

    def one_or_more(self, key: str) -> list[_Fields]:
        """Fields, or a list of them; none where there is nothing."""
        if isinstance(self.data.get(key), list):
            return self.list_of_fields(key)
        fields = self.fields(key)
        return [] if fields is None else [fields]

    def _versioned(self, key: str, required: bool = False) -> list[tuple[Applicability, str]]:
        """Text, or one text for each range of versions."""
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
        try:
            return parse_applicability(text)
        except VersionError as problem:
            raise self.error(key, str(problem)) from None

    def _condition(self, key: str, text: str, terms: Terms) -> Condition:
        try:
            return parse(text, terms)
        except ConditionError as problem:
            raise self.error(key, str(problem)) from None

    def _value(self, key: str, text: str, terms: Terms) -> Expression:
        try:
            return parse_value(text, terms)
        except ConditionError as problem:
            raise self.error(key, str(problem)) from None

    def _chosen(self, key: str, text: str, literal: object) -> Any:
        if text not in get_args(literal):
            raise self.error(key, f"{text!r} is none of {', '.join(get_args(literal))}")
        return text
