"""Generated facts: read from small source trees that have the shapes of the real ones."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.megatron.vocabulary.tables import Flag, Table
from tools.vocabulary.flags import flags_of
from tools.vocabulary.generate import defaults, flags, text_of
from tools.vocabulary.trees import Folder, Revision, Source

CORE = {
    "megatron/core/enums.py": """
        import enum
        class Backend(enum.Enum):
            flash = 1
            auto = 5
    """,
    "megatron/core/model_parallel_config.py": """
        from dataclasses import dataclass, field
        from typing import ClassVar, Optional
        import torch
        @dataclass
        class ModelParallelConfig:
            registry: ClassVar[dict] = {}
            tensor_model_parallel_size: int = 1
            perform_initialization: bool = field(default=True, metadata={"argparse_meta": {"arg_names": ["--no-init"]}})
            params_dtype: torch.dtype = torch.float32
            secret: int = field(default=0, init=False)
    """,
    "megatron/core/transformer/transformer_config.py": """
        from dataclasses import dataclass, field
        from typing import List, Literal, Optional
        from megatron.core.enums import Backend
        from megatron.core.model_parallel_config import ModelParallelConfig
        SIZE = 1024 * 1024
        @dataclass
        class TransformerConfig(ModelParallelConfig):
            attention_backend: Backend = Backend.auto
            granularity: Optional[Literal["full", "selective"]] = None
            modules: Optional[List[str]] = None
            sizes: list[int] = field(default_factory=lambda: [1, 2])
            smallest: int = SIZE
            hidden_size: int = field(default=0, metadata={"argparse_meta": {"default": None}})
            meta_device: bool = False
            bias: bool = True
            layout: str | list | None = field(
                default=None, metadata={"argparse_meta": {"type": str, "arg_names": ["--layout", "--pp-layout"]}}
            )
    """,
    "megatron/core/distributed/distributed_data_parallel_config.py": """
        from dataclasses import dataclass
        @dataclass
        class DistributedDataParallelConfig:
            use_megatron_fsdp: bool = False
            bucket_size: int | None = None
    """,
    "megatron/core/distributed/__init__.py": """
        from .distributed_data_parallel_config import *
    """,
    "megatron/core/optimizer/optimizer_config.py": """
        from dataclasses import dataclass
        @dataclass
        class OptimizerConfig:
            lr: float = -1.5e-5
    """,
    "megatron/training/argument_utils.py": "",
    "megatron/training/arguments.py": """
        try:
            from absent import Factory
        except ImportError:
            Factory = None
        from megatron.training.argument_utils import ArgumentGroupFactory
        from megatron.core.transformer.transformer_config import TransformerConfig
        from megatron.core.enums import Backend
        def add_megatron_arguments(parser):
            parser = _add_network_size_args(parser)
            parser = _add_distributed_args(parser)
            return parser
        def _add_network_size_args(parser):
            exclude = ["smallest", "params_dtype"]
            factory = ArgumentGroupFactory(TransformerConfig, exclude=exclude)
            group = factory.build_group(parser, "transformer")
            return parser
        def _add_distributed_args(parser):
            from megatron.core.distributed import DistributedDataParallelConfig
            ArgumentGroupFactory(DistributedDataParallelConfig).build_group(parser, "ddp")
            group = parser.add_argument_group(title='distributed')
            group.add_argument('--no-fusion', action='store_false', dest='fusion')
            group.add_argument('--ramp', nargs=3, type=int, default=None)
            group.add_argument('--local-rank', type=int, default=int(os.getenv('LOCAL_RANK', '0')))
            group.add_argument('--backend', type=lambda x: Backend[x], default=Backend.auto, choices=list(Backend))
            group.add_argument('--scale', type=float, default=2**32)
            group.add_argument('-q', '--quiet', action='store_true', default=None)
            group.add_argument('--loud', action='store_false', dest='quiet')
            group.add_argument('--both', action=argparse.BooleanOptionalAction, default=False)
            group.add_argument('positional')
            return parser
        def _add_unused_args(parser):
            parser.add_argument('--never-added')
    """,
}

BRIDGE = {
    "src/megatron/bridge/training/config.py": """
        from dataclasses import dataclass, field
        from megatron.core.distributed import DistributedDataParallelConfig as CoreDDP
        from megatron.core.optimizer.optimizer_config import OptimizerConfig
        from megatron.bridge.models import GPTModelProvider, MambaModelProvider
        @dataclass
        class DistributedDataParallelConfig(CoreDDP):
            bucket_size: int | None = 40
            def finalize(self):
                pass
        @dataclass(kw_only=True)
        class CheckpointConfig:
            save: str | None = None
            required: bool
        class Container:
            pass
        @dataclass(kw_only=True)
        class ConfigContainer(Container):
            model: GPTModelProvider | MambaModelProvider
            optimizer: OptimizerConfig
            ddp: DistributedDataParallelConfig = field(default_factory=DistributedDataParallelConfig)
            checkpoint: CheckpointConfig
            name: str = "run"
    """,
    "src/megatron/bridge/models/__init__.py": """
        from megatron.bridge.models.gpt import GPTModelProvider
    """,
    "src/megatron/bridge/models/gpt.py": """
        from dataclasses import dataclass, field
        from megatron.core.transformer.transformer_config import TransformerConfig
        from megatron.bridge import fusions
        class Mixin:
            not_a_field: int = 1
        @dataclass
        class GPTModelProvider(TransformerConfig, Mixin):
            fused: bool = field(default_factory=fusions.can_fuse)
            bias: bool = False
    """,
}


def tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return folder


@pytest.fixture
def core(tmp_path: Path) -> Source:
    return Source(Folder(tree(tmp_path / "core", CORE)))


@pytest.fixture
def bridge(tmp_path: Path) -> Source:
    return Source(Folder(tree(tmp_path / "bridge", BRIDGE)), Folder(tree(tmp_path / "core", CORE)))


FLAGS = [
    Flag(("--tensor-model-parallel-size",), "tensor_model_parallel_size", type="int", default=Known(1)),
    Flag(("--no-init",), "perform_initialization", "store_false", default=Known(True)),
    Flag(
        ("--attention-backend",), "attention_backend", type="Backend", choices=("flash", "auto"), default=Known("auto")
    ),
    Flag(("--granularity",), "granularity", choices=("full", "selective")),
    Flag(("--modules",), "modules", nargs="+"),
    Flag(("--sizes",), "sizes", type="int", nargs="+", default=Known([1, 2])),
    Flag(("--hidden-size",), "hidden_size", type="int"),
    Flag(("--meta-device",), "meta_device", "store_true", default=Known(False)),
    Flag(("--no-bias", "--disable-bias"), "bias", "store_false", default=Known(True)),
    Flag(("--layout", "--pp-layout"), "layout"),
    Flag(("--use-megatron-fsdp",), "use_megatron_fsdp", "store_true", default=Known(False)),
    Flag(("--bucket-size",), "bucket_size", type="int"),
    Flag(("--no-fusion",), "fusion", "store_false", default=Known(True)),
    Flag(("--ramp",), "ramp", type="int", nargs=3),
    Flag(("--local-rank",), "local_rank", type="int", default=UNKNOWN),
    Flag(("--backend",), "backend", type="function", choices=("flash", "auto"), default=Known("auto")),
    Flag(("--scale",), "scale", type="float", default=Known(2**32)),
    Flag(("-q", "--quiet"), "quiet", "store_true", default=NONE),
    Flag(("--loud",), "quiet", "store_false", default=Known(True)),
    Flag(("--both",), "both", "store_true", default=Known(False)),
    Flag(("--no-both",), "both", "store_false", default=Known(False)),
]


def test_flags_are_found_in_the_order_in_which_the_parser_gets_them(core: Source) -> None:
    assert flags_of(core) == FLAGS


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.names[0])
def test_every_flag_is_read_back_from_the_data(core: Source, flag: Flag) -> None:
    known = Table({"flags": json.loads(text_of(flags({"0.16.0": core})))})
    for name in flag.names:
        found = known.flag(name, "0.16.0")
        assert found is not None
        assert (found.names, found.dest, found.action, found.choices) == (
            flag.names,
            flag.dest,
            flag.action,
            flag.choices,
        )
        assert (found.type, found.nargs) == (flag.type, flag.nargs)
        # Two flags set `quiet`: what it is without either is what argparse was told first.
        assert found.default == (NONE if flag.dest == "quiet" else flag.default)


DEFAULTS: dict[str, Value | None] = {
    "ddp.use_megatron_fsdp": Known(False),
    "ddp.bucket_size": Known(40),  # Bridge's class declares it anew
    "optimizer.lr": Known(-1.5e-5),
    "checkpoint.save": NONE,
    "checkpoint.required": UNKNOWN,
    "model.attention_backend": Known("auto"),
    "model.params_dtype": Known("torch.float32"),
    "model.sizes": Known([1, 2]),
    "model.smallest": Known(1024 * 1024),
    "model.bias": Known(False),
    "model.fused": UNKNOWN,  # only running it would tell
    "model.not_a_field": None,
    "model.registry": None,
    "name": None,
}


@pytest.mark.parametrize("path", DEFAULTS)
def test_every_default_is_read_back_from_the_data(bridge: Source, core: Source, path: str) -> None:
    class At:
        bridge = "0.3.1"
        core = "0.16.0"

    data = json.loads(text_of(defaults(list(DEFAULTS), {"0.3.1": bridge}, {"0.16.0": core})))
    known = Table({"defaults": data, "settings": {}, "flags": {"versions": [], "flags": {}}})
    assert known.default(path, At()) == DEFAULTS[path]


def test_versions_that_agree_share_a_run(tmp_path: Path, core: Source) -> None:
    optimizer = "megatron/core/optimizer/optimizer_config.py"
    older = {**CORE, optimizer: CORE[optimizer].replace("lr:", "rate:")}
    old = Source(Folder(tree(tmp_path / "older", older)))
    bridge: dict[str, Any] = {}
    data = defaults(["optimizer.lr", "ddp.bucket_size"], bridge, {"0.15.0": old, "0.16.0": core, "head": core})
    assert data["core"] == {
        "versions": ["0.15.0", "0.16.0", "head"],
        "values": {"optimizer.lr": [[1, 2, -1.5e-5]], "ddp.bucket_size": [[0, 2, None]]},
    }


def test_a_commit_is_read_without_being_checked_out(tmp_path: Path) -> None:
    folder = tree(tmp_path, {"megatron/core/one.py": "HERE = 1\n"})
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"], ["tag", "v1"]):
        subprocess.run([*git, *command], check=True)
    (folder / "megatron/core/one.py").unlink()
    module = Source(Revision(folder, "v1")).module("megatron.core.one")
    assert module is not None
    assert module.find("HERE") is not None
    with pytest.raises(LookupError, match="no revision v2"):
        Revision(folder, "v2")


def test_an_object_is_set_to_something(tmp_path: Path) -> None:
    source = Source(Folder(tree(tmp_path, {"a.py": "class A: ...\nX = A()\nY = A\n"})))
    from tools.vocabulary.values import value_of

    module = source.module("a")
    assert module is not None
    found = [module.find(name) for name in "XY"]
    assert [value_of(*each) for each in found if each] == [NOT_NONE, NOT_NONE]
