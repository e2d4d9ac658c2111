"""`mfsdp-lint upgrade`: what breaks, what changes without a word, and the edits, as a user sees them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest

from mfsdp_lint.cli import main
from tools.findings_schema import upgrade_schema

Upgrade = Callable[..., tuple[int, str]]


@pytest.fixture
def upgrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Upgrade:
    """Writes a file, and upgrades the folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()

    def upgrade(old: str, new: str, text: str, *arguments: str) -> tuple[int, str]:
        (tmp_path / "r.py").write_text(dedent(text))
        code = main(["upgrade", "--from", old, "--to", new, *arguments, "r.py"])
        captured = capsys.readouterr()
        assert captured.err == ""
        return code, captured.out

    return upgrade


def written(upgrade: Upgrade, old: str, new: str, text: str, *arguments: str) -> str:
    """The file after the upgrade."""
    upgrade(old, new, text, "--write", *arguments)
    return Path("r.py").read_text()


def test_a_recipe_that_is_gone_is_followed_to_the_one_that_is_configured_alike(upgrade: Upgrade) -> None:
    text = """\
        from megatron.bridge.recipes.qwen.qwen3 import qwen3_8b_finetune_config


        def lora():
            return qwen3_8b_finetune_config()
        """
    assert written(upgrade, "0.2.0", "0.3.1", text) == dedent(
        """\
        from megatron.bridge.recipes.qwen.qwen3 import qwen3_8b_peft_config


        def lora():
            return qwen3_8b_peft_config()
        """
    )


def test_the_arguments_of_its_calls_decide_which_one_that_is(upgrade: Upgrade) -> None:
    text = """\
        from megatron.bridge.recipes.llama import llama3_8b_finetune_config as finetune


        def full():
            return finetune(peft=None, train_iters=50)
        """
    assert written(upgrade, "0.2.0", "0.3.1", text) == dedent(
        """\
        from megatron.bridge.recipes.llama import llama3_8b_sft_config as finetune


        def full():
            cfg = finetune()
            cfg.train.train_iters = 50
            return cfg
        """
    )


def test_an_argument_is_written_as_the_settings_that_it_made(upgrade: Upgrade) -> None:
    text = """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


        def mine(args):
            cfg = llama3_8b_pretrain_config(
                train_iters=args.steps,
                dir=args.out,  # on the shared disk
                name="mine",
                seq_length=4096,
            )
            cfg.ddp.use_megatron_fsdp = True
            return cfg
        """
    assert written(upgrade, "0.2.0", "0.3.1", text) == dedent(
        """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


        def mine(args):
            cfg = llama3_8b_pretrain_config()
            # on the shared disk
            cfg.model.seq_length = 4096
            cfg.train.train_iters = args.steps
            cfg.dataset.sequence_length = 4096
            cfg.logger.tensorboard_dir = f"{args.out}/mine/tb_logs"
            cfg.checkpoint.save = f"{args.out}/mine/checkpoints"
            cfg.checkpoint.load = f"{args.out}/mine/checkpoints"
            cfg.ddp.use_megatron_fsdp = True
            return cfg
        """
    )


def test_of_several_imported_names_the_one_that_moved_gets_an_import_of_its_own(upgrade: Upgrade) -> None:
    text = """\
        from megatron.bridge.peft.lora import LoRA, LoRAMerge

        merge = LoRAMerge()
        peft = LoRA()
        """
    assert written(upgrade, "0.3.1", "0.6.0", text) == dedent(
        """\
        from megatron.bridge.peft.lora_merge import LoRAMerge
        from megatron.bridge.peft.lora import LoRA

        merge = LoRAMerge()
        peft = LoRA()
        """
    )


def test_one_of_several_names_that_moved_and_is_called_otherwise_is_imported_as_it_is_used(upgrade: Upgrade) -> None:
    text = """\
        from megatron.bridge.data.mimo.dataset import Any, MimoDataset

        kind: Any = MimoDataset
        """
    assert written(upgrade, "0.4.2", "0.5.1", text) == dedent(
        """\
        from megatron.bridge.data.megatron_mimo import MegatronMIMODataset
        from megatron.bridge.data.mimo.dataset import Any

        kind: Any = MegatronMIMODataset
        """
    )


def test_a_name_that_others_may_import_from_the_file_keeps_its_name_there(upgrade: Upgrade) -> None:
    text = """\
        from megatron.bridge.recipes.qwen.qwen3 import qwen3_8b_finetune_config

        __all__ = ["qwen3_8b_finetune_config"]
        """
    found = written(upgrade, "0.2.0", "0.3.1", text)
    assert "import qwen3_8b_peft_config as qwen3_8b_finetune_config" in found


def test_a_name_that_another_file_imports_from_the_file_keeps_its_name_there(upgrade: Upgrade) -> None:
    text = """\
        from megatron.bridge.recipes.qwen.qwen3 import qwen3_8b_finetune_config
        """
    Path(".git").mkdir()
    Path("other.py").write_text("from r import qwen3_8b_finetune_config\n")
    found = written(upgrade, "0.2.0", "0.3.1", text)
    assert "import qwen3_8b_peft_config as qwen3_8b_finetune_config" in found


def test_a_notebook_is_told_and_not_edited(upgrade: Upgrade, capsys: pytest.CaptureFixture[str]) -> None:
    code = "from megatron.bridge.peft.lora import LoRAMerge\n"
    cell: dict[str, object] = {
        "cell_type": "code",
        "source": [code],
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    Path("n.ipynb").write_text(notebook)
    assert main(["upgrade", "--from", "0.3.1", "--to", "0.6.0", "--write", "n.ipynb"]) == 1
    assert "a notebook is not edited" in capsys.readouterr().out
    assert Path("n.ipynb").read_text() == notebook


@pytest.mark.parametrize(
    "guard", ["try:\n    {}\nexcept ImportError:\n    merge = None\n", "if TYPE_CHECKING:\n    {}\n"]
)
def test_an_import_that_is_guarded_breaks_nothing(guard: str, upgrade: Upgrade) -> None:
    text = "from typing import TYPE_CHECKING\n" + guard.format("from megatron.bridge.peft.lora import LoRAMerge")
    code, said = upgrade("0.3.1", "0.6.0", text)
    assert code == 0
    assert "breaks: 0" not in said.splitlines()


def test_what_cannot_be_told_apart_is_listed_with_what_distinguishes_it(upgrade: Upgrade) -> None:
    text = """\
        from megatron.bridge.recipes.qwen_vl import qwen3_vl_8b_finetune_config


        def mine():
            return qwen3_vl_8b_finetune_config()
        """
    code, said = upgrade("0.3.1", "0.4.2", text)
    assert code == 1
    assert "perhaps megatron.bridge.recipes.qwen_vl.qwen3_vl_8b_sft_config: " in said
    assert written(upgrade, "0.3.1", "0.4.2", text) == dedent(text)


def test_a_setting_that_is_called_otherwise_is_written_by_its_other_name(upgrade: Upgrade) -> None:
    text = """\
        from megatron.bridge.recipes.llama import llama3_8b_sft_config


        def mine():
            cfg = llama3_8b_sft_config()
            cfg.dataset.packed_sequence_specs.pad_cu_seqlens = True
            return cfg
        """
    assert "cfg.dataset.offline_packing_specs.pad_cu_seqlens = True" in written(upgrade, "0.3.1", "0.6.0", text)


def test_a_downgrade_takes_the_names_back(upgrade: Upgrade) -> None:
    text = """\
        from megatron.bridge.recipes.llama import llama3_8b_sft_config


        def mine():
            cfg = llama3_8b_sft_config()
            cfg.dataset.offline_packing_specs.pad_cu_seqlens = True
            return cfg
        """
    assert "cfg.dataset.packed_sequence_specs.pad_cu_seqlens = True" in written(upgrade, "0.6.0", "0.3.1", text)


PRETRAIN = """\
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


    def mine(fsdp=False):
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = fsdp
        return cfg
    """


def test_a_default_that_upstream_changed_is_told_with_both_places(upgrade: Upgrade) -> None:
    code, said = upgrade("0.3.1", "0.6.0", PRETRAIN, "--all")
    assert code == 1
    assert 'scheduler.lr_wsd_decay_style: "exponential" → "minus_sqrt", 1 recipe ' in said
    assert "(megatron/bridge/recipes/utils/optimizer_utils.py:139 → " in said


def test_a_setting_that_is_in_another_section_now_is_no_change(upgrade: Upgrade) -> None:
    _, said = upgrade("0.3.1", "0.6.0", PRETRAIN, "--all")
    assert "train.eval_iters → validation.eval_iters" in said
    assert "eval_iters:" not in said


def test_a_pin_writes_the_old_value_for_all_callers_and_no_difference_is_left(upgrade: Upgrade) -> None:
    found = written(upgrade, "0.3.1", "0.6.0", PRETRAIN, "--pin")
    assert '    cfg.scheduler.lr_wsd_decay_style = "exponential"\n' in found
    assert found.endswith("    return cfg\n")
    _, said = upgrade("0.3.1", "0.6.0", found, "--all")
    assert "lr_wsd_decay_style" not in said


def test_a_second_upgrade_changes_nothing(upgrade: Upgrade) -> None:
    found = written(upgrade, "0.3.1", "0.6.0", PRETRAIN, "--pin")
    assert written(upgrade, "0.3.1", "0.6.0", found, "--pin") == found


def test_a_patch_is_printed_and_nothing_is_written(upgrade: Upgrade) -> None:
    _, said = upgrade("0.3.1", "0.6.0", PRETRAIN, "--pin", "--diff")
    assert '\n+    cfg.scheduler.lr_wsd_decay_style = "exponential"\n' in said
    assert Path("r.py").read_text() == dedent(PRETRAIN)


def test_programs_get_everything(upgrade: Upgrade) -> None:
    _, said = upgrade("0.3.1", "0.6.0", PRETRAIN, "--output-format", "json")
    document = json.loads(said)
    jsonschema.validate(document, upgrade_schema())
    assert document["to"]["core"] == "0.19.0"
    change = next(each for each in document["changes"] if each["setting"] == "scheduler.lr_wsd_decay_style")
    assert change["old"] == {"state": "known", "value": "exponential"}
    assert change["cause"] == "recipe"
    assert change["recipes"] == ["r.py::mine"]


def test_the_page_of_the_audit_has_the_changes_by_cause_and_both_releases_to_compare(upgrade: Upgrade) -> None:
    upgrade("0.3.1", "0.6.0", PRETRAIN, "--output-format", "html", "-o", "upgrade.html")
    page = Path("upgrade.html").read_text()
    assert '<section id="upgrade"' in page
    assert "<code>scheduler.lr_wsd_decay_style</code>" in page
    assert "#/compare?a=r.py%3A%3Amine&amp;a-side=1&amp;b=r.py%3A%3Amine" in page
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert [side["title"] for side in json.loads(data)["sides"]] == ["megatron-bridge 0.6.0", "megatron-bridge 0.3.1"]


def test_what_the_new_release_wants_is_said(upgrade: Upgrade) -> None:
    _, said = upgrade("0.3.1", "0.6.0", PRETRAIN)
    assert "megatron-core 0.19.0 (was 0.16.1)" in said
    assert "Transformer Engine 2.17.1 (was 2.12.0)" in said
    assert "container nvcr.io/nvidia/nemo 26.08 (was 26.02.01)" in said


def test_pytorch_is_told_where_the_containers_of_both_releases_say_it(upgrade: Upgrade) -> None:
    _, said = upgrade("0.2.0", "0.5.0", PRETRAIN)
    assert "PyTorch 2.12.0a0 (was 2.9.0a0)" in said


def test_the_version_in_use_is_no_upgrade(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "r.py").touch()
    assert main(["upgrade", "--from", "0.6.0", "--to", "0.6.0", str(tmp_path)]) == 2
    assert "is the version in use already" in capsys.readouterr().err
