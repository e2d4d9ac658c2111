# idiom: a dataclass of the user's settings is turned into dotted overrides
import dataclasses

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclasses.dataclass
class Settings:
    seq_len: int = 4096
    micro_batch: int = 1
    fsdp: bool = True  # decides: MFSDP101
    format: str = "torch_dist"  # decides: MFSDP101

    PATHS = {
        "micro_batch": ("train.micro_batch_size",),
        "fsdp": ("ddp.use_megatron_fsdp",),
        "format": ("checkpoint.ckpt_format",),
        "seq_len": ("model.seq_length",),
    }

    def overrides(self):
        for field in dataclasses.fields(self):
            for path in self.PATHS[field.name]:
                yield path, getattr(self, field.name)


def assign(cfg, path, value):
    *parents, name = path.split(".")
    target = cfg
    for parent in parents:
        target = getattr(target, parent)
    setattr(target, name, value)


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    for path, value in Settings(micro_batch=2).overrides():
        assign(cfg, path, value)
    return cfg
