# idiom: class attributes that a method reads
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Experiment:
    fsdp = True  # decides: MFSDP101
    strategy = "optim_grads"

    def recipe(self):  # recipe: Experiment().recipe()
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = self.fsdp
        cfg.ddp.data_parallel_sharding_strategy = self.strategy
        return cfg
