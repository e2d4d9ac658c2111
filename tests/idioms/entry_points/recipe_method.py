# idiom: recipes as methods of a class that only groups them
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config


class Recipes:
    @staticmethod
    def small():  # recipe: Recipes.small()
        cfg = llama32_1b_pretrain_config()
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
        return cfg

    @classmethod
    def base(cls):  # recipe: Recipes.base()
        cfg = llama3_8b_pretrain_config()
        cfg.model.tensor_model_parallel_size = 2
        return cfg
