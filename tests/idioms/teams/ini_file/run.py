# idiom: a configparser file with interpolation and getboolean
# decides: MFSDP101 at job.ini:5
import configparser
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    parser = configparser.ConfigParser()
    parser.read(os.path.join(os.path.dirname(__file__), "job.ini"))
    cfg = llama3_8b_pretrain_config()
    cfg.train.train_iters = parser.getint("train", "iters", fallback=10)
    cfg.ddp.use_megatron_fsdp = parser["parallel"].getboolean("fsdp")
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
