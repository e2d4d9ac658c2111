"""The tool's own data as people edit it in a checkout, and the data file that is made of it (core/store.py).

hatch_build.py calls `compiled` for a wheel, and a run in a checkout whenever a file has been edited. The wheel goes
without this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mfsdp_lint.core import store
from mfsdp_lint.core.files import PACKAGE, RULES
from mfsdp_lint.core.store import read_json, read_yaml
from mfsdp_lint.megatron import startup as start_up
from mfsdp_lint.megatron.conditions.applicability import Site
from mfsdp_lint.megatron.front_ends import read_profile
from mfsdp_lint.megatron.versions.target import DEFAULT_TARGET
from mfsdp_lint.megatron.vocabulary.tables import Table
from mfsdp_lint.rules import load as rules
from mfsdp_lint.rules.model import Rule

CHECKOUT = Path(RULES)
"""The folder of rules."""

FRONT_ENDS = Path(PACKAGE, "megatron", "front_ends", "data")
VOCABULARY = Path(PACKAGE, "megatron", "vocabulary")
STARTUP = Path(PACKAGE, "megatron", "startup")


def startup() -> Mapping[str, Any]:
    """Read the steps of start-up, by front-end, and the `rare` fields."""
    steps: Mapping[str, Any] = read_yaml(STARTUP / "startup.yaml")
    return steps


def startup_tables() -> Mapping[str, Any]:
    """Read the generated tables that the steps use, by version."""
    tables: Mapping[str, Any] = read_json(STARTUP / "startup-tables.json")
    return tables


def settings() -> Mapping[str, Mapping[str, Any]]:
    """Read the reviewed part of the vocabulary: settings by section and name."""
    data: Mapping[str, Mapping[str, Any]] = read_yaml(VOCABULARY / "settings.yaml")
    return data


def vocabulary() -> Mapping[str, Any]:
    """Read the reviewed and the generated facts."""
    generated = {name: read_json(VOCABULARY / "data" / f"{name}.json") for name in ("defaults", "fields", "flags")}
    return {"settings": settings(), **generated}


def front_ends() -> Mapping[str, Mapping[str, Any]]:
    """Read the frameworks on top of Megatron, by the names of their files."""
    return {file.name: read_yaml(file) for file in sorted(FRONT_ENDS.glob("*.yaml"))}


def compiled(digest: str | None = None) -> bytes:
    """Build the data file of this checkout.

    Raises RuleError, StartupError or VocabularyError if its data is not right.
    """
    return store.written(dict(pieces()), digest or store.digest(store.sources()))


def pieces() -> Iterator[tuple[str, Any]]:
    """Yield all data of the tool except the snapshots, each piece by its name in the store."""
    yield from _rules(rules.edited_rules(CHECKOUT))
    yield from _startup()
    yield from _vocabulary()
    yield from _front_ends()


def _rules(files: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "rules", [_head(rule) for rule in rules.rules_of(files)]
    yield from ((f"rules/{name}", data) for name, data in files.items())


def _head(rule: Rule) -> dict[str, Any]:
    """Return the part of a rule that every run needs."""
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
    raw, tables = startup(), startup_tables()
    start_up.steps_of(raw, tables, Site(DEFAULT_TARGET))
    yield from ((f"startup/{name}", data) for name, data in raw.items())
    yield from ((f"startup-tables/{version}", table) for version, table in tables.items())


def _vocabulary() -> Iterator[tuple[str, Any]]:
    raw = vocabulary()
    _ = Table(raw).entries
    yield from ((f"vocabulary/{name}", data) for name, data in raw.items())


def _front_ends() -> Iterator[tuple[str, Any]]:
    raw = front_ends()
    for data in raw.values():
        read_profile(data)
    yield from ((f"front-ends/{name}", data) for name, data in raw.items())
