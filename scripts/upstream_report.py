#!/usr/bin/env python3
"""Findings on upstream's own recipes as shipped: `docs/upstream-report.md`.

    python scripts/upstream_report.py 0.3.1=TREE … head=TREE -o docs/upstream-report.md

Each TREE is a source tree or an unpacked wheel of that Megatron-Bridge release; nothing in it is imported. Every
recipe folder in it is linted against that release; the report has the counts by rule, and every finding of severity
error.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mfsdp_lint import process
from mfsdp_lint.core.finding import SEVERITIES, Finding
from mfsdp_lint.engine.judge import Linter
from mfsdp_lint.engine.read import question
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.rules.load import load_rules

FOLDERS = (
    "megatron/bridge/recipes",
    "megatron/bridge/perf_recipes",
    "src/megatron/bridge/recipes",
    "src/megatron/bridge/perf_recipes",
    "scripts/performance",
)
"""Where recipes are, in a wheel and in a source tree."""


@dataclass(frozen=True)
class Release:
    """A release and its findings."""

    version: str
    files: int
    recipes: int
    findings: list[Finding]

    def count(self, code: str) -> str:
        """Count the findings of one rule, and the recipes that they are about."""
        own = [finding for finding in self.findings if finding.code == code]
        recipes = {recipe.name for finding in own for recipe in finding.recipes}
        return f"{len(own)} ({len(recipes)})" if own else ""


def lint(version: str, tree: Path) -> Release:
    """Lint the recipe folders of one tree."""
    os.chdir(tree)
    folders = tuple(folder for folder in FOLDERS if Path(folder).is_dir())
    asked, _ = question(Options(paths=folders, target_bridge=version))
    rules = tuple(rule for rule in load_rules() if rule.preset is None)
    judgement = Linter(asked, rules, rules)(Sources())
    findings = [cause.finding for cause in judgement.causes if cause.finding.suppressed is None]
    return Release(version, len(asked.every_file), judgement.distinct_recipes, findings)


def report(releases: Sequence[Release]) -> Iterator[str]:
    """Yield the lines of the report."""
    yield "# The rules on upstream's own recipes"
    yield ""
    yield "Made by `scripts/upstream_report.py`: every recipe folder of each release as shipped, linted against it."
    yield "A cell is the number of findings, and in parentheses the number of recipes that they name."
    yield ""
    yield from _table(releases)
    yield ""
    yield "## Every error"
    for release in releases:
        errors = [finding for finding in release.findings if finding.severity == "error"]
        yield ""
        yield f"### {release.version}"
        yield ""
        if not errors:
            yield "None."
        for finding in errors:
            yield from _told(finding)
    yield ""


def _told(finding: Finding) -> Iterator[str]:
    names = [recipe.name for recipe in finding.recipes]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    yield f"- {finding.code} `{finding.span.path}:{finding.span.line}` ({finding.stage}): {finding.message}"
    yield f"  ({', '.join(names[:3])}{more})"


def _table(releases: Sequence[Release]) -> Iterator[str]:
    found = [finding for release in releases for finding in release.findings]
    yield "| | | " + " | ".join(release.version for release in releases) + " |"
    yield "| --- | --- |" + " --- |" * len(releases)
    yield "| files | | " + " | ".join(str(release.files) for release in releases) + " |"
    yield "| recipes | | " + " | ".join(str(release.recipes) for release in releases) + " |"
    for code, name in sorted({finding.code: finding.name for finding in found}.items()):
        worst = next(each for each in SEVERITIES if any((one.code, one.severity) == (code, each) for one in found))
        counts = " | ".join(release.count(code) for release in releases)
        yield f"| {code} {name} | {worst} | {counts} |"


READ_BY_HAND = "\n## Launch scripts of other projects\n"


def main() -> int:
    """Write the report."""
    process.own()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", metavar="VERSION=TREE")
    parser.add_argument("-o", "--output", required=True, type=Path)
    options = parser.parse_args()
    output = options.output.resolve()
    releases = []
    for tree in options.trees:
        version, equals, path = tree.partition("=")
        if not equals or not Path(path).is_dir():
            parser.error(f"{tree}: expected VERSION=TREE, an existing folder")
        releases.append(lint(version, Path(path).resolve()))
    output.write_text("\n".join(report(releases)) + _read_by_hand(output), encoding="utf-8")
    return 0


def _read_by_hand(output: Path) -> str:
    """Return the part of an earlier report that no run makes: findings that a person has read."""
    before = output.read_text(encoding="utf-8") if output.exists() else ""
    return before[before.index(READ_BY_HAND) :] if READ_BY_HAND in before else ""


if __name__ == "__main__":
    raise SystemExit(main())
