"""A team's own rules: YAML files of the same form in its own repository (`extend-rules = ["lint/"]`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.rules.fields import RuleError
from mfsdp_lint.rules.load import extended_rules
from mfsdp_lint.rules.model import Rule


def rules_for(extensions: Sequence[str]) -> tuple[Rule, ...]:
    """Load the tool's rules and those of some folders. Raises UsageError for a folder or a rule that is not right."""
    folders = [Path(extension) for extension in extensions]
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"extend-rules: {folder}: no such folder")
    try:
        return extended_rules(folders)
    except RuleError as problem:
        raise UsageError(f"extend-rules: {problem}") from None
