"""What comes with the tool about each supported release: a user's file is understood with nothing else at hand."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known, Plain, Unknown
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import RELEASES, resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.rules.findings import check
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.snapshots import Snapshot
from mfsdp_lint.snapshots.knowledge import DATA, load_knowledge

VERSIONS = tuple(release.bridge for release in RELEASES if release.bridge == release.library)
HERE = "  # <- here"

USES = {
    "one line on a recipe": """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.dist.use_megatron_fsdp = True  # <- here
            return cfg
        """,
    "a recipe under another name": """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as base
        def mine():
            cfg = base()
            cfg.dist.use_megatron_fsdp = True  # <- here
            return cfg
        """,
    "a recipe of an imported package": """\
        import megatron.bridge.recipes.llama as llama
        def mine():
            cfg = llama.llama3_8b_pretrain_config()
            cfg.dist.use_megatron_fsdp = True  # <- here
            return cfg
        """,
    "everything that a package has": """\
        from megatron.bridge.recipes.llama import *
        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.dist.use_megatron_fsdp = True  # <- here
            return cfg
        """,
    "a helper around the recipe": """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        def _base(save):
            cfg = llama3_8b_pretrain_config()
            cfg.checkpoint.save = save
            return cfg
        def mine():
            cfg = _base(save="/results")
            cfg.dist.use_megatron_fsdp = True  # <- here
            return cfg
        """,
    "a helper that takes the recipe": """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        def _with_fsdp(recipe, **settings):
            cfg = recipe(**settings)
            cfg.dist.use_megatron_fsdp = True  # <- here
            return cfg
        def mine():
            return _with_fsdp(llama3_8b_pretrain_config)
        """,
    "a partial": """\
        from functools import partial
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        base = partial(llama3_8b_pretrain_config)
        def mine():
            cfg = base()
            cfg.dist.use_megatron_fsdp = True  # <- here
            return cfg
        """,
    "a section under a name of its own": """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        def mine():
            cfg = llama3_8b_pretrain_config()
            dist = cfg.dist
            dist.use_megatron_fsdp = True  # <- here
            return cfg
        """,
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("use", USES)
def test_the_line_that_turns_fsdp_on_is_found(use: str, version: str, tmp_path: Path) -> None:
    text = dedent(USES[use])
    found = check(read(tmp_path, text, version), resolve_target(version), load_rules(), is_linted=str(tmp_path).__lt__)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(HERE)]
    assert [finding.span.line for finding in found if finding.code == "MFSDP101"] == lines


VALUES: dict[str, tuple[str, dict[str, Plain]]] = {
    "a helper with keyword arguments": (
        """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        from megatron.bridge.recipes.utils.optimizer_utils import distributed_fused_adam_with_cosine_annealing as adam
        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.optimizer, cfg.scheduler = adam(max_lr=1e-3, lr_warmup_iters=7)
            return cfg
        """,
        {"optimizer.lr": 1e-3, "scheduler.lr_warmup_iters": 7, "optimizer.use_distributed_optimizer": True},
    ),
    "settings of the model, wherever its class keeps them": (
        """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.model.tensor_model_parallel_size = 4
            cfg.model.context_parallel_size = cfg.model.tensor_model_parallel_size
            return cfg
        """,
        {
            "model.tensor_model_parallel_size": 4,
            "model.context_parallel_size": 4,
            "model.pipeline_model_parallel_size": 1,
            "model.gradient_accumulation_fusion": True,
        },
    ),
    "classes of the core, with their defaults": (
        """\
        from megatron.bridge.training.config import *
        from megatron.core.distributed import DistributedDataParallelConfig
        from megatron.core.optimizer import OptimizerConfig
        from megatron.core.transformer import TransformerConfig
        def mine():
            return ConfigContainer(
                model=TransformerConfig(num_layers=2, hidden_size=8, num_attention_heads=2),
                ddp=DistributedDataParallelConfig(use_megatron_fsdp=True), optimizer=OptimizerConfig(),
                train=TrainingConfig(micro_batch_size=1), scheduler=SchedulerConfig(), dataset=None,
                logger=LoggerConfig(), tokenizer=TokenizerConfig(), checkpoint=CheckpointConfig(save="x"),
            )
        """,
        {
            "ddp.use_megatron_fsdp": True,
            "ddp.data_parallel_sharding_strategy": "no_shard",
            "ddp.overlap_grad_reduce": False,
            "optimizer.use_distributed_optimizer": False,
            "model.num_layers": 2,
            "model.pipeline_model_parallel_size": 1,
            "model.cpu_offloading": False,
            "checkpoint.ckpt_format": "torch_dist",
            "dist.use_torch_fsdp2": False,
        },
    ),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", VALUES)
def test_configurations_are_known_in_every_release(case: str, version: str, tmp_path: Path) -> None:
    text, expected = VALUES[case]
    (recipe,) = [recipe for recipe in read(tmp_path, text, version) if recipe.name == "mine"]
    assert {path: recipe.setting(path).value for path in expected} == {
        path: Known(value) for path, value in expected.items()
    }


def test_keyword_arguments_of_a_recipe_are_its_settings(tmp_path: Path) -> None:
    text = """\
        from functools import partial
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        small = partial(llama3_8b_pretrain_config, tensor_model_parallel_size=2)
        def mine():
            return small(global_batch_size=16)
        """
    (recipe,) = [recipe for recipe in read(tmp_path, text, "0.2.0") if recipe.name == "mine"]
    assert recipe.setting("model.tensor_model_parallel_size").value == Known(2)
    assert recipe.setting("train.global_batch_size").value == Known(16)
    assert recipe.setting("checkpoint.ckpt_format").value == Known("torch_dist")


@pytest.mark.parametrize("version", VERSIONS)
def test_an_upstream_value_is_told_with_its_release_and_line(version: str, tmp_path: Path) -> None:
    (recipe,) = read(tmp_path, USES["one line on a recipe"], version)
    origin = recipe.setting("checkpoint.ckpt_format").origin
    assert origin is not None
    assert origin.upstream == f"megatron-bridge {version}"
    assert origin.span.path.startswith("megatron/bridge/recipes/")
    assert origin.span.line > 1


@pytest.mark.parametrize("version", ["0.3.1", "0.4.2", "0.5.1", "0.6.0", "head"])
def test_a_constructor_that_a_class_writes_itself_may_take_what_is_no_field(version: str, tmp_path: Path) -> None:
    (recipe,) = read(
        tmp_path,
        """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        from megatron.bridge.training.config import MockGPTDatasetConfig
        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.dataset = MockGPTDatasetConfig(seq_length=128, random_seed=1)
            return cfg
        """,
        version,
    )
    assert recipe.setting("dataset.random_seed").value == Known(1)
    assert recipe.setting("dataset.sequence_length").value == Unknown()


def test_an_enumeration_has_more_than_its_members(tmp_path: Path) -> None:
    """`encoder_and_decoder` is a property of core 0.16's class: it is there, and no member."""
    (recipe,) = read(
        tmp_path,
        """\
        from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
        from megatron.core.enums import ModelType
        def mine():
            cfg = llama3_8b_pretrain_config()
            cfg.train.train_iters = 1 if ModelType.encoder_or_decoder == ModelType.encoder_or_decoder else 2
            cfg.dist.use_megatron_fsdp = ModelType.encoder_and_decoder is not None
            return cfg
        """,
        "0.3.1",
    )
    assert recipe.setting("train.train_iters").value == Known(1)
    assert not isinstance(recipe.setting("dist.use_megatron_fsdp").value, Known)


def test_every_release_has_a_snapshot_of_its_library() -> None:
    assert set(VERSIONS) == {release.library for release in RELEASES}
    assert len(VERSIONS) == len(RELEASES) - 1  # 0.2.1 differs from 0.2.2 in the number of the version alone


@pytest.mark.parametrize(
    ("version", "taken", "certain"),
    [
        pytest.param("0.3.0", True, False, id="its recipe takes any arguments"),
        pytest.param("0.3.1", False, True, id="its recipe takes none"),
        pytest.param("0.3.9", False, False, id="only what its neighbour takes is known"),
    ],
)
def test_a_call_that_a_recipe_refuses_is_certain_of_the_very_release_alone(
    version: str, taken: bool, certain: bool, tmp_path: Path
) -> None:
    text = """\
        from megatron.bridge.recipes.llama import llama31_8b_pretrain_config
        def mine():
            cfg = llama31_8b_pretrain_config(dir="/runs", name="mine")
            cfg.ddp.use_megatron_fsdp = True
            return cfg
        """
    found = read_python([str(write(tmp_path, text))], Sources(), load_knowledge(resolve_target(version)))
    values = [recipe.setting("checkpoint.ckpt_format").value for recipe in found.recipes]
    assert (Known("torch_dist") in values) is taken
    assert [each.certain for each in found.unfollowed] == [True] * certain


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.bridge)
def test_a_release_without_data_of_its_own_has_its_neighbours_and_says_so(release, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    knowledge = load_knowledge(resolve_target(release.bridge))
    path = write(tmp_path, USES["one line on a recipe"])
    assert knowledge.remarks() == ()
    (recipe,) = read_python([str(path)], Sources(), knowledge).recipes
    assert recipe.setting("checkpoint.ckpt_format").value == Known("torch_dist")
    own = release.bridge in VERSIONS
    assert [release.bridge in remark and release.library in remark for remark in knowledge.remarks()] == [True] * (
        not own
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_snapshot_is_small_and_says_what_it_is(version: str) -> None:
    path = Path(DATA) / f"bridge-{version}.snapshot"
    assert os.path.getsize(path) < 1_500_000
    snapshot = Snapshot(path.read_bytes())
    assert (snapshot.bridge, snapshot.core) == (version, resolve_target(version).core)


@pytest.mark.parametrize("place", ["", "src", "vendored"])
def test_source_at_hand_comes_before_the_snapshot(place: str, tmp_path: Path) -> None:
    package = tmp_path / place / "megatron/bridge/recipes/llama"
    package.mkdir(parents=True)
    for folder in (package, package.parent, package.parent.parent, package.parent.parent.parent):
        (folder / "__init__.py").write_text("")
    (package / "__init__.py").write_text(
        "from megatron.bridge.recipes.qwen import qwen3_8b_pretrain_config\n"
        "def llama3_8b_pretrain_config():\n"
        "    cfg = qwen3_8b_pretrain_config()\n"
        "    cfg.checkpoint.ckpt_format = 'fsdp_dtensor'\n"
        "    return cfg\n"
    )
    path = write(tmp_path, USES["one line on a recipe"])
    search_path = [str(tmp_path / place)] if place == "vendored" else []
    (recipe,) = read_python([str(path)], Sources(), load_knowledge(resolve_target("0.3.1")), search_path).recipes
    assert recipe.setting("checkpoint.ckpt_format").value == Known("fsdp_dtensor")


COPIED = """\
import copy
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():
    return copy.deepcopy(llama3_8b_pretrain_config())
"""


@pytest.mark.parametrize(("version", "is_known"), [("0.6.0", True), ("head", False)])
def test_a_model_that_hands_on_its_attributes_may_be_copied_as_something_else(
    version: str, is_known: bool, tmp_path: Path
) -> None:
    """`copy` asks the object for `__deepcopy__`, and the TransformerConfig inside answers: its class is the copy's."""
    (recipe,) = read(tmp_path, COPIED, version)
    assert isinstance(recipe.variants[0].value("model.seq_length"), Known) is is_known
    assert isinstance(recipe.variants[0].value("train.train_iters"), Known)


def read(folder: Path, text: str, version: str) -> list[Recipe]:
    return read_python([str(write(folder, text))], Sources(), load_knowledge(resolve_target(version))).recipes


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(dedent(text))
    return path
