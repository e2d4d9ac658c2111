# idiom: the scheme of PEFT as argument of upstream's recipe
# versions: >=0.3
from megatron.bridge.recipes.llama import llama3_8b_peft_config


def recipe():  # recipe
    cfg = llama3_8b_peft_config(peft_scheme="lora")
    cfg.checkpoint.pretrained_checkpoint = "/ckpt/base"
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
