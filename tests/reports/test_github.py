"""Annotations that GitHub shows, and the table on the job's page."""

from __future__ import annotations

from dataclasses import replace

from mfsdp_lint.core.finding import Finding, Severity
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports.forges import github, github_summary
from tests.reports.samples import FORMAT, SUMMARY, SUPPRESSED, UNSHARDED


def commands(*findings: Finding, directory: str = "") -> list[str]:
    lines = github(findings, SUMMARY, directory=directory).splitlines()
    return [line for line in lines if line.startswith("::")]


def many(severity: Severity, number: int) -> list[Finding]:
    return [
        replace(FORMAT, severity=severity, span=Span("a.py", line, 1, line, 2), fingerprint=f"{severity}{line}")
        for line in range(1, number + 1)
    ]


def test_a_finding_is_one_command_with_everything_escaped() -> None:
    assert commands(FORMAT) == [
        "::error file=recipes/llama.py,line=8,col=5,endColumn=46,title=MFSDP101 fsdp-checkpoint-format::"
        'Megatron-FSDP with checkpoint.ckpt_format = "torch_dist"'
        "%0Aat start-up: validation stops the run"
        "%0Athe error will be: Megatron FSDP only supports fsdp_dtensor checkpoint format"
        "%0Arecipes/llama.py:7: Megatron-FSDP is turned on here"
        '%0Arecipes/llama.py:9: checkpoint.save is "/results"'
        "%0Arecipes: llama3_8b_fsdp"
    ]


def test_properties_and_data_are_escaped_by_their_own_rules() -> None:
    finding = Finding("X1", "a:b,c%", "info", "never", "50%: a, b\r\n::error::no", Span("a,b:c%.py", 1, 1, 1, 1))
    assert commands(finding) == [
        "::notice file=a%2Cb%3Ac%25.py,line=1,col=1,title=X1 a%3Ab%2Cc%25::50%25: a, b\\r\\n::error::no"
    ]


def test_columns_are_left_out_where_the_lines_differ() -> None:
    finding = replace(UNSHARDED, span=Span("a.py", 3, 5, 6, 2))
    assert commands(finding)[0].startswith("::warning file=a.py,line=3,endLine=6,title=")


def test_at_most_ten_of_each_kind_and_the_most_severe_first() -> None:
    findings = many("info", 12) + many("warning", 3) + many("error", 11)
    kinds = [command.split(" ")[0] for command in commands(*findings)]
    assert kinds == ["::error"] * 10 + ["::warning"] * 3 + ["::notice"] * 10
    assert "3 more findings not annotated; the job's summary lists all of them" in github(findings, SUMMARY)


def test_one_cause_is_annotated_once_and_a_suppressed_one_never() -> None:
    assert len(commands(FORMAT, FORMAT)) == 1
    assert commands(SUPPRESSED) == []


def test_paths_are_the_repository_s() -> None:
    assert commands(FORMAT, directory="training/jobs")[0].startswith("::error file=training/jobs/recipes/llama.py,")
    assert commands(FORMAT, directory=".")[0].startswith("::error file=recipes/llama.py,")


def test_the_table_lists_every_finding_the_most_severe_first() -> None:
    assert github_summary([UNSHARDED, FORMAT], SUMMARY) == (
        "### mfsdp-lint\n"
        "\n"
        "1 file, 1 recipe: 2 findings (1 error, 1 warning); 1 fixable with --fix; 1 held back as unsafe "
        "(--unsafe-fixes); judged against megatron-bridge 0.3.1 with megatron-core 0.16.1 "
        "(the newest on the package index)\n"
        "\n"
        "| | rule | place | message | recipes | fix |\n"
        "|---|---|---|---|---|---|\n"
        "| error | MFSDP101 fsdp-checkpoint-format | recipes/llama.py:8 | Megatron-FSDP with "
        'checkpoint.ckpt\\_format = "torch\\_dist" | llama3\\_8b\\_fsdp | safe |\n'
        "| warning | MFSDP301 fsdp-no-shard | recipes/llama.py:7 | Megatron-FSDP with "
        'ddp.data\\_parallel\\_sharding\\_strategy = "no\\_shard" | recipe\\_0, recipe\\_1, recipe\\_2 and 39 more '
        "| unsafe |\n"
    )


def test_nothing_found_is_a_page_without_a_table() -> None:
    assert "|---|" not in github_summary([], SUMMARY)


def test_a_cell_cannot_break_out_of_the_table() -> None:
    page = github_summary([replace(FORMAT, message="a | b\n<img> `c` & d")], SUMMARY)
    assert "| a \\| b\\n\\<img\\> \\`c\\` &amp; d |".replace("b\\n", "b\\\\n") in page


def test_a_table_that_github_would_refuse_is_cut_and_says_so() -> None:
    page = github_summary(many("error", 500), SUMMARY, room=10_000)
    assert len(page.encode()) <= 10_000
    shown = page.count("| error |")
    assert page.endswith(f"\n{500 - shown} more findings would not fit here.\n")
