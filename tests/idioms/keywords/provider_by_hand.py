# idiom: a model provider written by hand in upstream's recipe
from megatron.bridge.models.gpt_provider import GPTModelProvider
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.model = GPTModelProvider(
        num_layers=8,
        hidden_size=512,
        num_attention_heads=8,
        seq_length=8192,
        recompute_granularity="full",
        recompute_method="uniform",
        recompute_num_layers=1,
        bf16=True,
    )
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
