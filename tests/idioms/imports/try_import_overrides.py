# idiom: upstream's override helper, and one of one's own where there is none
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

try:
    from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides
except ImportError:

    def process_config_with_overrides(config, cli_overrides):
        for override in cli_overrides:
            path, _, text = override.partition("=")
            section, name = path.split(".")
            setattr(getattr(config, section), name, text == "true")
        return config


def sharded():  # recipe
    return process_config_with_overrides(llama3_8b_pretrain_config(), cli_overrides=["ddp.use_megatron_fsdp=true"])  # decides: MFSDP101
