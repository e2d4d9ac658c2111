"""Writes a small checkpoint of every format, with the real torch and megatron-core; for their environment.

    python write.py FOLDER

makes FOLDER/{torch_dist,fsdp_dtensor,torch_dcp,torch}/iter_0000005 and their trackers. fsdp_dtensor is what
torch.distributed.checkpoint writes of a state named as Megatron-FSDP names it.
"""

from __future__ import annotations

import os
import sys
from typing import Any


def main(folder: str) -> None:
    """All of them, by one process."""
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)  # the path that is given is written into the files
    import torch
    import torch.distributed.checkpoint as dcp

    torch.cuda.current_device = lambda: "cpu"
    torch.cuda.synchronize = lambda *_: None
    os.environ |= {"MASTER_ADDR": "localhost", "MASTER_PORT": "0", "RANK": "0", "WORLD_SIZE": "1"}
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    weight = torch.arange(8.0).reshape(4, 2)
    layer = "decoder.layers.0.mlp.linear_fc1.weight"
    megatron_fsdp: dict[str, Any] = {
        "model": {f"module.{layer}": weight},
        "optimizer": {"state": {f"module.module.{layer}": {"exp_avg": weight}}},
        "rng_state": {"(0, 0)": {"0": torch.zeros(2)}},
        "iteration": 5,
    }
    torch_fsdp2: dict[str, Any] = {
        "model": {layer: weight.bfloat16()},
        "optimizer": {"state": {0: {"exp_avg": weight}}, "param_groups": [{"lr": 0.1}]},
    }
    for name, state in (("fsdp_dtensor", megatron_fsdp), ("torch_dcp", torch_fsdp2)):
        dcp.save(state, checkpoint_id=_folder(name))
    rank = os.path.join(_folder("torch"), "mp_rank_00")
    os.makedirs(rank)
    torch.save({"model": {layer: weight}, "iteration": 5}, os.path.join(rank, "model_optim_rng.pt"))
    _torch_dist(weight)
    sys.stdout.flush()
    os._exit(0)  # whoever started this ends the processes that the asynchronous writer leaves


def _torch_dist(weight: Any) -> None:
    from megatron.core import dist_checkpointing, parallel_state
    from megatron.core.dist_checkpointing import ShardedTensor

    parallel_state.initialize_model_parallel()
    folder = _folder("torch_dist")
    os.makedirs(folder)
    names = ("decoder.layers.mlp.linear_fc1.weight", "optimizer.state.exp_avg.decoder.layers.mlp.linear_fc1.weight")
    state = {name: ShardedTensor.from_rank_offsets(name, weight) for name in names}
    dist_checkpointing.save({**state, "iteration": 5}, folder)


def _folder(name: str) -> str:
    os.makedirs(name, exist_ok=True)
    with open(os.path.join(name, "latest_checkpointed_iteration.txt"), "w", encoding="ascii") as tracker:
        tracker.write("5")
    return os.path.join(name, "iter_0000005")


if __name__ == "__main__":
    main(sys.argv[1])
