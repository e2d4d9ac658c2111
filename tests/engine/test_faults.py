"""A fault of the linter's own is told at the file where it happened; the other files are judged all the same."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.engine import judge
from mfsdp_lint.engine.repair import Repair
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.options import Options, UsageError
from mfsdp_lint.readers.python import read as python_read
from mfsdp_lint.readers.python.entries import running
from mfsdp_lint.rules import check

RECIPE = dedent("""\
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


    def recipe():
        cfg = llama3_8b_pretrain_config()
        cfg.dist.use_megatron_fsdp = True
        cfg.checkpoint.ckpt_format = "torch_dist"
        return cfg
""")
OVERRIDES = "dist:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MFSDP_LINT_DEBUG", raising=False)
    for name in ("bad.py", "good.py"):
        Path(name).write_text(RECIPE)
    Path("bad.yaml").write_text(OVERRIDES)


def found(**options: Any) -> list[Finding]:
    return list(run(Options(paths=(".",), target_bridge="0.3.1", **options)).findings)


def breaks(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, at: Callable[..., bool]) -> None:
    """Has a function of the linter fail for what `at` picks."""
    real = getattr(owner, name)

    def fails(*arguments: Any, **named: Any) -> Any:
        if at(*arguments):
            raise KeyError("a mistake\nof ours")
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, fails)


PLACES: dict[str, tuple[Any, str, Callable[..., bool]]] = {
    "an entry point is run": (running, "evaluate", lambda _, entry, *__: entry.module.path == "bad.py"),
    "entry points are looked for": (python_read, "_entry_points", lambda _, module: module.path == "bad.py"),
    "what was not followed is looked for": (python_read, "not_reached", lambda _, module, __: module.path == "bad.py"),
    "a rule is applied": (check, "_hits", lambda recipe, *_: recipe.path == "bad.py"),
    "the place of a finding is looked for": (check, "_primary", lambda hit, *_: hit.recipe.path == "bad.py"),
    "comments are read": (judge, "comments", lambda path, *_: path == "bad.py"),
}


@pytest.mark.parametrize("place", PLACES)
def test_the_others_are_judged(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    breaks(monkeypatch, *PLACES[place])
    findings = found()
    assert {each.code for each in findings if each.span.path == "good.py"} >= {"MFSDP101", "MFSDP301"}
    told = [each for each in findings if each.code == "MFSDP905" and each.span.path == "bad.py"]
    assert [each.severity for each in told] == ["error"]
    assert told[0].message.startswith("not checked to the end: internal error: KeyError: 'a mistake\\nof ours' (")


def test_a_fault_in_a_yaml_file_is_told_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from mfsdp_lint.readers.yaml import read

    breaks(monkeypatch, read, "read_yaml", lambda path, *_: path == "bad.yaml")
    assert [each.span.path for each in found() if each.code == "MFSDP905"] == ["bad.yaml"]


@pytest.mark.parametrize("options", [{}, {"fix": True}, {"diff": True}])
def test_a_fault_in_the_proofs_leaves_the_findings_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, bool]
) -> None:
    for name in ("proved", "applied"):
        breaks(monkeypatch, Repair, name, lambda *_: True)
    codes = {each.code for each in found(**options)}
    assert codes >= {"MFSDP101", "MFSDP301", "MFSDP905"}
    assert Path("good.py").read_text() == RECIPE


def test_who_asks_for_it_gets_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MFSDP_LINT_DEBUG", "1")
    breaks(monkeypatch, *PLACES["a rule is applied"])
    with pytest.raises(KeyError):
        found()


def test_a_lambda_that_a_function_makes_is_no_def() -> None:
    Path("maker.py").write_text("import megatron.bridge\ndef make(x): return lambda y: x\nf = make(1)\n")
    findings = found()
    assert {each.code for each in findings if each.span.path == "good.py"} >= {"MFSDP101", "MFSDP301"}
    assert "MFSDP905" not in {each.code for each in findings}


@pytest.mark.parametrize("wanted", [0, 1, 7])
def test_a_stage_over_all_files_leaves_out_those_that_it_fails_for(wanted: int) -> None:
    paths = [f"{number}.py" for number in range(7)]
    bad = set(paths[:wanted])

    def stage(some: Collection[str]) -> list[str]:
        if bad.intersection(some):
            raise KeyError("a mistake of ours")
        return sorted(some)

    faults = Faults()
    assert faults.over_files(paths, stage) == paths[wanted:]
    assert [each.path for each in faults.problems] == paths[:wanted]


def test_a_fault_that_no_file_causes_is_raised() -> None:
    def stage(some: Collection[str]) -> None:
        raise KeyError("a mistake of ours")

    with pytest.raises(KeyError):
        Faults().over_files(["a.py", "b.py"], stage)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), UsageError("wrong")], ids=repr)
def test_what_is_no_fault_passes(error: BaseException) -> None:
    def stage(some: Collection[str]) -> None:
        raise error

    with pytest.raises(type(error)):
        Faults().over_files(["a.py", "b.py"], stage)
