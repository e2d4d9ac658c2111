"""However a whole recipe is written and formatted: it is fixed, and nothing changes outside the tokens of the edit."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mfsdp_lint.engine.judge import Linter
from mfsdp_lint.engine.read import Question
from mfsdp_lint.engine.repair import Repair
from mfsdp_lint.inputs.discover import File
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.rules.load import load_rules

RULES = tuple(rule for rule in load_rules() if rule.code == "MFSDP101")
OLD, NEW = "torch_dist", "fsdp_dtensor"

blanks = st.sampled_from(["", " ", "  ", "\t"])
comments = st.sampled_from(["", "# plain", "# cfg.checkpoint.ckpt_format = 'torch'", "#ünï😀", "# (a: b, c"])
quotes = st.sampled_from(["'", '"'])
Write = Callable[[st.DrawFn, str], tuple[str, str, str]]
"""Draws what stands before the recipe, its parameters, and the lines in it."""


@st.composite
def gaps(draw: st.DrawFn) -> str:
    """White space between brackets: blanks, or a line end with a comment in front of it."""
    return draw(blanks) + (draw(st.sampled_from(["", "\n", draw(comments) + "\n"])) + draw(blanks))


def assigned(draw: st.DrawFn, value: str) -> tuple[str, str, str]:
    return "", "", f"cfg.checkpoint.ckpt_format{draw(blanks)}={draw(blanks)}({draw(gaps())}{value}{draw(gaps())})"


def through_an_alias(draw: st.DrawFn, value: str) -> tuple[str, str, str]:
    end = draw(st.sampled_from(["\n", ";", " ;  "]))
    return "", "", f"c = cfg.checkpoint{end}c . ckpt_format ={draw(blanks)}{value}"


def by_name(draw: st.DrawFn, value: str) -> tuple[str, str, str]:
    given = f"cfg.checkpoint,{draw(gaps())}'ckpt_format'{draw(gaps())},{draw(gaps())}{value}{draw(gaps())}"
    return "", "", f"setattr({draw(gaps())}{given})"


def from_a_default(draw: st.DrawFn, value: str) -> tuple[str, str, str]:
    parameter = f"{draw(gaps())}fmt{draw(blanks)}={draw(gaps())}{value}{draw(gaps())}"
    return "", parameter, "cfg.checkpoint.ckpt_format = fmt"


def nowhere(draw: st.DrawFn, value: str) -> tuple[str, str, str]:
    return "", "", "cfg.checkpoint.save = None"


@st.composite
def recipes(draw: st.DrawFn, write: Write) -> str:
    """A file with one recipe that turns Megatron-FSDP on and has the wrong format."""
    quote, end = draw(quotes), draw(st.sampled_from(["\n", "\r\n"]))
    before, parameters, lines = write(draw, f"{quote}{OLD}{quote}")
    indentation = draw(st.sampled_from(["  ", "\t", "        "]))
    separators = st.sampled_from(["", "  ", "\n", "\n\n"])
    body = [
        "cfg = llama3_8b_pretrain_config()",
        f"cfg.ddp.use_megatron_fsdp{draw(blanks)}={draw(blanks)}True",
        "cfg.checkpoint.pretrained_checkpoint=None",
        "cfg.checkpoint.load = None",
        *lines.split("\n"),
        "return (cfg)",
    ]
    text = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
    text += f"{draw(comments)}\n{before}{draw(blanks)}{draw(comments)}\ndef sharded_config({parameters}):\n"
    for line in body:
        opened = line.endswith(("(", ",", ":")) or line.startswith(("    ", ")"))
        text += f"{indentation}{line}" + ("" if opened else f"{draw(blanks)}{draw(comments)}") + "\n"
        text += "" if opened else draw(separators).replace("  ", f"{indentation}{draw(comments)}\n")
    return text.replace("\n", end)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file in a project of its own, where nobody else imports it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "pyproject.toml").write_text("")
    return str(folder / "recipe.py")


def fixed(path: str, text: str) -> tuple[str, int]:
    """The text after fixing, and how many findings there are then."""
    judge = Linter(Question(resolve_target("0.3.1"), (File(path, "python"),)), RULES, RULES)
    judgement = judge(Sources({path: text}))
    assert [cause.finding.code for cause in judgement.causes] == ["MFSDP101"], text
    after = Repair(judgement, judge, ["MFSDP101"]).applied(unsafe=False).texts.get(path, text)
    return after, len(judge(Sources({path: after})).causes)


def undone(before: str, after: str) -> str:
    """What was there before the edit: the old word in the place of the new one, or without the line that has it."""
    added = [line for line in after.splitlines(keepends=True) if NEW in line]
    back = after.replace(NEW, OLD)
    return back if back == before else after.replace(added[0], "", 1)


@pytest.mark.parametrize(
    "write",
    [assigned, through_an_alias, by_name, from_a_default, nowhere],
    ids=lambda write: write.__name__.replace("_", " "),
)
@settings(max_examples=6, phases=[Phase.generate])  # looking for a smaller example takes too long
@given(data=st.data())
def test_only_the_edit_changes(path: str, write: Write, data: st.DataObject) -> None:
    before = data.draw(recipes(write))
    after, left = fixed(path, before)
    assert left == 0, before
    assert undone(before, after) == before
    # Line ends are the file's own everywhere.
    assert len(set(re.findall(r"\r?\n", after))) == 1
