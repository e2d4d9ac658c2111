"""Programs of several files whose recipe Python and the evaluator both run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

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

_PRINTS = """\
import json, {module}
print(json.dumps({module}.recipe().ddp.bucket_size))
"""


def agrees(files: Mapping[str, str]) -> None:
    """Check that `recipe` of the file `main.py`, in the current folder, sets here what it sets in Python."""
    for path, text in {"config.py": CONFIG, **files}.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    (main,) = (path for path in files if path.endswith("main.py"))
    found = read_python([str(each) for each in sorted(Path().rglob("*.py"))], Sources()).recipes
    (variant,) = next(each for each in found if each.name == "recipe").variants
    module = main.removesuffix(".py").replace("/", ".")
    done = subprocess.run([sys.executable, "-c", _PRINTS.format(module=module)], capture_output=True, check=True)
    assert variant.settings.value("ddp.bucket_size") == Known(json.loads(done.stdout))
