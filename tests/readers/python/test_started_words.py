"""Words that a launch script gives a program are taken as its command-line library takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known
from mfsdp_lint.engine.judge import Linter
from mfsdp_lint.engine.read import question
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources

HEAD = """\
import argparse
import enum
import sys
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

import click
import fire
import typer
from transformers import HfArgumentParser

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def run(save, iters=1):
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.save = save
    cfg.train.train_iters = iters
    pretrain(cfg, forward_step)


"""

CLICK = """\
@click.command()
@click.argument("name")
@click.option("--iters", "-i", type=int, default=1)
@click.option("--deep/--flat", default=False)
def main(name, iters, deep):
    run(("/deep/" if deep else "/flat/") + name, iters)


main()
"""
GROUP = """\
@click.group()
@click.option("--root", default="/a")
@click.pass_context
def cli(ctx, root):
    ctx.obj = root


@cli.command("go")
@click.option("--iters", default=1)
@click.pass_obj
def start(root, iters):
    run(root, iters)


cli()
"""
TYPER = """\
app = typer.Typer()


class Size(str, enum.Enum):
    small = "1b"
    large = "8b"


@app.command()
def train(
    size: Annotated[Size, typer.Option()] = Size.small,
    run_iters: int = 1,
    deep: Annotated[bool, typer.Option("--deep/--flat")] = False,
):
    run(("/deep/" if deep else "/flat/") + size.name, run_iters)


app()
"""
FIRE = """\
class Commands:
    def __init__(self, root="/a"):
        self.root = root

    def train(self, name="x", iters=1):
        run(f"{self.root}/{name}", iters)


fire.Fire(Commands)
"""
PARSER = """\
@dataclass
class Job:
    save: str = "/a"
    iters: Optional[int] = None
    deep: bool = False


(job,) = HfArgumentParser(Job).parse_args_into_dataclasses()
run(job.save + ("/deep" if job.deep else "/flat"), job.iters or 1)
"""
COMMANDS = """\
def go(args):
    run(args.root + args.name, args.iters)


top = argparse.ArgumentParser()
top.add_argument("--root", default="/a")
commands = top.add_subparsers(dest="command", required=True)
for name in ("go", "stop"):
    each = commands.add_parser(name)
    each.add_argument("--name", default="/x")
    each.add_argument("--iters", type=int, default=1)
    each.set_defaults(start=go if name == "go" else print)
args = top.parse_args()
args.start(args)
"""
ACTIONS = """\
class Stage(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        if not values.startswith("/"):
            parser.error("a folder is wanted")
        setattr(namespace, self.dest, values)
        namespace.iters = 7


class Deep(argparse.Action):
    def __init__(self, option_strings, dest, default=False, **keywords):
        super().__init__(option_strings, dest, nargs=0, default=default, **keywords)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, not option_string.startswith("--no-"))


parser = argparse.ArgumentParser()
parser.add_argument("--iters", type=int, default=1)
parser.add_argument("--stage", action=Stage, default="/a")
parser.add_argument("--deep", "--no-deep", action=Deep, dest="deep")
args = parser.parse_args()
run(args.stage + ("/deep" if args.deep else "/flat"), args.iters)
"""
SETTINGS = """\
@dataclass
class Place:
    root: str = "/a"
    deep: bool = False
    sort: Literal[0, 1] = 0


@dataclass
class Job:
    place: Place
    run_iters: int = 1
    load: Optional[str] = None


def start(job):
    kind = ("/deep" if job.place.deep else "/flat") + ("/sorted" if job.place.sort == 1 else "")
    run(job.place.root + kind, job.run_iters)


"""
TYRO = f"import tyro\n{SETTINGS}start(tyro.cli(Job))\n"
MAIN = """\
def main(place: Place = Place(), iters: int = 1):
    start(Job(place, iters))


"""
TYRO_FUNCTION = f"import tyro\n{SETTINGS}{MAIN}tyro.cli(main)\n"
JSONARGPARSE = f"import jsonargparse\n{SETTINGS}{MAIN}jsonargparse.CLI(main)\n"
ABSL = """\
from absl import app, flags

flags.DEFINE_string("root", "/a", "")
flags.DEFINE_bool("deep", True, "")
ITERS = flags.DEFINE_integer("iters", 1, "")


def main(argv):
    run(flags.FLAGS.root + ("/deep" if flags.FLAGS.deep else "/flat"), ITERS.value)


app.run(main)
"""
ARGV = 'run(sys.argv[1] if len(sys.argv) > 1 else "/a", len(sys.argv))\n'

PROGRAMS = {
    "click": (CLICK, "x -i 7 --deep", "/deep/x", 7),
    "click, with defaults": (CLICK, "x", "/flat/x", 1),
    "a group of click": (GROUP, "--root /b go --iters=7", "/b", 7),
    "typer": (TYPER, "--size 8b --run-iters 7 --deep", "/deep/large", 7),
    "fire": (FIRE, "train --root=/b --name y --iters 7", "/b/y", 7),
    "fire, by position": (FIRE, "train y 7", "/a/y", 7),
    "HfArgumentParser": (PARSER, "--save /b --iters 7 --deep", "/b/deep", 7),
    "HfArgumentParser, a word for a switch": (PARSER, "--deep no", "/a/flat", 1),
    "commands of argparse": (COMMANDS, "--root /b go --iters 7", "/b/x", 7),
    "an action of one's own": (ACTIONS, "--stage /b --deep", "/b/deep", 7),
    "an action, and an option behind it": (ACTIONS, "--stage /b --iters 3 --deep --no-deep", "/b/flat", 3),
    "defaults of actions": (ACTIONS, "", "/a/flat", 1),
    "tyro": (TYRO, "--place.root /b --place.deep --run-iters 7", "/b/deep", 7),
    "tyro, a switch off": (TYRO, "--place.no-deep --place.sort=1", "/a/flat/sorted", 1),
    "tyro, another option may be None": (TYRO, "--load None --run-iters 7", "/a/flat", 7),
    "tyro, a function": (TYRO_FUNCTION, "--place.root /b --iters 7", "/b/flat", 7),
    "jsonargparse": (JSONARGPARSE, "--place.deep true --place.root=/b --iters 7", "/b/deep", 7),
    "absl": (ABSL, "--root=/b --nodeep --iters 7", "/b/flat", 7),
    "absl, a switch with its value": (ABSL, "-root /b --deep=false", "/b/flat", 1),
    "sys.argv": (ARGV, "/b", "/b", 2),
    "no words": (ARGV, "", "/a", 1),
}


@pytest.mark.parametrize(("program", "words", "save", "iters"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_the_words_of_a_launch_decide(program: str, words: str, save: str, iters: int, tmp_path: Path) -> None:
    assert launched(tmp_path, program, words) == (Known(save), Known(iters))


REFUSED = {
    "click": (CLICK, "x --unheard 7"),
    "a command that is not there": (GROUP, "stay"),
    "typer": (TYPER, "surplus"),
    "a word that an action refuses": (ACTIONS, "--stage b"),
    "an option of tyro that is not there": (TYRO, "--place.unheard 7"),
    "an object as a text": (JSONARGPARSE, "--place '{root: /b}'"),
    "a word behind a switch of absl": (ABSL, "--deep false"),
    "a flag of absl's own": (ABSL, "--flagfile=flags.txt"),
}


@pytest.mark.parametrize(("program", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_words_that_are_not_taken_decide_nothing(program: str, words: str, tmp_path: Path) -> None:
    found = launched(tmp_path, program, words)
    assert found is None or not isinstance(found[0], Known)


def test_modules_that_fill_a_registry_run_before_a_word_is_looked_up(tmp_path: Path) -> None:
    (tmp_path / "registry.py").write_text(
        "RECIPES = {}\n\n\ndef add(function):\n    RECIPES[function.__name__] = function\n"
    )
    (tmp_path / "recipes.py").write_text('from registry import add\n\n\n@add\ndef wide():\n    return "/wide"\n')
    program = "import recipes\nfrom registry import RECIPES\n\nrun(RECIPES[sys.argv[1]]())\n"
    assert launched(tmp_path, program, "wide") == (Known("/wide"), Known(1))


def launched(folder: Path, program: str, words: str) -> tuple[object, object] | None:
    """Return where the program saves and for how long it trains when a script starts it with these words."""
    (folder / "train.py").write_text(f"{HEAD}{program}")
    (folder / "start.sh").write_text(f"#!/bin/bash\ntorchrun --nproc-per-node 8 train.py {words}\n")
    asked, _ = question(Options(paths=(str(folder / "start.sh"),), target_bridge="0.3.1"))
    recipes = [each for each in Linter(asked, (), ())(Sources()).recipes if each.kind == "launch"]
    if not recipes:
        return None
    return recipes[0].setting("checkpoint.save").value, recipes[0].setting("train.train_iters").value
