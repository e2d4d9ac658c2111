"""Whether a recipe can load a checkpoint, and the commands that convert it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from mfsdp_lint.checkpoints.folder import checkpoint
from mfsdp_lint.checkpoints.loading import LoadAnswer, answer
from mfsdp_lint.cli import main
from mfsdp_lint.core.front_ends import BRIDGE, MEGATRON_LM, FrontEnd
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Plain
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.rules.judging import judge, variant_of

WRITTEN = Path(__file__).parent / "written"
FSDP: dict[str, Plain] = {"checkpoint.ckpt_format": "fsdp_dtensor", "dist.use_megatron_fsdp": True}
DDP: dict[str, Plain] = {"checkpoint.ckpt_format": "torch_dist", "dist.use_megatron_fsdp": False}


def asked(
    folder: Path, *settings: dict[str, Plain], release: str = "0.6.0", core: str = "", front_end: FrontEnd = BRIDGE
) -> LoadAnswer:
    recipe = Recipe("r", "m.r", "r.py", 1, "function", tuple(map(variant_of, settings)), front_end=front_end)
    target = resolve_target(release)
    return answer(checkpoint(str(folder)), recipe, replace(target, core=core or target.core))


def commands(found: LoadAnswer) -> list[str]:
    assert found.conversion is not None
    return [step.command for step in found.conversion.steps]


@pytest.mark.parametrize(("name", "settings"), [("torch_dist", DDP), ("fsdp_dtensor", FSDP)])
def test_the_format_that_a_recipe_writes_it_reads(name: str, settings: dict[str, Plain]) -> None:
    assert asked(WRITTEN / name, settings).loads is True


def test_megatron_fsdp_takes_torch_dist_by_the_way_of_the_guide() -> None:
    found = asked(WRITTEN / "torch_dist", FSDP | {"model.gated_linear_unit": True})
    assert found.loads is False
    dump, readable, convert, tracker = commands(found)
    assert "--dump-param-to-param-group-map MAP" in dump
    assert readable.endswith("print-torch-dcp-in-json MAP")
    assert shlex.split(convert)[2:] == [
        "tools/checkpoint/checkpoint_inspector.py",
        "convert-torch-dist-to-fsdp-dtensor",
        "--swiglu",
        str(WRITTEN / "torch_dist" / "iter_0000005"),
        "NEW_RUN/iter_0000005",
        "--param-to-param-group-map-json",
        "MAP/param_to_param_group_map.json",
    ]
    assert tracker == "printf 5 > NEW_RUN/latest_checkpointed_iteration.txt"
    assert found.conversion is not None
    assert dict(found.conversion.settings)["checkpoint.load_rng"] == "False"


def test_the_map_of_the_optimizers_groups_came_with_core_0_16() -> None:
    older = commands(asked(WRITTEN / "torch_dist", FSDP, core="0.15.3"))
    assert len(older) == 2
    assert not any("map" in command for command in older)


@pytest.mark.parametrize(("gated", "option"), [(True, " --swiglu "), (False, ""), (None, " [--swiglu] ")])
def test_swiglu_is_what_the_model_says(gated: bool | None, option: str) -> None:
    settings = FSDP if gated is None else FSDP | {"model.gated_linear_unit": gated}
    convert = commands(asked(WRITTEN / "torch_dist", settings))[2]
    assert option in convert
    assert ("swiglu" in convert) is bool(option)


def test_back_only_weights_go_by_way_of_hugging_face_from_0_5_on() -> None:
    sizes: dict[str, Plain] = {
        "model.tensor_model_parallel_size": 2,
        "model.context_parallel_size": 1,
        "model.expert_model_parallel_size": 1,
    }
    found = asked(WRITTEN / "fsdp_dtensor", DDP | sizes)
    export, again = commands(found)
    assert f"export --hf-model MODEL --megatron-path {WRITTEN / 'fsdp_dtensor'} --hf-path HF_MODEL --tp 2" in export
    assert "import_ckpt" in again
    assert found.conversion is not None
    assert "optimizer" in found.conversion.lost
    assert asked(WRITTEN / "fsdp_dtensor", DDP, release="0.4.2").conversion is None


def test_what_torch_fsdp2_wrote_is_taken_for_megatron_fsdps() -> None:
    found = asked(WRITTEN / "torch_dcp", FSDP)
    assert (found.loads, found.conversion) == (False, None)
    assert "no tensor has the name" in found.why


def test_bridge_imports_a_hugging_face_model_from_0_6_on(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").touch()
    found = asked(tmp_path, DDP)
    assert (found.loads, found.conversion) == (True, None)
    assert f"checkpoint.pretrained_checkpoint = {tmp_path}" in found.why
    older = asked(tmp_path, DDP, release="0.5.1")
    assert older.loads is False
    assert "import_ckpt" in commands(older)[0]


@pytest.mark.parametrize("release", ["0.2.0", "0.3.1", "0.4.2", "0.6.0", "head"])
@pytest.mark.parametrize(("name", "other"), [("fsdp_dtensor", DDP), ("torch_dist", FSDP)])
def test_the_rule_and_the_command_say_the_same(name: str, other: dict[str, Plain], release: str) -> None:
    found = {"found.checkpoint": "run", "found.checkpoint_format": name, "checkpoint.load": str(WRITTEN / name)}
    said = {finding.code for finding in judge(other | found, target=release).findings}
    assert ("MFSDP172" in said, asked(WRITTEN / name, other, release=release).loads) == (True, False)


def test_nothing_is_said_of_what_is_not_known(tmp_path: Path) -> None:
    assert asked(WRITTEN / "torch_dist", {}).loads is None
    assert asked(WRITTEN / "torch_dist", FSDP, DDP).loads is None
    assert asked(WRITTEN / "torch_dist", FSDP, front_end=MEGATRON_LM).loads is None
    (tmp_path / "iter_0000001").mkdir()
    assert asked(tmp_path, FSDP).loads is None


def test_an_empty_folder_holds_nothing_to_load(tmp_path: Path) -> None:
    assert asked(tmp_path, FSDP).loads is False


def test_the_command_answers_for_a_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    question = ["--for", str(WRITTEN.parents[2] / "examples" / "llama3_8b_fsdp_ready.py"), "--output-format"]
    assert main(["checkpoint", str(WRITTEN / "fsdp_dtensor"), *question, "json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)
    assert said["for"]["loads"] is True
    assert main(["checkpoint", str(WRITTEN / "torch_dist"), *question, "text"]) == 1
    assert "the recipe cannot load it: it is torch_dist" in capsys.readouterr().out


def test_the_command_tells_where_there_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "no/such/folder"]) == 2
    assert "no/such/folder: does not exist" in capsys.readouterr().err
