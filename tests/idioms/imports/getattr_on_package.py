# idiom: the recipe is looked up in upstream's package by a name that is put together
import megatron.bridge.recipes.llama as llama


def recipe(size="8b"):  # recipe
    cfg = getattr(llama, f"llama3_{size}_pretrain_config")()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
