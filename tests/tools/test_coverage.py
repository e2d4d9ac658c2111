"""Upstream's checks, and what covers them."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.megatron.conditions import ByVersion
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Backing, ErrorText, Evidence, Rule
from tools.coverage.callgraph import Source, reached
from tools.coverage.checks import Check, checks_of
from tools.coverage.covered import Covered, Reason, covered, read_reasons
from tools.coverage.generate import files
from tools.coverage.known import FILE, Checks, Known, as_text, known, read
from tools.coverage.page import PAGE, page

CONFIG = "megatron/bridge/training/config.py"

SOURCE = """\
    class Config:
        def validate(self):
            if self.sharded:
                assert self.format == "dtensor", f"only dtensor works, not {self.format}"
            elif self.other:
                raise ValueError("the other " "is not sharded")
            else:
                self.size = 1
                warn_rank_0("the size is 1")
            try:
                import package
            except ImportError:
                raise
            if self.quiet:
                log_single_rank(logger, logging.WARNING, "it is quiet")
                print("it says nothing")
                print("WARNING: it says something")
    """


def found(source: str) -> list[tuple[str, str, str]]:
    return [(each.kind, each.condition, each.message) for each in checks_of(dedent(source))]


def test_assertions_errors_and_warnings_are_found_with_what_leads_to_them() -> None:
    assert found(SOURCE) == [
        ("assert", "self.format == 'dtensor'", "only dtensor works, not {self.format}"),
        ("raise", "self.other", "the other is not sharded"),
        ("warning", "not (self.other)", "the size is 1"),
        ("raise", "except ImportError", ""),
        ("warning", "self.quiet", "it is quiet"),
        ("warning", "self.quiet", "WARNING: it says something"),
    ]


def test_a_check_knows_its_function_and_its_lines() -> None:
    first, *_ = checks_of(dedent(SOURCE))
    assert (first.function, first.own, first.guard) == ("Config.validate", (4, 4), (3, 3))
    assert [line for line in range(1, 18) if first.is_at(line)] == [3, 4]


def test_a_warning_has_the_assignment_that_it_tells_of() -> None:
    warning = next(check for check in checks_of(dedent(SOURCE)) if check.kind == "warning")
    assert warning.own == (8, 9)


def over(*versions: tuple[str, str]) -> list[Known]:
    checks: dict[str, Checks] = {
        version: {("bridge", CONFIG): checks_of(dedent(source))} for version, source in versions
    }
    return known(checks)


def test_a_check_that_moved_is_the_same_one() -> None:
    (one,) = over(("0.5.1", "assert x, 'x is wanted'"), ("0.6.0", "\n\nassert x, 'x is wanted'"))
    assert {version: [check.own for check in places] for version, places in one.at.items()} == {
        "0.5.1": [(1, 1)],
        "0.6.0": [(3, 3)],
    }


def test_one_without_a_text_is_the_same_as_long_as_its_condition_is() -> None:
    assert [list(each.at) for each in over(("0.5.1", "assert x"), ("0.6.0", "assert x\nassert y"))] == [
        ["0.5.1", "0.6.0"],
        ["0.6.0"],
    ]


def test_checks_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "checks.json"
    checks = over(("0.5.1", SOURCE), ("0.6.0", SOURCE.replace("dtensor works", "dtensors work")))
    file.write_text(as_text(checks))
    assert read(file) == checks


def git(repository: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    asked = ["git", "-C", str(repository), *identity, *arguments]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def test_a_commit_is_read_without_being_checked_out(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    for name in ("src/package/config.py", "src/package/inner/more.py", "src/package/notes.md", "src/other.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    commit = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "src/package/config.py").write_text("changed\n")
    assert files(tmp_path, commit, "src/", ("package/",)) == {
        "package/config.py": "# src/package/config.py\n",
        "package/inner/more.py": "# src/package/inner/more.py\n",
    }


def rule(line: int = 0, raises: str = "") -> Rule:
    """A rule of two versions, with evidence at the older one, or an error."""
    any_rule = next(each for each in load_rules() if each.judges == "settings" and not each.versions.text)
    error = ByVersion.everywhere(ErrorText(raises)) if raises else ByVersion()
    cases = tuple(replace(case, raises=error) for case in any_rule.cases[:1])
    evidence = {"0.5.1": (Evidence("bridge", f"src/{CONFIG}", line),)} if line else {}
    return replace(any_rule, code="MFSDP999", cases=cases, backing=lambda: Backing(evidence, ()))


def judged(source: str, by: Rule, *reasons: Reason) -> Covered:
    (one,) = covered(over(("0.5.1", source), ("0.6.0", source)), [by], reasons)
    return one


def test_a_rule_covers_the_check_that_its_evidence_names() -> None:
    one = judged("if x:\n    raise ValueError('no x')", rule(line=1))
    assert (one.codes, one.open, one.is_hole) == (["MFSDP999"], ["0.6.0"], True)


def test_a_rule_covers_the_check_whose_error_it_foretells() -> None:
    foretold = rule(raises="the format {checkpoint.ckpt_format} is not supported")
    one = judged("assert f in y, f'the format {f} is not supported'", foretold)
    assert (one.codes, one.open, one.is_hole) == (["MFSDP999"], [], False)


def test_an_assertion_without_a_text_raises_its_line() -> None:
    assert judged("assert first is not None", rule(raises="assert first is not None")).codes == ["MFSDP999"]


def test_a_check_with_neither_rule_nor_reason_is_a_hole() -> None:
    assert judged("assert x, 'x is wanted'", rule()).is_hole


@pytest.mark.parametrize(
    ("wanted", "unless", "hole"),
    [
        ({"file": "*/config.py"}, (), False),
        ({"file": "*/setup.py"}, (), True),
        ({"file": "*/config.py", "says": ["y is", "is wanted"]}, (), False),
        ({"file": "*/config.py", "says": ["y is"]}, (), True),
        ({"file": "*/config.py", "function": "Config.*"}, (), True),
        ({"file": "*/config.py"}, ("fsdp",), True),
    ],
)
def test_a_reason_holds_for_what_it_describes(wanted: dict[str, object], unless: tuple[str, ...], hole: bool) -> None:
    one = judged("assert x, 'x is wanted by FSDP'", rule(), Reason("it does not matter", (wanted,), unless))
    assert one.is_hole is hole


# -- what is checked in ---------------------------------------------------------------------------------------------


def test_the_page_is_that_of_the_checks_the_rules_and_the_reasons() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(covered(read(), load_rules()))


def one_by_one(reason: Reason) -> list[Reason]:
    """A reason for each piece of text that it names."""
    entries = [{**each, "says": [piece]} if piece else each for each in reason.of for piece in each.get("says", [""])]
    return [replace(reason, of=(entry,)) for entry in entries]


def test_every_reason_is_that_of_some_check() -> None:
    checks = read()
    each_reason = [each for reason in read_reasons() for each in one_by_one(reason)]
    assert [reason for reason in each_reason if not any(reason.holds(check) for check in checks)] == []


def test_the_checks_are_written_as_they_are_read() -> None:
    assert FILE.read_text(encoding="utf-8") == as_text(read())


def test_an_if_without_a_check_is_none() -> None:
    assert checks_of("if x:\n    print(x)\n") == []
    assert Check("", "assert", "x", "", (1, 1)).is_at(2) is False


# -- the functions that start-up calls ------------------------------------------------------------------------------


def called(**files: str) -> set[str]:
    """The functions that `pkg/start.py`'s `start` reaches."""
    source = Source({f"pkg/{name}.py": dedent(text) for name, text in files.items()})
    return {name for names in reached(source, {"pkg/start.py": ("start",)}).values() for name in names}


def test_calls_are_followed_through_imports_even_inside_functions() -> None:
    assert called(
        start="""\
            def start():
                from pkg.other import check
                check()
            def never(): pass
            """,
        other="""\
            from . import third
            def check(): third.deep()
            """,
        third="def deep(): pass\ndef never(): pass\n",
    ) == {"start", "check", "deep"}


def test_making_an_object_calls_what_its_class_inherits() -> None:
    assert called(
        start="""\
            from pkg.config import Config
            def start(): Config()
            """,
        config="""\
            class Base:
                def __post_init__(self): self.check()
                def check(self): pass
            class Config(Base):
                def unused(self): pass
            """,
    ) == {"start", "Base.__post_init__", "Base.check"}


def test_a_method_of_a_field_may_be_that_of_each_subclass_of_its_annotation() -> None:
    found = called(
        start="""\
            from pkg.models import Model
            class Container:
                model: "Model | None"
                def validate(self): self.model.finalize()
            def start(): Container.validate(None)
            """,
        models="""\
            class Model:
                def finalize(self): raise ValueError
            class Large(Model):
                def finalize(self): super().finalize()
            class Stranger:
                def finalize(self): pass
            """,
    )
    assert found == {"start", "Container.validate", "Model.finalize", "Large.finalize"}


def test_all_files_from_which_start_up_raises_are_among_the_checks() -> None:
    files = {each.path for each in read()}
    assert "megatron/training/determinism.py" in files
    assert "megatron/core/transformer/transformer_config.py" in files
    assert "megatron/core/distributed/distributed_data_parallel_config.py" in files
