"""Says as JSON which of the packages named there are installed with this Python, in which version, and which GPUs it
sees. Imports none of them, but torch where there seems to be a GPU: only torch knows which GPUs it can use.
"""

import glob
import importlib.metadata
import json
import platform
import sys
from collections.abc import Sequence
from typing import Any

DEVICES = "/dev/nvidia[0-9]*", "/dev/dxg"
"""What a driver leaves on a machine with a GPU; the second on Windows' subsystem for Linux."""


def main(names: Sequence[str]) -> None:
    versions: dict[str, str | None] = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    found = {"python": platform.python_version(), "versions": versions, **gpus()}
    json.dump(found, sys.stdout)


def gpus(devices: Sequence[str] = DEVICES) -> dict[str, Any]:
    """The `gpus` that torch can use, each with its name and compute capability, or `no_gpu`: why there are none."""
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
