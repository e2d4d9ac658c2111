# idiom: a dictionary of globbed YAML files, with getattr on upstream
# versions: >=0.3,<0.5
# decides: MFSDP101 at runs/big.yaml:5
from pathlib import Path

import yaml

from megatron.bridge.recipes import llama

RUNS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(Path(__file__).parent.glob("runs/*.yaml"))}


def make(name):
    run = RUNS[name]
    cfg = getattr(llama, run["recipe"])()
    for section, values in run.get("set", {}).items():
        for field, value in values.items():
            setattr(getattr(cfg, section), field, value)
    return cfg


def small():  # recipe
    return make("small")


CONFIGS = {name: make(name) for name in RUNS}


def big():  # recipe
    return CONFIGS["big"]
