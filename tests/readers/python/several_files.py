"""Programs of several files whose recipe Python and the evaluator both run."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import import_module, invalidate_caches
from pathlib import Path
from unittest.mock import patch

from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

CONFIG = """\
from dataclasses import dataclass, field


@dataclass
class DDP:
    bucket_size: object = None


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)


def sized(size):
    return ConfigContainer(ddp=DDP(bucket_size=size))
"""


def agrees(files: Mapping[str, str]) -> None:
    """Check that `recipe` of the file `main.py`, in the current folder, sets here what it sets in Python."""
    for path, text in {"config.py": CONFIG, **files}.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    (main,) = (path for path in files if path.endswith("main.py"))
    found = read_python([str(each) for each in sorted(Path().rglob("*.py"))], Sources()).recipes
    (variant,) = next(each for each in found if each.name == "recipe").variants
    size = _as_python_runs_it(main.removesuffix(".py").replace("/", "."))
    assert variant.settings.value("ddp.bucket_size") == Known(json.loads(json.dumps(size)))


def _as_python_runs_it(module: str) -> object:
    """Return the size in the recipe of a module; its modules are forgotten again."""
    own = {path.stem if path.is_file() else path.name for path in Path().iterdir()}
    with patch.object(sys, "path", [str(Path().absolute()), *sys.path]), patch.dict(sys.modules):
        for name in [each for each in sys.modules if each.partition(".")[0] in own]:
            del sys.modules[name]
        invalidate_caches()
        return import_module(module).recipe().ddp.bucket_size
