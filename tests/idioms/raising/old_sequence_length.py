# idiom: the sequence length by the name of megatron-core
# versions: <0.6
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def both():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.dataset.sequence_length = 4096
    cfg.model.seq_length = 4096
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
