"""JUnit's XML, as a reader of it has it."""

from __future__ import annotations

from dataclasses import replace

from junitparser import Failure, JUnitXml, Skipped

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.reports.forges import junit
from tests.reports.samples import FORMAT, SUMMARY, SUPPRESSED, UNSHARDED


def read(*findings: Finding) -> JUnitXml:
    return JUnitXml.fromstring(junit(findings, SUMMARY).encode())


def test_a_finding_is_a_test_that_failed() -> None:
    (suite,) = read(FORMAT)
    (test,) = suite
    (failure,) = test.result
    assert isinstance(failure, Failure)
    assert (suite.name, suite.tests, suite.failures) == ("recipes/llama.py", 1, 1)
    assert test.name == "MFSDP101 fsdp-checkpoint-format (line 8, column 5)"
    assert (failure.type, failure.message) == ("error", 'Megatron-FSDP with checkpoint.ckpt_format = "torch_dist"')
    assert "at start-up: validation stops the run" in failure.text


def test_what_is_suppressed_was_skipped() -> None:
    (suite,) = read(SUPPRESSED)
    (test,) = suite
    (skipped,) = test.result
    assert isinstance(skipped, Skipped)
    assert (suite.failures, suite.skipped, skipped.message) == (0, 1, "converted at load")


def test_each_file_is_a_suite_and_totals_add_up() -> None:
    other = replace(UNSHARDED, span=replace(UNSHARDED.span, path="z.py"))
    every = read(FORMAT, UNSHARDED, other)
    assert [suite.name for suite in every] == ["recipes/llama.py", "z.py"]
    assert (every.tests, every.failures, every.errors) == (3, 3, 0)


def test_nothing_found_is_a_test_that_passed() -> None:
    (suite,) = read()
    (test,) = suite
    assert (suite.tests, suite.failures, test.is_passed) == (1, 0, True)


def test_what_xml_cannot_hold_is_shown_escaped() -> None:
    (suite,) = read(replace(FORMAT, message='a\x00\x1b[1m <"&\n]]>'))
    assert next(iter(suite)).result[0].message == 'a\\x00\\x1b[1m <"&\\n]]>'
