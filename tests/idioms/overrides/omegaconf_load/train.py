# idiom: OmegaConf.load of a file beside the script
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import apply_overrides, create_omegaconf_dict_config
from omegaconf import OmegaConf


def main():
    cfg = llama3_8b_pretrain_config()
    conf, excluded = create_omegaconf_dict_config(cfg)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "overrides.yaml")
    conf = OmegaConf.merge(conf, OmegaConf.load(path))
    apply_overrides(cfg, OmegaConf.to_container(conf, resolve=True), excluded)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
