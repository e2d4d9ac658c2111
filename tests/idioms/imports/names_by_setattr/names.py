# idiom: a module that gives itself recipes by names that it puts together
# versions: >=0.3,<0.5
import sys

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def _recipe(mode):
    def recipe():  # recipe: llama_fsdp()
        cfg = llama3_8b_pretrain_config()
        if mode == "fsdp":
            cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        return cfg

    return recipe


for _mode in ("fsdp",):
    setattr(sys.modules[__name__], f"llama_{_mode}", _recipe(_mode))
