# idiom: a JSON file read in a with statement
# decides: MFSDP102 at conf/run.json:1
import json
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

HERE = os.path.dirname(__file__)


def main():
    cfg = llama3_8b_pretrain_config()
    with open(os.path.join(HERE, "conf", "run.json")) as stream:
        run = json.load(stream)
    cfg.checkpoint.ckpt_format = run["format"]
    cfg.train.train_iters = run["iters"]
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
