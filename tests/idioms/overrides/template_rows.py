# idiom: a string.Template of YAML, some of whose rows are filled in
# versions: >=0.3,<0.5
# decides: MFSDP101 at template_rows.py:15
from string import Template

import yaml

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

TEXT = Template(
    """
ddp: {use_megatron_fsdp: true}
checkpoint:
  save: /ckpt/$name
  ckpt_format: torch_dist
"""
)


def named(name="llama"):  # recipe
    cfg = llama3_8b_pretrain_config()
    for section, values in yaml.safe_load(TEXT.substitute(name=name)).items():
        for key, value in values.items():
            setattr(getattr(cfg, section), key, value)
    return cfg
