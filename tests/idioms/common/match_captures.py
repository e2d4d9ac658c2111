# idiom: a table of changes that a match statement takes apart
# versions: >=0.3,<0.5
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

CHANGES = [
    ("shard", "full"),
    ("batch", 256, 2),
    {"save": "/ckpt/table"},
    ("format", "torch_dist"),  # decides: MFSDP101
]
RIGHT = [("shard", "full"), ("format", "fsdp_dtensor"), {"save": None}]


def apply(cfg, change):
    match change:
        case ("shard", "full" | "zero3"):
            cfg.ddp.use_megatron_fsdp = True
        case ("batch", int(gbs), int(mbs)):
            cfg.train.global_batch_size, cfg.train.micro_batch_size = gbs, mbs
        case ("format", str(ckpt_format)):
            cfg.checkpoint.ckpt_format = ckpt_format
        case {"save": save, **rest}:
            cfg.checkpoint.save = save
            cfg.checkpoint.load = rest.get("load", save)


def build(changes):
    cfg = llama3_8b_pretrain_config()
    for change in changes:
        apply(cfg, change)
    return cfg


def wrong():  # recipe
    return build(CHANGES)


def right():  # recipe
    return build(RIGHT)
