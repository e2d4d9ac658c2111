# idiom: rows of a table are launched one after the other
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

ROWS = [
    {"fsdp": False, "format": "torch_dist"},
    {"fsdp": True, "format": "torch_dist"},  # decides: MFSDP101
]


def main():
    for row in ROWS:
        cfg = llama32_1b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = row["fsdp"]
        cfg.checkpoint.ckpt_format = row["format"]
        pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
