# idiom: HfArgumentParser with words of the program's own
# versions: >=0.3,<0.5
from dataclasses import dataclass, field
from typing import Optional

from transformers import HfArgumentParser

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@dataclass
class Arguments:
    fsdp: bool = field(default=False)
    ckpt_format: str = field(default="fsdp_dtensor")
    tp: Optional[int] = None


WORDS = [
    "--fsdp",
    "--ckpt_format=torch_dist",  # decides: MFSDP101
    "--tp",
    "2",
]


def main():
    (args,) = HfArgumentParser(Arguments).parse_args_into_dataclasses(WORDS)
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = args.fsdp
    cfg.checkpoint.ckpt_format = args.ckpt_format
    if args.tp:
        cfg.model.tensor_model_parallel_size = args.tp
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
