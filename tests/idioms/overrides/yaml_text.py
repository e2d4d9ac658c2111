# idiom: YAML in a text of the module
# decides: MFSDP101 at yaml_text.py:8
import yaml
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

OVERRIDES = """
ddp:
  use_megatron_fsdp: true
  average_in_collective: false
"""


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    for section, values in yaml.safe_load(OVERRIDES).items():
        for name, value in values.items():
            setattr(getattr(cfg, section), name, value)
    return cfg
