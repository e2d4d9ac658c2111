def shard(cfg, strategy="optim_grads_params"):
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = strategy
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
