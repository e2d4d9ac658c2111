"""What comes with the tool about megatron-bridge 0.3.1: a user's file is understood with nothing else at hand."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import NOT_NONE, Known, NotNone, OneOf, Plain, Unknown, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import DEFAULT_TARGET
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge, shipped
from tests.folders import working_in

SKILL = dedent("""\
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


    def llama3_8b_fsdp():
        cfg = llama3_8b_pretrain_config()
        cfg.dist.use_megatron_fsdp = True
        cfg.ddp.use_megatron_fsdp = True
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
        cfg.ddp.average_in_collective = False
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
        return cfg
    """)


def test_the_example_of_the_skill_has_nothing_to_report(tmp_path: Path) -> None:
    assert lint(tmp_path, SKILL) == 0


def test_without_its_format_line_the_switch_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = SKILL.replace('    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n', "")
    assert lint(tmp_path, text) == 1
    assert findings(capsys.readouterr().out) == [("mine.py", 6, "MFSDP101")]


def test_one_line_on_an_upstream_recipe_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.dist.use_megatron_fsdp = True
            return cfg
        """
    assert lint(tmp_path, text) == 1
    assert ("mine.py", 5, "MFSDP101") in findings(capsys.readouterr().out)


def test_the_note_names_the_release_and_the_line_that_chose_the_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lint(tmp_path, SKILL.replace('    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n', ""), "full")
    assert "megatron/bridge/recipes/common.py:111" in capsys.readouterr().out


RECIPES: dict[str, tuple[str, dict[str, Plain]]] = {
    "a recipe": (
        """\
        from megatron.bridge.recipes.qwen.qwen3 import qwen3_8b_pretrain_config
        def mine():
            return qwen3_8b_pretrain_config()
        """,
        {
            "model.tensor_model_parallel_size": 4,
            "checkpoint.ckpt_format": "torch_dist",
            "checkpoint.save": "<CWD>/nemo_experiments/default/checkpoints",
            "ddp.use_megatron_fsdp": False,
            "mixed_precision": "bf16_mixed",
            "optimizer.main_grads_dtype": "torch.float32",
        },
    ),
    "classes, with what their fields are when left out": (
        """\
        from megatron.bridge.models import GPTModelProvider
        from megatron.bridge.training.config import *
        from megatron.core.distributed import DistributedDataParallelConfig
        from megatron.core.optimizer import OptimizerConfig
        def mine():
            return ConfigContainer(
                model=GPTModelProvider(num_layers=2, hidden_size=8, num_attention_heads=2),
                train=TrainingConfig(micro_batch_size=1), optimizer=OptimizerConfig(), scheduler=SchedulerConfig(),
                dataset=None, logger=LoggerConfig(), tokenizer=TokenizerConfig(),
                ddp=DistributedDataParallelConfig(use_megatron_fsdp=True), checkpoint=CheckpointConfig(save="x"),
            )
        """,
        {
            "ddp.use_megatron_fsdp": True,
            "ddp.data_parallel_sharding_strategy": "no_shard",
            "checkpoint.save": "x",
            "checkpoint.load": None,
            "checkpoint.ckpt_format": "torch_dist",
            "model.num_layers": 2,
            "model.pipeline_model_parallel_size": 1,
            "dist.use_torch_fsdp2": False,
        },
    ),
    "helpers with arguments": (
        """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        from megatron.bridge.recipes.utils.optimizer_utils import distributed_fused_adam_with_cosine_annealing as adam
        from megatron.bridge.training.mixed_precision import bf16_mixed, get_mixed_precision_config
        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.optimizer, cfg.scheduler = adam(max_lr=1e-3, clip_grad=2.0)
            cfg.mixed_precision = get_mixed_precision_config("bf16_with_mxfp8_mixed")
            return cfg
        """,
        {
            "optimizer.lr": 1e-3,
            "optimizer.clip_grad": 2.0,
            "optimizer.use_distributed_optimizer": True,
            "mixed_precision.fp8_recipe": "mxfp8",
            "mixed_precision.fp8_param": True,
        },
    ),
    "a precision of one's own, of which one field sets another": (
        """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        from megatron.bridge.training.mixed_precision import bf16_mixed
        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.mixed_precision = bf16_mixed()
            cfg.mixed_precision.fp8_param_gather = True
            return cfg
        """,
        {"mixed_precision.fp8_param": True, "mixed_precision.params_dtype": "torch.bfloat16"},
    ),
    "a recipe with an argument that it tells apart": (
        """\
        from megatron.bridge.recipes.llama import llama3_8b_low_precision_pretrain_config as low_precision
        def mine():
            return low_precision("bf16_with_fp8_current_scaling_mixed")
        """,
        {"mixed_precision.fp8_recipe": "tensorwise", "ddp.use_megatron_fsdp": False},
    ),
    "a model picked by its Hugging Face name": (
        """\
        from megatron.bridge import AutoBridge
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.model = AutoBridge.from_hf_pretrained("Qwen/Qwen3-8B").to_megatron_provider(load_weights=False)
            return cfg
        """,
        {"model.qk_layernorm": True, "model.cpu_offloading": False, "model.pipeline_model_parallel_size": 1},
    ),
    "methods that only look": (
        """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.print_yaml()
            return cfg
        """,
        {"checkpoint.ckpt_format": "torch_dist"},
    ),
}


@pytest.mark.parametrize("case", RECIPES)
def test_upstream_configurations_are_known(case: str, tmp_path: Path) -> None:
    text, expected = RECIPES[case]
    recipe = read(tmp_path, text)
    assert {path: recipe.setting(path).value for path in expected} == {
        path: Known(value) for path, value in expected.items()
    }


def test_what_upstream_changes_out_of_sight_is_not_known(tmp_path: Path) -> None:
    text = """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        from megatron.bridge.training.pretrain import of_another_release
        def mine():
            cfg = llama3_8b_pretrain_config()
            of_another_release(cfg)
            return cfg
        """
    assert not isinstance(read(tmp_path, text).setting("checkpoint.ckpt_format").value, Known)


def test_a_file_that_imports_nothing_of_megatron_opens_no_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("mfsdp_lint.snapshots.knowledge.shipped", opened.append)
    read_all(tmp_path, "import torch\nfrom elsewhere import recipe\ndef mine():\n    return recipe()\n")
    assert opened == []
    read_all(tmp_path, "from megatron.bridge.recipes.llama import x\ndef mine():\n    return x()\n")
    assert opened == ["0.3.1"]


def test_only_the_modules_that_are_needed_are_decoded(tmp_path: Path) -> None:
    shipped.cache_clear()
    read_all(tmp_path, RECIPES["a recipe"][0])
    snapshot = shipped("0.3.1")
    assert snapshot is not None
    assert "megatron.bridge.recipes.qwen.qwen3" in snapshot.decoded
    assert "megatron.bridge.recipes.llama.llama3" not in snapshot.decoded


WHEEL = ".cache/megatron-bridge-0.3.1"
FAMILIES = (
    "gpt/gpt3_175b",
    "llama/llama3",
    "qwen/qwen3_moe",
    "nemotronh/nemotronh",
    "gemma/gemma2",
    "olmoe/olmoe_7b",
)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_recipe_of_the_wheel_is_what_its_source_says(family: str, tmp_path: Path) -> None:
    """The wheel has no megatron-core, so its source leaves unknown what comes from there; the rest agrees."""
    root = Path(__file__).parents[2] / WHEEL
    source = root / "megatron/bridge/recipes" / f"{family}.py"
    real = {recipe.name: recipe for recipe in read_python([str(source)], Sources(), search_path=[str(root)]).recipes}
    module = f"megatron.bridge.recipes.{family.replace('/', '.')}"
    text = "".join(f"def of_{name}():\n    from {module} import {name}\n    return {name}()\n" for name in real)
    mine = {recipe.name.removeprefix("of_"): recipe for recipe in read_all(tmp_path, text)}
    assert real
    assert mine.keys() >= {name for name in real if "low_precision" not in name}
    wrong = [
        (name, path, mine[name].setting(path).value, recipe.setting(path).value)
        for name, recipe in real.items()
        if name in mine
        for path in recipe.paths()
        if not agree(mine[name].setting(path).value, recipe.setting(path).value)
    ]
    assert wrong == []


def agree(said: Value, real: Value) -> bool:
    """Whether two statements about one value can both be true, where the first knows at least as much."""
    match real:
        case Known():
            return said == real
        case OneOf(values):
            return said == real or (isinstance(said, Known) and said.value in values)
        case NotNone():
            return said == NOT_NONE or (isinstance(said, Known) and said.value is not None) or isinstance(said, OneOf)
        case Unknown():
            return True


def lint(folder: Path, text: str, output_format: str = "concise") -> int:
    (folder / "mine.py").write_text(dedent(text))
    with working_in(folder):
        return main(["mine.py", "--output-format", output_format])


def findings(output: str) -> list[tuple[str, int, str]]:
    lines = [line.split(":", 3) for line in output.splitlines() if ": error " in line]
    return [(path, int(line), rest.split()[1]) for path, line, _, rest in lines]


def read(folder: Path, text: str) -> Recipe:
    (recipe,) = [recipe for recipe in read_all(folder, dedent(text)) if recipe.name == "mine"]
    return recipe


def read_all(folder: Path, text: str) -> list[Recipe]:
    path = folder / "mine.py"
    path.write_text(dedent(text))
    return read_python([str(path)], Sources(), load_knowledge(DEFAULT_TARGET)).recipes
