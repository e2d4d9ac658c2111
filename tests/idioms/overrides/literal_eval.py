# idiom: values written as text and read by literal_eval
import ast

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

TABLE = {
    "ddp.use_megatron_fsdp": "True",  # decides: MFSDP101
    "train.global_batch_size": "256",
    "ddp.data_parallel_sharding_strategy": "'optim_grads_params'",
}


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    for path, text in TABLE.items():
        section, _, name = path.partition(".")
        setattr(getattr(cfg, section), name, ast.literal_eval(text))
    return cfg
