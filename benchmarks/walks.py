"""Count the modules that a setting passes on its way to the output, by tracing: `python benchmarks/walks.py`.

Three walks: an assignment in a Python recipe to an annotation for GitHub, a flag in a launch script to an annotation,
and a rule to the patch of `--diff`. A module is passed if a function of it runs; modules that are only imported are
not counted, though an import may run functions, too: it fills a table, or decorates. The frames are those of the
package when the evaluator writes the setting.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from mfsdp_lint.cli import main
from mfsdp_lint.core.files import PACKAGE

RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    return cfg
"""
SCRIPT = """\
torchrun --nproc-per-node 8 pretrain_gpt.py --use-megatron-fsdp --ckpt-format torch_dist
"""
WALKS = {
    "recipe to GitHub": ("--output-format", "github", "recipe.py"),
    "flag to GitHub": ("--output-format", "github", "run.sh"),
    "rule to --diff": ("--diff", "recipe.py"),
}
_SETTING = "use_megatron_fsdp"
_IS_FUNCTION = 0x2
"""The flag CO_NEWLOCALS: a class body has it not."""


class Walk:
    """The modules that one command passes, and the frames below the deepest write of the setting."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.frames = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE) or not code.co_flags & _IS_FUNCTION:
            return
        if any(_is_import(each) for each in _stack(frame)):
            return
        self.modules.add(os.path.relpath(code.co_filename, PACKAGE))
        if code.co_name == "put" and frame.f_locals.get("key") == _SETTING:
            frames = [each for each in _stack(frame) if each.f_code.co_filename.startswith(PACKAGE)]
            self.frames = max(self.frames, len(frames))


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_import(frame: FrameType) -> bool:
    return frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(PACKAGE)


def walk(arguments: Sequence[str]) -> Walk:
    """Trace a command. Its output is thrown away."""
    tracer = Walk()
    with open(os.devnull, "w") as nowhere:
        shown, sys.stdout = sys.stdout, nowhere
        told, sys.stderr = sys.stderr, nowhere
        threading.setprofile(tracer)
        sys.setprofile(tracer)
        try:
            main(["check", "--no-cache", "--target-bridge", "0.3.1", *arguments])
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            sys.stdout, sys.stderr = shown, told
    return tracer


def told(name: str) -> str:
    """Take a walk in this process and describe it."""
    found = walk(WALKS[name])
    packages = {module.split(os.sep)[0] for module in found.modules if os.sep in module}
    frames = f", {found.frames} frames at the write" if found.frames else ""
    return f"{name}: {len(found.modules)} modules of {len(packages)} packages{frames}"


if __name__ == "__main__":
    if sys.argv[1:]:
        print(told(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "recipe.py").write_text(RECIPE, encoding="utf-8")
            Path(folder, "run.sh").write_text(SCRIPT, encoding="utf-8")
            for each in WALKS:
                # A process of its own: functions that keep their results run once a process.
                subprocess.run([sys.executable, os.path.abspath(__file__), each], cwd=folder, check=True)
