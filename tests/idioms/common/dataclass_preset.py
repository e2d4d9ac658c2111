# idiom: a frozen dataclass of presets with a method that applies it
from dataclasses import asdict, dataclass

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass(frozen=True)
class Preset:
    use_megatron_fsdp: bool = False
    average_in_collective: bool = True

    def apply(self, cfg):
        for name, value in asdict(self).items():
            setattr(cfg.ddp, name, value)
        return cfg


FSDP = Preset(use_megatron_fsdp=True)  # decides: MFSDP101


def recipe():  # recipe
    return FSDP.apply(llama3_8b_pretrain_config())
