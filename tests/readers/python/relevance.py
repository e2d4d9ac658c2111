"""Random packages in which files reach recipes or not, and readings of files with and without the filter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.engine.read import Question, Read, read
from mfsdp_lint.inputs.discover import File
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers import shell_files
from mfsdp_lint.readers.registry import kind_of
from mfsdp_lint.readers.relevance import Relevance

Draw = Callable[[int], int]
"""Draws a number below another one."""

UPSTREAM = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.pretrain import pretrain


def {made}(steps=100):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.train.train_iters = steps
    return cfg


def go(cfg):
    pretrain(config=cfg)
"""

_FOLDERS = ("", "kit", "kit/inner", "bare")
_STEMS = ("alpha", "beta", "gamma", "delta", "omega")
_NAMES = ("long", "wide", "small", "base", "start")

_IMPORTS = (
    "from {dots} import {name} as {alias}",
    "from {module} import {name} as {alias}",
    "import {module} as held_{alias}\n{alias} = held_{alias}.{name}",
    "import {module}\n{alias} = {module}.{name}",
    "try:\n    from {module} import {name} as {alias}\nexcept ImportError:\n    {alias} = None",
    "import importlib\n{alias} = importlib.import_module('{module}').{name}",
    "{alias} = __import__('{module}', fromlist=['{name}']).{name}",
    "import sys; from {module} import *; {alias} = {name}",
    "from {module} import (  # the way in\n    {name} as {alias},\n)",
    "from {module} \\\n    import {name} as {alias}",
)
_USES = (
    "def {name}(steps=1):\n    cfg = {alias}()\n    cfg.train.train_iters = steps\n    return cfg\n",
    "def {name}(steps):\n    return {alias}(steps)\n",
    "def {name}(steps=1):\n    return {alias}(steps)\n",
    "{name} = lambda steps=1: {alias}(steps)\n",
    "import functools\n{name} = functools.partial({alias}, steps=3)\n",
    "class Maker:\n    def build(self, steps=1):\n        return {alias}(steps)\n\n\n{name} = Maker().build\n",
    "class {name}:\n    @classmethod\n    def build(cls):\n        return {alias}()\n",
    "def {name}(:\n    return {alias}()\n",
    "TABLE = {{'one': {alias}}}\n\n\ndef {name}(steps=1):\n    return TABLE['one'](steps)\n",
    "def {name}(steps=1):\n    return {alias}\n",
)
_ALONE = (
    "def {name}(cfg=None):\n    return 1\n",
    "def {name}(cfg):\n    cfg.model.depth = 4\n    return cfg\n",
    "class {name}:\n    def run(self, cfg):\n        cfg.optimizer.lr = 0.1\n",
    "def {name}(:\n    pass\n",
    "import os, json\n\n\ndef {name}():\n    return json.dumps(os.getcwd())\n",
)


def write(draw: Draw) -> dict[str, str]:
    """Write a package: the texts of its files by their paths."""
    modules = [f"{_one(draw, _FOLDERS)}/{stem}".lstrip("/") for stem in _STEMS[: 2 + draw(len(_STEMS) - 1)]]
    names = {module: _one(draw, _NAMES) for module in modules}
    texts = {f"{module}.py": _text(draw, module, modules, names) for module in modules}
    if draw(4):
        made = modules[draw(len(modules))]
        texts[f"{made}.py"] = UPSTREAM.format(made=names[made])
    for package in ("kit", "kit/inner"):
        inside = [module for module in modules if os.path.dirname(module) == package]
        texts[f"{package}/__init__.py"] = "".join(
            f"from .{os.path.basename(module)} import {names[module]}\n" for module in inside if draw(2)
        )
    scripts = [module for module in modules if draw(6) == 0]
    for module in scripts:
        texts[f"{module}.py"] += f"\n\nif __name__ == '__main__':\n    {names[module]}()\n"
        texts[f"{os.path.basename(module)}.sh"] = f"#!/bin/sh\nSTEPS=1 python {module}.py\n"
    return texts | {"pyproject.toml": ""}


def _text(draw: Draw, module: str, modules: Sequence[str], names: Mapping[str, str]) -> str:
    if draw(3) == 0:
        return _one(draw, _ALONE).format(name=names[module])
    other = modules[draw(len(modules))]
    way = os.path.relpath(other, os.path.dirname(module) or ".").split(os.sep)
    above = way.count("..")
    dots = "." * (above + 1) + ".".join(way[above:])
    filled = {"dots": dots, "module": other.replace("/", "."), "name": names[other], "alias": "taken"}
    if draw(4) == 0 and "/" in other:  # what the package hands on
        filled["module"] = os.path.dirname(other).replace("/", ".")
    imported = _one(draw, _IMPORTS).format(**filled)
    if draw(4) == 0:
        imported = f"import {_one(draw, modules).replace('/', '.')}\n{imported}"
    used = _one(draw, _USES).format(name=names[module], alias="taken")
    if draw(5) == 0 and "*" not in imported:
        lines = "".join(f"    {line}\n" for line in imported.splitlines())
        return f"def {names[module]}(steps=1):\n{lines}    return taken(steps)\n"
    return f"{imported}\n\n\n{used}"


def _one(draw: Draw, of: Sequence[str]) -> str:
    return of[draw(len(of))]


def put(texts: Mapping[str, str], folder: Path) -> list[str]:
    """Write the files into a folder, and tell which of them are read."""
    for path, text in texts.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return [path for path in texts if path.endswith((".py", ".sh"))]


def answers(paths: Sequence[str], version: str = "0.3.1") -> dict[str, list[object]]:
    """Read files, and tell all that comes of it in words that can be compared."""
    files = tuple(File(path, kind_of(path)) for path in sorted(paths))
    return _told(read(Question(resolve_target(version), files), Sources()))


@contextmanager
def everything_is_parsed() -> Iterator[None]:
    """Switch the filters off: every file is read as if it might have to do with a training run."""
    with (
        mock.patch.object(Relevance, "is_parsed", return_value=True),
        mock.patch.object(shell_files, "_speaks", return_value=True),
    ):
        yield


def _told(found: Read) -> dict[str, list[object]]:
    recipes: list[object] = [
        (
            each.path,
            each.line,
            each.name,
            each.kind,
            each.partial,
            [(one.when, _settings(one)) for one in each.variants],
        )
        for each in found.recipes
    ]
    return {
        "recipes": recipes,
        "problems": list(map(repr, sorted(found.problems))),
        "unfollowed": list(map(repr, found.unfollowed)),
    }


def _settings(variant: Variant) -> list[tuple[str, str]]:
    found = ((path, variant.settings.get(path)) for path in sorted(variant.settings))
    return [(path, repr((each.value, each.origin and each.origin.point))) for path, each in found if each is not None]
