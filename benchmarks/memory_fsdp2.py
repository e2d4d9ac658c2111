"""A rank of the dry run in which torch FSDP2 can be wrapped: what benchmarks/memory.py starts for that way alone.

Megatron-Bridge 0.3.1 and megatron-core 0.16.1 give the wrapper of torch FSDP2 arguments that it does not have
(MFSDP202). Here it overlooks them; everything else is the real one.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

WORKER = Path(__file__).resolve().parents[1] / "src" / "mfsdp_lint" / "dryrun" / "worker"


def overlook() -> None:
    """Let the wrapper ignore arguments that it does not know but gets."""
    from megatron.core.distributed.torch_fully_sharded_data_parallel import TorchFullyShardedDataParallel as Wrapper

    for method, argument in (("__init__", "pg_collection"), ("finish_grad_sync", "force_all_reduce")):
        setattr(Wrapper, method, _without(argument, getattr(Wrapper, method)))


def _without(argument: str, method: Any) -> Any:
    def called(*arguments: Any, **keywords: Any) -> Any:
        keywords.pop(argument, None)
        return method(*arguments, **keywords)

    return called


def main(arguments: list[str]) -> None:
    """Run the ranks; `arguments` are the file with the job, and the folder for the answers."""
    sys.path.insert(0, str(WORKER))
    start = importlib.import_module("start")
    start.load_package()
    start.begin()
    training = importlib.import_module(f"{start.PACKAGE}.training")
    import_bridge = training.import_bridge

    def imported() -> None:
        import_bridge()
        overlook()

    training.import_bridge = imported
    importlib.import_module(f"{start.PACKAGE}.rank").main(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
