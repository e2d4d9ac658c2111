from typing import Final

ITERS: Final = 300
SHARDING: Final[dict] = {
    "use_megatron_fsdp": True,  # decides: MFSDP101
    "data_parallel_sharding_strategy": "optim_grads_params",
}
