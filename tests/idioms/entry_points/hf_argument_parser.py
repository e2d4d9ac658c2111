# idiom: dataclasses filled by transformers.HfArgumentParser
# versions: >=0.3,<0.5
from dataclasses import dataclass, field
from typing import Optional

from transformers import HfArgumentParser

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@dataclass
class ShardingArguments:
    use_fsdp: bool = field(default=True, metadata={"help": "shard with Megatron-FSDP"})
    ckpt_format: str = field(default="torch_dist", metadata={"help": "format of checkpoints"})  # decides: MFSDP101


@dataclass
class ModelArguments:
    tp: int = field(default=1)
    pp: Optional[int] = field(default=None)


def main():
    parser = HfArgumentParser((ShardingArguments, ModelArguments))
    sharding, model = parser.parse_args_into_dataclasses()
    cfg = llama3_8b_pretrain_config()
    cfg.model.tensor_model_parallel_size = model.tp
    if model.pp:
        cfg.model.pipeline_model_parallel_size = model.pp
    cfg.ddp.use_megatron_fsdp = sharding.use_fsdp
    cfg.checkpoint.ckpt_format = sharding.ckpt_format
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
