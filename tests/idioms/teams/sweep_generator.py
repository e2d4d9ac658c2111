# idiom: a generator yields named configs of a sweep, and a loop launches them
from itertools import product

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

GRID = {"micro_batch_size": (1, 2), "global_batch_size": (32,)}


def sweep(grid, fsdp):
    for values in product(*grid.values()):
        cfg = llama3_8b_pretrain_config()
        for name, value in zip(grid, values):
            setattr(cfg.train, name, value)
        cfg.ddp.use_megatron_fsdp = fsdp
        yield "-".join(f"{name}{value}" for name, value in zip(grid, values)), cfg


def main():
    for name, cfg in sweep(GRID, fsdp=True):  # decides: MFSDP101
        cfg.logger.wandb_exp_name = name
        pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
