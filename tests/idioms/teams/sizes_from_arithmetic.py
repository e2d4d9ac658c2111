# idiom: sizes are worked out from the world, with max/min/divmod and a named tuple
from typing import NamedTuple

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Cluster(NamedTuple):
    nodes: int
    gpus: int = 8

    @property
    def world(self):
        return self.nodes * self.gpus


class Plan(NamedTuple):
    tp: int
    pp: int
    dp: int


def plan(cluster, billions):
    tp = min(cluster.gpus, max(1, 2 ** (billions // 4).bit_length() // 2))
    pp = 2 if billions > 7 else 1
    dp, rest = divmod(cluster.world, tp * pp)
    assert rest == 0
    return Plan(tp, pp, dp)


def recipe():  # recipe
    found = plan(Cluster(nodes=2), billions=8)
    cfg = llama3_8b_pretrain_config()
    cfg.model.tensor_model_parallel_size, cfg.model.pipeline_model_parallel_size, _ = found
    cfg.model.sequence_parallel = found.tp > 1
    cfg.train.global_batch_size = found.dp * 4
    cfg.model.cpu_offloading = found.pp > 1  # decides: MFSDP401
    cfg.model.cpu_offloading_num_layers = 1
    return cfg
