# idiom: itertools.product over strategies and sizes, one launch each
from itertools import product

from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    for strategy, tp in product(("optim_grads", "optim_grads_params"), (1, 2)):
        cfg = llama32_1b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        cfg.ddp.data_parallel_sharding_strategy = strategy
        cfg.model.tensor_model_parallel_size = tp
        pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
