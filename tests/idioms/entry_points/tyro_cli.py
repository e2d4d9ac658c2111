# idiom: tyro.cli over nested dataclasses
# versions: >=0.3,<0.5
import dataclasses

import tyro

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@dataclasses.dataclass(frozen=True)
class Fsdp:
    enabled: bool = True
    strategy: str = "optim_grads_params"


@dataclasses.dataclass(frozen=True)
class Args:
    fsdp: Fsdp = dataclasses.field(default_factory=Fsdp)
    ckpt_format: str = "torch_dist"  # decides: MFSDP101
    iters: int = 100


def main(args: Args) -> None:
    cfg = llama3_8b_pretrain_config()
    cfg.train.train_iters = args.iters
    cfg.ddp.use_megatron_fsdp = args.fsdp.enabled
    cfg.ddp.data_parallel_sharding_strategy = args.fsdp.strategy
    cfg.checkpoint.ckpt_format = args.ckpt_format
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main(tyro.cli(Args))
