"""Writes a small checkpoint in the format zarr, with the real megatron-core 0.11.0, which still had it.

    pip install --target OLD --no-deps megatron-core==0.11.0 'zarr<3' 'numcodecs<0.16' asciitree fasteners \
        deprecated wrapt tensorstore ml_dtypes
    PYTHONPATH=OLD python write_zarr.py FOLDER

makes FOLDER/zarr/iter_0000005 and its tracker, where there is a torch.
"""

from __future__ import annotations

import os
import sys


def main(folder: str) -> None:
    """By one process."""
    import torch

    torch.cuda.current_device = lambda: "cpu"
    torch.cuda.synchronize = lambda *_: None
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    from megatron.core import dist_checkpointing, parallel_state
    from megatron.core.dist_checkpointing import ShardedTensor
    from megatron.core.dist_checkpointing.strategies.base import StrategyAction, get_default_strategy

    parallel_state.initialize_model_parallel()
    os.makedirs(iteration := os.path.join(folder, "zarr", "iter_0000005"))
    weight = torch.arange(8.0).reshape(4, 2)
    names = ("decoder.layers.mlp.linear_fc1.weight", "optimizer.state.exp_avg.decoder.layers.mlp.linear_fc1.weight")
    state = {name: ShardedTensor.from_rank_offsets(name, weight) for name in names}
    strategy = get_default_strategy(StrategyAction.SAVE_SHARDED, "zarr", 1)
    dist_checkpointing.save({**state, "iteration": 5}, iteration, strategy)
    with open(os.path.join(folder, "zarr", "latest_checkpointed_iteration.txt"), "w", encoding="ascii") as tracker:
        tracker.write("5")
    sys.stdout.flush()
    os._exit(0)  # what the writer started does not end by itself


if __name__ == "__main__":
    main(sys.argv[1])
