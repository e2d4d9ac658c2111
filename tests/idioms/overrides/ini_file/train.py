# idiom: an .ini file read with configparser, with typed getters
# versions: >=0.3,<0.5
# decides: MFSDP101 at job.ini:7
import configparser
from pathlib import Path

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def load():
    parser = configparser.ConfigParser()
    parser.read(Path(__file__).parent / "job.ini")
    return parser


def main():
    job = load()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = job.getboolean("fsdp", "enabled")
    cfg.ddp.data_parallel_sharding_strategy = job["fsdp"]["strategy"]
    cfg.checkpoint.ckpt_format = job.get("checkpoint", "format")
    cfg.train.global_batch_size = job.getint("train", "gbs", fallback=512)
    pretrain(config=cfg, forward_step_func=forward_step)  # launch


if __name__ == "__main__":
    main()
