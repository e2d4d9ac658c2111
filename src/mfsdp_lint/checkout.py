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
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.front_ends import read_profile
from mfsdp_lint.megatron.versions import DEFAULT_TARGET
from mfsdp_lint.megatron.vocabulary.tables import Table
from mfsdp_lint.rules import load as rules

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
    """Yield all data of the tool except the snapshots, each piece by its name in the store, once it is found right."""
    files = rules.edited_rules(CHECKOUT)
    yield (
        "rules",
        [
            {
                **{name: getattr(rule, name) for name in _EVERY_RUN_NEEDS},
                "versions": rule.versions.text,
                "gate": rule.gate.text,
                "views": rule.views,
            }
            for rule in rules.rules_of(files)
        ],
    )
    steps, tables, words, frameworks = startup(), startup_tables(), vocabulary(), front_ends()
    start_up.steps_of(steps, tables, Site(DEFAULT_TARGET))
    _ = Table(words).entries
    for data in frameworks.values():
        read_profile(data)
    kinds = {"rules": files, "startup": steps, "startup-tables": tables, "vocabulary": words, "front-ends": frameworks}
    for kind, data in kinds.items():
        yield from ((f"{kind}/{name}", each) for name, each in data.items())


_EVERY_RUN_NEEDS = ("code", "name", "judges", "preset", "preview", "groups", "weaker_than", "file")
