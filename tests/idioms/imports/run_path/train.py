# idiom: a file of settings in Python, run with runpy
# versions: >=0.3,<0.5
# decides: MFSDP101 at settings/base.py:2
import runpy
from pathlib import Path

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

HERE = Path(__file__).parent


def read(path):
    own = {name: value for name, value in runpy.run_path(str(path)).items() if not name.startswith("__")}
    base = own.pop("_base_", None)
    merged = read(path.parent / base) if base else {}
    for section, values in own.items():
        merged[section] = {**merged.get(section, {}), **values}
    return merged


def main():
    cfg = llama3_8b_pretrain_config()
    for section, values in read(HERE / "settings" / "fsdp.py").items():
        for name, value in values.items():
            setattr(getattr(cfg, section), name, value)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
