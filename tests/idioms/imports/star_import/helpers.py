__all__ = ["STRATEGY", "shard"]

STRATEGY = "optim_grads_params"


def shard(cfg, strategy):
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.ddp.data_parallel_sharding_strategy = strategy
    return cfg
