"""Suppression comments that silence nothing are a finding, where that is certain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.options import Options

WRONG = """\
dist:
  use_megatron_fsdp: true
ddp:
  use_megatron_fsdp: true
checkpoint:
  save: /results
  ckpt_format: {value}  # mfsdp: ignore{codes} so far
"""

Lint = Callable[..., list[tuple[int, str, str]]]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lint:
    """Lints a folder with one override file; what is said of it by MFSDP903: line, severity and message."""
    monkeypatch.chdir(tmp_path)

    def lint(value: str, codes: str = "[MFSDP101]", paths: tuple[str, ...] = (".",), **options: object) -> list[object]:
        Path("run.yaml").write_text(WRONG.format(value=value, codes=codes), encoding="utf-8")
        given = {"target_bridge": "0.3.1", "target_te": "2.9", "target_torch": "2.8.0", **options}
        found = run(Options(paths=paths, **given)).findings  # type: ignore[arg-type]  # the test's own words
        return [(each.span.line, each.severity, each.message) for each in found if each.code == "MFSDP903"]

    return lint  # type: ignore[return-value]  # the fixture's promise is what it returns


def test_a_comment_without_a_finding_is_told(lint: Lint) -> None:
    assert lint("fsdp_dtensor") == [(7, "info", "silences nothing: MFSDP101 is not found here")]


def test_a_comment_that_silences_a_finding_is_fine(lint: Lint) -> None:
    assert lint("torch_dist") == []


def test_of_several_codes_those_are_told_that_silence_nothing(lint: Lint) -> None:
    assert lint("torch_dist", "[MFSDP101, MFSDP199]") == [(7, "info", "silences nothing: there is no rule MFSDP199")]


@pytest.mark.parametrize("value", ["${oc.env:FORMAT}", "???"])
def test_a_value_that_is_not_known_may_be_wrong(lint: Lint, value: str) -> None:
    assert lint(value) == []


@pytest.mark.parametrize("option", [{"ignore": ("MFSDP101",)}, {"select": ("MFSDP2", "MFSDP9")}])
def test_a_rule_that_was_not_run_may_have_found_something(lint: Lint, option: dict[str, tuple[str, ...]]) -> None:
    assert lint("fsdp_dtensor", **option) == []


def test_a_rule_that_is_off_by_default_may_have_found_something(lint: Lint) -> None:
    assert lint("fsdp_dtensor", codes="") == []


def test_a_version_that_is_assumed_may_be_another(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mfsdp_lint.inputs.detect.KINDS", ())  # what this machine has installed does not count
    assert lint("fsdp_dtensor", target_bridge=None) == []


def test_a_file_that_is_linted_by_itself_may_have_users_elsewhere(lint: Lint) -> None:
    assert lint("fsdp_dtensor", paths=("run.yaml",)) == []


def test_one_launch_says_nothing_of_the_others(lint: Lint) -> None:
    assert lint("torch_dist", overrides=("checkpoint.ckpt_format=fsdp_dtensor",)) == []


def test_it_can_be_ignored(lint: Lint) -> None:
    assert lint("fsdp_dtensor", ignore=("MFSDP903",)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  ckpt_format: fsdp_dtensor  # mfsdp: ignore[MFSDP101] so far\n", "  ckpt_format: fsdp_dtensor\n"),
        ("  # mfsdp: ignore[MFSDP101] so far\n  ckpt_format: fsdp_dtensor\n", "  ckpt_format: fsdp_dtensor\n"),
        (
            "  ckpt_format: torch_dist  # mfsdp: ignore[MFSDP101, MFSDP199] so far\n",
            "  ckpt_format: torch_dist  # mfsdp: ignore[MFSDP101] so far\n",
        ),
        (
            "  ckpt_format: fsdp_dtensor  # noqa # mfsdp: ignore[MFSDP101] so far # more\n",
            "  ckpt_format: fsdp_dtensor  # noqa # more\n",
        ),
    ],
    ids=["behind a line", "a line of its own", "one code of two", "between other comments"],
)
def test_fix_takes_out_what_silences_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    monkeypatch.chdir(tmp_path)
    head = WRONG.partition("  ckpt_format")[0]
    Path("run.yaml").write_text(head + before, encoding="utf-8")
    options = Options(target_bridge="0.3.1", target_te="2.9", target_torch="2.8.0", fix=True)
    assert run(options).summary.fixed == 1
    assert Path("run.yaml").read_text(encoding="utf-8") == head + after
    assert run(options).summary.fixed == 0


def test_the_patch_takes_it_out_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.yaml").write_text(WRONG.format(value="fsdp_dtensor", codes="[MFSDP101]"), encoding="utf-8")
    outcome = run(Options(target_bridge="0.3.1", target_te="2.9", target_torch="2.8.0", diff=True))
    assert (
        b"\n-  ckpt_format: fsdp_dtensor  # mfsdp: ignore[MFSDP101] so far\n+  ckpt_format: fsdp_dtensor\n"
        in outcome.patch
    )
