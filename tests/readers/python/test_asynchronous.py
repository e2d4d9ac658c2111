"""Asynchronous functions are followed where something awaits them, and are recipes like others."""

# Statements are easier to tell apart with one in a line.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

HEAD = """\
import asyncio
from dataclasses import dataclass, field


@dataclass
class DDP:
    use_megatron_fsdp: bool = False


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)


async def build():
    cfg = ConfigContainer()
    await asyncio.sleep(0)
    return cfg


async def shard(cfg):
    cfg.ddp.use_megatron_fsdp = True


"""

WAYS = (
    "await shard(cfg)",
    "task = asyncio.create_task(shard(cfg))\n    await task",
    "await asyncio.gather(shard(cfg), asyncio.sleep(1))",
    "await asyncio.wait_for(shard(cfg), timeout=10)",
    "later = shard(cfg)\n    await later",
)


def read(text: str) -> dict[str, Recipe]:
    return {each.name: each for each in read_python(["train.py"], Sources({"train.py": HEAD + text})).recipes}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_awaited_happens(way: str) -> None:
    found = read(f"async def recipe():\n    cfg = await build()\n    {way}\n    return cfg\n")["recipe"]
    assert found.variants[0].value("ddp.use_megatron_fsdp") == Known(True)


def test_what_nobody_awaits_does_not_happen() -> None:
    found = read("async def recipe():\n    cfg = await build()\n    shard(cfg)\n    return cfg\n")["recipe"]
    assert found.variants[0].value("ddp.use_megatron_fsdp") == Known(False)


@pytest.mark.parametrize("run", ["asyncio.run(build())", "asyncio.get_event_loop().run_until_complete(build())"])
def test_a_function_that_runs_a_coroutine(run: str) -> None:
    found = read(f"def recipe():\n    return {run}\n")["recipe"]
    assert found.variants[0].value("ddp.use_megatron_fsdp") == Known(False)


def test_a_coroutine_that_is_out_of_sight_may_change_what_it_was_given() -> None:
    text = "from company import runner\n\ndef recipe():\n    cfg = ConfigContainer()\n    runner(shard(cfg))\n    return cfg\n"
    assert read(text)["recipe"].variants[0].value("ddp.use_megatron_fsdp").state == "unknown"
