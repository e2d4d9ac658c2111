# idiom: frozen slotted presets in a set and a lookup with next()
from dataclasses import dataclass, field

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    name: str
    factory: object = field(compare=False, repr=False)
    fsdp: bool = False
    strategy: str = "optim_grads_params"
    format: str = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "format", "fsdp_dtensor" if self.strategy == "optim_grads_params" else "torch_dist")


PRESETS = (
    Preset(name="small", factory=llama32_1b_pretrain_config, strategy="no_shard"),
    Preset(name="big", factory=llama3_8b_pretrain_config, fsdp=True),
    Preset(name="odd", factory=llama3_8b_pretrain_config, fsdp=True, strategy="optim_grads"),  # decides: MFSDP101
)


def by_name(name):
    preset = next((each for each in PRESETS if each.name == name), None)
    if preset is None:
        raise LookupError(name)
    cfg = preset.factory()
    cfg.ddp.use_megatron_fsdp = preset.fsdp
    cfg.ddp.data_parallel_sharding_strategy = preset.strategy
    cfg.checkpoint.ckpt_format = preset.format
    return cfg


def small():  # recipe
    return by_name("small")


def big():  # recipe
    return by_name("big")


def odd():  # recipe
    return by_name("odd")
