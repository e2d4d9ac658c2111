"""Rules, vocabulary, the steps of start-up and front-ends as one data file each, for the wheel.

A checkout reads the YAML files themselves; hatch_build.py calls `compiled` when a wheel is built.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mfsdp_lint.core.plaindata import write_json
from mfsdp_lint.front_ends import load as front_ends
from mfsdp_lint.rules import load as rules
from mfsdp_lint.startup import steps
from mfsdp_lint.versions.target import DEFAULT_TARGET
from mfsdp_lint.vocabulary import load as vocabulary
from mfsdp_lint.vocabulary.tables import Table


def compiled(rule_folder: Path | None, scratch: Path) -> dict[Path, Path]:
    """Writes every data file below `scratch`; says where each of them belongs in the package.

    `rule_folder` holds the rules (default: the checkout's). Raises RuleError, StartupError, VocabularyError or
    ProfileError if something in the data is not right.
    """
    made = {
        rules.COMPILED: rules_data(rule_folder),
        steps.COMPILED: startup_data(),
        vocabulary.COMPILED: vocabulary_data(),
        front_ends.COMPILED: front_end_data(),
    }
    places = {}
    for place, data in made.items():
        file = scratch / place.parent.name / place.name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, data)
        places[file] = place
    return places


def rules_data(folder: Path | None = None) -> Any:
    """The rules of a folder (default: the checkout's). Raises RuleError if one is not right."""
    rules.load_rules(folder)
    return rules.raw_rules(folder)


def startup_data() -> Any:
    """The steps of start-up. Raises StartupError if one is not right."""
    steps.startup(DEFAULT_TARGET)
    return steps.raw_steps()


def vocabulary_data() -> Any:
    """The whole vocabulary. Raises VocabularyError if an entry is not right."""
    raw = vocabulary.raw_data()
    _ = Table(raw).entries
    return raw


def front_end_data() -> Any:
    """The frameworks on top of Megatron. Raises ProfileError if one is not right."""
    front_ends.profiles()
    return front_ends.raw_profiles()
