"""A script that builds its configuration from options is judged as it is when started without any."""

from __future__ import annotations

from pathlib import Path

from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.sources import Sources
from mfsdp_lint.values import UNKNOWN, Known, Value

SCRIPT = """\
import argparse
from dataclasses import dataclass, field


@dataclass
class DDP:
    use_megatron_fsdp: bool = False


@dataclass
class Model:
    tensor_model_parallel_size: int = 1
    pipeline_model_parallel_size: int = 1
    context_parallel_size: int = 1


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)
    model: Model = field(default_factory=Model)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plain", dest="fsdp", action="store_false")
    group = parser.add_argument_group("parallelism")
    group.add_argument("--tensor-parallel", "-t", type=int, default=4)
    group.add_argument("--pipeline-parallel", type=int, required=True)
    return parser


def main():
    args = options().parse_args(ARGUMENTS)
    cfg = ConfigContainer()
    cfg.ddp.use_megatron_fsdp = args.fsdp
    cfg.model.tensor_model_parallel_size = args.tensor_parallel
    cfg.model.pipeline_model_parallel_size = args.pipeline_parallel
    return cfg


if __name__ == "__main__":
    main()
"""


def values(tmp_path: Path, arguments: str) -> dict[str, Value]:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT.replace("ARGUMENTS", arguments))
    recipe = next(each for each in read_python([str(path)], Sources()).recipes if each.name == "main")
    names = ("ddp.use_megatron_fsdp", "model.tensor_model_parallel_size", "model.pipeline_model_parallel_size")
    return {name: recipe.setting(name).value for name in names}


def test_an_option_is_its_default_and_one_without_is_unknown(tmp_path: Path) -> None:
    assert values(tmp_path, "") == {
        "ddp.use_megatron_fsdp": Known(True),
        "model.tensor_model_parallel_size": Known(4),
        "model.pipeline_model_parallel_size": UNKNOWN,
    }


def test_arguments_that_the_script_gives_itself_are_not_parsed(tmp_path: Path) -> None:
    assert set(values(tmp_path, '["--tensor-parallel", "2"]').values()) == {UNKNOWN}
