"""The real upstream code on a CPU, as a harness sets it up, for the workers beside this file.

They are started with a Python that has what Megatron-Bridge imports. Each thing that they try runs in a process of its
own, because upstream's modules keep state.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

RANKS = 8
"""How many ranks runs have, where their parallel sizes divide it."""

LAUNCHERS = (("pretrain", "pretrain"), ("finetune", "finetune"), ("finetune", "pretrain"))
"""What starts a training: module below megatron.bridge.training, and name."""


def arguments(description: str | None, *more: str) -> argparse.ArgumentParser:
    """Make the parser with the options of every worker, and `more`."""
    parser = argparse.ArgumentParser(description=description)
    for name in ("harness", "overlay", "scratch", "out", *more):
        parser.add_argument(f"--{name}")
    return parser


def set_up(options: argparse.Namespace, bridge: Path, core: Path) -> Any:
    """Import the harness (`oracle_lib`), with which these trees can be imported."""
    sys.dont_write_bytecode = True
    if options.overlay:
        sys.path.insert(0, options.overlay)
    sys.path.insert(0, options.harness)
    # DeepSeek's providers of 0.2.0 ask for it (models/deepseek/common.py:20), and NVIDIA's containers have it.
    sys.modules["apex"] = module_from_spec(ModuleSpec("apex", None))
    harness = importlib.import_module("oracle_lib")
    harness.setup(bridge, core, scratch=options.scratch)
    return harness


def import_training(*modules: str) -> None:
    """Import the modules that users' files need, once for all processes that follow."""
    for module in ("pretrain", "finetune", "gpt_step", *modules):
        importlib.import_module(f"megatron.bridge.training.{module}")
    for module in ("llama", "qwen"):
        importlib.import_module(f"megatron.bridge.recipes.{module}")


def replace_launchers(launch: Callable[..., Any]) -> None:
    """Replace the functions that start a training by `launch`."""
    for module, name in LAUNCHERS:
        setattr(sys.modules[f"megatron.bridge.training.{module}"], name, launch)


def in_a_child(make: Callable[[], Any], died: Any, seconds: int = 0) -> Any:
    """Call `make` in a process of its own; return its result as JSON, or `died` if that ends, or takes longer."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        signal.alarm(seconds)
        try:
            text = json.dumps(make(), default=str)
            with os.fdopen(writing, "w") as stream:
                stream.write(text)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    os.waitpid(process, 0)
    return json.loads(text) if text else died


def write_out(options: argparse.Namespace, found: Iterable[Any] | dict[str, Any]) -> None:
    """Write the results to the worker's output file."""
    Path(options.out).write_text(json.dumps(found))
