"""JUnit's XML, for programs that show test results (Jenkins and others): a failed test a finding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.reports.summary import Summary, summary_line
from mfsdp_lint.reports.wording import printable, remarks


def render(findings: Sequence[Finding], summary: Summary) -> str:
    """Render a suite for each file with findings, else one test that passed. A suppressed finding is a skipped test."""
    suites = Element("testsuites", name="mfsdp-lint")
    for path, found in groupby(findings, key=lambda finding: finding.span.path):
        _suite(suites, path, list(found))
    if not findings:
        suite = SubElement(suites, "testsuite", name="mfsdp-lint", tests="1", failures="0", errors="0", skipped="0")
        test = SubElement(suite, "testcase", name="mfsdp-lint", classname="mfsdp-lint")
        SubElement(test, "system-out").text = printable(summary_line(summary))
    for total in ("tests", "failures", "errors", "skipped"):
        suites.set(total, str(sum(int(suite.get(total, "0")) for suite in suites)))
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _suite(suites: Element, path: str, findings: Sequence[Finding]) -> None:
    skipped = sum(finding.suppressed is not None for finding in findings)
    suite = SubElement(
        suites,
        "testsuite",
        name=printable(path),
        tests=str(len(findings)),
        failures=str(len(findings) - skipped),
        errors="0",
        skipped=str(skipped),
    )
    for finding in findings:
        _test(suite, finding)


def _test(suite: Element, finding: Finding) -> None:
    span = finding.span
    name = f"{finding.code} {finding.name} (line {span.line}, column {span.column})"
    test = SubElement(suite, "testcase", name=name, classname=printable(span.path), file=printable(span.path))
    test.set("line", str(span.line))
    if finding.suppressed is not None:
        SubElement(test, "skipped", message=printable(finding.suppressed.reason))
        return
    failure = SubElement(test, "failure", type=finding.severity, message=printable(finding.message))
    lines = [f"{span.path}:{span.line}:{span.column}: {finding.severity} {finding.code}"]
    lines += remarks(finding)
    lines += [f"{note.span.path}:{note.span.line}: {note.message}" for note in finding.related]
    failure.text = "\n".join(map(printable, lines))
