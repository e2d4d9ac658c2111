# idiom: presets in JSON, an object hook makes namespaces of them
# versions: >=0.3,<0.5
# decides: MFSDP101 at presets.json:4
import json
import pathlib
from types import SimpleNamespace

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

_TEXT = pathlib.Path(__file__).with_name("presets.json").read_text(encoding="utf-8")
PRESETS = json.loads(_TEXT, object_hook=lambda values: SimpleNamespace(**values))


def _apply(cfg, preset):
    cfg.ddp.use_megatron_fsdp = preset.fsdp
    cfg.checkpoint.ckpt_format = preset.ckpt
    return cfg


def zero3():  # recipe
    return _apply(llama3_8b_pretrain_config(), PRESETS.zero3)


def ddp():  # recipe
    return _apply(llama3_8b_pretrain_config(), PRESETS.ddp)
