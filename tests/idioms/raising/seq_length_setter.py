# idiom: the sequence length is set by the name that newer releases have a property for
# versions: >=0.3
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def long_context():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.dataset.seq_length = 32768
    cfg.model.seq_length = 32768
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
