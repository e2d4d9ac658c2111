# idiom: the configuration is changed after the launch, for a second one
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = llama3_8b_pretrain_config()
    pretrain(cfg, forward_step)  # launch
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
