# idiom: the newer name of the sequence length, and the older one where it is refused
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def long_context():  # recipe
    cfg = llama3_8b_pretrain_config()
    try:
        cfg.dataset.seq_length = 32768
    except AttributeError:
        cfg.dataset.sequence_length = 32768
    cfg.model.seq_length = 32768
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
