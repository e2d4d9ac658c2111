"""The library's front door for files: what the command line finds, as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.records import dataclass, fields
from mfsdp_lint.engine import cache
from mfsdp_lint.inputs.configuration import read_configuration
from mfsdp_lint.inputs.options import Options, UsageError, merge
from mfsdp_lint.reports.summary import Summary

_WRITES = ("fix", "fix_only", "update_baseline")


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check: the findings that count, the silenced ones, and the problems.

    Findings are in the order of their places. `problems` name the files that could not be checked.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    problems: tuple[str, ...]
    summary: Summary


def check(
    paths: Sequence[str] = (".",), *, config: str | None = None, isolated: bool = False, **options: Any
) -> Checked:
    """Check files, folders and addresses, as `mfsdp-lint PATHS` does; nothing in them is imported or run.

    `options` are the keys of the configuration with `_` for `-` (`select=("MFSDP1",)`, `target_bridge="0.4.2"`). They
    override those of the nearest configuration, of the file `config`, or with `isolated` of none. Nothing is written.
    Raises UsageError for an option that is wrong.
    """
    known = {field.name for field in fields(Options)} - {"paths", *_WRITES}
    for name in options:
        if name not in known:
            from mfsdp_lint.core.nearest import did_you_mean

            raise UsageError(f"{name}: no such option{did_you_mean(name, known)}")
    configured = {} if isolated else read_configuration(config)
    configured = {name: value for name, value in configured.items() if name not in _WRITES}
    outcome = cache.run(merge({**options, "paths": tuple(paths)}, configured))
    return Checked(
        tuple(finding for finding in outcome.findings if finding.suppressed is None),
        tuple(finding for finding in outcome.findings if finding.suppressed is not None),
        outcome.problems,
        outcome.summary,
    )
