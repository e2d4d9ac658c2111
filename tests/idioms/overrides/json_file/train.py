# idiom: overrides in a JSON file
# decides: MFSDP101 at fsdp.json:2
import json
from pathlib import Path

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = llama3_8b_pretrain_config()
    overrides = json.loads((Path(__file__).parent / "fsdp.json").read_text())
    for key, value in overrides.items():
        section, name = key.split(".")
        setattr(getattr(cfg, section), name, value)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
