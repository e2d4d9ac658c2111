"""Where the rules come from: the tool's data file, which is made of `rules/*.yaml`, and folders of a team's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from mfsdp_lint.conditions.language import Terms
from mfsdp_lint.core.plaindata import read_yaml
from mfsdp_lint.core.store import Folder, store
from mfsdp_lint.rules.fields import RuleError
from mfsdp_lint.rules.form import CheckedTerms, read_rule, read_terms
from mfsdp_lint.rules.model import Rule
from mfsdp_lint.rules.stored import StoredRule
from mfsdp_lint.rules.strength import groups, stronger

if TYPE_CHECKING:
    from pathlib import Path

TERMS_FILE = "terms.yaml"


@cache
def load_rules(folder: Path | None = None) -> tuple[Rule, ...]:
    """All rules, ordered by code, of `folder`, or of the tool itself.

    Raises RuleError for a file that does not have the form, and OSError where there is nothing to read.
    """
    return _stored() if folder is None else rules_of(edited_rules(folder))


def rules_of(files: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The same of the plain data of files, by file name."""
    return _together(_rules(files, read_terms(files[TERMS_FILE], TERMS_FILE)))


def _stored() -> tuple[Rule, ...]:
    """The tool's own rules, which were checked when its data file was made."""
    data = store()
    terms = CheckedTerms(data[f"rules/{TERMS_FILE}"])

    def stored(head: Mapping[str, Any]) -> Rule:
        file = head["file"]
        return StoredRule.of(head, terms, lambda: read_rule(data[f"rules/{file}"], file, terms, checked=True))

    return tuple(map(stored, data["rules"]))


def extended_rules(folders: Sequence[Path]) -> tuple[Rule, ...]:
    """The tool's rules and those of further folders, which may have terms of their own. Raises as `load_rules` does."""
    found = list(load_rules())
    terms = read_terms(raw_rules()[TERMS_FILE], TERMS_FILE)
    for folder in folders:
        files = {str(folder / file): data for file, data in edited_rules(folder).items()}
        own = str(folder / TERMS_FILE)
        found += _rules(files, read_terms(files[own], own, terms) if own in files else terms)
    return _together(found)


def _rules(files: Mapping[str, Any], terms: Terms) -> Iterator[Rule]:
    return (read_rule(data, file, terms) for file, data in files.items() if os.path.basename(file) != TERMS_FILE)


def _together(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    found = sorted(rules, key=lambda rule: rule.code)
    _check_together(found)
    return tuple(found)


def raw_rules() -> Mapping[str, Any]:
    """The tool's own rule files as plain data, by file name, each read when it is asked for."""
    return Folder(store(), "rules")


def edited_rules(folder: Path) -> Mapping[str, Any]:
    """The rule files of a folder as plain data, by file name."""
    return {path.name: _read_yaml(path) for path in sorted(folder.glob("*.yaml"))}


def _read_yaml(path: Path) -> Any:
    import yaml

    try:
        return read_yaml(path)
    except yaml.YAMLError as problem:
        raise RuleError(f"{path}: {problem}") from None


def _check_together(rules: list[Rule]) -> None:
    """What only shows among all rules: codes and names are unique, references exist."""
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
