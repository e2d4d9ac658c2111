"""Rules of a project that are made to cost: each is refused, by what is written and not by the clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.files import RULES
from mfsdp_lint.rules import bounds
from mfsdp_lint.rules.form import RuleError
from mfsdp_lint.rules.load import extended_rules, load_rules

RULE = """
code: TEAM{number:03}
name: team-{number}
summary: A rule
why: For these tests.
applies: {applies}
cases: [{{severity: warning, stage: save}}]
message: {message}
consequence: nothing
blame: {{value: [checkpoint.ckpt_format]}}
"""
TEXT_RULE = """
code: TEAM{number:03}
name: team-{number}
summary: A rule
why: For these tests.
judges: text
files: [yaml]
finds: '{finds}'
applies: always
message: found
consequence: nothing
cases: [{{severity: warning, stage: save, enforced_by: nobody}}]
"""


def rule(applies: str = "checkpoint.save is not None", number: int = 1, message: str = "found") -> str:
    return RULE.format(applies=applies, number=number, message=message)


def refused(folder: Path, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    with pytest.raises(RuleError) as told:
        extended_rules([folder])
    return str(told.value)


def doubled(levels: int, operator: str = "or") -> str:
    first = "t0: {meaning: m, condition: checkpoint.save is not None}\n"
    return first + "".join(
        f"t{level}: {{meaning: m, condition: t{level - 1} {operator} t{level - 1}}}\n" for level in range(1, levels)
    )


def test_terms_that_double_each_other(tmp_path: Path) -> None:
    assert "terms written out" in refused(tmp_path, terms=doubled(60), rule=rule("t59"))


def test_values_that_double_each_other(tmp_path: Path) -> None:
    terms = "v0: {meaning: m, value: model.num_layers}\n" + "".join(
        f"v{level}: {{meaning: m, value: v{level - 1} * v{level - 1}}}\n" for level in range(1, 60)
    )
    assert "terms written out" in refused(tmp_path, terms=terms, rule=rule("v59 > 1"))


def test_terms_that_are_deep(tmp_path: Path) -> None:
    terms = "t0: {meaning: m, condition: checkpoint.save is not None}\n" + "".join(
        f"t{level}: {{meaning: m, condition: not t{level - 1}}}\n" for level in range(1, 90)
    )
    assert "levels" in refused(tmp_path, terms=terms, rule=rule("t89"))


@pytest.mark.parametrize(
    "applies", ["not " * 400 + "peft", " or ".join(["peft"] * 490 + ["x"]), " + ".join(["1"] * 700) + " > model.x"]
)
def test_conditions_that_are_long_or_deep(applies: str, tmp_path: Path) -> None:
    assert refused(tmp_path, rule=rule(applies))


def test_aliases_that_multiply(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 9)]
    assert "aliases written out" in refused(tmp_path, rule="\n".join(lines))


def test_yaml_that_is_deep(tmp_path: Path) -> None:
    assert "deep" in refused(tmp_path, rule="a: " + "[" * 10_000)


def test_files_that_are_large_or_many(tmp_path: Path) -> None:
    assert "larger than 64 KB" in refused(tmp_path, rule=rule() + "#" * bounds.FILE_BYTES)
    for number in range(bounds.FILES + 1):
        (tmp_path / f"{number}.yaml").write_text("")
    assert "more than 200 files" in refused(tmp_path)


def test_messages_that_grow(tmp_path: Path) -> None:
    assert "more than 20 settings" in refused(tmp_path, rule=rule(message='"' + "{checkpoint.save}" * 30 + '"'))
    assert "longer than 2,000" in refused(tmp_path, rule=rule(message="x" * 3000))


def test_rules_that_are_too_much_together(tmp_path: Path) -> None:
    applies = " or ".join(["peft is None"] * 120)
    each = {f"r{number}": rule(applies, number) for number in range(1, 180)}
    assert "parts" in refused(tmp_path, **each)


@pytest.mark.parametrize(
    "finds",
    [
        "(a+)+b",
        "(a|a){1,30}b",
        "(?:a{0,9}){0,9}b",
        "x*x*x*y",
        r"(a{1,5})\1{1,9}",
        "a{0,60}a{0,60}b",
        "a{0,10000}",
        "(?=(a|aa){9}){9}",
    ],
)
def test_patterns_that_search_for_long(finds: str, tmp_path: Path) -> None:
    assert "finds:" in refused(tmp_path, rule=TEXT_RULE.format(number=1, finds=finds))


def test_patterns_that_are_too_much_together(tmp_path: Path) -> None:
    each = {f"r{number}": TEXT_RULE.format(number=number, finds="a{0,400}") for number in range(9)}
    assert "patterns of all rules" in refused(tmp_path, **each)


def test_what_a_team_writes_is_far_below(tmp_path: Path) -> None:
    (tmp_path / "rule.yaml").write_text(rule("megatron_fsdp and checkpoint.save is not None"))
    (tmp_path / "text.yaml").write_text(TEXT_RULE.format(number=2, finds=r"^[ \t]{0,20}(?P<key>\w{1,40})="))
    assert len(extended_rules([tmp_path])) == len(load_rules()) + 2


def test_so_are_the_tools_own(tmp_path: Path) -> None:
    bounds.check_together(each for each in load_rules() if each.finds is None)
    for file in Path(RULES).glob("*.yaml"):
        if file.name != "terms.yaml":
            bounds.check_yaml(file.read_text())
