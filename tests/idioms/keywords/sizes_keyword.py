# idiom: parallel sizes as keywords of upstream's recipe
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config(tensor_model_parallel_size=2, sequence_parallel=True)  # decides: TypeError [>=0.3]
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101 [<0.3]
    return cfg
