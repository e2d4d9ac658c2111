def shard(cfg):
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
