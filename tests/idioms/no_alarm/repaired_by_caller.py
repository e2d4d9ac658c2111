# idiom: a parameter object is repaired before the launch
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def repair(cfg):
    if cfg.ddp.use_megatron_fsdp and cfg.checkpoint.ckpt_format != "fsdp_dtensor":
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg = repair(cfg)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
