"""One line a finding, for editors and grep."""

from __future__ import annotations

from dataclasses import replace

from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports import text
from tests.reports.samples import FORMAT, SUMMARY, SUPPRESSED, UNSHARDED

SUMMARY_LINE = (
    "1 file, 1 recipe: 2 findings (1 error, 1 warning); 1 fixable with --fix; 1 held back as unsafe (--unsafe-fixes); "
    "judged against megatron-bridge 0.3.1 with megatron-core 0.16.1 (the newest on the package index)"
)


def test_path_line_column_severity_code_message() -> None:
    assert text.concise([FORMAT, UNSHARDED], SUMMARY).splitlines() == [
        'recipes/llama.py:8:5: error MFSDP101 Megatron-FSDP with checkpoint.ckpt_format = "torch_dist"',
        'recipes/llama.py:7:5: warning MFSDP301 Megatron-FSDP with ddp.data_parallel_sharding_strategy = "no_shard"',
        SUMMARY_LINE,
    ]


def test_a_suppressed_finding_is_not_shown() -> None:
    assert text.concise([SUPPRESSED], SUMMARY) == SUMMARY_LINE + "\n"


def test_a_message_or_path_with_a_line_end_stays_on_one_line() -> None:
    finding = replace(FORMAT, message="one\ntwo", span=Span("a\nb.py", 1, 1, 1, 2))
    assert text.concise([finding], SUMMARY).splitlines()[0] == "a\\nb.py:1:1: error MFSDP101 one\\ntwo"
