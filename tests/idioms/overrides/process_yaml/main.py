# idiom: upstream's override helper with a YAML file
# versions: >=0.3
from pathlib import Path

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides


def main():
    cfg = llama3_8b_pretrain_config()
    cfg = process_config_with_overrides(cfg, config_filepath=str(Path(__file__).parent / "conf.yaml"))
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
