# idiom: everything on the command line is an override
import sys

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import (
    apply_overrides,
    create_omegaconf_dict_config,
    parse_hydra_overrides,
)
from omegaconf import OmegaConf

if __name__ == "__main__":
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    conf, excluded = create_omegaconf_dict_config(cfg)
    conf = parse_hydra_overrides(conf, sys.argv[1:])
    apply_overrides(cfg, OmegaConf.to_container(conf, resolve=True), excluded)
    pretrain(cfg, forward_step)  # launch
