# idiom: the sequence length set in both sections by a loop
# versions: >=0.3
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def both():  # recipe
    cfg = llama3_8b_pretrain_config()
    for section in (cfg.model, cfg.dataset):
        section.seq_length = 4096
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
