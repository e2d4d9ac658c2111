"""A value is changed in the text that decides it: in a table, an argument, a default, a string of overrides.

Each case is what a person would do: the place that says the value is changed if all who use it need it, and nothing is
left behind that says something else.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

HEAD = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
MAKE = (
    "    cfg = llama3_8b_pretrain_config()\n"
    "    cfg.checkpoint.pretrained_checkpoint = None\n"
    "    cfg.checkpoint.load = None\n"
    '    cfg.checkpoint.save = "/results"\n'
    "    cfg.ddp.average_in_collective = False\n"
)
ON = "    cfg.dist.use_megatron_fsdp = True\n"
TAKES = "    cfg.checkpoint.ckpt_format = "
MAKES = (
    f"def _make(ckpt_format, fsdp=True):\n{MAKE}    cfg.dist.use_megatron_fsdp = fsdp\n"
    f"{TAKES}ckpt_format\n    return cfg\n"
)
DATACLASS = "from dataclasses import dataclass\n\n\n@dataclass\nclass Options:\n"
OMEGACONF = "from omegaconf import OmegaConf\n"

Fix = Callable[[str], str]


@pytest.fixture
def fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fix:
    """What `--fix` makes of a file; a second run changes nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")

    def fix(text: str) -> str:
        path = tmp_path / "recipes.py"
        path.write_text(text)
        assert main(["--target-bridge", "0.3.1", "--fix", "recipes.py"]) in (0, 1)
        after = path.read_text()
        main(["--target-bridge", "0.3.1", "--fix", "recipes.py"])
        assert path.read_text() == after
        capsys.readouterr()
        return after

    return fix


def recipe(takes: str, before: str = "") -> str:
    return f"{before}\n\ndef r():\n{MAKE}{ON}{TAKES}{takes}\n    return cfg\n"


CHANGED = {
    "an entry that is indexed": 'TABLE = {"fmt": %s, "tp": 1}\n' + recipe('TABLE["fmt"]'),
    "an entry that is asked for": 'TABLE = {"fmt": %s, "tp": 1}\n' + recipe('TABLE.get("fmt")'),
    "an entry of a table of tables": 'TABLE = {"8b": {"fmt": %s}, "70b": {"fmt": "torch_dist"}}\n'
    + recipe('TABLE["8b"]["fmt"]'),
    "a place in a tuple": "RUN = (%s, 8)\n" + recipe("RUN[0]"),
    "an entry written later": f'\ndef r():\n{MAKE}{ON}    d = {{}}\n    d["fmt"] = %s\n'
    f'{TAKES}d["fmt"]\n    return cfg\n',
    "a table that a loop goes through": 'TABLE = {"ckpt_format": %s, "save": "/results"}\n\n\n'
    f"def r():\n{MAKE}{ON}    for name, value in TABLE.items():\n"
    "        setattr(cfg.checkpoint, name, value)\n    return cfg\n",
    "a table that is spread": 'ARGS = {"ckpt_format": %s, "fsdp": True}\n\n\n'
    + MAKES
    + "\n\ndef r():\n    return _make(**ARGS)\n",
    "a keyword argument": MAKES + "\n\ndef r():\n    return _make(ckpt_format=%s)\n",
    "a keyword argument that another caller gives otherwise": MAKES
    + "\n\ndef r():\n    return _make(ckpt_format=%s)\n\n\n"
    + 'def s():\n    return _make(ckpt_format="torch_dist", fsdp=False)\n',
    "an argument": MAKES + "\n\ndef r():\n    return _make(%s)\n",
    "an argument among **kwargs": f"def _make(**settings):\n{MAKE}{ON}    for name, value in settings.items():\n"
    "        setattr(cfg.checkpoint, name, value)\n    return cfg\n"
    "\n\ndef r():\n    return _make(ckpt_format=%s)\n",
    "the default that some callers rely on": f"def _make(fmt=%s):\n{MAKE}{ON}{TAKES}fmt\n    return cfg\n"
    '\n\ndef r():\n    return _make()\n\n\ndef s():\n    return _make("fsdp_dtensor")\n',
    "what stands for no argument": f"def _make(fmt=None):\n{MAKE}{ON}{TAKES}fmt or %s\n    return cfg\n"
    "\n\ndef r():\n    return _make()\n",
    "a constant": "FMT = %s\n" + recipe("FMT"),
    "a local name": f"\ndef r():\n    fmt = %s\n{MAKE}{ON}{TAKES}fmt\n    return cfg\n",
    "an attribute of a class": "class Defaults:\n    fmt = %s\n    tp = 1\n" + recipe("Defaults.fmt"),
    "a field's default": DATACLASS + "    fmt: str = %s\n\n\nOPTIONS = Options()\n" + recipe("OPTIONS.fmt"),
    "a field's value": DATACLASS
    + '    fmt: str\n    name: str\n\n\nOPTIONS = Options(%s, "x")\n'
    + recipe("OPTIONS.fmt"),
    "the default of a variable of the environment": "import os\n" + recipe('os.environ.get("FMT", %s)'),
}


@pytest.mark.parametrize("text", CHANGED.values(), ids=CHANGED)
def test_the_text_that_decides_it_is_changed(fix: Fix, text: str) -> None:
    assert fix(HEAD + text % '"torch_dist"') == HEAD + text % '"fsdp_dtensor"'


INSIDE = {
    "a list that OmegaConf reads": OMEGACONF
    + 'WORDS = ["checkpoint.ckpt_format=%s", "train.train_iters=10"]\n'
    + "TREE = OmegaConf.from_dotlist(WORDS)\n"
    + recipe("TREE.checkpoint.ckpt_format"),
    "words that are taken apart": OMEGACONF
    + 'WORDS = "checkpoint.ckpt_format=%s train.train_iters=10".split()\n'
    + "TREE = OmegaConf.from_dotlist(WORDS)\n"
    + recipe("TREE.checkpoint.ckpt_format"),
    "a text in YAML": OMEGACONF
    + 'TREE = OmegaConf.create("""\ncheckpoint:\n  ckpt_format: %s\n  save: /results\n""")\n'
    + recipe("TREE.checkpoint.ckpt_format"),
    "a list that is taken apart": 'WORDS = ["checkpoint.ckpt_format=%s", "train.train_iters=10"]\n\n\n'
    f'def r():\n{MAKE}{ON}    for word in WORDS:\n        path, value = word.split("=", 1)\n'
    '        section, name = path.split(".")\n        setattr(getattr(cfg, section), name, value)\n    return cfg\n',
    "overrides in Hydra's grammar": "from megatron.bridge.training.utils.omegaconf_utils import (\n"
    "    apply_overrides,\n    create_omegaconf_dict_config,\n    parse_hydra_overrides,\n)\n"
    + OMEGACONF
    + f'WORDS = ["++checkpoint.ckpt_format=%s", "train.train_iters=10"]\n\n\ndef r():\n{MAKE}{ON}'
    "    tree, excluded = create_omegaconf_dict_config(cfg)\n    tree = parse_hydra_overrides(tree, WORDS)\n"
    "    apply_overrides(cfg, OmegaConf.to_container(tree, resolve=True), excluded)\n    return cfg\n",
}


@pytest.mark.parametrize("text", INSIDE.values(), ids=INSIDE)
def test_an_override_is_changed_inside_its_string(fix: Fix, text: str) -> None:
    assert fix(HEAD + text % "torch_dist") == HEAD + text % "fsdp_dtensor"


HERE = {
    "a table that another recipe needs as it is": (
        'TABLE = {"fmt": "torch_dist"}\n',
        'TABLE["fmt"]',
        f'    return cfg\n\n\ndef s():\n{MAKE}{TAKES}TABLE["fmt"]\n    return cfg\n',
    ),
    "a constant that decides something else": (
        'MODE = "torch_dist"\n',
        "MODE",
        "    cfg.logger.wandb_exp_name = MODE\n    return cfg\n",
    ),
    "a constant that is printed": (
        'FMT = "torch_dist"\n',
        "FMT",
        "    return cfg\n\n\ndef convert():\n    print(FMT)\n",
    ),
    "a name that says what it is": ('TORCH_DIST = "torch_dist"\n', "TORCH_DIST", "    return cfg\n"),
    "a member of an enumeration": (
        'import enum\n\n\nclass F(enum.Enum):\n    DIST = "torch_dist"\n',
        "F.DIST.value",
        "    return cfg\n",
    ),
}


@pytest.mark.parametrize(("before", "takes", "after"), HERE.values(), ids=HERE)
def test_what_others_need_is_changed_where_it_is_taken(fix: Fix, before: str, takes: str, after: str) -> None:
    text = f"{HEAD}{before}\n\ndef r():\n{MAKE}{ON}{TAKES}%s\n{after}"
    assert fix(text % takes) == text % '"fsdp_dtensor"'


def test_where_callers_decide_the_table_stays_for_the_others(fix: Fix) -> None:
    text = HEAD + 'TABLE = {"fmt": "torch_dist"}\n\n\ndef r(fsdp=True):\n' + MAKE
    text += "    cfg.dist.use_megatron_fsdp = fsdp\n" + TAKES + "%s\n    return cfg\n"
    assert fix(text % 'TABLE["fmt"]') == text % '"fsdp_dtensor" if fsdp else TABLE["fmt"]'


def test_a_parameter_without_a_default_is_never_replaced(fix: Fix) -> None:
    text = HEAD + MAKES + "\n\ndef r(name):\n    return _make(name)\n"
    assert fix(text) == text


def test_a_switch_in_a_table(fix: Fix) -> None:
    text = HEAD + 'FLAGS = {"average_in_collective": %s, "overlap_grad_reduce": True}\n\n\n'
    text += "def r():\n" + MAKE.replace("    cfg.ddp.average_in_collective = False\n", "") + ON
    text += (
        TAKES + '"fsdp_dtensor"\n    for name in FLAGS:\n        setattr(cfg.ddp, name, FLAGS[name])\n    return cfg\n'
    )
    assert fix(text % "True") == text % "False"
