"""Rules, terms, start-up, vocabulary and front-ends as one data file (core/store.py). What is not right is told.

hatch_build.py calls `compiled` for a wheel, and a run in a checkout whenever something has been edited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mfsdp_lint.conditions.applicability import Site
from mfsdp_lint.core import store
from mfsdp_lint.front_ends.profile import read_profile
from mfsdp_lint.rules import load as rules
from mfsdp_lint.rules.model import Rule
from mfsdp_lint.startup import steps
from mfsdp_lint.tools import edited
from mfsdp_lint.versions.target import DEFAULT_TARGET
from mfsdp_lint.vocabulary.tables import Table


def compiled(digest: str | None = None) -> bytes:
    """The data file of this checkout. Raises RuleError, StartupError or VocabularyError if something is not right."""
    return store.written(dict(pieces()), digest or store.digest(store.sources()))


def pieces() -> Iterator[tuple[str, Any]]:
    """Everything that the tool knows but the snapshots, by the names under which it is asked for."""
    yield from _rules(rules.edited_rules(edited.CHECKOUT))
    yield from _startup()
    yield from _vocabulary()
    yield from _front_ends()


def _rules(files: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "rules", [_head(rule) for rule in rules.rules_of(files)]
    yield from ((f"rules/{name}", data) for name, data in files.items())


def _head(rule: Rule) -> dict[str, Any]:
    """What every run asks of every rule."""
    return {
        "code": rule.code,
        "name": rule.name,
        "judges": rule.judges,
        "preset": rule.preset,
        "preview": rule.preview,
        "groups": rule.groups,
        "weaker_than": rule.weaker_than,
        "file": rule.file,
        "versions": rule.versions.text,
        "gate": rule.gate.text,
        "views": rule.views,
    }


def _startup() -> Iterator[tuple[str, Any]]:
    raw, tables = edited.startup(), edited.startup_tables()
    steps.steps_of(raw, tables, Site(DEFAULT_TARGET))
    yield from ((f"startup/{name}", data) for name, data in raw.items())
    yield from ((f"startup-tables/{version}", table) for version, table in tables.items())


def _vocabulary() -> Iterator[tuple[str, Any]]:
    raw = edited.vocabulary()
    _ = Table(raw).entries
    yield from ((f"vocabulary/{name}", data) for name, data in raw.items())


def _front_ends() -> Iterator[tuple[str, Any]]:
    raw = edited.front_ends()
    for data in raw.values():
        read_profile(data)
    yield from ((f"front-ends/{name}", data) for name, data in raw.items())
