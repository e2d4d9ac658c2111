# idiom: an enum whose members carry several values, with _missing_ for aliases
# versions: >=0.3,<0.5
import enum

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class Sharding(enum.Enum):
    ZERO1 = ("zero1", "optim", "torch_dist")
    ZERO3 = ("zero3", "optim_grads_params", "torch_dist")
    SAFE = ("safe", "optim_grads_params", "fsdp_dtensor")

    def __init__(self, label, strategy, ckpt_format):
        self.label = label
        self.strategy = strategy
        self.ckpt_format = ckpt_format

    @classmethod
    def _missing_(cls, value):
        for member in cls:
            if member.label == str(value).lower():
                return member
        return None


def build(profile):
    profile = Sharding(profile)
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = profile.strategy
    cfg.checkpoint.ckpt_format = profile.ckpt_format
    return cfg


def good():  # recipe
    return build("SAFE")


def main():
    pretrain(build("Zero3"), forward_step)  # launch; decides: MFSDP101


if __name__ == "__main__":
    main()
