# idiom: an experiment's JSON next to the package, with recipe name and changes
# decides: MFSDP102 at experiments/e12.json:4
import importlib
import json
import pathlib

from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def load(name):
    text = (pathlib.Path(__file__).resolve().parent / "experiments" / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)


def main(name="e12"):
    experiment = load(name)
    module, function = experiment["recipe"].split(":")
    cfg = getattr(importlib.import_module(module), function)()
    for section, values in experiment.get("changes", {}).items():
        vars(getattr(cfg, section)).update(values)
    pretrain(config=cfg, forward_step_func=forward_step)  # launch


if __name__ == "__main__":
    main()
