# idiom: overrides as one shell-like string, split with shlex and typed with ast
import ast
import shlex

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

OVERRIDES = "train.train_iters=10 ddp.use_megatron_fsdp=True checkpoint.ckpt_format=torch_dist 'logger.wandb_exp_name=my run'"  # decides: MFSDP101


def typed(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    for part in shlex.split(OVERRIDES):
        path, value = part.split("=", 1)
        target, name = cfg, path
        while "." in name:
            head, name = name.split(".", 1)
            target = getattr(target, head)
        setattr(target, name, typed(value))
    return cfg
