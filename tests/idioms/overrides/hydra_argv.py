# idiom: upstream's quickstart shape, where overrides come from the command line
import argparse
import logging

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import (
    apply_overrides,
    create_omegaconf_dict_config,
    parse_hydra_overrides,
)
from omegaconf import OmegaConf

logger = logging.getLogger(__name__)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config-file", type=str, default=None)
    args, overrides = parser.parse_known_args()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    conf, excluded = create_omegaconf_dict_config(cfg)
    if args.config_file:
        conf = OmegaConf.merge(conf, OmegaConf.load(args.config_file))
    if overrides:
        conf = parse_hydra_overrides(conf, overrides)
    apply_overrides(cfg, OmegaConf.to_container(conf, resolve=True), excluded)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
