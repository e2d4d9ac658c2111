"""Sources of the rules: the tool's data file, which is made of `rules/*.yaml`, and folders of a team's own.

A rule of the tool's own data file: what every run asks of it is known at once, the rest is read when asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from mfsdp_lint.core.files import text
from mfsdp_lint.core.records import fields
from mfsdp_lint.core.store import Folder, read_yaml, store
from mfsdp_lint.megatron.conditions import parse_applicability
from mfsdp_lint.megatron.conditions.language import Condition, Terms, deferred
from mfsdp_lint.rules.bounds import FILE_BYTES, FILES, TooCostly, check_pattern, check_together, check_yaml
from mfsdp_lint.rules.form import CheckedTerms, RuleError, read_rule, read_terms
from mfsdp_lint.rules.model import Rule, Sees, groups, stronger

if TYPE_CHECKING:
    from pathlib import Path


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
        """Make a rule from `head`, its summary by `checkout.py`; `read` gives the whole rule."""
        rule = object.__new__(cls)
        known = {name: head[name] for name in _AT_ONCE}
        known |= {name: tuple(head[name]) for name in ("groups", "weaker_than")}
        known |= {"_gate": deferred(head["gate"], terms), "_views": tuple(head["views"])}
        known |= {"_versions": head["versions"], "_read": read}
        for name, value in known.items():
            object.__setattr__(rule, name, value)
        return rule

    def __new__(cls, *args: Any, **fields: Any) -> Any:
        """Make an ordinary rule, for a copy with other fields (`replace`)."""
        return Rule(*args, **fields)

    def __getattr__(self, name: str) -> Any:
        """Read a field that is not there yet."""
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


TERMS_FILE = "terms.yaml"


@cache
def load_rules(folder: Path | None = None) -> tuple[Rule, ...]:
    """Load all rules, ordered by code, of `folder`, or of the tool itself.

    Raises RuleError for a file that does not have the form, and OSError if there is nothing to read.
    """
    return _stored() if folder is None else rules_of(edited_rules(folder))


def rules_of(files: Mapping[str, Any]) -> tuple[Rule, ...]:
    """Read the rules from the plain data of files, by file name."""
    return _together(_rules(files, read_terms(files[TERMS_FILE], TERMS_FILE)))


def _stored() -> tuple[Rule, ...]:
    """Load the tool's own rules, which were checked when its data file was made."""
    data = store()
    terms = CheckedTerms(data[f"rules/{TERMS_FILE}"])

    def stored(head: Mapping[str, Any]) -> Rule:
        file = head["file"]
        return StoredRule.of(head, terms, lambda: read_rule(data[f"rules/{file}"], file, terms, checked=True))

    return tuple(map(stored, data["rules"]))


def extended_rules(folders: Sequence[Path]) -> tuple[Rule, ...]:
    """Load the tool's rules and those of further folders, with terms of their own. Raises as `load_rules` does."""
    found: list[Rule] = []
    terms = read_terms(raw_rules()[TERMS_FILE], TERMS_FILE)
    paths = {folder: sorted(folder.glob("*.yaml")) for folder in folders}
    if sum(map(len, paths.values())) > FILES:
        raise RuleError(f"more than {FILES} files: {', '.join(map(str, folders))}")
    for folder in folders:
        files = {str(path): _read_foreign(path) for path in paths[folder]}
        own = str(folder / TERMS_FILE)
        found += _rules(files, read_terms(files[own], own, terms) if own in files else terms)
    for rule in found:
        if rule.finds is not None:
            with _told(f"{rule.file}: finds"):
                check_pattern(rule.finds)
    with _told(", ".join(map(str, folders))):
        check_together(found)
    return _together([*load_rules(), *found])


def _rules(files: Mapping[str, Any], terms: Terms) -> Iterator[Rule]:
    return (read_rule(data, file, terms) for file, data in files.items() if os.path.basename(file) != TERMS_FILE)


def _together(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    found = sorted(rules, key=lambda rule: rule.code)
    _check_together(found)
    return tuple(found)


def raw_rules() -> Mapping[str, Any]:
    """Return the tool's own rule files as plain data, by file name, each read when it is first needed."""
    return Folder(store(), "rules")


def edited_rules(folder: Path) -> Mapping[str, Any]:
    """Read the rule files of a folder as plain data, by file name."""
    return {path.name: _read_yaml(path) for path in sorted(folder.glob("*.yaml"))}


def _read_foreign(path: Path) -> Any:
    """Read a rule file of a project, which is input. Raises RuleError."""
    import yaml

    with _told(str(path)), suppress(yaml.YAMLError, OSError, UnicodeError):  # which reading it says better
        if path.is_file():
            if path.stat().st_size > FILE_BYTES:
                raise TooCostly(f"larger than {FILE_BYTES >> 10} KB")
            check_yaml(text(path))
    return _read_yaml(path)


@contextmanager
def _told(where: str) -> Iterator[None]:
    """Say where a bound is exceeded. Raises RuleError."""
    try:
        yield
    except TooCostly as problem:
        raise RuleError(f"{where}: {problem}") from None


def _read_yaml(path: Path) -> Any:
    import yaml

    try:
        return read_yaml(path)
    except yaml.YAMLError as problem:
        raise RuleError(f"{path}: {' '.join(str(problem).split())}") from None
    except OSError as problem:
        raise RuleError(f"{path}: {problem.strerror or problem}") from None
    except ValueError:
        raise RuleError(f"{path}: not UTF-8") from None


def _check_together(rules: list[Rule]) -> None:
    """Check all rules against each other: codes and names are unique, references exist, `weaker_than` has no circle."""
    seen: dict[str, Rule] = {}
    for rule in rules:
        for key in (rule.code, rule.name):
            if key in seen:
                raise RuleError(f"{rule.file}: {key} is already the rule of {seen[key].file}")
            seen[key] = rule
    known = {rule.code for rule in rules} | set(groups(rules))
    for rule in rules:
        for code in rule.weaker_than:
            if code not in known:
                raise RuleError(f"{rule.file}: weaker_than: there is no rule {code}, and no group of that name")
    order = stronger(rules)
    for code, above in order.items():
        if circle := next((other for other in sorted(above) if code in order[other]), None):
            raise RuleError(f"{seen[code].file}: weaker_than: {code} and {circle} would silence each other")
