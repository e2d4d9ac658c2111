# idiom: the script sets defaults of the environment before it launches
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "1")  # decides: MFSDP501 [>=0.5]
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
