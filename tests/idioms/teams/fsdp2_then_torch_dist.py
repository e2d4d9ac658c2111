# idiom: torch FSDP2 chosen by an option string that is split and stripped
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

OPTIONS = " fsdp2 , short ,"


def recipe():  # recipe
    wanted = {text.strip() for text in OPTIONS.split(",") if text.strip()}
    cfg = llama3_8b_pretrain_config()
    if "short" in wanted:
        cfg.train.train_iters = 5
    if wanted & {"fsdp2", "torch_fsdp2"}:
        cfg.dist.use_torch_fsdp2 = True  # decides: MFSDP202
    if "fsdp" in wanted:
        cfg.ddp.use_megatron_fsdp = True
    return cfg
