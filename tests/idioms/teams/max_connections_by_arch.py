# idiom: CUDA_DEVICE_MAX_CONNECTIONS by architecture from a table of variables
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

ARCH = "hopper"
VARIABLES = {
    "hopper": {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "NCCL_NVLS_ENABLE": "0"},  # decides: MFSDP501 [>=0.5]
    "blackwell": {"CUDA_DEVICE_MAX_CONNECTIONS": "32"},
}


def setup_environment(arch):
    for name, value in VARIABLES[arch].items():
        os.environ[name] = value


def main():
    setup_environment(ARCH)
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    pretrain(config=cfg, forward_step_func=forward_step)  # launch


if __name__ == "__main__":
    main()
