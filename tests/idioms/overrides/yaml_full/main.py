# idiom: a YAML file with nested values and a missing section
from pathlib import Path

import yaml
from megatron.bridge.recipes.qwen import qwen3_30b_a3b_pretrain_config


def load(name):
    with open(Path(__file__).parent / name) as stream:
        return yaml.safe_load(stream) or {}


def moe():  # recipe
    cfg = qwen3_30b_a3b_pretrain_config()
    conf = load("moe.yaml")
    for name, value in conf.get("model", {}).items():
        setattr(cfg.model, name, value)
    for name, value in conf.get("ddp", {}).items():
        setattr(cfg.ddp, name, value)
    for name, value in conf.get("checkpoint", {}).items():
        setattr(cfg.checkpoint, name, value)
    return cfg
