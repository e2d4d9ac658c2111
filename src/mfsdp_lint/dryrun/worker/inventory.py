"""Says as JSON which of the packages named there are installed with this Python, in which version, and which GPUs it
sees. Imports none of them, but torch where there seems to be a GPU: only torch knows which GPUs it can use.
"""

import glob
import importlib.metadata
import importlib.util
import json
import os
import platform
import runpy
import sys
from collections.abc import Sequence
from typing import Any

DEVICES = "/dev/nvidia[0-9]*", "/dev/dxg"
"""Files that a driver leaves on a machine with a GPU; the second on Windows' subsystem for Linux."""


def main(names: Sequence[str]) -> None:
    versions = {name: version(name) for name in names}
    found = {"python": platform.python_version(), "versions": versions, **gpus()}
    json.dump(found, sys.stdout)


def version(name: str) -> str | None:
    """Return a package's version from its installation, or a Megatron's on the path from its source; else None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        if not name.startswith("megatron-"):
            return None
    except KeyError:  # an installation without a version
        return None
    try:
        spec = importlib.util.find_spec(name.replace("-", "."))
    except (ImportError, ValueError):
        return None
    for folder in (spec and spec.submodule_search_locations) or ():
        said = os.path.join(folder, "package_info.py")
        if os.path.isfile(said):
            os.environ["NO_VCS_VERSION"] = "1"  # else it asks git for the commit
            found: str | None = runpy.run_path(said).get("__version__")
            return found
    return None


def gpus(devices: Sequence[str] = DEVICES) -> dict[str, Any]:
    """Return the `gpus` that torch can use, each with its name and capability, or `no_gpu`: why there are none."""
    if not any(glob.glob(pattern) for pattern in devices):
        return {"gpus": [], "no_gpu": "this machine has none"}
    try:
        import torch

        if torch.version.cuda is None:
            return {"gpus": [], "no_gpu": f"torch {torch.__version__} is built without CUDA"}
        if not torch.distributed.is_nccl_available():
            return {"gpus": [], "no_gpu": f"torch {torch.__version__} is built without NCCL"}
        found = [
            {"name": torch.cuda.get_device_name(number), "capability": torch.cuda.get_device_capability(number)}
            for number in range(torch.cuda.device_count())
        ]
    except Exception as error:
        return {"gpus": [], "no_gpu": f"torch says {type(error).__name__}: {error}"}
    return {"gpus": found, "no_gpu": "" if found else "torch sees none"}
