"""The form of a rule file: from plain data (YAML, or the compiled rules) to a `Rule`, and what is wrong with it if not.

The data is what `rules/*.yaml` says, field for field; model.py tells what the fields mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar, cast, get_args

from mfsdp_lint.core.finding import Severity, Stage
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Seen
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.values import Plain
from mfsdp_lint.megatron.conditions import Applicability, ByVersion, parse_applicability
from mfsdp_lint.megatron.conditions.language import (
    SECTIONS,
    Condition,
    ConditionError,
    Meaning,
    Terms,
    deferred,
    parse,
    parse_value,
)
from mfsdp_lint.megatron.conditions.nodes import Expression
from mfsdp_lint.megatron.versions import VersionError, numbers
from mfsdp_lint.readers import registry
from mfsdp_lint.rules.bounds import PLACEHOLDERS, TooCostly, check_meaning, check_text
from mfsdp_lint.rules.model import (
    STEP_VIEW,
    Backing,
    Blame,
    Case,
    Confirm,
    EnforcedBy,
    ErrorText,
    Evidence,
    Example,
    FixSpec,
    Judges,
    MessageText,
    Preset,
    Rule,
    Sees,
    Showing,
    View,
    Written,
)

T = TypeVar("T")

Component = Literal["te", "torch"]
"""Components of which an example may give the version."""

SETTING = lazy_pattern(r"\w+(\.\w+)+")
_BRACE = lazy_pattern(r"\{([^{}]*)\}?")


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
        value = self.raw_text(key, default)
        return value.strip() if "\n" not in value.strip() else value

    def template(self, key: str, default: str) -> MessageText:
        template = self.text(key, default)
        if not template:
            raise self.error(key, "is missing")
        if self.checked:
            return MessageText(template)
        self._bounded(key, check_text, template)
        if template.count("{") > PLACEHOLDERS:
            raise self.error(key, f"names more than {PLACEHOLDERS} settings")
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
        return self._versioned(key, lambda text: self._condition(key, text, terms), required=True)

    def values(self, key: str, terms: Terms) -> ByVersion[Expression]:
        return self._versioned(key, lambda text: self._bounded_meaning(key, parse_value, text, terms))

    def conditions_list(self, key: str, terms: Terms) -> tuple[Condition, ...]:
        return tuple(self._condition(key, text, terms) for text in self.texts(key))

    def by_version(self, key: str, literal: object) -> ByVersion[Any]:
        return self._versioned(key, lambda text: self._chosen(key, text, literal))

    def error_texts(self, key: str) -> ByVersion[ErrorText]:
        return self._versioned(key, ErrorText)

    def texts(self, key: str, pattern: re.Pattern[str] | None = None) -> tuple[str, ...]:
        value = self.data.pop(key, [])
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
            raise self.error(key, "expected text, or a list of texts")
        for item in values:
            if pattern and not pattern.fullmatch(item):
                raise self.error(key, f"{item!r} does not match {pattern.pattern}")
        return tuple(values)

    def raw_text(self, key: str, default: str | None = None) -> str:
        """Read text in which blanks and line ends count."""
        value = self.data.pop(key, default)
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

    def _versioned(self, key: str, read: Callable[[str], T], required: bool = False) -> ByVersion[T]:
        """Read text, or one text for each range of versions."""
        value = self.data.pop(key, None)
        if value is None and required:
            raise self.error(key, "is missing")
        entries: list[tuple[Applicability, T]] = []
        spans = value if isinstance(value, Mapping) else {} if value is None else {"": value}
        for span, text in spans.items():
            if not isinstance(span, str) or not isinstance(text, str):
                raise self.error(key, "expected text, or a text for each range of versions")
            entries.append((self._range(key, span), read(text)))
        return ByVersion(tuple(entries))

    def _range(self, key: str, text: str) -> Applicability:
        return self._parsed(key, parse_applicability, text)

    def _condition(self, key: str, text: str, terms: Terms) -> Condition:
        return deferred(text, terms) if self.checked else self._bounded_meaning(key, parse, text, terms)

    def _bounded_meaning(self, key: str, read: Callable[[str, Terms], Any], text: str, terms: Terms) -> Any:
        self._bounded(key, check_text, text)
        meaning = self._parsed(key, read, text, terms)
        self._bounded(key, check_meaning, meaning)
        return meaning

    def _bounded(self, key: str, check: Callable[[Any], None], value: object) -> None:
        try:
            check(value)
        except TooCostly as problem:
            raise self.error(key, str(problem)) from None

    def _parsed(self, key: str, read: Callable[..., T], *arguments: object) -> T:
        try:
            return read(*arguments)
        except (VersionError, ConditionError) as problem:
            raise self.error(key, str(problem)) from None

    def _chosen(self, key: str, text: str, literal: object) -> Any:
        if not self.checked and text not in get_args(literal):
            raise self.error(key, f"{text!r} is none of {', '.join(get_args(literal))}")
        return text


CODE = lazy_pattern(r"[A-Z]+\d{3}")
NAME = lazy_pattern(r"[a-z0-9]+(-[a-z0-9]+)*")
EVIDENCE = lazy_pattern(r"(bridge|megatron-lm) (\S+):(\d+)")
_EVIDENCED = lazy_pattern(r"(?:core )?(\S+)")


def read_terms(data: object, file: str, known: Terms = MappingProxyType({})) -> Terms:
    """Read the terms of rules/terms.yaml: name → {meaning, condition | value}, each of which may use the ones before
    it.

    They are added to the `known` terms, none of which can be redefined.
    """
    terms: dict[str, Meaning] = dict(known)
    for name, fields in Fields.of(data, file).items():
        if name in known:
            raise RuleError(f"{file}: {name}: the tool has a term of that name")
        terms[name] = _term(fields, f"{file}: {name}", terms)
    return terms


class CheckedTerms(Mapping[str, Meaning]):
    """Terms that are known to be right, each of which is read when it is first asked for."""

    def __init__(self, data: Mapping[str, object]) -> None:
        self._data = data
        self._known: dict[str, Meaning] = {}

    def __getitem__(self, name: str) -> Meaning:
        if name not in self._known:
            self._known[name] = _term(self._data[name], name, self, checked=True)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)


def _term(fields: object, where: str, terms: Terms, *, checked: bool = False) -> Meaning:
    term = Fields.of(fields, where, checked)
    term.text("meaning")
    meaning = term.values("value", terms) if "value" in term else term.conditions("condition", terms)
    term.done()
    return meaning


def read_rule(data: object, file: str, terms: Terms, *, checked: bool = False) -> Rule:
    """Read one rule. Raises RuleError for an unknown field, a missing one, or a value that is not of its kind.

    The conditions of a rule that was `checked` before are parsed when they are first needed, and so is its backing.
    """
    fields = Fields.of(data, file, checked)
    backing = _backing(fields)
    message, consequence = fields.text("message", ""), fields.text("consequence", "")
    sees = _sees(fields) if "sees" in fields else None
    judges = fields.choice("judges", Judges, "settings")
    confirming = _confirming(fields, "confirm", terms)
    notices = fields.choice("notices", Seen) if judges == "text" and "notices" in fields else None
    finds = fields.pattern("finds") if judges == "text" and notices is None else None
    rule = Rule(
        code=fields.matching("code", CODE),
        name=fields.matching("name", NAME),
        summary=fields.text("summary"),
        why=fields.text("why"),
        judges=judges,
        written=fields.choice("written", Written) if judges == "writes" else None,
        finds=finds,
        notices=notices,
        files=fields.kinds("files") if judges == "text" else (),
        applies=fields.condition("applies", terms),
        cases=tuple(
            _case(case, terms, message, consequence, sees, confirming) for case in fields.list_of_fields("cases")
        ),
        blame=_blame(fields.fields("blame"), terms),
        versions=fields.range("versions").of_a_rule(),
        fixes=tuple(_fix(each, terms, finds, judges) for each in fields.one_or_more("fix")),
        control=fields.settings("control"),
        intended=fields.settings("intended"),
        confirm=confirming.tier,
        unconfirmed=confirming.unconfirmed,
        preset=fields.choice("preset", Preset) if "preset" in fields else None,
        preview=fields.flag("preview"),
        groups=fields.texts("groups", NAME),
        weaker_than=fields.texts("weaker_than"),
        backing=backing,
        file=file,
    )
    fields.done()
    if not rule.cases:
        raise RuleError(f"{file}: cases: at least one is needed")
    return rule


def _backing(fields: Fields) -> Callable[[], Backing]:
    evidence, examples = fields.fields("evidence"), fields.fields("examples")
    read = cache(lambda: Backing(_evidence(evidence), tuple(_examples(examples))))
    if not fields.checked:
        read()
    return read


@dataclass(frozen=True, slots=True)
class _Confirming:
    """Value of `confirm`, of a rule or of a case; `unconfirmed` is the reason why no tier confirms it."""

    tier: Confirm = "none"
    showing: Showing = field(default_factory=Showing)
    unconfirmed: str = ""


def _confirming(fields: Fields, key: str, terms: Terms) -> _Confirming:
    """Read a tier of the dry run, a tier with its requirements (`{tier: …}`), or `{none: why there is none}`."""
    if not isinstance(fields.data.get(key), Mapping):
        return _Confirming(fields.choice(key, Confirm, "none"))
    inner = Fields.of(fields.data.pop(key), f"{fields.where}: {key}", fields.checked)
    if "none" in inner:
        found = _Confirming(unconfirmed=inner.text("none"))
    else:
        shows = inner.condition("shows", terms) if "shows" in inner else None
        showing = Showing(shows, inner.texts("keeps"), inner.settings("saved_with"))
        found = _Confirming(inner.choice("tier", Confirm), showing)
    inner.done()
    return found


def _case(
    fields: Fields, terms: Terms, message: str, consequence: str, sees: Sees | None, of_the_rule: _Confirming
) -> Case:
    stage = fields.choice("stage", Stage)
    confirming = _confirming(fields, "confirm", terms) if "confirm" in fields else of_the_rule
    if confirming.unconfirmed and confirming is not of_the_rule:
        raise fields.error("confirm", "why there is none is said once, of the rule")
    # What start-up refuses it refuses before it has made its own last changes; what comes later comes of those.
    by_stage = "validation" if stage == "startup" else "run"
    case = Case(
        when=fields.condition("when", terms) if "when" in fields else None,
        severity=fields.choice("severity", Severity),
        stage=stage,
        sees=_sees(fields) if "sees" in fields else sees or by_stage,
        message=fields.template("message", message),
        consequence=fields.template("consequence", consequence),
        enforced_by=fields.by_version("enforced_by", EnforcedBy),
        raises=fields.error_texts("raises"),
        versions=fields.range("versions"),
        confirm=confirming.tier,
        showing=confirming.showing,
        intended=fields.settings("intended"),
    )
    fields.done()
    return case


def _sees(fields: Fields) -> Sees:
    """Read a view by its name, or `before STEP`, `after STEP`."""
    sees = fields.text("sees")
    if not fields.checked and sees not in get_args(View) and STEP_VIEW.fullmatch(sees) is None:
        raise fields.error("sees", f"{sees!r} is none of {', '.join(get_args(View))}, before STEP, after STEP")
    return sees


def _blame(fields: Fields | None, terms: Terms) -> Blame:
    if fields is None:
        return Blame(())
    blame = Blame(fields.conditions_list("value", terms), fields.conditions_list("enabled_by", terms))
    fields.done()
    return blame


def _replacement(fields: Fields, finds: re.Pattern[str] | None) -> str:
    replacement = fields.raw_text("replace")
    try:
        if finds is not None:
            finds.sub(replacement, "")
    except (re.error, IndexError) as problem:
        raise fields.error("replace", f"{replacement!r} is no replacement: {problem}") from None
    return replacement


def _fix(fields: Fields, terms: Terms, finds: re.Pattern[str] | None, judges: str) -> FixSpec:
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
        replace=_replacement(fields, finds) if judges == "text" and "replace" in fields else None,
    )
    fields.done()
    return fix


def _evidence(fields: Fields | None) -> Mapping[str, tuple[Evidence, ...]]:
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


def _examples(fields: Fields | None) -> list[Example]:
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
                    shell=example.raw_text("shell") if "shell" in example else "",
                    versions=example.range("target"),
                    components=example.components("components"),
                    severity=example.choice("severity", Severity) if kind == "bad" else None,
                )
            )
            example.done()
    fields.done()
    return examples
