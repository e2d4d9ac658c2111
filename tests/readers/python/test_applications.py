"""Command-line programs of click, typer, fire and hydra are judged as they are when started without any option."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

HEAD = """\
import click
import fire
import hydra
import typer
from dataclasses import dataclass, field


@dataclass
class DDP:
    use_megatron_fsdp: bool = False


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)


"""

BODY = """
    cfg = ConfigContainer()
    cfg.ddp.use_megatron_fsdp = fsdp
    return cfg
"""

PROGRAMS: dict[str, tuple[str, Value]] = {
    "a switch that is on": ('@click.command()\n@click.option("--fsdp/--no-fsdp", default=True)\n', Known(True)),
    "a switch that is off": ('@click.command\n@click.option("--fsdp", is_flag=True)\n', Known(False)),
    "an option with a name": ('@click.command()\n@click.option("-f", "--full", "fsdp", default=True)\n', Known(True)),
    "no default": ('@click.command()\n@click.option("--fsdp")\n', Known(None)),
    "a required option": ('@click.command()\n@click.option("--fsdp", required=True)\n', UNKNOWN),
    "an argument": ('@click.command()\n@click.argument("fsdp")\n', UNKNOWN),
    "a group's command": (
        '@click.group()\ndef cli():\n    pass\n\n@cli.command()\n@click.option("--fsdp", default=True)\n',
        Known(True),
    ),
    "hydra": ('@hydra.main(config_path="conf", config_name="train")\n', UNKNOWN),
}


def read(folder: Path, text: str) -> dict[str, Recipe]:
    path = folder / "train.py"
    path.write_text(HEAD + text)
    return {recipe.name: recipe for recipe in read_python([str(path)], Sources()).recipes}


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_option_is_its_default(tmp_path: Path, program: str) -> None:
    decorators, expected = PROGRAMS[program]
    value = read(tmp_path, f"{decorators}def main(fsdp):{BODY}")["main"].variants[0].value("ddp.use_megatron_fsdp")
    assert value == expected or (expected == UNKNOWN and value.state in ("set", "unknown"))


@pytest.mark.parametrize("call", ["main()", "main(standalone_mode=False)"])
def test_the_script_starts_the_program(tmp_path: Path, call: str) -> None:
    program = '@click.command()\n@click.option("--fsdp/--no-fsdp", default=True)\n@click.pass_context\n'
    text = f'{program}def main(context, fsdp):{BODY}\nif __name__ == "__main__":\n    cfg = {call}\n'
    assert read(tmp_path, text)["train"].variants[0].value("ddp.use_megatron_fsdp") == Known(True)


@pytest.mark.parametrize("run", ["typer.run(main)", "fire.Fire(main)"])
def test_a_function_that_is_run(tmp_path: Path, run: str) -> None:
    option = "typer.Option(True, '--fsdp')" if run.startswith("typer") else "True"
    text = f'def main(fsdp: bool = {option}):{BODY}\nif __name__ == "__main__":\n    cfg = {run}\n'
    found = read(tmp_path, text)
    assert found["main"].variants[0].value("ddp.use_megatron_fsdp") == Known(True)
    assert found["train"].variants[0].value("ddp.use_megatron_fsdp") == Known(True)


def test_arguments_given_in_the_code_are_not_the_defaults(tmp_path: Path) -> None:
    program = '@click.command()\n@click.option("--fsdp/--no-fsdp", default=True)\n'
    text = f'{program}def main(fsdp):{BODY}\nif __name__ == "__main__":\n    cfg = main(["--no-fsdp"])\n'
    assert read(tmp_path, text)["train"].variants[0].value("ddp.use_megatron_fsdp") == UNKNOWN
