"""GitLab's code quality report, for merge requests. Suppressed findings are left out: GitLab has no word for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from mfsdp_lint.core.finding import Finding, Severity
from mfsdp_lint.reports.places import in_repository
from mfsdp_lint.reports.wording import WHEN

_SEVERITIES: dict[Severity, str] = {"error": "critical", "warning": "major", "info": "info"}


def render(findings: Sequence[Finding], *, directory: str = "") -> str:
    """Render a list of the findings. `directory` is where the tool runs, relative to the repository."""
    ties: Counter[str] = Counter()
    documents = []
    for finding in findings:
        if finding.suppressed is None:
            ties[finding.fingerprint] += 1
            documents.append(_document(finding, directory, ties[finding.fingerprint]))
    return json.dumps(documents, indent=2) + "\n"


def _document(finding: Finding, directory: str, tie: int) -> dict[str, Any]:
    happens = f" ({WHEN[finding.stage]}: {finding.consequence})" if finding.consequence else ""
    return {
        "description": f"{finding.code}: {finding.message}{happens}",
        "check_name": finding.name,
        # GitLab keeps one of those that share a fingerprint.
        "fingerprint": finding.fingerprint if tie == 1 else f"{finding.fingerprint}-{tie}",
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": in_repository(finding.span.path, directory),
            "lines": {"begin": finding.span.line, "end": finding.span.end_line},
        },
    }
