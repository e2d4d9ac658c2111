"""Where the rules come from: `rules/*.yaml` in a checkout, one compiled data file in an installed wheel."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mfsdp_lint.rules.form import RuleError, read_rule, read_terms
from mfsdp_lint.rules.model import Rule

TERMS_FILE = "terms.yaml"
COMPILED = Path(__file__).with_name("compiled.json")
CHECKOUT = Path(__file__).resolve().parents[3] / "rules"


@cache
def load_rules(folder: Path | None = None) -> tuple[Rule, ...]:
    """All rules, ordered by code, of `folder`, or of the tool itself.

    Raises RuleError for a file that does not have the form, and OSError where there is nothing to read.
    """
    files = raw_rules(folder)
    terms = read_terms(files[TERMS_FILE], TERMS_FILE)
    rules = sorted(
        (read_rule(data, file, terms) for file, data in files.items() if file != TERMS_FILE), key=lambda rule: rule.code
    )
    _check_together(rules)
    return tuple(rules)


def raw_rules(folder: Path | None = None) -> Mapping[str, Any]:
    """The rule files as plain data, by file name. YAML is only imported where there is no compiled file to read."""
    if folder is None and not (CHECKOUT / TERMS_FILE).is_file():
        data: Mapping[str, Any] = json.loads(COMPILED.read_text(encoding="utf-8"))
        return data
    paths = sorted((folder or CHECKOUT).glob("*.yaml"))
    return {path.name: _read_yaml(path) for path in paths}


def _read_yaml(path: Path) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
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
    for rule in rules:
        for code in rule.weaker_than:
            if code not in seen:
                raise RuleError(f"{rule.file}: weaker_than: there is no rule {code}")
