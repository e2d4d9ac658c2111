# idiom: what the configuration has is read through to_dict
import json

from megatron.bridge.recipes.qwen import qwen3_8b_pretrain_config


def dumped():  # recipe
    cfg = qwen3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    settings = cfg.to_dict()
    print(json.dumps(settings["ddp"], default=str))
    return cfg
