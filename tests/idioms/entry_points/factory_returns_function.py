# idiom: a function that returns the recipe function
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def make_recipe(fsdp):
    def recipe():
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = fsdp
        return cfg

    return recipe


sharded = make_recipe(True)  # recipe: sharded(); decides: MFSDP101
