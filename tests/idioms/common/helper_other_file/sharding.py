from numbers_of_the_team import STRATEGY


def shard(cfg, strategy=STRATEGY):
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.ddp.data_parallel_sharding_strategy = strategy
    return cfg
