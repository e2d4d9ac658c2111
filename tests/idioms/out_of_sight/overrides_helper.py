# idiom: the container goes through upstream's override helper before the launch
# versions: >=0.3
import sys

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = False
    cfg = process_config_with_overrides(cfg, cli_overrides=["ddp.use_megatron_fsdp=true"])  # decides: MFSDP101
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
