# idiom: pairs of a dotted name and a value
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

CHANGES = [
    ("ddp.use_megatron_fsdp", True),  # decides: MFSDP101
    ("train.micro_batch_size", 2),
]


def put(cfg, path, value):
    *sections, name = path.split(".")
    for section in sections:
        cfg = getattr(cfg, section)
    setattr(cfg, name, value)


def changed():  # recipe
    cfg = llama3_8b_pretrain_config()
    for path, value in CHANGES:
        put(cfg, path, value)
    return cfg
