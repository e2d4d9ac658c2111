"""A fix leaves files alone whose text somebody has written down: by a digest, a patch, a comparison; or a generator."""

from __future__ import annotations

import json
from hashlib import md5, sha256
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from tests.fixes.conftest import Fixed

LAUNCH = "torchrun pretrain_gpt.py --use-megatron-fsdp --use-distributed-optimizer --save /c"
REST = "--data-parallel-sharding-strategy optim_grads_params"
BAD = f"#!/bin/bash\nset -e\n{LAUNCH} {REST} --ckpt-format torch_dist\necho done\n"
GOOD = BAD.replace("torch_dist", "fsdp_dtensor")
RECIPE = """from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def train():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.average_in_collective = False
    cfg.checkpoint.ckpt_format = "torch_dist"
    return cfg
"""
SHA256, MD5 = sha256(BAD.encode()).hexdigest(), md5(BAD.encode(), usedforsecurity=False).hexdigest()
DIGESTS = {
    "a list of sums": ("SHA256SUMS", f"{SHA256}  train.sh\n"),
    "a list in prose": ("sums.txt", f"train.sh: {SHA256}\n"),
    "a manifest": ("MANIFEST.json", json.dumps({"train.sh": MD5})),
    "a lock": ("dvc.lock", f"stages:\n  train:\n    deps:\n    - path: train.sh\n      md5: {MD5}\n"),
    "a test": ("tests/test_pin.py", f"PIN = {SHA256!r}\nassert sha256(open(path).read()).hexdigest() == PIN\n"),
}


@pytest.mark.parametrize(("path", "text"), DIGESTS.values(), ids=DIGESTS)
def test_a_file_whose_digest_is_kept_stays(fixed: Fixed, path: str, text: str) -> None:
    assert fixed({"train.sh": BAD, path: text}, "train.sh") == {}


@pytest.mark.parametrize(("path", "text"), DIGESTS.values(), ids=DIGESTS)
def test_the_digest_of_another_text_holds_nothing_back(fixed: Fixed, path: str, text: str) -> None:
    files = {"train.sh": BAD, path: text.replace(SHA256, "0" * 64).replace(MD5, "0" * 32)}
    assert fixed(files, "train.sh") == {"train.sh": GOOD}


def test_a_recipe_whose_digest_is_kept_stays(fixed: Fixed) -> None:
    digest = sha256(RECIPE.encode()).hexdigest()
    assert fixed({"train.py": RECIPE, "train.py.sha256": f"{digest}  train.py\n"}, "train.py") == {}


PATCH = "--- a/train.sh\n+++ b/train.sh\n@@ -1,{0} +1,{0} @@\n #!/bin/bash\n-set -e\n+set -ex\n{1}"


def test_lines_that_a_patch_changes_or_has_around_its_change_stay(fixed: Fixed) -> None:
    line = BAD.splitlines()[2]
    assert fixed({"train.sh": BAD, "debug.patch": PATCH.format(3, f" {line}\n")}, "train.sh") == {}


@pytest.mark.parametrize("rest", ["", f" {LAUNCH}\n"], ids=["other lines", "a text that is no longer there"])
def test_a_patch_of_something_else_holds_nothing_back(fixed: Fixed, rest: str) -> None:
    assert fixed({"train.sh": BAD, "debug.patch": PATCH.format(3, rest)}, "train.sh") == {"train.sh": GOOD}


def test_a_recipe_is_edited_where_a_patch_does_not_look(fixed: Fixed) -> None:
    script = BAD.replace("set -e\n", "FMT=torch_dist\nset -e\n").replace("format torch_dist", "format $FMT")
    patch = "--- a/train.sh\n+++ b/train.sh\n@@ -1,3 +1,3 @@\n #!/bin/bash\n FMT=torch_dist\n-set -e\n+set -ex\n"
    changed = fixed({"train.sh": script, "debug.diff": patch}, "train.sh")
    assert changed == {"train.sh": script.replace("$FMT", "fsdp_dtensor")}


@pytest.mark.parametrize(("taken", "is_fixed"), [("--use-megatron-fsdp", False), ("--bf16", True)])
def test_a_script_stays_of_which_a_patch_makes_a_launch_without_fsdp(fixed: Fixed, taken: str, is_fixed: bool) -> None:
    flags = ["--use-megatron-fsdp", "--bf16", "--use-distributed-optimizer", "--save /c", "--ckpt-format torch_dist"]
    rows = [f"    {each}" for each in flags]
    script = "\n".join(["#!/bin/bash", "A=(", *rows, ")", 'torchrun pretrain_gpt.py "${A[@]}"', ""])
    hunk = "".join(f"{'-' if taken in each else ' '}{each}\n" for each in rows[:3])
    files = {
        "train.sh": script.replace("pretrain_gpt", "--nproc_per_node 8 pretrain_gpt"),
        "ddp.patch": f"--- a/train.sh\n+++ b/train.sh\n@@ -3,3 +3,2 @@\n{hunk}",
        "ddp.sh": "git apply ddp.patch\nbash train.sh\n",
    }
    assert fixed(files, ".").keys() == ({"train.sh"} if is_fixed else set())


COMPARING = {
    "a copy": "cmp train.sh deploy/train.sh",
    "its output": "DRY=1 bash train.sh | diff - golden.json",
    "in a program": "assert filecmp.cmp('train.sh', '/opt/train.sh')",
}


@pytest.mark.parametrize("line", COMPARING.values(), ids=COMPARING)
def test_a_file_that_is_compared_stays(fixed: Fixed, line: str) -> None:
    assert fixed({"train.sh": BAD, "ci.sh": f"{line}\n", "deploy/train.sh": ""}, "train.sh") == {}


def test_copies_that_get_the_same_edit_are_edited(fixed: Fixed) -> None:
    files = {"a/train.sh": BAD, "b/train.sh": BAD, "ci.sh": "cmp a/train.sh b/train.sh\n"}
    assert fixed(files, ".") == {"a/train.sh": GOOD, "b/train.sh": GOOD}


KEEPING = {
    "a table": {
        "pairs.tsv": "lib/ckpt.py\told/lib/ckpt.py\n",
        "ci.sh": "while read a b; do cmp $a $b; done < pairs.tsv\n",
    },
    "a copy that is made anew": {"Makefile": "old:\n\tcp $(ROOT)/lib/ckpt.py old/lib/ckpt.py\n"},
    "a loop over names": {"ci.sh": 'for f in ckpt.py log.py; do cmp "lib/$f" "old/lib/$f"; done\n'},
    "a program": {"check.py": "PAIRS = [(ROOT / 'lib/ckpt.py', ROOT / 'old/lib/ckpt.py')]\n"},
}
BY_CHANCE = {
    "nobody names the copy": ("torch_dist", "files: [lib/ckpt.py]\n"),
    "the copy of another": ("torch_dist", "files: [lib/ckpt.py, cold/lib/ckpt.py]\n"),
    "another text": ("zarr", "files: [lib/ckpt.py, old/lib/ckpt.py]\n"),
}
HELPER = 'def store(cfg):\n    cfg.checkpoint.ckpt_format = "torch_dist"\n    return cfg\n'
HELPED = RECIPE.replace('    cfg.checkpoint.ckpt_format = "torch_dist"\n    return', "    store(cfg)\n    return")
COPIED = {"lib/ckpt.py": HELPER, "train.py": f"from lib.ckpt import store\n{HELPED}", "old/lib/ckpt.py": HELPER}


@pytest.mark.parametrize("files", KEEPING.values(), ids=KEEPING)
def test_a_file_stays_that_is_kept_equal_to_a_copy(fixed: Fixed, files: dict[str, str]) -> None:
    assert fixed({**COPIED, **files}, "train.py", "lib").keys() == {"train.py"}


@pytest.mark.parametrize(("value", "text"), BY_CHANCE.values(), ids=BY_CHANCE)
def test_a_copy_that_nobody_keeps_equal_holds_nothing_back(fixed: Fixed, value: str, text: str) -> None:
    files = {**COPIED, "old/lib/ckpt.py": HELPER.replace("torch_dist", value), "files.yaml": text}
    assert fixed(files, "train.py", "lib").keys() == {"lib/ckpt.py"}


FOLDERS = {
    "with what is made anew": "check:\n\tgo run ./cmd/render .new\n\tdiff -ru .new runs\n",
    "with what is committed": "check:\n\tgo run ./cmd/render\n\tgit diff --exit-code -- ./runs/\n",
}


@pytest.mark.parametrize("text", FOLDERS.values(), ids=FOLDERS)
def test_a_file_whose_folder_is_compared_stays(fixed: Fixed, text: str) -> None:
    assert fixed({"runs/train.sh": BAD, "Makefile": text}, "runs") == {}


@pytest.mark.parametrize("line", ["diff -r old/runs/logs new", "git diff --stat runs", "diff -r runs old/runs"])
def test_a_comparison_of_other_folders_holds_nothing_back(fixed: Fixed, line: str) -> None:
    files = {"runs/train.sh": BAD, "old/runs/train.sh": BAD, "Makefile": f"check:\n\t{line}\n"}
    assert fixed(files, ".") == {"runs/train.sh": GOOD, "old/runs/train.sh": GOOD}


GENERATED = [
    "# AUTO-GENERATED by gen.py. DO NOT EDIT.",
    "# @generated from recipes.toml",
    "# This file was generated by make_recipes; changes are lost",
    '"""Code generated by gen. Do not edit."""',
]


@pytest.mark.parametrize("line", GENERATED)
def test_a_file_that_is_generated_stays(fixed: Fixed, capsys: pytest.CaptureFixture[str], line: str) -> None:
    assert fixed({"train.py": f"{line}\n{RECIPE}"}, "train.py") == {}
    main(["--no-cache", "--target-bridge", "0.3.1", "--fix", "train.py"])
    assert 'help: the fix is held back: train.py says "' in capsys.readouterr().out


@pytest.mark.parametrize("line", ["# The text is generated by the model.", "# tuned for auto-generated data loaders"])
def test_a_file_that_says_something_else_is_edited(fixed: Fixed, line: str) -> None:
    assert fixed({"train.py": f"{line}\n{RECIPE}"}, "train.py").keys() == {"train.py"}


CONSTANT = RECIPE.replace("\n\ndef", "\nMAPPING = True\n\n\ndef").replace(
    '"torch_dist"', '"fsdp_dtensor"\n    cfg.dist.use_tp_pp_dp_mapping = MAPPING'
)
SHOWN = {
    "in a README": {"README.md": "```python\n>>> import train\n>>> train.MAPPING\nTrue\n\n```\n"},
    "in its docstring": {"train.py": f'"""Recipes.\n\n>>> MAPPING\nTrue\n"""\n\n{CONSTANT}'},
}


@pytest.mark.parametrize("files", SHOWN.values(), ids=SHOWN)
def test_a_constant_that_a_doctest_shows_stays(fixed: Fixed, files: dict[str, str]) -> None:
    files = {"train.py": CONSTANT, **files}
    assert fixed(files, "train.py") == {"train.py": files["train.py"].replace("= MAPPING", "= False")}


TABLE = CONSTANT.replace("MAPPING = True", 'DIST = {"use_tp_pp_dp_mapping": True}').replace(
    "cfg.dist.use_tp_pp_dp_mapping = MAPPING", "vars(cfg.dist).update(DIST)"
)


def test_a_table_of_which_a_doctest_shows_the_setting_stays(fixed: Fixed) -> None:
    shown = ">>> import train\n>>> [name for name, value in train.DIST.items() if value]\n['use_tp_pp_dp_mapping']\n"
    (changed,) = fixed({"train.py": TABLE, "docs/defaults.md": shown}, "train.py").values()
    assert "cfg.dist.use_tp_pp_dp_mapping = False" in changed
    assert 'DIST = {"use_tp_pp_dp_mapping": True}' in changed


def test_a_table_that_a_doctest_counts_is_edited(fixed: Fixed) -> None:
    shown = ">>> import train\n>>> len(train.DIST)\n1\n"
    changed = TABLE.replace('mapping": True', 'mapping": False')
    assert fixed({"train.py": TABLE, "docs/defaults.md": shown}, "train.py") == {"train.py": changed}


@pytest.mark.parametrize("code", ["train.OTHER\nTrue", "train.MAPPING\n<flag>", "print(train.MAPPING, 1)\nTrue 1"])
def test_a_doctest_of_something_else_holds_nothing_back(fixed: Fixed, code: str) -> None:
    files = {"train.py": CONSTANT, "README.md": f">>> import train\n>>> {code}\n"}
    assert fixed(files, "train.py") == {"train.py": CONSTANT.replace("MAPPING = True", "MAPPING = False")}


def test_a_setting_that_a_doctest_shows_stays(fixed: Fixed) -> None:
    shown = ">>> from train import train\n>>> train().checkpoint.ckpt_format\n'torch_dist'\n"
    assert fixed({"train.py": RECIPE, "docs/guide.rst": shown}, "train.py") == {}


YAML = (
    "_target_: megatron.bridge.training.config.ConfigContainer\ndist: {use_megatron_fsdp: true}\n"
    "ddp:\n  use_megatron_fsdp: true\n  average_in_collective: false\n"
    "checkpoint:\n  save: /c\n  load: /c\n  ckpt_format: torch_dist\n"
)


@pytest.mark.parametrize(
    ("said", "is_fixed"),
    [({"const": "torch_dist"}, False), ({"enum": ["torch", "torch_dist"]}, False), ({"type": "string"}, True)],
)
def test_a_value_that_a_schema_asks_for_stays(fixed: Fixed, said: dict[str, object], is_fixed: bool) -> None:
    schema = {"properties": {"checkpoint": {"properties": {"ckpt_format": said}}}}
    files = {"conf.yaml": YAML, "schema.json": json.dumps(schema)}
    assert (fixed(files, "conf.yaml") == {"conf.yaml": YAML.replace("torch_dist", "fsdp_dtensor")}) is is_fixed


@pytest.mark.parametrize("marker", ["file", "folder"], ids=["a submodule", "a clone"])
def test_a_file_of_another_repository_stays(fixed: Fixed, tmp_path: Path, marker: str) -> None:
    files = {
        "shared/common.sh": "FMT=torch_dist\n",
        "train.sh": f". shared/common.sh\n{LAUNCH} {REST} --ckpt-format $FMT\n",
    }
    (tmp_path / "shared").mkdir()
    if marker == "file":
        (tmp_path / "shared/.git").write_text("gitdir: ../.git/modules/shared\n")
    else:
        (tmp_path / "shared/.git").mkdir()
    assert fixed(files, ".") == {"train.sh": files["train.sh"].replace("$FMT", "fsdp_dtensor")}


def test_a_launch_of_another_repository_is_fixed_there_unless_the_one_around_uses_it(
    fixed: Fixed, tmp_path: Path
) -> None:
    files = {"lm/env.sh": "FMT=torch_dist\n", "lm/train.sh": f". ./env.sh\n{LAUNCH} {REST} --ckpt-format $FMT\n"}
    (tmp_path / "lm/.git").mkdir(parents=True)
    assert fixed(files, ".") == {"lm/env.sh": "FMT=fsdp_dtensor\n"}
    files["run.sh"] = ". lm/env.sh\npython convert.py --to $FMT\n"
    assert fixed(files, ".") == {"lm/train.sh": files["lm/train.sh"].replace("$FMT", "fsdp_dtensor")}


EXPORT = "meta = json.load(open(f'{folder}/metadata.json'))\nassert meta['sharded_backend'] == 'torch_dist'\n"
RUN = BAD.replace("--save /c", "--save /runs/atlas")


@pytest.mark.parametrize(
    ("export", "nightly", "is_fixed"),
    [
        (EXPORT, "python export.py /runs/atlas out\n", False),
        (EXPORT, "python export.py /runs/other out\n", True),
        (EXPORT, "rsync -a /runs/atlas backup:\n", True),
        ("# torch_dist\n", "python export.py /runs/atlas out\n", True),
        (f"folder = '/runs/atlas'\n{EXPORT}", "", False),
    ],
    ids=["whoever starts it says the folder", "another folder", "no reader", "in a comment", "it says the folder"],
)
def test_the_format_stays_in_which_a_program_reads_the_checkpoints(
    fixed: Fixed, export: str, nightly: str, is_fixed: bool
) -> None:
    files = {"train.sh": RUN, "export.py": export, "nightly.sh": nightly}
    assert (fixed(files, "train.sh") == {"train.sh": RUN.replace("torch_dist", "fsdp_dtensor")}) is is_fixed


CONTRACT = """import ast

import yaml

HUB = yaml.safe_load(open("hub.yaml").read())


def test_formats():
    for path in HUB["models"]:
        for node in ast.walk(ast.parse(open(path).read())):
            if isinstance(node, ast.Assign) and node.targets[0].attr == "{}":
                assert node.value.value == HUB["reader"]
"""


@pytest.mark.parametrize(
    ("word", "listed", "is_fixed"),
    [("ckpt_format", "train.py", False), ("seq_length", "train.py", True), ("ckpt_format", "other.py", True)],
    ids=["asked for", "another setting", "another file"],
)
def test_a_setting_stays_that_a_program_looks_for_in_the_text_of_a_recipe(
    fixed: Fixed, word: str, listed: str, is_fixed: bool
) -> None:
    hub = f"reader: torch_dist\nmodels:\n- {listed}\n"
    files = {"train.py": RECIPE, "hub.yaml": hub, "test_hub.py": CONTRACT.format(word)}
    assert fixed(files, ".").keys() == ({"train.py"} if is_fixed else set())


NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": ["import ast\n", "{}"]}], "nbformat": 4})


@pytest.mark.parametrize(
    ("line", "is_fixed"),
    [
        ("said = ast.unparse(ast.parse(open('train.py').read()))", False),
        ("said = ast.unparse(ast.parse(open('other.py').read()))", True),
        ("said = open('train.py').read()", True),
    ],
)
def test_a_recipe_stays_whose_code_a_notebook_takes(fixed: Fixed, line: str, is_fixed: bool) -> None:
    files = {"train.py": RECIPE, "parity.ipynb": NOTEBOOK.replace("{}", line)}
    assert fixed(files, "train.py").keys() == ({"train.py"} if is_fixed else set())


PAGE = "# Train\n\n```python train.py\n{}```\n"
READS_PAGES = """import re

FENCE = re.compile(r"```python (\\S+)\\n(.*?)```", re.S)
TEXT = open("docs/train.md").read()
assert FENCE.findall(TEXT)
"""


@pytest.mark.parametrize(
    ("quoted", "test", "is_fixed"),
    [
        (RECIPE.partition("\n\n\n")[2], READS_PAGES, False),
        (RECIPE.partition("\n\n\n")[2], "", True),
        ("def other():\n    pass\n", READS_PAGES, True),
    ],
    ids=["compared", "only shown", "something else"],
)
def test_lines_that_a_page_quotes_stay_where_a_program_reads_the_code_on_pages(
    fixed: Fixed, quoted: str, test: str, is_fixed: bool
) -> None:
    files = {"train.py": RECIPE, "docs/train.md": PAGE.format(quoted), "test_docs.py": test}
    assert fixed(files, ".").keys() == ({"train.py"} if is_fixed else set())


STAGE = """from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from paths import RUN


def {0}():
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.save = cfg.checkpoint.load = {1}
    cfg.checkpoint.ckpt_format = "torch_dist"
{2}    return cfg
"""
FSDP = "    cfg.ddp.use_megatron_fsdp = True\n    cfg.ddp.average_in_collective = False\n"
PATHS = "import os\n\nRUN = os.path.join(os.environ.get('RUNS', '/r'), 'llama')\n"


@pytest.mark.parametrize(
    ("first", "second", "is_fixed"),
    [("RUN", "RUN", False), ("'/runs/a'", "'/runs/a'", False), ("'/runs/a'", "'/runs/b'", True), ("RUN", "'/b'", True)],
)
def test_the_format_stays_in_which_an_earlier_stage_saves_what_a_run_loads(
    fixed: Fixed, first: str, second: str, is_fixed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "paths.py": PATHS,
        "first.py": STAGE.format("first", first, ""),
        "second.py": STAGE.format("second", second, FSDP),
    }
    assert fixed(files, ".").keys() == ({"second.py"} if is_fixed else set())
    main(["--no-cache", "--target-bridge", "0.3.1", "."])
    reason = "the fix is held back: first.py saves checkpoints in the same folder, as torch_dist"
    assert (reason in capsys.readouterr().out) is not is_fixed


SHARED = """from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import CheckpointConfig

STORAGE = CheckpointConfig(save="/c", ckpt_format="torch_dist")


def large():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.average_in_collective = False
    cfg.checkpoint = {}
    return cfg


def small():
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint = {}
    return cfg
"""


@pytest.mark.parametrize(
    ("large", "small", "is_fixed"),
    [
        ("STORAGE", "STORAGE", False),
        ("STORAGE", "replace(STORAGE, save='/d')", False),
        ("replace(STORAGE)", "STORAGE", True),
        ("STORAGE", "CheckpointConfig(save='/d')", True),
    ],
    ids=["both", "a copy in the other", "a copy here", "one alone"],
)
def test_an_object_that_another_recipe_has_as_well_is_not_written_to(
    fixed: Fixed, large: str, small: str, is_fixed: bool
) -> None:
    files = {"train.py": f"from dataclasses import replace\n{SHARED.format(large, small)}"}
    assert fixed(files, ".").keys() == ({"train.py"} if is_fixed else set())


VARIABLES = """from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

HOPPER = {{"CUDA_DEVICE_MAX_CONNECTIONS": 1}}


def large():
    cfg = llama3_8b_pretrain_config()
    cfg.env_vars = {}
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.average_in_collective = False
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg


def small():
    cfg = llama3_8b_pretrain_config()
    cfg.env_vars = HOPPER
    return cfg
"""


@pytest.mark.parametrize(("given", "is_fixed"), [("HOPPER", False), ("dict(HOPPER)", True)])
def test_variables_that_another_recipe_has_as_well_are_not_taken_away(
    given: str, is_fixed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(VARIABLES.format(given))
    main(["--no-cache", "--target-bridge", "0.6.0", "--select", "MFSDP501", "--fix", "train.py"])
    assert ("HOPPER" in capsys.readouterr().out) is not is_fixed
    assert ((tmp_path / "train.py").read_text() != VARIABLES.format(given)) is is_fixed


FAILURE = "Megatron-FSDP requires the fsdp_dtensor checkpointing format!"
SAVING = RECIPE.replace(
    "    return cfg", '    cfg.checkpoint.save = "/c"\n    cfg.checkpoint.load = "/c"\n    return cfg'
)
IN_OWN_FOLDER = SAVING.replace('"/c"', '"/ckpt/llama-8b"')
KEPT = {
    "a list of results": ("nightly/cases.yaml", f"- probe: train\n  exit: 1\n  stderr: {FAILURE}\n"),
    "a test that expects the failure": (
        "tests/test_train.py",
        "from pytest import raises\nfrom train import train\n"
        "with raises(Error, match='requires the fsdp_dtensor checkpointing format'):\n    run(train())\n",
    ),
    "a check that wants to be refused": (
        "check.py",
        "from megatron.bridge.training.config import runtime_config_update\nfrom train import train\n"
        "try:\n    runtime_config_update(train())\nexcept AssertionError:\n    print('as it should be')\n",
    ),
    "a hook that looks for the code": (
        ".pre-commit-config.yaml",
        'repos:\n- repo: local\n  hooks:\n  - entry: ckpt_format = "torch_dist"\n    args: [--negate]\n',
    ),
    "a hook that looks for any other value": (
        ".pre-commit-config.yaml",
        "repos:\n- repo: local\n  hooks:\n  - entry: 'cfg\\.\\w+\\.ckpt_format\\s*=\\s*\"(?!torch_dist\")'\n",
    ),
    "a job that looks for the code": (
        ".gitlab-ci.yml",
        "lint:\n  script: awk '/\"torch_dist\"/ {n++} END {exit !n}' *.py\n",
    ),
    "a program that waits for a line which start-up prints": (
        "ops/startup.pl",
        "while (<>) {\n    if (/the ckpt_format that is set is not/) { print; last; }\n}\n",
    ),
    "a snapshot of a test": (
        "tests/__snapshots__/test_all.ambr",
        "# name: test_all[train]\n  dict({\n    'ckpt_convert_format': None,\n    'ckpt_format': 'torch_dist',\n  })\n",
    ),
    "a launcher in another language": ("src/main.rs", 'let cfg = py.import("recipes.train")?.call_method0(name)?;\n'),
    "a run without FSDP in the same folder": (
        "dags/night.py",
        "BashOperator(bash_command='torchrun run_recipe.py --recipe llama3_8b_config --save_dir /ckpt/llama-8b')\n",
    ),
    "a digest of sources": (
        "identity.py",
        "import hashlib, inspect, train\nprint(hashlib.sha256(inspect.getsource(train).encode()).hexdigest())\n",
    ),
}
LEFT = {
    "a script that looks for a word of its own": ("check.sh", 'nvidia-smi -q | grep -q "True"\nls | grep -v "cfg"\n'),
    "a program that waits for another line": (
        "ops/startup.pl",
        "while (<>) { last if (/setting up the model is done/); }\n",
    ),
    "another failure": ("nightly/cases.yaml", "- probe: train\n  exit: 1\n  stderr: requires the other format\n"),
    "a list that names another recipe": (
        "nightly/cases.yaml",
        f"- probe: other\n  exit: 1\n  stderr: {FAILURE}\n\n\n\n\n- probe: train\n  exit: 0\n",
    ),
    "a report": ("report.json", f'{{"code": "MFSDP101", "recipe": "train", "raises": "{FAILURE}"}}\n'),
    "a log": ("logs/train.log", f"train: AssertionError: {FAILURE}\n"),
    "the code of upstream": ("third_party/config.py", f"def check(cfg):\n    assert cfg, {FAILURE!r}\n"),
    "a hook that looks for any value": (
        ".pre-commit-config.yaml",
        "repos:\n- repo: local\n  hooks:\n  - entry: 'ckpt_format\\s*=\\s*\"\\w+\"'\n",
    ),
    "a configuration of its own": ("ddp.toml", '[checkpoint]\nckpt_format = "torch_dist"\n'),
    "a snapshot of another recipe": (
        "tests/__snapshots__/test_all.ambr",
        "# name: test_all[other]\n  dict({\n    'ckpt_format': 'torch_dist',\n  })\n",
    ),
    "another module in another language": ("src/main.rs", 'let cfg = py.import("tools.train")?.call_method0(name)?;\n'),
    "a run in another folder": (
        "dags/night.py",
        "BashOperator(bash_command='torchrun run_recipe.py --recipe llama3_8b_config --save_dir /ckpt/llama-70b')\n",
    ),
    "a digest of another module": (
        "identity.py",
        "import hashlib, inspect, kernels\nprint(hashlib.sha256(inspect.getsource(kernels).encode()).hexdigest())\n",
    ),
}


@pytest.mark.parametrize(("path", "text"), KEPT.values(), ids=KEPT)
def test_a_recipe_that_others_want_as_it_is_stays(fixed: Fixed, path: str, text: str) -> None:
    files = {"recipes/train.py": IN_OWN_FOLDER, path: text}
    assert fixed(files, "--target-bridge", "0.6.0", "recipes/train.py") == {}


@pytest.mark.parametrize(("path", "text"), LEFT.values(), ids=LEFT)
def test_a_recipe_that_nobody_wants_as_it_is_changes(fixed: Fixed, path: str, text: str) -> None:
    files = {"recipes/train.py": IN_OWN_FOLDER, path: text}
    assert fixed(files, "--target-bridge", "0.6.0", "recipes/train.py").keys() == {"recipes/train.py"}


CHECKED = (
    "on: push\njobs:\n  docs:\n    steps:\n    - run: python -m docs.build\n    - run: git diff --exit-code docs\n"
)
WRITES_PAGE = (
    "import recipes\nPAGE.write_text('\\n'.join(f'| {each().checkpoint.ckpt_format} |' for each in recipes.ALL))\n"
)


@pytest.mark.parametrize(
    ("program", "is_fixed"),
    [(WRITES_PAGE, False), (WRITES_PAGE.replace("ckpt_format", "save_interval"), True)],
    ids=["its", "other"],
)
def test_a_recipe_stays_of_which_a_page_is_made_that_git_has_to_have(
    fixed: Fixed, program: str, is_fixed: bool
) -> None:
    files = {"recipes/train.py": IN_OWN_FOLDER, "docs/build.py": program, ".github/workflows/docs.yml": CHECKED}
    changed = fixed(files, "--target-bridge", "0.6.0", "recipes/train.py")
    assert changed.keys() == ({"recipes/train.py"} if is_fixed else set())


POLICY = "package main\ndeny contains msg if {{ not input.{0} in data.known\n msg := input.checkpoint.save }}\n"


@pytest.mark.parametrize(("key", "is_fixed"), [("checkpoint.ckpt_format", False), ("checkpoint.save_interval", True)])
def test_a_setting_that_a_policy_asks_for_stays(fixed: Fixed, key: str, is_fixed: bool) -> None:
    assert (fixed({"run.yaml": YAML, "policy/run.rego": POLICY.format(key)}, "run.yaml") != {}) is is_fixed


EXPORT = "export CUDA_DEVICE_MAX_CONNECTIONS=1"
AT_THE_END = f"#!/bin/bash\n{EXPORT}\ntrap '{{0}}' EXIT\n{LAUNCH} {REST} --ckpt-format fsdp_dtensor\n"


@pytest.mark.parametrize(
    ("command", "is_exported"),
    [
        ('"$HERE/hooks/after"', True),
        ("cd /w; ./after.sh", True),
        ("echo x && python after.py", True),
        ("rm -rf /tmp/x; echo done", False),
    ],
)
def test_a_variable_stays_for_a_program_that_the_end_of_a_script_starts(
    fixed: Fixed, command: str, is_exported: bool
) -> None:
    (changed,) = fixed({"train.sh": AT_THE_END.format(command)}, "train.sh").values()
    assert (EXPORT in changed) is is_exported


CACHED_DDP = """from functools import lru_cache
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import DistributedDataParallelConfig


{0}
def ddp():
    return DistributedDataParallelConfig(
        average_in_collective=True, data_parallel_sharding_strategy="optim_grads_params"
    )


def sharded():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp = ddp()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg


def plain():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp = ddp()
    cfg.ddp.use_megatron_fsdp = False
    return cfg
"""


@pytest.mark.parametrize("decorator", ["@lru_cache(maxsize=None)", "# anew each time"])
def test_an_object_that_recipes_share_stays_as_it_is(fixed: Fixed, decorator: str) -> None:
    changed = fixed({"train.py": CACHED_DDP.format(decorator)}, "--select", "MFSDP502", "train.py")
    assert bool(changed) is not decorator.startswith("@")
