"""Names that upstream replaced: what successors.json and core_names.json tell, as a user sees it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.store import read_json
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.upgrade.library import Library
from mfsdp_lint.upgrade.successors import SOURCE, replacements

Upgraded = Callable[..., str]


@pytest.fixture
def upgraded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Upgraded:
    """Writes a file, upgrades it, and returns what is printed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()

    def upgraded(old: str, new: str, text: str, *arguments: str, name: str = "r.py") -> str:
        (tmp_path / name).write_text(dedent(text))
        main(["upgrade", "--from", old, "--to", new, "--write", *arguments, name])
        return capsys.readouterr().out

    return upgraded


@pytest.mark.parametrize("step", read_json(SOURCE))
def test_every_name_is_gone_and_what_stands_in_its_place_is_there(step: str) -> None:
    old, new = (Library(resolve_target(version)) for version in step.split(" "))
    for gone, those in read_json(SOURCE)[step].items():
        module, _, name = gone.rpartition(".")
        assert old.has(module, name)
        assert not new.has(module, name)
        assert all(new.has(*each.rpartition(".")[::2]) for each in those)


def test_steps_over_several_releases_compose_and_turn_round() -> None:
    old, new = resolve_target("0.2.0"), resolve_target("head")
    before = ("megatron.bridge.data.vlm_datasets.mock_provider", "MockVLMConversationProvider")
    after = ("megatron.bridge.data.builders.mock_vlm_sft", "MockVLMSFTDatasetConfig")
    assert [each.name for each in replacements(before, old, new)] == [after]
    assert [each.name for each in replacements(after, new, old)] == [before]


def test_a_class_that_upstream_replaced_everywhere_and_that_takes_the_same_is_written_in_its_place(
    upgraded: Upgraded,
) -> None:
    text = """\
        from megatron.bridge.models.hf_pretrained.vlm import PreTrainedVLM

        model = PreTrainedVLM("org/model")
        """
    said = upgraded("0.5.1", "0.6.0", text)
    assert "in its place in 25 files of upstream's own, and takes the same arguments" in said
    assert "import PreTrainedCausalLM\n" in Path("r.py").read_text()


def test_a_class_that_takes_other_arguments_is_told_and_not_edited(upgraded: Upgraded) -> None:
    text = "from megatron.bridge.data.builders.hf_dataset import HFDatasetConfig\n"
    said = upgraded("0.5.1", "0.6.0", text)
    assert "perhaps megatron.bridge.data.builders.GPTSFTDatasetConfig: in its place in 1 file of upstream's own" in said
    assert Path("r.py").read_text() == text


def test_a_class_that_was_another_one_with_its_own_defaults_is_told_with_these(upgraded: Upgraded) -> None:
    said = upgraded("0.4.2", "0.5.1", "from megatron.bridge.models.mistral import MistralSmall3ModelProvider24B\n")
    assert "perhaps megatron.bridge.models.mistral.MistralModelProvider: with num_layers=40, hidden_size=5120" in said


def test_a_name_of_megatron_core_that_is_defined_elsewhere_is_imported_from_there(upgraded: Upgraded) -> None:
    text = """\
        from megatron.core.datasets.utils_object_storage import is_object_storage_path

        remote = is_object_storage_path("s3://bucket/data")
        """
    upgraded("0.2.0", "0.3.1", text)
    place = "megatron.core.datasets.object_storage_utils"
    assert f"from {place} import is_object_storage_path\n" in Path("r.py").read_text()


def test_one_with_other_parameters_is_told_with_those_that_it_lost(upgraded: Upgraded) -> None:
    said = upgraded("0.4.2", "0.5.1", "from megatron.core.optimizer.muon import TensorParallelMuon\n")
    assert "emerging_optimizers.TensorParallelMuon: defined there now; does not take momentum_beta" in said


def test_a_member_that_an_enumeration_lacks_is_told_with_those_that_there_are(upgraded: Upgraded) -> None:
    text = """\
        from megatron.core.inference.config import PrefixCachingCoordinatorPolicy as Policy

        policy = Policy.ROUND_ROBIN
        kept = Policy.LONGEST_PREFIX
        """
    said = upgraded("0.5.1", "0.6.0", text)
    assert "r.py:3:17: megatron.core.inference.config.PrefixCachingCoordinatorPolicy.ROUND_ROBIN is gone" in said
    assert "LOAD_BALANCED" in said
    assert "r.py:4:" not in said


def test_a_key_of_a_yaml_file_is_written_by_its_other_name(upgraded: Upgraded) -> None:
    text = """\
        # dataset.rewrite
        dataset:
          packed_sequence_specs:  # of the old release
            pad_cu_seqlens: true
        optimizer: {muon_use_nesterov: true}
        ddp:
          use_megatron_fsdp: true
        rewrite: true
        """
    upgraded("0.3.1", "0.6.0", text, name="overrides.yaml")
    assert Path("overrides.yaml").read_text() == dedent(text).replace(
        "packed_sequence_specs", "offline_packing_specs"
    ).replace("muon_use_nesterov", "muon_nesterov")


def test_an_override_in_a_launch_script_is_written_by_its_other_name(upgraded: Upgraded) -> None:
    text = """\
        #!/bin/bash
        # optimizer.muon_use_nesterov=true
        torchrun --nproc-per-node 8 train.py optimizer.muon_use_nesterov=true my.optimizer.muon_use_nesterov=true
        """
    upgraded("0.3.1", "0.6.0", text, name="launch.sh")
    _, comment, line = Path("launch.sh").read_text().splitlines()
    assert comment == "# optimizer.muon_use_nesterov=true"
    assert line.endswith("train.py optimizer.muon_nesterov=true my.optimizer.muon_use_nesterov=true")
