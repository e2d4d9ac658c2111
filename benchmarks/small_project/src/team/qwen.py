import yaml

from .shared import base


def qwen(pp: int = 2):
    cfg = base(True, pp)
    cfg.ddp.average_in_collective = False
    return cfg


def from_file():
    cfg = base()
    with open("conf/fsdp.yaml") as file:
        values = yaml.safe_load(file)
    cfg.ddp.use_megatron_fsdp = values["ddp"]["use_megatron_fsdp"]
    return cfg
