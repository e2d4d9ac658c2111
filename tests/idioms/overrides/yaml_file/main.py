# idiom: overrides in a YAML file beside the script
from pathlib import Path

import yaml
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

OVERRIDES = Path(__file__).parent / "fsdp.yaml"


def main():
    cfg = llama3_8b_pretrain_config()
    for section, values in yaml.safe_load(OVERRIDES.read_text()).items():
        for name, value in values.items():
            setattr(getattr(cfg, section), name, value)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
