"""The tiers with the real torch, megatron-core 0.16.1 and megatron-bridge 0.3.1."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.dryrun.real.running import FSDP, PYTHON, mfsdp_lint

pytestmark = pytest.mark.xdist_group("dry-run")


RECIPE = """
from megatron.bridge.recipes.{module} import {function}

def {name}():
    cfg = {function}()
    cfg.dist.use_megatron_fsdp = True
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.ddp.average_in_collective = False
    cfg.model.pipeline_model_parallel_size = 1
    cfg.model.pipeline_model_parallel_layout = None
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.comm_overlap = None
    return cfg
"""
FAMILIES = {
    "experts": ("qwen.qwen3_moe", "qwen3_30b_a3b_pretrain_config"),
    "latent": ("deepseek.deepseek_v2", "deepseek_v2_lite_pretrain_config"),
    "mamba": ("nemotronh.nemotronh", "nemotronh_4b_pretrain_config"),
    "mamba_experts": ("nemotronh.nemotron_3_nano", "nemotron_3_nano_pretrain_config"),
    "gemma": ("gemma.gemma3", "gemma3_1b_pretrain_config"),
}
ADAPTERS = {
    "peft.__class__": "megatron.bridge.peft.lora.LoRA",
    "peft.dim": 8,
    "checkpoint.pretrained_checkpoint": "/weights",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "right": FSDP,
    "added": {**FSDP, "ddp.data_parallel_sharding_strategy": "optim"},
    "unreduced": {**FSDP, "ddp.data_parallel_sharding_strategy": "no_shard", "ddp.overlap_grad_reduce": False},
    "neither": {**FSDP, "checkpoint.ckpt_format": "torch_dist", "checkpoint.save": None, "checkpoint.load": None},
    "adapters": {"checkpoint.ckpt_format": "torch_dist", **ADAPTERS},
    "sharded_adapters": {**FSDP, **ADAPTERS},
}
LOADS: dict[str, dict[str, Any]] = {
    "right": {**FSDP, "mixed_precision": "bf16_mixed"},
    "finetune": {**FSDP, "checkpoint.finetune": True},
    "weights_alone": {**FSDP, "checkpoint.load_optim": False},
    "local": {**FSDP, "checkpoint.non_persistent_ckpt_type": "local"},
}


@dataclass(frozen=True)
class DryRun:
    """Many recipes in one call, and its exit code: the imports of torch and Megatron are what costs.

    `folder` holds the files that were made for it, and `kept` the answers of its runs.
    """

    code: int
    document: Any
    folder: Path

    @property
    def kept(self) -> Path:
        return self.folder / "kept"

    def under(self, folder: str) -> dict[str, Any]:
        """The recipes of the files in a folder, by name."""
        recipes = [each for each in self.document["recipes"] if Path(each["path"]).parent.name == folder]
        return by_name({"recipes": recipes})


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> DryRun:
    """The examples, the settings and a recipe of each family, tried as they are."""
    folder = tmp_path_factory.mktemp("tried")
    for name in ("settings", "families"):
        (folder / name).mkdir()
    for name, settings in SETTINGS.items():
        (folder / "settings" / f"{name}.json").write_text(json.dumps(settings))
    for name, (module, function) in FAMILIES.items():
        (folder / "families" / f"{name}.py").write_text(RECIPE.format(name=name, module=module, function=function))
    files = [str(folder / "settings" / f"{name}.json") for name in SETTINGS]
    files += [f"{folder / 'families' / name}.py::{name}" for name in FAMILIES]
    kept = ("--keep", str(folder / "kept"))
    code, document, _ = mfsdp_lint("dry-run", "examples", *files, "--timeout", "300", *kept, folder=folder)
    return DryRun(code, document, folder)


@pytest.fixture(scope="module")
def repaired(tmp_path_factory: pytest.TempPathFactory) -> DryRun:
    """The examples without their mistakes, and settings that load in other ways, each saved and loaded again."""
    folder = tmp_path_factory.mktemp("repaired")
    (folder / "loads").mkdir()
    files = [folder / "loads" / f"{name}.json" for name in LOADS]
    for file in files:
        file.write_text(json.dumps(LOADS[file.stem]))
    asked = ("examples", *map(str, files), "--fixed", "--checkpoint", "--timeout", "300")
    code, document, _ = mfsdp_lint("dry-run", *asked, folder=folder)
    return DryRun(code, document, folder)


def by_name(document: Any) -> dict[str, Any]:
    return {Path(recipe["name"]).stem: recipe for recipe in document["recipes"]}


def test_a_correct_installation_can_run() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mfsdp_lint", "dry-run", "--check-setup", "--python", PYTHON, "--timeout", "300"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "introspect  can run\ncpu         can run\ngpu         cannot run: this machine has none" in done.stdout
    assert "megatron-bridge     0.3.1" in done.stdout


def test_the_examples_do_what_the_linter_says_of_them(tried: DryRun) -> None:
    recipes = tried.under("examples")
    assert {name: recipe["verdict"] for name, recipe in recipes.items()} == {
        "fsdp_overrides": "passed",  # it does not say that it saves
        "llama3_70b_offload": "confirmed",
        "llama3_8b_fsdp": "confirmed",
        "llama3_8b_fsdp_ready": "passed",
        "qwen25_7b_fsdp2": "confirmed",
        "qwen25_7b_fsdp2_long": "confirmed",
    }
    assert [each["verdict"] for each in recipes["fsdp_overrides"]["findings"]] == ["hypothetical"]
    assert [refusal["error"] for refusal in recipes["llama3_70b_offload"]["refusals"]] == [
        "ValueError: Currently there is no support for Pipeline parallelism with CPU offloading"
    ]
    assert recipes["llama3_8b_fsdp_ready"]["trained"]["reduced"] == ["model.context_parallel_size 2 → 1"]
    assert "unexpected keyword argument 'pg_collection'" in recipes["qwen25_7b_fsdp2"]["findings"][0]["seen"]
    assert tried.code == 1
    assert "transformer_engine" in tried.document["stood_in"]


def test_without_their_mistakes_the_examples_pass_and_what_they_save_can_be_loaded(repaired: DryRun) -> None:
    recipes = repaired.under("examples")
    assert {name: recipe["verdict"] for name, recipe in recipes.items()} == {
        "fsdp_overrides": "passed",
        "llama3_70b_offload": "passed",
        "llama3_8b_fsdp": "passed",
        "llama3_8b_fsdp_ready": "passed",
        "qwen25_7b_fsdp2": "passed",
        "qwen25_7b_fsdp2_long": "passed",
    }, json.dumps(recipes, indent=1)
    assert repaired.code == 0


def test_a_check_carries_the_verdicts(tmp_path: Path) -> None:
    code, document, _ = mfsdp_lint("--confirm", "examples/llama3_8b_fsdp.py", folder=tmp_path)
    assert code == 1
    assert [finding["confirmed"] for finding in document["findings"]] == [
        {
            "verdict": "confirmed",
            "tier": "introspect",
            "seen": "AssertionError: Megatron FSDP only supports fsdp_dtensor checkpoint format",
            "reason": "",
        }
    ]


def test_silent_mistakes_show_beside_plain_ddp(tried: DryRun) -> None:
    """Up to megatron-core 0.16 these train on wrong gradients, and nothing says so."""
    recipes = tried.under("settings")
    assert [recipes[name]["verdict"] for name in ("right", "added", "unreduced")] == [
        "passed",
        "confirmed",
        "confirmed",
    ]
    assert recipes["right"]["trained"]["losses"] == pytest.approx([4.881298, 4.851477, 4.899878, 4.824488], rel=1e-5)
    assert "the norm of the gradients is 4.24881" in recipes["added"]["findings"][0]["seen"]
    assert "the replicas drift apart" in recipes["unreduced"]["trained"]["told"]


def test_a_load_brings_back_what_it_is_asked_to_and_the_next_step_is_that_of_plain_ddp(repaired: DryRun) -> None:
    """An optimizer that begins anew, and a kind of checkpoint that the cpu tier cannot have, are no failures."""
    recipes = repaired.under("loads")
    assert {name: recipe["verdict"] for name, recipe in recipes.items()} == dict.fromkeys(LOADS, "passed")
    assert recipes["local"]["trained"]["reduced"] == ['checkpoint.non_persistent_ckpt_type "local" → None']


def test_answers_of_this_machine_are_used_again(tried: DryRun) -> None:
    launches = sorted(tried.kept.glob("*/launcher.log"))
    assert launches
    right = str(tried.folder / "settings" / "right.json")
    code, document, _ = mfsdp_lint("dry-run", right, "--keep", str(tried.kept), "--resume", folder=tried.folder)
    assert (code, by_name(document)["right"]["verdict"]) == (0, "passed")
    assert sorted(tried.kept.glob("*/launcher.log")) == launches


def test_models_of_every_family_are_tried_as_themselves_and_what_is_not_is_told(tried: DryRun) -> None:
    """Sizes of experts that are published are taken from there, and nothing stands in for them."""
    found = tried.under("families")
    assert {name: recipe["verdict"] for name, recipe in found.items()} == dict.fromkeys(FAMILIES, "passed")
    assert {name: (recipe["trained"]["ranks"], recipe["trained"]["substituted"]) for name, recipe in found.items()} == {
        "experts": (4, []),
        "latent": (4, []),
        "mamba": (2, ["the scan of Mamba's layers by a plain loop"]),
        "mamba_experts": (4, ["the scan of Mamba's layers by a plain loop"]),
        "gemma": (2, ["the model of Gemma3ModelProvider1B by a plain GPT"]),
    }
    assert found["experts"]["stood_in"] == {}


def test_adapters_are_trained_as_such_which_core_0_16_cannot_shard(tried: DryRun) -> None:
    recipes = tried.under("settings")
    assert recipes["adapters"]["verdict"] == "passed"
    told = recipes["sharded_adapters"]["trained"]["told"]
    assert "cannot register a hook on a tensor that doesn't require gradient" in told


def test_what_a_warning_supposes_confirms_nothing(tried: DryRun) -> None:
    recipe = tried.under("settings")["neither"]
    assert recipe["verdict"] == "passed"
    assert [(each["verdict"], each["reason"]) for each in recipe["findings"]] == [
        ("hypothetical", "would be confirmed if it saved")
    ]


VERIFIED = {
    *("MFSDP101", "MFSDP201", "MFSDP301", "MFSDP302", "MFSDP350", "MFSDP351"),
    *("MFSDP355", "MFSDP401", "MFSDP502", "MFSDP751"),
}
"""Of every kind some that the recipes above do not show; `make verify` tries all of them."""


WRONG = """
code: TEAM{number}
name: wrong-{number}
summary: What is not so.
why: It is made up.
applies: not megatron_fsdp and {setting}
message: "{setting} is {{{setting}}}"
consequence: something else happens than what does
cases:
  - {{severity: info, stage: never}}
confirm: {{tier: {tier}, shows: "{shows}"}}
fix: {{set: {{{setting}: false}}, safe: never}}
examples:
  bad: [{{severity: info, settings: {{{setting}: true, ddp.use_megatron_fsdp: false, dist.use_megatron_fsdp: false}}}}]
  good: [{{settings: {{{setting}: false}}}}]
"""


def test_no_rule_is_contradicted_by_its_own_examples_but_those_that_say_what_is_not_seen(tmp_path: Path) -> None:
    wrong = {
        # Start-up replaces it for Megatron-FSDP alone, and the wrapper of plain data parallelism reads it.
        "001": ("introspect", "seen.after.ddp.average_in_collective != ddp.average_in_collective"),
        "002": ("cpu", "not seen.read.ddp.average_in_collective"),
    }
    (tmp_path / "lint").mkdir()
    for number, (tier, shows) in wrong.items():
        text = WRONG.format(number=number, setting="ddp.average_in_collective", tier=tier, shows=shows)
        (tmp_path / "lint" / f"TEAM{number}.yaml").write_text(text)
    config = tmp_path / "pyproject.toml"
    config.write_text('[tool.mfsdp-lint]\nextend-rules = ["lint"]\n')
    select = ",".join([*sorted(VERIFIED), "TEAM"])
    code, document, _ = mfsdp_lint("rules", "--verify", "--select", select, "--config", str(config), folder=tmp_path)
    assert {rule["code"]: rule["agreement"] for rule in document["rules"]} == {
        **dict.fromkeys(VERIFIED, "agreement"),
        "TEAM001": "disagreement",
        "TEAM002": "disagreement",
    }
    assert code == 1


def test_nothing_is_left_when_the_linter_is_killed_while_ranks_train(tmp_path: Path) -> None:
    (tmp_path / "right.json").write_text(json.dumps(FSDP))
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "mfsdp_lint", "dry-run", str(tmp_path / "right.json"), "--python", PYTHON],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
    ) as linter:
        mark = _wait_for_ranks(temporary)
        linter.send_signal(signal.SIGKILL)
        linter.wait()
    _wait(lambda: not _marked(mark) and not list(temporary.iterdir()))


def _wait_for_ranks(temporary: Path) -> bytes:
    """The mark of the launch, once both ranks are there."""
    found: Sequence[bytes] = ()

    def both() -> bool:
        nonlocal found
        found = [
            mark
            for mark, command in _processes()
            if b"start.py\0rank" in command and str(temporary).encode() in command
        ]
        return len(found) >= 2

    _wait(both)
    return found[0]


def _wait(condition: Any) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _marked(mark: bytes) -> bool:
    return any(found == mark for found, _ in _processes())


def _processes() -> list[tuple[bytes, bytes]]:
    """The mark and the command line of every process that has a mark."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        found += [(each, command) for each in environment if each.startswith(b"MFSDP_LINT_DRY_RUN=")]
    return found
