# idiom: the override helper with what the command line leaves over
# versions: >=0.3
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config-file")
    args, cli_overrides = parser.parse_known_args()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg = process_config_with_overrides(cfg, config_filepath=args.config_file, cli_overrides=cli_overrides or None)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
