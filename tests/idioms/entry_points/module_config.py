# idiom: a module that keeps a configuration for others
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

config = llama3_8b_pretrain_config()  # recipe: config
config.ddp.use_megatron_fsdp = True  # decides: MFSDP101
