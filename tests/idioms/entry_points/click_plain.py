# idiom: a click command whose configuration does not depend on the options
import click
from megatron.bridge.recipes.qwen import qwen3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@click.command()
@click.option("--name", default="run")
def main(name):
    cfg = qwen3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.logger.wandb_exp_name = name
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
