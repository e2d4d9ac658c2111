# idiom: a registry whose decorator takes several names and a tag, asked by string
from collections.abc import Callable

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config
from megatron.bridge.training.config import ConfigContainer
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

_RECIPES: dict[str, tuple[Callable[[], ConfigContainer], frozenset[str]]] = {}


def register(*names: str, tags: tuple[str, ...] = ()):
    def wrap(builder):
        for name in names:
            if name in _RECIPES:
                raise KeyError(f"{name} is there already")
            _RECIPES[name] = (builder, frozenset(tags))
        return builder

    return wrap


@register("llama-1b", "small", tags=("debug",))
def small() -> ConfigContainer:  # recipe
    cfg = llama32_1b_pretrain_config()
    cfg.train.train_iters = 20
    return cfg


@register("llama-8b", "base", tags=("fsdp",))
def base() -> ConfigContainer:  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.train.train_iters = 2000
    return cfg


def get(name: str) -> ConfigContainer:
    builder, tags = _RECIPES[name]
    cfg = builder()
    if "fsdp" in tags:
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    return cfg


if __name__ == "__main__":
    pretrain(config=get("llama-8b"), forward_step_func=forward_step)  # launch
