"""Upstream's methods and functions, called by a user: what they change, what they may change, and what they leave."""

from __future__ import annotations

import ast
import importlib.util
import sys
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known, NotNone, Unknown, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute
from mfsdp_lint.readers.python.eval.attributes import get_attribute, has_attribute
from mfsdp_lint.readers.python.eval.classes import fields_of
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import Choice, External, Frame, Instance, Module
from mfsdp_lint.snapshots import MAGIC, Snapshot
from mfsdp_lint.snapshots.knowledge import SnapshotKnowledge, load_knowledge
from tests.snapshots.small_release import read_with, snapshot_of, write_release

SCRIPTS = Path(__file__).parents[2] / "scripts"
CALLS: dict[str, tuple[str, dict[str, Value]]] = {
    "a property with a setter is assigned": ("data.seq_length = 64", {"sequence_length": Known(64)}),
    "what only looks changes nothing": (
        "data.to_yaml('file.yaml'); data.to_dict()['sequence_length'] = 3; data.to_yaml()",
        {"sequence_length": Known(128)},
    ),
    "so it is for a derived class": (
        "data = WiderDataConfig(); print(data.to_dict()['width']); cfg.data = data",
        {"sequence_length": Known(128), "width": Known(8)},
    ),
    "a method that may raise has not raised, and changes what it writes": (
        "data.samples = 'some'; data.scale(0)",
        {"sequence_length": NotNone(), "samples": Known("some")},
    ),
    "a name that is worked out may be any": ("data.take_over(DataConfig())", {"sequence_length": Unknown()}),
    "what a list holds is not known once something was added": (
        "data.collect()",
        {"sequence_length": Known(128), "samples": NotNone()},
    ),
    "code of the user's own in reach may do anything": (
        """data.scale = Mine()
    data.samples = Mine()
    data.to_yaml()""",
        {"sequence_length": Unknown()},
    ),
    "a derived class without code of its own is data": (
        "data = Own(); cfg.data = data; data.to_yaml()",
        {"sequence_length": Known(128), "more": Known(1)},
    ),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def snapshot(tree: Path) -> Snapshot:
    return snapshot_of(tree)


@pytest.mark.parametrize("case", CALLS)
def test_a_call_changes_no_more_than_it_writes(case: str, snapshot: Snapshot, tmp_path: Path) -> None:
    code, expected = CALLS[case]
    (recipe,) = read_with(snapshot, written(tmp_path, code))
    assert {name: recipe.setting(f"data.{name}").value for name in expected} == expected


def test_a_part_that_is_none_is_not_written(snapshot: Snapshot, tmp_path: Path) -> None:
    (recipe,) = read_with(snapshot, written(tmp_path, "whole = WithPart(); whole.widen(); data.sequence_length = 1"))
    assert recipe.setting("data.sequence_length").value == Known(1)


def test_a_table_is_not_asked_for_sizes_that_are_not_known(snapshot: Snapshot, tmp_path: Path) -> None:
    code = "cfg.model.layout = 'mine'; lay_out(cfg.model)"
    (recipe,) = read_with(snapshot, written(tmp_path, code))
    assert recipe.setting("model.layout").value != Known("mine")


def test_every_assignment_does_what_it_does_in_the_source(tree: Path, snapshot: Snapshot) -> None:
    differences, count = comparison().differences(snapshot, [str(tree)])
    assert differences == []
    assert count > 100


def test_every_assignment_of_the_wheel_does_what_it_does_in_the_source() -> None:
    root = SCRIPTS.parent / ".cache/megatron-bridge-0.3.1"
    snapshot = Snapshot((SCRIPTS.parent / "src/mfsdp_lint/snapshots/data/bridge-0.3.1.snapshot").read_bytes())
    modules = ["megatron.bridge.training.config", "megatron.bridge.training.mixed_precision"]
    differences, count = comparison().differences(snapshot, [str(root)], modules)
    # The wheel has no megatron-core: what its classes inherit from there is not known to the source.
    assert [each for each in differences if each.source != "AttributeError"] == []
    assert count > 500


@pytest.mark.parametrize("version", ["0.2.0", "0.3.1", "0.4.2", "0.5.1", "0.6.0", "head"])
def test_the_shipped_snapshots_are_of_this_format(version: str) -> None:
    path = SCRIPTS.parent / f"src/mfsdp_lint/snapshots/data/bridge-{version}.snapshot"
    assert path.read_bytes().startswith(MAGIC)


STARTED = """\
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
    from megatron.bridge.training.config import runtime_config_update

    def mine():
        cfg = llama3_8b_pretrain_config()
        cfg.dist.use_megatron_fsdp = True
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
        cfg.ddp.average_in_collective = True
        {call}
        return cfg
    """


@pytest.mark.parametrize("call", ["runtime_config_update(cfg)", "runtime_config_update(cfg=cfg)", "cfg.validate()"])
@pytest.mark.parametrize("version", ["0.2.0", "0.3.1", "0.4.2", "0.5.1", "0.6.0", "head"])
def test_start_ups_own_functions_do_what_start_up_does(version: str, call: str, tmp_path: Path) -> None:
    recipe = shipped(tmp_path, STARTED.format(call=call), version)
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)
    assert recipe.setting("ddp.average_in_collective").value == Known(False)
    assert recipe.setting("ddp.data_parallel_sharding_strategy").value == Known("optim_grads_params")


def test_start_up_is_followed_with_a_class_of_the_users_own(tmp_path: Path) -> None:
    text = STARTED.replace("def mine", "class Own:\n        def finalize(self): ...\n\n    def mine")
    recipe = shipped(
        tmp_path,
        text.format(call="cfg.checkpoint.ckpt_format = 'fsdp_dtensor'; cfg.dataset = Own(); cfg.validate()"),
        "0.3.1",
    )
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)


@pytest.mark.parametrize("version", ["0.3.1", "0.4.2", "0.5.1", "0.6.0", "head"])
def test_the_sequence_length_may_be_set_by_its_newer_name(version: str, tmp_path: Path) -> None:
    recipe = shipped(tmp_path, STARTED.format(call="cfg.dataset.seq_length = 32768"), version)
    setting = recipe.setting("dataset.sequence_length" if version < "0.6" else "dataset.seq_length")
    assert setting.value == Known(32768)
    assert setting.origin is not None
    assert Path(setting.origin.span.path).name == "mine.py"


def comparison() -> ModuleType:
    path = SCRIPTS / "compare_assignments.py"
    spec = importlib.util.spec_from_file_location("compare_assignments", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["compare_assignments"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(folder: Path, code: str) -> Path:
    path = folder / "mine.py"
    path.write_text(
        dedent("""\
            from dataclasses import dataclass
            from megatron.bridge.methods import *

            @dataclass
            class Own(DataConfig):
                more: int = 1

            class Mine:
                def __call__(self): ...

            def mine(layers):
                cfg = ConfigContainer(model=ModelConfig(num_layers=layers))
                data = cfg.data = DataConfig()
                {}
                return cfg
            """).format(code)
    )
    return path


def shipped(folder: Path, text: str, version: str) -> Recipe:
    path = folder / "mine.py"
    path.write_text(dedent(text))
    found = read_python([str(path)], Sources(), load_knowledge(resolve_target(version))).recipes
    return next(recipe for recipe in found if recipe.name == "mine")


@pytest.mark.parametrize("name", ["__post_init__", "use_megatron_fsdp", "no_such_name"])
def test_an_object_that_may_be_of_several_classes_is_no_crash(name: str, snapshot: Snapshot) -> None:
    knowledge = SnapshotKnowledge(lambda: snapshot)
    interp = Interpreter(ModuleFinder(Sources()), knowledge)
    interp.begin(())
    classes = (
        knowledge.reference(interp, "megatron.core.distributed", "DistributedDataParallelConfig"),
        knowledge.reference(interp, "megatron.core.transformer", "TransformerConfig"),
        External("elsewhere.Config"),
    )
    instance = Instance(Choice(classes), interp.tick())
    frame = Frame(Module("", "", ast.Module([], [])))
    set_attribute(interp, instance, "use_megatron_fsdp", True, ast.Pass(), frame)
    with suppress(Raised):
        invoke(interp, get_attribute(interp, instance, name, None, frame), Call([], {}, ast.Pass(), frame))
    assert has_attribute(interp, instance, "nowhere", None, frame) is None
    assert fields_of(interp, instance.cls) == []
