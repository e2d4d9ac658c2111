# idiom: a Namespace of options without a parser
from argparse import Namespace

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

ARGS = Namespace(fsdp=True, strategy="optim_grads")  # decides: MFSDP101


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = ARGS.fsdp
    cfg.ddp.data_parallel_sharding_strategy = ARGS.strategy
    return cfg
