# idiom: mock.patch.object sets a field while the block runs
from unittest import mock

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    with mock.patch.object(cfg.ddp, "use_megatron_fsdp", True):
        pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
