# idiom: an enum with methods; the member that is passed decides
# versions: >=0.3,<0.5
from enum import StrEnum, auto

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Format(StrEnum):
    TORCH_DIST = auto()
    FSDP_DTENSOR = auto()

    @property
    def shards(self):
        return self is Format.FSDP_DTENSOR


def with_format(fmt: Format, *, fsdp: bool):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = fsdp
    cfg.checkpoint.ckpt_format = str(fmt)
    return cfg


def wrong():  # recipe
    return with_format(
        Format.TORCH_DIST,  # decides: MFSDP101
        fsdp=True,
    )


def right():  # recipe
    fmt = Format["FSDP_DTENSOR"]
    return with_format(fmt, fsdp=fmt.shards)
