# idiom: a TOML file beside the script, whose tables are the sections
# decides: MFSDP101 at cluster.toml:5
import tomllib
from pathlib import Path

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

SETTINGS = tomllib.loads(Path(__file__).with_name("cluster.toml").read_text())


def main():
    cfg = llama3_8b_pretrain_config()
    for section, values in SETTINGS["override"].items():
        for key, value in values.items():
            setattr(getattr(cfg, section), key, value)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
