"""A small upstream release: a source tree with everything that a snapshot has to keep."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots import Snapshot
from mfsdp_lint.snapshots.knowledge import SnapshotKnowledge
from tools.snapshot.generate import make_snapshot

FILES = {
    "megatron/bridge/package_info.py": 'MAJOR = 1\nMINOR = 2\nPATCH = 3\nPRE_RELEASE = ""\n',
    "megatron/core/package_info.py": 'MAJOR = 0\nMINOR = 9\nPATCH = 0\nPRE_RELEASE = "rc1"\n',
    "megatron/core/__init__.py": "",
    "megatron/bridge/__init__.py": "",
    "megatron/bridge/recipes/__init__.py": "from megatron.bridge.recipes.plain import *\n",
    "megatron/core/distributed.py": """\
        from dataclasses import dataclass


        @dataclass
        class DistributedDataParallelConfig:
            use_megatron_fsdp: bool = False
            data_parallel_sharding_strategy: str = "no_shard"
            overlap_param_gather: bool = False

            def __post_init__(self):
                if self.use_megatron_fsdp:
                    self.overlap_param_gather = True
        """,
    "megatron/core/transformer.py": """\
        from dataclasses import dataclass


        @dataclass
        class TransformerConfig:
            num_layers: int = 0
            heads: int = 0
            channels: int | None = None
            stages: int = 1
            layout: str | None = None
            recompute: bool = False
            fp32: bool = True

            def __post_init__(self):
                if self.num_layers % self.heads != 0:
                    raise ValueError("layers and heads")
                if self.channels is None:
                    self.channels = self.num_layers // self.heads
                if self.layout is not None:
                    self._lay_out()
                for name in ("fp32", "channels"):
                    if getattr(self, name) is None:
                        setattr(self, name, 7)

            def _lay_out(self):
                self.stages = self.layout.count("|") + 1
        """,
    "megatron/bridge/config.py": """\
        import enum
        from dataclasses import dataclass, field

        import torch

        from megatron.core.distributed import DistributedDataParallelConfig


        class Backend(enum.Enum):
            auto = 1
            flash = 2


        @dataclass
        class CheckpointConfig:
            save: str | None = None
            ckpt_format: str = "torch_dist"
            save_interval: int = 100


        @dataclass
        class ModelConfig:
            num_layers: int
            backend: Backend = Backend.auto
            params_dtype: torch.dtype = torch.float32
            stages: list = field(default_factory=lambda: [1, 2])
            tensor_model_parallel_size: int = 1
            pipeline_model_parallel_size: int = 1

            @property
            def world(self):
                return self.tensor_model_parallel_size * self.pipeline_model_parallel_size


        @dataclass(kw_only=True)
        class MixedPrecisionConfig:
            fp8: str | None = None
            fp8_param: bool = False
            fp8_param_gather: bool = False

            def __setattr__(self, name, value):
                object.__setattr__(self, name, value)
                if name == "fp8_param_gather" and hasattr(self, "fp8_param"):
                    if self.fp8_param != value:
                        object.__setattr__(self, "fp8_param", value)


        @dataclass(kw_only=True)
        class ConfigContainer:
            model: ModelConfig
            ddp: DistributedDataParallelConfig = field(default_factory=DistributedDataParallelConfig)
            checkpoint: CheckpointConfig = field(default_factory=CheckpointConfig)
            mixed_precision: MixedPrecisionConfig | str | None = None
        """,
    "megatron/bridge/methods.py": """\
        import subprocess
        from dataclasses import asdict, dataclass, field, fields

        import torch
        import yaml

        from megatron.bridge.config import ConfigContainer, ModelConfig


        @dataclass
        class DataConfig:
            sequence_length: int = 128
            samples: list = field(default_factory=list)

            @property
            def seq_length(self):
                return self.sequence_length

            @seq_length.setter
            def seq_length(self, value):
                self.sequence_length = value

            @property
            def tokens(self):
                return self.sequence_length * len(self.samples)

            def to_dict(self) -> dict:
                return {field.name: getattr(self, field.name) for field in fields(self)}

            def to_yaml(self, path=None):
                text = yaml.safe_dump(self.to_dict())
                if path is None:
                    print(text)
                else:
                    with open(path, "w") as stream:
                        stream.write(text)

            def scale(self, device):
                if torch.cuda.get_device_properties(device).major < 9:
                    raise ValueError("too old")
                self._scale(torch.cuda.device_count())

            def _scale(self, count):
                self.sequence_length = self.sequence_length * count

            def take_over(self, other):
                for each in fields(other):
                    setattr(self, each.name, getattr(other, each.name))

            def collect(self):
                self.samples.append(torch.initial_seed())


        @dataclass
        class WiderDataConfig(DataConfig):
            width: int = 8


        @dataclass
        class Part:
            width: int = 0


        @dataclass
        class WithPart:
            part: Part | None = None

            def widen(self):
                if self.part is not None:
                    self.part.width = 9


        def lay_out(cfg, layout=None):
            table = {(1, 1): "one", (2, 1): "two"}
            key = (cfg.tensor_model_parallel_size, cfg.pipeline_model_parallel_size)
            if layout is not None:
                cfg.layout = layout
            elif key in table:
                cfg.layout = table[key]
        """,
    "megatron/bridge/builder.py": """\
        from dataclasses import dataclass, field

        from megatron.bridge.config import ConfigContainer


        @dataclass
        class Transformer:
            num_layers: int = 1
            tensor_model_parallel_size: int = 1


        @dataclass(kw_only=True)
        class BuilderConfig:
            transformer: Transformer
            vocab_size: int = 10

            def __getattr__(self, name):
                try:
                    transformer = object.__getattribute__(self, "transformer")
                except AttributeError:
                    raise AttributeError(name)
                if hasattr(transformer, name):
                    return getattr(transformer, name)
                raise AttributeError(name)

            def __setattr__(self, name, value):
                try:
                    transformer = object.__getattribute__(self, "transformer")
                except AttributeError:
                    super().__setattr__(name, value)
                    return
                if hasattr(transformer, name):
                    setattr(transformer, name, value)
                else:
                    super().__setattr__(name, value)


        @dataclass(kw_only=True)
        class StrictConfig(BuilderConfig):
            shared: bool = False

            def __setattr__(self, name, value):
                try:
                    transformer = object.__getattribute__(self, "transformer")
                except AttributeError:
                    object.__setattr__(self, name, value)
                    return
                if name == "transformer" or name in type(self).__dataclass_fields__:
                    object.__setattr__(self, name, value)
                elif name in type(transformer).__dataclass_fields__:
                    setattr(transformer, name, value)
                else:
                    raise AttributeError(name)


        def built(strict=False):
            make = StrictConfig if strict else BuilderConfig
            return ConfigContainer(model=make(transformer=Transformer(num_layers=4)))
        """,
    "megatron/bridge/common.py": """\
        from megatron.bridge.config import *


        def common(layers=4, save=None, *, tensor=1, deep=False):
            cfg = ConfigContainer(model=ModelConfig(num_layers=layers))
            cfg.checkpoint.save = save
            cfg.model.tensor_model_parallel_size = tensor
            cfg.checkpoint.save_interval = 10 * layers
            if deep and tensor > 1:
                cfg.model.pipeline_model_parallel_size = 2
            return cfg


        @dataclass
        class WideConfig(ModelConfig):
            width: int = 8


        def of_a_family(wide=False, tensor=1, save=None):
            make = WideConfig if wide else ModelConfig
            cfg = common(save=save)
            cfg.model = make(num_layers=2)
            cfg.model.tensor_model_parallel_size = tensor
            return cfg


        def for_benchmarks(cfg):
            cfg.checkpoint.save = None
            cfg.checkpoint.save_interval = cfg.model.num_layers
            cfg.ddp.use_megatron_fsdp = True


        def sized(size: str):
            cfg = common()
            if size == "8b":
                cfg.model.num_layers = 32
            elif size == "70b":
                cfg.model.num_layers = 80
            else:
                raise ValueError(size)
            return cfg


        def optimizer(lr=1.0, warmup=10):
            return {"lr": lr, "decay": "cosine"}, (warmup, lr)


        def on_this_machine():
            cfg = common()
            if torch.cuda.is_available():
                cfg.checkpoint.ckpt_format = "fsdp_dtensor"
            return cfg
        """,
    "megatron/bridge/recipes/plain.py": """\
        from typing import TypedDict

        from typing_extensions import Unpack

        from megatron.bridge.common import common
        from megatron.bridge.config import Backend, MixedPrecisionConfig


        class Overrides(TypedDict, total=False):
            layers: int
            tensor: int


        def small_config():
            cfg = common(save="/checkpoints")
            cfg.model.backend = Backend.flash
            cfg.model.stages.append(3)
            cfg.mixed_precision = MixedPrecisionConfig()
            cfg.mixed_precision.fp8_param_gather = True
            return cfg


        def with_overrides(**overrides: Unpack[Overrides]):
            return common(**{"layers": 7, **overrides})
        """,
}


def write_release(folder: Path) -> Path:
    """The tree, written to a folder; the folder."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return folder


def snapshot_of(tree: Path) -> Snapshot:
    return Snapshot(make_snapshot(str(tree), str(tree)))


def read_with(snapshot: Snapshot, path: Path) -> list[Recipe]:
    """The recipes of a file, with nothing but a snapshot to go by."""
    return read_python([str(path)], Sources(), SnapshotKnowledge(lambda: snapshot)).recipes


def read_with_source(tree: Path, path: Path) -> list[Recipe]:
    """The recipes of a file, with the release's source at hand."""
    return read_python([str(path)], Sources(), search_path=[str(tree)]).recipes
