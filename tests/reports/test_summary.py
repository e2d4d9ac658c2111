"""What a run comes to."""

from __future__ import annotations

from dataclasses import replace

from mfsdp_lint.megatron.versions import Target, resolve_target
from mfsdp_lint.reports.summary import Summary, summarise, summary_line
from tests.reports.samples import FORMAT, SUPPRESSED, TARGET, UNSHARDED


def test_findings_are_counted_by_severity_and_by_what_can_be_fixed() -> None:
    assert summarise([FORMAT, UNSHARDED, SUPPRESSED], [TARGET], files=2, recipes=5, fixed=3) == Summary(
        TARGET, files=2, recipes=5, errors=1, warnings=1, suppressed=1, fixable=1, held_back=1, fixed=3
    )


def test_unsafe_fixes_that_were_asked_for_are_not_held_back() -> None:
    summary = summarise([FORMAT, UNSHARDED], [TARGET], files=1, recipes=1, unsafe_fixes=True)
    assert (summary.fixable, summary.held_back) == (2, 0)


def test_what_nobody_proved_is_as_many_as_there_may_be() -> None:
    hoped = replace(FORMAT, fix=None, fix_proved=False)
    line = summary_line(summarise([hoped, UNSHARDED], [TARGET], files=1, recipes=1))
    assert "; up to 1 fixable with --fix; 1 held back as unsafe (--unsafe-fixes); " in line
    assert "; up to 2 fixable with --fix; " in summary_line(
        summarise([hoped, UNSHARDED], [TARGET], files=1, recipes=1, unsafe_fixes=True)
    )


def test_the_line_says_all_of_it() -> None:
    summary = Summary(
        TARGET,
        files=2,
        recipes=1,
        errors=2,
        warnings=1,
        infos=3,
        suppressed=4,
        fixable=1,
        held_back=2,
        fixed=5,
    )
    assert summary_line(summary) == (
        "2 files, 1 recipe: 6 findings (2 errors, 1 warning, 3 info); 5 fixed; 1 fixable with --fix; "
        "2 held back as unsafe (--unsafe-fixes); 4 suppressed; "
        "judged against megatron-bridge 0.3.1 with megatron-core 0.16.1 (the newest on the package index)"
    )


def test_the_versions_of_other_components_are_told_where_they_are_known() -> None:
    target = Target("0.4.2", "0.17.1", "uv.lock:812", assumed=False, te="2.14", torch="2.11.0", gpu="h100")
    assert summary_line(Summary(target, files=1, recipes=1)).endswith(
        "judged against megatron-bridge 0.4.2 with megatron-core 0.17.1, "
        "transformer-engine 2.14, torch 2.11.0, on h100 (uv.lock:812)"
    )


def test_a_range_is_told_by_its_ends() -> None:
    newest, *others = [resolve_target(bridge) for bridge in ("0.5.1", "0.5.0", "0.4.2")]
    assert summary_line(Summary(newest, files=1, recipes=1, also=tuple(others))).endswith(
        "judged against megatron-bridge 0.4.2 to 0.5.1 with megatron-core 0.17.1 to 0.18.2 (as asked)"
    )
