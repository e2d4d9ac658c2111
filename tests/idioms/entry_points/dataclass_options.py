# idiom: a dataclass of one's own has the options
from dataclasses import dataclass

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@dataclass
class Options:
    fsdp: bool = True  # decides: MFSDP101
    strategy: str = "optim_grads_params"
    tp: int = 1


def build(options):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = options.fsdp
    cfg.ddp.data_parallel_sharding_strategy = options.strategy
    cfg.model.tensor_model_parallel_size = options.tp
    return cfg


def main():
    cfg = build(Options())
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
