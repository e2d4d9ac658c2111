# idiom: settings as command-like text lines, parsed with match and walrus
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

SCRIPT = """
set train train_iters 100
on ddp use_megatron_fsdp
off ddp overlap_param_gather
off ddp overlap_grad_reduce
# a comment
text checkpoint ckpt_format fsdp_dtensor
"""


def run(cfg, script):
    lines = iter(script.strip().splitlines())
    while (line := next(lines, None)) is not None:
        match line.split():
            case ["#", *_]:
                continue
            case ["set", section, name, number]:
                setattr(getattr(cfg, section), name, int(number))
            case ["text", section, name, value]:
                setattr(getattr(cfg, section), name, value)
            case ["on" | "off" as switch, section, name]:
                setattr(getattr(cfg, section), name, switch == "on")
            case other:
                raise ValueError(other)
    return cfg


def recipe():  # recipe
    return run(llama3_8b_pretrain_config(), SCRIPT)
