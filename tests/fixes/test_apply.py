"""Fixing whole projects: where the edits go, what the proof refuses, and how many evaluations it takes."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping

import pytest

from mfsdp_lint.core.records import replace
from mfsdp_lint.core.settings import Layer
from mfsdp_lint.core.values import Value
from mfsdp_lint.fixes.apply import fix_project, prove_once
from mfsdp_lint.fixes.judged import Judged
from mfsdp_lint.fixes.prove import NO_PLACE, Proof
from tests.fixes.mini import AVERAGE, AVERAGE_RULE, FORMAT, FORMAT_RULE, FSDP, Project, Rule


def fixed(project: Project) -> dict[str, str]:
    """The changed files; a second run must change nothing more."""
    done = fix_project(project.evaluate({}), project.evaluate, project.text, project.is_linted)
    again = Project({**project.files, **done.texts}, project.rules)
    assert not fix_project(again.evaluate({}), again.evaluate, again.text, again.is_linted).texts
    return dict(done.texts)


def proof_of(project: Project) -> Proof:
    return prove_once(project.evaluate({}), project.evaluate, project.text, project.is_linted)


COMMON = 'def common():\n    cfg = Config(checkpoint=Checkpoint(save="x", ckpt_format="torch_dist"))\n    return cfg\n'


def recipe(name: str, *lines: str) -> str:
    body = "".join(f"    {line}\n" for line in ("cfg = common()", *lines, "return cfg"))
    return f"def {name}_config():\n{body}"


ON, OFF = "cfg.ddp.use_megatron_fsdp = True", "cfg.ddp.use_megatron_fsdp = False"
SET = 'cfg.checkpoint.ckpt_format = "fsdp_dtensor"'
BAD = 'cfg.checkpoint.ckpt_format = "torch_dist"'


def test_a_shared_helper_is_changed_when_all_who_use_it_need_it() -> None:
    files = {"c.py": COMMON, "r.py": recipe("a", ON) + recipe("b", ON)}
    assert fixed(Project(files)) == {"c.py": COMMON.replace("torch_dist", "fsdp_dtensor")}


def test_else_every_recipe_gets_a_line_behind_its_switch() -> None:
    files = {"c.py": COMMON, "r.py": recipe("a", ON, "cfg.model.x = 1") + recipe("b", OFF) + recipe("c", ON)}
    wanted = recipe("a", ON, SET, "cfg.model.x = 1") + recipe("b", OFF) + recipe("c", ON, SET)
    assert fixed(Project(files)) == {"r.py": wanted}


def test_the_recipes_own_line_is_changed_in_place() -> None:
    files = {"c.py": COMMON, "r.py": recipe("a", BAD, "cfg.model.x = 1", ON) + recipe("b", OFF)}
    assert fixed(Project(files)) == {"r.py": recipe("a", SET, "cfg.model.x = 1", ON) + recipe("b", OFF)}


def test_one_line_in_the_helper_that_turns_it_on() -> None:
    files = {
        "c.py": COMMON,
        "h.py": f"def enable(cfg):\n    {ON}\n",
        "r.py": recipe("a", "enable(cfg)") + recipe("b", OFF) + recipe("c", "enable(cfg)"),
    }
    assert fixed(Project(files)) == {"h.py": f"def enable(cfg):\n    {ON}\n    {SET}\n"}


def test_a_value_that_comes_after_the_helper_is_changed_where_it_is() -> None:
    files = {
        "c.py": COMMON,
        "h.py": f"def enable(cfg):\n    {ON}\n",
        "r.py": recipe("a", "enable(cfg)") + recipe("b", OFF) + recipe("c", "enable(cfg)", BAD),
    }
    assert fixed(Project(files)) == {
        "h.py": f"def enable(cfg):\n    {ON}\n    {SET}\n",
        "r.py": recipe("a", "enable(cfg)") + recipe("b", OFF) + recipe("c", "enable(cfg)", SET),
    }


def test_at_the_end_when_a_shared_helper_would_overwrite_it() -> None:
    helper = f"def late(cfg):\n    {BAD}\n"
    files = {"c.py": COMMON, "h.py": helper, "r.py": recipe("a", ON, "late(cfg)") + recipe("b", "late(cfg)")}
    assert fixed(Project(files)) == {"r.py": recipe("a", ON, "late(cfg)", SET) + recipe("b", "late(cfg)")}


def test_a_default_becomes_an_argument_where_the_recipe_makes_the_call() -> None:
    call = 'Config(ddp=DDP(use_megatron_fsdp=True), checkpoint=Checkpoint(save="x"))'
    own = f"def a_config():\n    cfg = {call}\n    return cfg\n"
    assert fixed(Project({"r.py": own})) == {"r.py": own.replace('save="x"', 'save="x", ckpt_format="fsdp_dtensor"')}


def test_only_the_way_that_needs_it_is_changed() -> None:
    text = recipe("a", "if fast:", f"    {ON}", "else:", f"    {OFF}")
    wanted = recipe("a", "if fast:", f"    {ON}", f"    {SET}", "else:", f"    {OFF}")
    assert fixed(Project({"c.py": COMMON, "r.py": text})) == {"r.py": wanted}


def test_files_that_were_not_asked_for_are_not_touched() -> None:
    files = {"upstream/c.py": COMMON, "r.py": recipe("a", ON)}
    assert fixed(Project(files)) == {"r.py": recipe("a", ON, SET)}


def test_without_a_place_of_theirs_there_is_no_fix() -> None:
    project = Project({"upstream/r.py": COMMON + recipe("a", ON)})
    proof = proof_of(project)
    assert [each.reason for each in proof.unproved] == [NO_PLACE]
    assert not proof.texts
    assert project.calls == 1


def test_settings_of_two_findings_at_one_place_keep_their_order() -> None:
    files = {"c.py": COMMON, "r.py": recipe("a", ON) + recipe("b", OFF)}
    rules = (FORMAT_RULE, AVERAGE_RULE)
    wanted = recipe("a", ON, SET, "cfg.ddp.average_in_collective = False") + recipe("b", OFF)
    assert fixed(Project(files, rules)) == {"r.py": wanted}


def test_a_fix_that_would_break_another_recipe_is_refused() -> None:
    """The helper's line is the only place, and a recipe that is fine reads it, too."""
    files = {
        "h.py": f"def on():\n    {ON}\n    {BAD}\n",
        "r.py": f"def a_config():\n    on()\n    return 1\ndef b_config():\n    on()\n    {OFF}\n",
    }
    project = Project(files)
    proof = proof_of(project)
    assert not proof.texts
    assert len(proof.unproved) == 1


def test_a_fix_that_brings_an_equally_severe_finding_is_refused() -> None:
    worse = Rule("WORSE", {FORMAT: "fsdp_dtensor"}, "model.pipeline", 1, "error", fixable=False)
    proof = proof_of(Project({"c.py": COMMON, "r.py": recipe("a", ON)}, (FORMAT_RULE, worse)))
    assert [each.reason for each in proof.unproved] == ["WORSE would appear in a_config"]
    assert not proof.texts


def test_a_less_severe_one_may_appear_and_is_fixed_in_its_turn() -> None:
    then = Rule("THEN", {FORMAT: "fsdp_dtensor"}, AVERAGE, False, "warning")
    files = {"c.py": COMMON, "r.py": recipe("a", ON) + recipe("b", OFF)}
    done = fixed(Project(files, (FORMAT_RULE, then)))
    assert done["r.py"] == recipe("a", ON, SET, "cfg.ddp.average_in_collective = False") + recipe("b", OFF)


def test_what_a_fix_uncovers_is_none_of_what_was_asked_for() -> None:
    then = Rule("THEN", {FORMAT: "fsdp_dtensor"}, AVERAGE, False, "warning")
    project = Project({"c.py": COMMON, "r.py": recipe("a", ON)}, (FORMAT_RULE, then))
    done = fix_project(project.evaluate({}), project.evaluate, project.text, project.is_linted)
    assert [each.request.code for each in done.fixed if each.request.key in done.asked] == ["FORMAT"]
    assert [each.request.code for each in done.fixed if each.request.key not in done.asked] == ["THEN"]


def test_the_good_ones_are_proved_when_some_of_many_fail() -> None:
    worse = Rule("WORSE", {FORMAT: "fsdp_dtensor", "model.odd": True}, "model.pipeline", 1, "error", fixable=False)
    names = [f"r{index}" for index in range(40)]
    odd = {"r3", "r17", "r38"}
    text = "".join(recipe(name, ON, f"cfg.model.odd = {name in odd}") for name in names)
    project = Project({"c.py": COMMON, "r.py": text + recipe("fine", OFF)}, (FORMAT_RULE, worse))
    proof = proof_of(project)
    assert len(proof.proved) == 37
    assert {each.reason for each in proof.unproved} == {f"WORSE would appear in {name}_config" for name in odd}
    assert project.calls <= 1 + 12 + 2 * math.ceil(math.log2(41))


def test_no_other_setting_may_change() -> None:
    """Another setting follows the one that the fix names."""

    class Following(Layer):
        def value(self, path: str) -> Value:
            return super().value(FORMAT if path == "model.follows" else path)

        def __iter__(self) -> Iterator[str]:
            return iter((*self.below, "model.follows"))

    project = Project({"c.py": COMMON, "r.py": recipe("a", ON)})

    def evaluate(overlay: Mapping[str, str]) -> Judged:
        judged = project.evaluate(overlay)
        for each in judged.recipes:
            (only,) = each.variants
            object.__setattr__(only, "settings", Following(only.settings))  # requests know the variant itself
        return judged

    proof = prove_once(evaluate({}), evaluate, project.text, project.is_linted)
    assert [each.reason for each in proof.unproved] == ["model.follows would change in a_config"]
    assert not proof.texts


def test_fixes_that_contradict_each_other_do_not_take_turns() -> None:
    other = Rule("OTHER", {FSDP: True}, FORMAT, "other_format")
    project = Project({"c.py": COMMON, "r.py": recipe("a", BAD, ON)}, (FORMAT_RULE, other))
    done = fixed(project)
    assert len(project.evaluate(done).broken) == 1


@pytest.mark.parametrize("also", [{}, {AVERAGE: False}, {AVERAGE: False, "dist.use_megatron_fsdp": True}])
def test_every_setting_of_a_remedy_is_written_or_none(also: dict[str, bool]) -> None:
    rule = Rule("ALL", {FSDP: True}, FORMAT, "fsdp_dtensor", also=also)
    files = {"c.py": COMMON, "r.py": recipe("a", ON) + recipe("b", OFF)}
    lines = [f"cfg.{path} = {value}" for path, value in also.items()]
    assert fixed(Project(files, (rule,))) == {"r.py": recipe("a", ON, SET, *lines) + recipe("b", OFF)}


def test_planning_is_ready_without_libcst_and_yaml() -> None:
    """They are imported when a Python or YAML edit is made, and not before."""
    code = "import sys, mfsdp_lint.fixes.apply, mfsdp_lint.fixes.edits; print({'libcst', 'yaml'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


class WithUsers:
    """A project whose file u.py was not asked for; `with_them` counts the evaluations that include it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.widened = False
        self.with_them = 0

    def evaluate(self, overlay: Mapping[str, str]) -> Judged:
        whole = self.project.evaluate(overlay)
        asked = replace(
            whole,
            recipes=[each for each in whole.recipes if each.path != "u.py"],
            broken=[each for each in whole.broken if each.recipe.path != "u.py"],
            requests=[each for each in whole.requests if each.needs[0].recipe.path != "u.py"],
        )

        def with_users() -> Judged:
            self.with_them += 1
            return replace(whole, requests=asked.requests, users=["u.py"], asked=asked)

        return replace(asked, with_users=with_users) if self.widened else asked

    def widen(self, before: Judged, texts: Mapping[str, str], edited: Collection[str]) -> Judged:
        if self.widened or "c.py" not in edited:
            return before
        self.widened = True
        whole = self.evaluate(texts).with_users
        assert whole is not None
        return whole()

    def proof(self) -> Proof:
        before = self.evaluate({})
        return prove_once(before, self.evaluate, self.project.text, self.project.is_linted, self.widen)


def test_a_fix_that_a_user_of_its_file_would_notice_is_made_elsewhere() -> None:
    files = {"c.py": COMMON, "r.py": recipe("a", ON), "u.py": recipe("b", OFF)}
    found = WithUsers(Project(files))
    assert found.proof().texts == {"r.py": recipe("a", ON, SET)}
    assert found.with_them == 2  # before any change, and with this one


def test_users_of_a_file_are_not_asked_about_a_fix_that_fails_without_them() -> None:
    worse = Rule("WORSE", {FORMAT: "fsdp_dtensor"}, FSDP, False, fixable=False)
    found = WithUsers(
        Project({"c.py": COMMON, "r.py": recipe("a", ON), "u.py": recipe("b", OFF)}, (FORMAT_RULE, worse))
    )
    assert not found.proof().proved
    assert found.with_them == 0
