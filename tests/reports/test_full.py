"""The report for people, as it is printed."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest

from mfsdp_lint.core.finding import Edit, Finding, Fix
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports.summary import Summary, summary_line
from mfsdp_lint.reports.text import MOST_LINES, full
from tests.reports.samples import FILES, FORMAT, SUMMARY, SUPPRESSED, TARGET, UNSHARDED, VALUE, WITH_FIX

NOTHING = Summary(TARGET, files=0, recipes=0)


def rendered(*findings: Finding, summary: Summary = SUMMARY) -> str:
    return full(findings, summary, FILES.get)


def without_summary(*findings: Finding) -> str:
    return rendered(*findings).rsplit("\n\n", 1)[0] + "\n"


def test_a_finding_is_told_from_the_line_at_fault_to_the_way_out() -> None:
    assert (
        rendered(FORMAT, UNSHARDED)
        == dedent(
            """\
        error[MFSDP101]: Megatron-FSDP with checkpoint.ckpt_format = "torch_dist"
         --> recipes/llama.py:8:5
          |
        8 |     cfg.checkpoint.ckpt_format = "torch_dist"
          |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          = at start-up: validation stops the run
          = the error will be: Megatron FSDP only supports fsdp_dtensor checkpoint format
        note: Megatron-FSDP is turned on here (recipes/llama.py:7)
        note: checkpoint.save is "/results" (recipes/llama.py:9)
        recipes: llama3_8b_fsdp
        help: --fix can repair this (safe fix)

        warning[MFSDP301]: Megatron-FSDP with ddp.data_parallel_sharding_strategy = "no_shard"
         --> recipes/llama.py:7:5
          |
        7 |     cfg.ddp.use_megatron_fsdp = True
          |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          = silently: every rank keeps the whole model
        recipes: recipe_0 and 41 more
        help: --fix --unsafe-fixes can repair this (unsafe fix)

        """
        )
        + f"{summary_line(SUMMARY)}\n"
    )


def test_nothing_found_is_one_line_of_summary() -> None:
    assert rendered(summary=replace(NOTHING, files=3, recipes=12)) == (
        "3 files, 12 recipes: 0 findings; "
        "judged against megatron-bridge 0.3.1 with megatron-core 0.16.1 (the newest on the package index)\n"
    )


def test_errors_come_first_wherever_they_are() -> None:
    info, warning = replace(FORMAT, severity="info", code="MFSDP901"), replace(FORMAT, severity="warning")
    heads = [line for line in without_summary(info, warning, FORMAT).splitlines() if "]: " in line]
    assert [head.partition("[")[0] for head in heads] == ["error", "warning", "info"]


def test_infos_are_one_line_unless_somebody_asks() -> None:
    info = replace(FORMAT, severity="info")
    summary = replace(SUMMARY, errors=0, warnings=0, infos=2)
    folded = full([info, info], summary, FILES.get, infos=False)
    assert folded.startswith("2 infos: --show-info\n\n")
    assert "recipes/llama.py" not in folded
    assert full([info], replace(summary, infos=1), FILES.get, infos=False).startswith("1 info: --show-info\n")


def test_a_brief_report_is_findings_alone() -> None:
    assert full([], NOTHING, FILES.get, brief=True) == ""
    assert "judged against" not in full([FORMAT], SUMMARY, FILES.get, brief=True)


def test_text_is_broken_between_words_and_code_is_cut_around_its_mark() -> None:
    long = replace(FORMAT, message="a message " * 20, consequence="what happens then " * 20)
    for line in full([long], SUMMARY, FILES.get, columns=60).splitlines():
        assert len(line) <= 60
        assert "messag\n" not in line


def test_a_suppressed_finding_is_not_shown() -> None:
    assert "MFSDP101" not in rendered(SUPPRESSED)


def test_a_proved_fix_is_described() -> None:
    assert 'help: write `"fsdp_dtensor"` at recipes/llama.py:8 (safe fix: --fix)\n' in without_summary(WITH_FIX)


def test_a_fix_that_only_removes_says_so() -> None:
    removal = Fix("safe", (Edit(Span("recipes/llama.py", 9, 1, 10, 1), ""),))
    assert (
        'help: remove `cfg.checkpoint.save = "/results"` at recipes/llama.py:9 (safe fix: --fix)\n'
        in without_summary(replace(FORMAT, fix=removal))
    )


def test_another_place_is_shown_with_its_text_where_there_is_room() -> None:
    assert dedent(
        """\
        note: Megatron-FSDP is turned on here
         --> recipes/llama.py:7:5
          |
        7 |     cfg.ddp.use_megatron_fsdp = True
          |     --------------------------------
        """
    ) in without_summary(replace(FORMAT, related=FORMAT.related[:1], consequence="", raises=None, recipes=()))


def test_a_fix_of_several_lines_is_a_small_diff() -> None:
    behind = Edit(Span("recipes/llama.py", 8, 1, 8, 1), "    cfg.dist.use_megatron_fsdp = True\n")
    gone = Edit(Span("recipes/llama.py", 9, 1, 10, 1), "")
    small = replace(FORMAT, related=(), raises=None, recipes=(), fix=Fix("safe", (behind, VALUE, gone)))
    assert without_summary(small).endswith(
        dedent(
            """\
            help: change these lines (safe fix: --fix)
             --> recipes/llama.py:8
            8 | -     cfg.checkpoint.ckpt_format = "torch_dist"
            9 | -     cfg.checkpoint.save = "/results"
            8 | +     cfg.dist.use_megatron_fsdp = True
            9 | +     cfg.checkpoint.ckpt_format = "fsdp_dtensor"
            """
        )
    )


@pytest.mark.parametrize("notes", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("lines", [0, 1, 2, 5, 40])
def test_a_finding_is_twelve_lines_at_most(notes: int, lines: int) -> None:
    added = "".join(f"    cfg.train.number_{number} = {number}\n" for number in range(lines))
    fix = Fix("safe", (Edit(Span("recipes/llama.py", 9, 1, 9, 1), added),)) if lines else None
    told = without_summary(replace(FORMAT, related=FORMAT.related[:1] * notes, fix=fix)).rstrip().splitlines()
    assert len(told) <= MOST_LINES


def test_what_does_not_fit_is_counted() -> None:
    told = without_summary(replace(FORMAT, related=FORMAT.related * 4))
    assert "note: and 6 more (--output-format json)\n" in told


def test_a_change_that_removes_several_findings_is_shown_once() -> None:
    fix = Fix("safe", (VALUE,), together=(UNSHARDED.fingerprint,))
    same = replace(UNSHARDED, fixable="safe", fix=replace(fix, together=(FORMAT.fingerprint,)))
    output = rendered(replace(FORMAT, fix=fix), same)
    assert 'help: write `"fsdp_dtensor"` at recipes/llama.py:8 (safe fix: --fix)\n' in output
    wanted = "help: what is changed for MFSDP101 at recipes/llama.py:8 removes this as well (safe fix: --fix)\n"
    assert output.count(wanted) == 1


def test_a_diff_that_does_not_fit_is_not_begun() -> None:
    lines = "".join(f"    cfg.train.number_{number} = {number}\n" for number in range(40))
    output = without_summary(replace(FORMAT, fix=Fix("safe", (Edit(Span("recipes/llama.py", 9, 1, 9, 1), lines),))))
    assert output.rstrip().endswith("help: change these lines (safe fix: --fix; --diff shows them)")


def test_code_that_is_not_at_hand_is_named_without_its_line() -> None:
    upstream = replace(FORMAT, related=(replace(FORMAT.related[0], span=Span("upstream/llama.py", 120, 5, 120, 9)),))
    assert dedent(
        """\
        note: Megatron-FSDP is turned on here
           --> upstream/llama.py:120:5
        recipes: llama3_8b_fsdp
        """
    ) in without_summary(upstream)


def test_color_marks_the_severity_the_mark_and_the_gutter() -> None:
    colored = full([UNSHARDED], SUMMARY, FILES.get, color=True)
    assert colored.startswith("\x1b[1;33mwarning[MFSDP301]\x1b[0m\x1b[1m: Megatron-FSDP with")
    assert "\x1b[1;33m    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\x1b[0m\n" in colored


def test_what_a_checked_file_holds_cannot_steer_the_terminal() -> None:
    nasty = replace(
        FORMAT, message="value \x1b[2J\nnext \u202e", span=Span("re\x1bcipe.py", 1, 1, 1, 2), related=(), recipes=()
    )
    output = full([nasty], NOTHING, {"re\x1bcipe.py": "x = '\x1b[31m'\n"}.get)
    assert "\x1b" not in output
    assert "value \\x1b[2J\\nnext \\u202e" in output
    assert "re\\x1bcipe.py:1:1" in output
    assert "x = '\\x1b[31m'" in output
