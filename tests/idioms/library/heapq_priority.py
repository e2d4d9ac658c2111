# idiom: changes with priorities in a heap, where the last one wins
import heapq

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    queue = []
    heapq.heappush(queue, (2, "use_megatron_fsdp", True))  # decides: MFSDP101
    heapq.heappush(queue, (1, "use_megatron_fsdp", False))
    while queue:
        _, name, value = heapq.heappop(queue)
        setattr(cfg.ddp, name, value)
    return cfg
