# idiom: OmegaConf.from_dotlist of a list in the file
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.utils.omegaconf_utils import apply_overrides, create_omegaconf_dict_config
from omegaconf import OmegaConf


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    conf, excluded = create_omegaconf_dict_config(cfg)
    extra = OmegaConf.from_dotlist(["ddp.use_megatron_fsdp=true", "train.train_iters=3"])  # decides: MFSDP101
    merged = OmegaConf.merge(conf, extra)
    apply_overrides(cfg, OmegaConf.to_container(merged, resolve=True), excluded)
    return cfg
