# idiom: a click group with two commands
# argv: dense
import click
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@click.group()
def cli():
    pass


@cli.command()
def dense():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    pretrain(cfg, forward_step)  # launch


@cli.command()
def small():
    cfg = llama32_1b_pretrain_config()
    pretrain(cfg, forward_step)


if __name__ == "__main__":
    cli()
