# idiom: the model comes from a Hugging Face name
from megatron.bridge import AutoBridge
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Llama-3.2-1B").to_megatron_provider(load_weights=False)
    cfg.model.seq_length = 8192
    cfg.model.tensor_model_parallel_size = 2
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
