from megatron.bridge.recipes import llama

SIZES = {"1b": llama.llama32_1b_pretrain_config, "8b": llama.llama3_8b_pretrain_config}
