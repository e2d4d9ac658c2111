"""Several versions at once: what a finding says of where it holds, and what is fixed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.engine import run as running
from mfsdp_lint.engine.cache import Outcome
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.reports.text import concise
from mfsdp_lint.rules.load import load_rules

RULE = """
code: {code}
name: {name}
summary: For these tests
why: For these tests.
versions: "{versions}"
applies: checkpoint.ckpt_format == "{format}"
cases:
  - severity: {severity}
    stage: startup
    message: "{format}"
    consequence: it stops
    raises: {{"<0.5": the old words, ">=0.5": the new words}}
blame: {{value: [checkpoint.ckpt_format]}}
fix: {{set: {{checkpoint.ckpt_format: {better}}}, safe: checkpoint.save is None}}
examples:
  bad: [{{severity: {severity}, settings: {{checkpoint.ckpt_format: {format}}}}}]
"""

RULES = (
    {"versions": ">=0.2", "format": "zarr", "better": "torch_dist", "severity": "error"},
    {"versions": "<0.5", "format": "torch_dcp", "better": "torch_dist", "severity": "error"},
    {"versions": ">=0.4.2,<0.6", "format": "torch", "better": "torch_dist", "severity": "warning"},
    {"versions": ">=0.5.1", "format": "late", "better": "zarr", "severity": "warning"},
    {"versions": "megatron-lm >=0.15", "format": "torch_dcp", "better": "torch", "severity": "error"},
)

Lint = Callable[..., Outcome]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lint:
    """Lints one override file, `save: null` and this checkpoint format, by the rules above."""
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "terms.yaml").write_text("{}\n", encoding="utf-8")
    for number, rule in enumerate(RULES, 1):
        text = RULE.format(code=f"TEAM00{number}", name=f"checkpoint-format-{number}", **rule)
        (folder / f"TEAM00{number}.yaml").write_text(text, encoding="utf-8")
    rules = load_rules(folder)
    monkeypatch.setattr(running, "load_rules", lambda: rules)
    monkeypatch.setattr("mfsdp_lint.inputs.detect.KINDS", ())  # what this machine has installed does not count
    monkeypatch.chdir(tmp_path)

    def lint(ckpt_format: str, bridge: str | None = None, **options: bool) -> Outcome:
        Path("run.yaml").write_text(f"checkpoint:\n  ckpt_format: {ckpt_format}\n  save: null\n", encoding="utf-8")
        return running.run(Options(paths=("run.yaml",), target_bridge=bridge, **options))  # type: ignore[arg-type]

    return lint


def shown(outcome: Outcome) -> str:
    return concise(outcome.findings, outcome.summary)


def test_a_finding_says_for_which_versions_of_a_range_it_holds(lint: Lint) -> None:
    outcome = lint("torch_dcp", ">=0.4.2,<0.6")
    assert shown(outcome) == dedent(
        """\
        run.yaml:2:16: error TEAM002 torch_dcp (holds for megatron-bridge 0.4.2)
        1 file, 1 recipe: 1 finding (1 error); """
        """judged against megatron-bridge 0.4.2 to 0.5.1 with megatron-core 0.17.1 to 0.18.2 (as asked)
        """
    )
    assert outcome.findings[0].versions == ("megatron-bridge 0.4.2",)


def test_it_is_one_finding_however_many_versions_it_holds_for_and_fixed_where_it_is_proved_for_all(lint: Lint) -> None:
    outcome = lint("zarr", ">=0.4.2,<=0.5.0")
    assert shown(outcome) == dedent(
        """\
        run.yaml:2:16: error TEAM001 zarr (holds for megatron-bridge 0.4.2, 0.5.0)
        1 file, 1 recipe: 1 finding (1 error); 1 fixable with --fix; """
        """judged against megatron-bridge 0.4.2, 0.5.0 with megatron-core 0.17.1, 0.18.0 (as asked)
        """
    )
    assert outcome.findings[0].raises == "the new words"


def test_a_fix_changes_nothing_for_a_version_that_has_no_finding(lint: Lint) -> None:
    assert lint("torch_dcp", ">=0.3,<0.5", fix=True).summary.fixed == 1
    outcome = lint("torch_dcp", ">=0.3,<0.6", fix=True)
    assert (outcome.summary.fixed, len(outcome.findings), outcome.findings[0].fix) == (0, 1, None)
    assert outcome.summary.fixable == 0
    assert "torch_dcp" in Path("run.yaml").read_text(encoding="utf-8")
    Path("again.yaml").write_text(Path("run.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    options = Options(paths=("again.yaml",), target_bridge=">=0.3,<0.6", output_format=("concise",))
    assert running.run(replace(options, show_fixes=True)).summary.fixable == 0
    unproved = running.run(options).summary
    assert (unproved.fixable, unproved.fixable_at_most) == (1, True)


def test_a_fix_that_one_version_would_report_is_none(lint: Lint) -> None:
    assert lint("late", "0.5.1", fix=True).summary.fixed == 0


def test_the_versions_of_a_patch_line_are_told_apart(lint: Lint) -> None:
    assert lint("torch", "0.4.*").findings[0].versions == ("megatron-bridge 0.4.2",)


def test_one_version_is_not_repeated_with_every_finding(lint: Lint) -> None:
    (finding,) = lint("zarr", "0.4.2").findings
    assert (finding.message, finding.versions) == ("zarr", ())


def test_a_patch_release_that_came_later_is_judged_by_its_neighbour_and_that_is_said(lint: Lint) -> None:
    assert shown(lint("zarr", "0.5.9")).endswith(
        "judged against megatron-bridge 0.5.9 with megatron-core 0.18.2 (as asked; with what is known of 0.5.1)\n"
    )


def test_the_command_line_is_judged_by_its_core(lint: Lint) -> None:
    Path("model_config.yaml").write_text("MODEL_ARGS:\n  --ckpt-format: torch_dcp\n", encoding="utf-8")
    outcome = running.run(Options(paths=("model_config.yaml",), target_core=">=0.14,<0.16"))
    assert shown(outcome) == dedent(
        """\
        model_config.yaml:2:18: error TEAM005 torch_dcp (holds for megatron-core 0.15.0 to 0.15.3)
        1 file, 1 recipe: 1 finding (1 error); judged against megatron-core 0.14.0 to 0.15.3 (as asked)
        """
    )


# -- an assumed version -------------------------------------------------------------------------------------------


def test_where_the_version_is_assumed_a_finding_that_depends_on_it_says_for_which_it_holds(lint: Lint) -> None:
    outcome = lint("torch_dcp")
    assert shown(outcome) == dedent(
        """\
        run.yaml:2:16: error TEAM002 torch_dcp (holds for megatron-bridge 0.2.2, 0.3.1, 0.4.2)
        1 file, 1 recipe: 1 finding (1 error); 1 fixable with --fix; """
        """judged against megatron-bridge 0.3.1 with megatron-core 0.16.1 (the newest on the package index)
        """
    )
    assert outcome.findings[0].versions[-1] == "megatron-bridge 0.4.2"


def test_a_finding_that_holds_for_every_version_needs_not_say_so(lint: Lint) -> None:
    (finding,) = lint("zarr").findings
    assert (finding.message, len(finding.versions)) == ("zarr", 6)


def test_what_holds_only_for_other_versions_is_no_finding(lint: Lint) -> None:
    assert lint("torch").findings == ()


def test_each_front_end_is_asked_for_its_own_versions(lint: Lint) -> None:
    Path("model_config.yaml").write_text("MODEL_ARGS:\n  --ckpt-format: torch_dcp\n", encoding="utf-8")
    Path("run.yaml").write_text("checkpoint:\n  ckpt_format: torch_dcp\n  save: null\n", encoding="utf-8")
    command_line, bridge = running.run(Options(paths=("model_config.yaml", "run.yaml"))).findings
    assert bridge.message == "torch_dcp (holds for megatron-bridge 0.2.2, 0.3.1, 0.4.2)"
    assert command_line.message == "torch_dcp (holds for megatron-core 0.15.3, 0.16.1, 0.17.1, 0.18.2 to 0.20.0.dev)"


def test_the_ways_through_a_recipe_are_told_once_however_many_versions_take_them(lint: Lint) -> None:
    Path("recipe.py").write_text(
        dedent(
            """\
            from dataclasses import dataclass, field


            @dataclass
            class CheckpointConfig:
                ckpt_format: str = "torch_dist"


            @dataclass
            class ConfigContainer:
                checkpoint: CheckpointConfig = field(default_factory=CheckpointConfig)


            def recipe(old):
                cfg = ConfigContainer()
                if old:
                    cfg.checkpoint.ckpt_format = "zarr"
                return cfg
            """
        ),
        encoding="utf-8",
    )
    (finding,) = running.run(Options(paths=("recipe.py",), target_bridge=">=0.4,<0.5")).findings
    assert finding.message == "zarr when old (holds for megatron-bridge 0.4.0 to 0.4.2)"


def test_what_was_used_in_place_of_a_version_is_said_after_a_fix_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recipe that the remark is about is not read again for the fix of another one."""
    monkeypatch.chdir(tmp_path)
    Path("upstream.py").write_text(
        "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n\n"
        "def upstream():\n    return llama3_8b_pretrain_config()\n",
        encoding="utf-8",
    )
    Path("own.py").write_text(
        "def own(cfg):\n    cfg.dist.use_megatron_fsdp = cfg.ddp.use_megatron_fsdp = True\n"
        "    cfg.checkpoint.ckpt_format = 'torch_dist'\n    cfg.checkpoint.save = 'here'\n    return cfg\n",
        encoding="utf-8",
    )
    outcome = running.run(Options(paths=(".",), target_bridge="0.6.1", fix=True, unsafe_fixes=True))
    assert "fsdp_dtensor" in Path("own.py").read_text(encoding="utf-8")
    assert any("those of 0.6.0 were used" in remark for remark in outcome.remarks)
