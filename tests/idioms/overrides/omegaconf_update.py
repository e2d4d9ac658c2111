# idiom: OmegaConf.update of one key
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.utils.omegaconf_utils import apply_overrides, create_omegaconf_dict_config
from omegaconf import OmegaConf


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    conf, excluded = create_omegaconf_dict_config(cfg)
    OmegaConf.update(conf, "ddp.use_megatron_fsdp", True)  # decides: MFSDP101
    apply_overrides(cfg, OmegaConf.to_container(conf), excluded)
    return cfg
