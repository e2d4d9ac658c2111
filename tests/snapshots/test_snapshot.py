"""A snapshot says what evaluating the source says, or that it does not know."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known, OneOf, Plain, Value, describe
from mfsdp_lint.snapshots import NotASnapshot, Snapshot
from tests.snapshots.small_release import read_with, read_with_source, snapshot_of, write_release
from tools.snapshot import generate
from tools.snapshot.generate import NoSource, make_snapshot


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="session")
def snapshot(tree: Path) -> Snapshot:
    return snapshot_of(tree)


USES: dict[str, tuple[str, dict[str, Plain]]] = {
    "a recipe imported from where it is defined": (
        """\
        from megatron.bridge.recipes.plain import small_config
        def recipe():
            return small_config()
        """,
        {
            "checkpoint.save": "/checkpoints",
            "checkpoint.save_interval": 40,
            "model.backend": "flash",
            "model.stages": [1, 2, 3],
            "model.params_dtype": "torch.float32",
            "ddp.use_megatron_fsdp": False,
            "mixed_precision.fp8_param": True,
        },
    ),
    "a recipe re-exported by a star import, under another name": (
        """\
        from megatron.bridge.recipes import small_config as mine
        def recipe():
            cfg = mine()
            cfg.ddp.use_megatron_fsdp = True
            return cfg
        """,
        {"ddp.use_megatron_fsdp": True, "model.num_layers": 4},
    ),
    "everything imported with a star": (
        """\
        from megatron.bridge.recipes import *
        def recipe():
            for _ in range(1):
                cfg = small_config()
            return cfg
        """,
        {"model.num_layers": 4},
    ),
    "a module imported under another name": (
        """\
        import megatron.bridge.recipes.plain as plain
        def recipe():
            return plain.small_config()
        """,
        {"model.num_layers": 4},
    ),
    "a module imported by its full name": (
        """\
        import megatron.bridge.recipes.plain
        def recipe():
            return megatron.bridge.recipes.plain.small_config()
        """,
        {"model.num_layers": 4},
    ),
    "an import inside the function": (
        """\
        def recipe():
            from megatron.bridge.recipes.plain import small_config
            return small_config()
        """,
        {"model.num_layers": 4},
    ),
    "arguments that pass straight through": (
        """\
        from megatron.bridge.common import common
        def recipe():
            return common(save="here", tensor=8)
        """,
        {"checkpoint.save": "here", "model.tensor_model_parallel_size": 8, "model.num_layers": 4},
    ),
    "keyword arguments of a typed dictionary": (
        """\
        from megatron.bridge.recipes import with_overrides
        def recipe():
            return with_overrides(tensor=4)
        """,
        {"model.tensor_model_parallel_size": 4, "model.num_layers": 7, "checkpoint.save_interval": 70},
    ),
    "a helper that changes what it is given": (
        """\
        from megatron.bridge.common import common, for_benchmarks
        def recipe():
            cfg = common(save="here")
            for_benchmarks(cfg)
            return cfg
        """,
        {"checkpoint.save": None, "ddp.use_megatron_fsdp": True, "checkpoint.save_interval": 4},
    ),
    "an argument beside one that picks the class": (
        """\
        from megatron.bridge.common import of_a_family
        def recipe():
            return of_a_family(tensor=4, save="here")
        """,
        {"model.tensor_model_parallel_size": 4, "model.num_layers": 2, "checkpoint.save": "here"},
    ),
    "a parameter whose values the code tells apart": (
        """\
        from megatron.bridge.common import sized
        def recipe():
            return sized("70b")
        """,
        {"model.num_layers": 80},
    ),
    "classes with their defaults and what their construction sets": (
        """\
        from megatron.core.distributed import DistributedDataParallelConfig
        from megatron.bridge.config import CheckpointConfig, ConfigContainer, ModelConfig
        def recipe():
            return ConfigContainer(
                model=ModelConfig(3), ddp=DistributedDataParallelConfig(), checkpoint=CheckpointConfig(save="x")
            )
        """,
        {
            "model.num_layers": 3,
            "ddp.overlap_param_gather": False,
            "checkpoint.save": "x",
            "checkpoint.ckpt_format": "torch_dist",
        },
    ),
    "a class that the user derives": (
        """\
        from dataclasses import dataclass
        from megatron.bridge.config import CheckpointConfig, ConfigContainer, ModelConfig
        @dataclass
        class Mine(CheckpointConfig):
            ckpt_format: str = "fsdp_dtensor"
        def recipe():
            return ConfigContainer(model=ModelConfig(num_layers=3), checkpoint=Mine())
        """,
        {"checkpoint.ckpt_format": "fsdp_dtensor", "checkpoint.save_interval": 100},
    ),
    "what a long construction does not touch": (
        """\
        from megatron.bridge.config import ConfigContainer
        from megatron.core.transformer import TransformerConfig
        def recipe():
            return ConfigContainer(model=TransformerConfig(num_layers=8, heads=4, recompute=True))
        """,
        {"model.num_layers": 8, "model.recompute": True},
    ),
    "what a long construction leaves as it is when no more than its sizes is given": (
        """\
        from megatron.bridge.config import ConfigContainer
        from megatron.core.transformer import TransformerConfig
        def recipe():
            return ConfigContainer(model=TransformerConfig(num_layers=8, heads=4))
        """,
        {"model.num_layers": 8, "model.recompute": False, "model.stages": 1, "model.fp32": True},
    ),
    "a configuration that hands attributes on to a part of it": (
        """\
        from megatron.bridge.builder import built
        def recipe():
            cfg = built()
            cfg.model.tensor_model_parallel_size = 4
            cfg.model.vocab_size = cfg.model.num_layers
            return cfg
        """,
        {
            "model.transformer.tensor_model_parallel_size": 4,
            "model.tensor_model_parallel_size": 4,
            "model.vocab_size": 4,
        },
    ),
    "one that refuses names which neither of them declares": (
        """\
        from megatron.bridge.builder import built
        def recipe():
            cfg = built(strict=True)
            cfg.model.tensor_model_parallel_size = 4
            cfg.model.shared = True
            try:
                cfg.model.vocab_sise = 7
            except AttributeError:
                cfg.model.vocab_size = 7
            return cfg
        """,
        {"model.transformer.tensor_model_parallel_size": 4, "model.shared": True, "model.vocab_size": 7},
    ),
    "a part that is replaced": (
        """\
        from megatron.bridge.builder import Transformer, built
        def recipe():
            cfg = built()
            cfg.model.transformer = Transformer(num_layers=9)
            return cfg
        """,
        {"model.num_layers": 9, "model.transformer.num_layers": 9},
    ),
    "results that are tuples and dictionaries": (
        """\
        from megatron.bridge.common import common, optimizer
        def recipe():
            settings, (warmup, rate) = optimizer(lr=0.5)
            return common(layers=warmup, save=f"{settings['decay']}-{rate}")
        """,
        {"model.num_layers": 10, "checkpoint.save": "cosine-0.5"},
    ),
}


@pytest.mark.parametrize("use", USES)
def test_what_a_user_writes_is_understood(use: str, snapshot: Snapshot, tree: Path, tmp_path: Path) -> None:
    text, expected = USES[use]
    recipe = only(read_with(snapshot, write(tmp_path, text)))
    assert {path: recipe.setting(path).value for path in expected} == {
        path: Known(value) for path, value in expected.items()
    }


@pytest.mark.parametrize("use", USES)
def test_nothing_is_said_that_the_source_does_not_say(use: str, snapshot: Snapshot, tree: Path, tmp_path: Path) -> None:
    path = write(tmp_path, USES[use][0])
    real, mine = only(read_with_source(tree, path)), only(read_with(snapshot, path))
    for name in sorted({*real.paths(), *mine.paths()}):
        assert allows(mine.setting(name).value, real.setting(name).value), (
            f"{name}: {describe(mine.setting(name).value)}, really {describe(real.setting(name).value)}"
        )


WITH_LAYOUT = dedent("""\
    from megatron.core.transformer import TransformerConfig
    def with_layout():
        cfg = common()
        cfg.model = TransformerConfig(num_layers=8, heads=4, layout="a|b")
        return cfg
    """)

UNKNOWN = {
    "what an argument that is not known decides": ("common(tensor=unheard_of)", "model.tensor_model_parallel_size"),
    "what a long construction may change": ("with_layout()", "model.stages"),
}
DECIDED: dict[str, tuple[str, str, Plain, str]] = {
    "what is worked out from an argument": ("common(layers=9)", "checkpoint.save_interval", 90, "layers=9"),
    "what is handed on": ("of_a_family(tensor=4)", "model.tensor_model_parallel_size", 4, "tensor=4"),
    "what a dictionary of arguments gives": ("common(**{'layers': 9})", "checkpoint.save_interval", 90, "9"),
}  # fmt: skip
"""A call, a setting that its arguments decide, its value, and the text that decides it."""


@pytest.mark.parametrize("case", DECIDED)
def test_what_an_argument_decides_is_known_and_stands_at_the_argument(
    case: str, snapshot: Snapshot, tmp_path: Path
) -> None:
    call, setting, value, text = DECIDED[case]
    imports = "from unheard_of import unheard_of\nfrom megatron.bridge.common import common, of_a_family\n"
    path = write(tmp_path, f"{imports}def recipe():\n    return {call}\n")
    found = only(read_with(snapshot, path)).setting(setting)
    assert found.value == Known(value)
    assert found.origin is not None
    deciding = found.origin.places(lambda each: each == str(path))[0].span
    assert path.read_text().splitlines()[deciding.line - 1][deciding.column - 1 : deciding.end_column - 1] == text


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_depends_on_an_argument_is_not_guessed(case: str, snapshot: Snapshot, tmp_path: Path) -> None:
    call, setting = UNKNOWN[case]
    imports = "from unheard_of import unheard_of\nfrom megatron.bridge.common import common, of_a_family\n"
    text = f"{imports}{WITH_LAYOUT}def recipe():\n    return {call}\n"
    recipe = only(read_with(snapshot, write(tmp_path, text)))
    assert not isinstance(recipe.setting(setting).value, Known)
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(False)


def test_what_construction_sets_is_unknown_once_an_argument_decides_it(snapshot: Snapshot, tmp_path: Path) -> None:
    text = """\
        from megatron.core.distributed import DistributedDataParallelConfig
        from megatron.bridge.common import common
        def recipe():
            cfg = common()
            cfg.ddp = DistributedDataParallelConfig(use_megatron_fsdp=True)
            return cfg
        """
    recipe = only(read_with(snapshot, write(tmp_path, text)))
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)
    assert recipe.setting("ddp.overlap_param_gather").value != Known(False)


def test_what_the_machine_decides_is_one_of_several(snapshot: Snapshot, tmp_path: Path) -> None:
    text = "from megatron.bridge.common import on_this_machine\ndef recipe():\n    return on_this_machine()\n"
    recipe = only(read_with(snapshot, write(tmp_path, text)))
    assert recipe.setting("checkpoint.ckpt_format").value == OneOf(("fsdp_dtensor", "torch_dist"))


def test_a_value_is_told_with_the_upstream_line_that_wrote_it(snapshot: Snapshot, tmp_path: Path) -> None:
    text = "from megatron.bridge.recipes import small_config\ndef recipe():\n    return small_config()\n"
    recipe = only(read_with(snapshot, write(tmp_path, text)))
    assert told(recipe, "model.backend") == (
        "megatron/bridge/recipes/plain.py", 16, "small_config", "upstream", "megatron-bridge 1.2.3"
    )  # fmt: skip
    assert told(recipe, "checkpoint.save") == (
        "megatron/bridge/common.py", 6, "common", "upstream", "megatron-bridge 1.2.3"
    )  # fmt: skip


def test_a_default_of_a_users_call_points_at_the_users_call(snapshot: Snapshot, tmp_path: Path) -> None:
    text = """\
        from megatron.bridge.config import ConfigContainer, ModelConfig
        def recipe():
            return ConfigContainer(model=ModelConfig(1))
        """
    path = write(tmp_path, text)
    recipe = only(read_with(snapshot, path))
    assert told(recipe, "checkpoint.ckpt_format") == (str(path), 3, "recipe", "default", None)


def test_a_name_that_the_release_does_not_have_may_be_anything(snapshot: Snapshot, tmp_path: Path) -> None:
    text = """\
        from megatron.bridge.recipes import small_config, of_a_later_release
        def recipe():
            cfg = small_config()
            of_a_later_release(cfg)
            return cfg
        """
    recipe = only(read_with(snapshot, write(tmp_path, text)))
    assert not isinstance(recipe.setting("checkpoint.save").value, Known)


def test_source_at_hand_comes_before_the_snapshot(snapshot: Snapshot, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "megatron/bridge/recipes").mkdir(parents=True)
    (tmp_path / "megatron/bridge/recipes/plain.py").write_text(
        "from megatron.bridge.common import common\ndef small_config():\n    return common(layers=99)\n"
    )
    text = "from megatron.bridge.recipes.plain import small_config\ndef recipe():\n    return small_config()\n"
    recipe = only(read_with(snapshot, write(tmp_path, text)))
    assert recipe.setting("model.num_layers").value == Known(99)


def test_making_it_twice_gives_the_same_bytes(tree: Path) -> None:
    assert make_snapshot(str(tree), str(tree)) == make_snapshot(str(tree), str(tree))


def test_it_says_which_versions_it_was_made_from(snapshot: Snapshot) -> None:
    assert (snapshot.bridge, snapshot.core) == ("1.2.3", "0.9.0rc1")


def test_a_folder_without_the_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoSource, match="no Megatron-Bridge source"):
        make_snapshot(str(tmp_path))


def test_another_file_is_refused() -> None:
    with pytest.raises(NotASnapshot):
        Snapshot(b"PK\x03\x04")


def test_the_command_writes_it_and_says_what_it_is(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "release.snapshot"
    generate.main([str(tree), "--core", str(tree), "-o", str(output)])
    assert "megatron-bridge 1.2.3 with megatron-core 0.9.0rc1, 10 modules" in capsys.readouterr().out
    assert output.read_bytes() == make_snapshot(str(tree), str(tree))


def test_the_command_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        generate.main([str(tmp_path), "-o", str(tmp_path / "x")])
    assert end.value.code == 2
    assert f"{tmp_path}: no Megatron-Bridge source (megatron/bridge/) in it" in capsys.readouterr().err


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(dedent(text))
    return path


def only(recipes: list[Recipe]) -> Recipe:
    (recipe,) = [recipe for recipe in recipes if recipe.name == "recipe"]
    return recipe


def told(recipe: Recipe, path: str) -> Any:
    origin = recipe.setting(path).origin
    assert origin is not None
    return origin.span.path, origin.span.line, origin.function, origin.how, origin.upstream


def allows(said: Value, real: Value) -> bool:
    """Whether what was said leaves room for what is."""
    return said == real or not isinstance(said, Known)
