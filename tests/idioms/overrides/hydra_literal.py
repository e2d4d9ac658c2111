# idiom: upstream's hydra parser with overrides in the file
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.utils.omegaconf_utils import (
    apply_overrides,
    create_omegaconf_dict_config,
    parse_hydra_overrides,
)
from omegaconf import OmegaConf


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    conf, excluded = create_omegaconf_dict_config(cfg)
    conf = parse_hydra_overrides(conf, ["checkpoint.ckpt_format=fsdp_dtensor"])  # decides: MFSDP102
    apply_overrides(cfg, OmegaConf.to_container(conf, resolve=True), excluded)
    return cfg
