# idiom: a click group whose options reach its commands through the context
# versions: >=0.3,<0.5
# argv: train --tp 2
import click
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@click.group()
@click.option("--ckpt", default="torch_dist")  # decides: MFSDP101
@click.pass_context
def cli(ctx, ckpt):
    ctx.ensure_object(dict)
    ctx.obj["ckpt"] = ckpt


@cli.command()
@click.option("--tp", default=2)
@click.pass_context
def train(ctx, tp):
    cfg = llama3_8b_pretrain_config()
    cfg.model.tensor_model_parallel_size = tp
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = ctx.obj["ckpt"]
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    cli()
