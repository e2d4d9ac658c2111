"""The audit as one page that stands by itself: templates filled in, with data, style and script inside.

recipes ──► sides.py ──► data ─┐
findings and rules ──► templates ─┴──► page

Jinja2 is imported here alone.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from mfsdp_lint import __version__
from mfsdp_lint.core import files
from mfsdp_lint.core.files import PACKAGE
from mfsdp_lint.core.finding import SEVERITIES, Finding, Fix
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.audit.columns import COLUMNS, matches
from mfsdp_lint.reports.audit.sides import KINDS
from mfsdp_lint.reports.explain import code_of, fix_of, fix_where, found_where, said_of_versions
from mfsdp_lint.reports.snippet import Lines, changes, lines_of, snippet
from mfsdp_lint.reports.summary import Summary, judged_against
from mfsdp_lint.reports.wording import WHEN, printable
from mfsdp_lint.rules.about_files import ABOUT_FILES
from mfsdp_lint.rules.model import Case, Rule


def by_rule(findings: Sequence[Finding], rules: Sequence[Rule], texts: Texts) -> list[dict[str, Any]]:
    """List every rule that has findings, the most severe first, with its documentation and its findings."""
    lines = lines_of(texts)
    known = {rule.code: rule for rule in rules}
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.code, []).append(finding)
    about = {each.code: {"summary": each.summary, "why": each.why, "fixes": [each.fix]} for each in ABOUT_FILES}
    pages = []
    for code, same in found.items():
        counted = [finding for finding in same if finding.suppressed is None]
        page = {
            "code": code,
            "name": same[0].name,
            "severity": min((each.severity for each in counted or same), key=SEVERITIES.index),
            "counted": len(counted),
            "silenced": len(same) - len(counted),
            "findings": [_finding(finding, lines, texts) for finding in same],
        }
        pages.append(page | (_documentation(known[code]) if code in known else about.get(code, {})))
    return sorted(pages, key=lambda page: (SEVERITIES.index(page["severity"]), page["code"]))


def _documentation(rule: Rule) -> dict[str, Any]:
    bad = next((each for each in rule.examples if each.severity and code_of(each)), None)
    good = next((each for each in rule.examples if not each.severity and code_of(each)), None)
    return {
        "summary": rule.summary,
        "why": rule.why,
        "versions": said_of_versions(rule),
        "found": found_where(rule),
        "cases": [_case(case) for case in rule.cases],
        "fixes": [f"{fix_of(fix)}{fix_where(fix)}" for fix in rule.fixes],
        "bad": code_of(bad).rstrip() if bad else "",
        "good": code_of(good).rstrip() if good else "",
    }


def _case(case: Case) -> dict[str, str]:
    where = [case.versions.text, f"where {case.when.text}" if case.when else ""]
    return {
        "severity": case.severity,
        "stage": WHEN[case.stage],
        "where": ", ".join(filter(None, where)),
        "says": f"{case.message.template}: {case.consequence.template}",
    }


def _finding(finding: Finding, lines: Lines, texts: Texts) -> dict[str, Any]:
    silenced = finding.suppressed
    return {
        "fingerprint": finding.fingerprint,
        "code": finding.code,
        "severity": finding.severity,
        "message": printable(finding.message),
        **_frame(finding.span, lines, "^"),
        "when": WHEN[finding.stage],
        "consequence": printable(finding.consequence),
        "raises": printable(finding.raises or ""),
        "notes": [{"message": printable(note.message), **_frame(note.span, lines, "-")} for note in finding.related],
        "recipes": [printable(recipe.name) for recipe in finding.recipes],
        "fix": finding.fix and _fix(finding.fix, texts),
        "fixable": finding.fixable,
        "no_fix": printable(finding.no_fix),
        "silenced": f"by {silenced.by}: {printable(silenced.reason) or 'no reason given'}" if silenced else "",
    }


def _frame(span: Span, lines: Lines, mark: str) -> dict[str, Any]:
    rows = snippet(span, lines(span.path), mark)
    return {"place": f"{printable(span.path)}:{span.line}", "rows": rows}


def _fix(fix: Fix, texts: Texts) -> dict[str, Any]:
    """Show removed and added lines; none if the fix holds only once others have been made."""
    diffs = [
        {
            "place": printable(place),
            "rows": [{"number": number, "sign": text[:1], "text": text[2:]} for number, text in rows],
        }
        for place, rows in changes(fix, texts)
    ]
    return {"safety": fix.safety, "why": printable(fix.why), "diffs": diffs}


ASSETS = os.path.join(PACKAGE, "reports", "audit", "assets")

SCRIPTS = ("dom.js", "data.js", "route.js", "matrix.js", "layout.js", "recipe.js", "compare.js", "main.js")
"""The parts of the page's script; each uses those before it."""


def render(
    sides: Sequence[Mapping[str, Any]],
    findings: Sequence[Finding],
    rules: Sequence[Rule],
    summary: Summary,
    texts: Texts,
    settings: tuple[str, ...] = (),
) -> str:
    """Render one file that needs no other. `sides` are documents of `sides.py`, the one shown first before all others;
    `settings` are globs of those that are columns from the start.

    The page's policy runs no script but its own, and loads nothing, for any texts in it.
    """
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    data = {
        "kinds": KINDS,
        "columns": [{"title": column.title, "settings": column.settings} for column in COLUMNS],
        "chosen": sorted(path for path, _ in sides[0]["settings"] if settings and matches(path, settings)),
        "sides": sides,
    }
    style, script = _asset("page.css"), "\n".join(map(_asset, SCRIPTS))
    return environment.get_template("page.html").render(
        version=__version__,
        recipes=len(sides[0]["recipes"]),
        summary=summary,
        against=printable(judged_against((summary.target, *summary.also))),
        rules=by_rule(findings, rules, texts),
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
        data=Markup(embedded(data)),
    )


def embedded(data: Any) -> str:
    """Write JSON that cannot end the element around it, for any content: ASCII, with no character of markup."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _asset(name: str) -> str:
    return files.text(os.path.join(ASSETS, name))


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
