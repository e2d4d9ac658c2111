"""What the company's package does to a configuration."""


def finalize(cfg):
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    return cfg


def upload(cfg):
    return len(str(cfg))


def tune(cfg, **changes):
    cfg.ddp.overlap_grad_reduce = changes.get("overlap", False)
    cfg.ddp.average_in_collective = False
