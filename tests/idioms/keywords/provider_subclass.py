# idiom: a subclass of upstream's provider with defaults of its own
from dataclasses import dataclass

from megatron.bridge.models.gpt_provider import GPTModelProvider
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass
class TinyProvider(GPTModelProvider):
    num_layers: int = 4
    hidden_size: int = 256
    num_attention_heads: int = 4
    seq_length: int = 8192
    bf16: bool = True


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.model = TinyProvider(tensor_model_parallel_size=2, sequence_parallel=True)
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
