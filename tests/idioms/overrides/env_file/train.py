# idiom: a file of NAME=value that the program takes apart itself
# versions: >=0.3,<0.5
# decides: MFSDP101 at job.env:4
from pathlib import Path

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def settings(path):
    found = {}
    for line in path.read_text().splitlines():
        line = line.strip()
        if line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found[name.strip().lower()] = value.strip().strip('"')
    return found


def main():
    job = settings(Path(__file__).with_name("job.env"))
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = job["fsdp"] == "1"
    cfg.checkpoint.ckpt_format = job["ckpt_format"]
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
