# idiom: partials of one builder in a list, launched in a loop
from functools import partial

from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def build(tp, strategy):
    cfg = llama32_1b_pretrain_config()
    cfg.model.tensor_model_parallel_size = tp
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.ddp.data_parallel_sharding_strategy = strategy
    return cfg


RUNS = [partial(build, 1, "optim_grads"), partial(build, tp=2, strategy="optim_grads_params")]

if __name__ == "__main__":
    for make in RUNS:
        pretrain(make(), forward_step)  # launch
