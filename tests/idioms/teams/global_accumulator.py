# idiom: modifiers that register themselves at import, run by priority at the end
import bisect

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

_MODIFIERS: list[tuple[int, str, object]] = []


def modifier(priority=50):
    def decorate(function):
        bisect.insort(_MODIFIERS, (priority, function.__name__, function))
        return function

    return decorate


@modifier(priority=90)
def format_last(cfg):
    cfg.checkpoint.ckpt_format = "torch_dist"  # decides: MFSDP101


@modifier()
def fsdp(cfg):
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    for _, _, function in _MODIFIERS:
        function(cfg)
    return cfg
