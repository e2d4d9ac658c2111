# idiom: click with a shared options decorator and a context object
# argv: train
import functools

import click

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def parallel_options(function):
    @click.option("--fsdp/--no-fsdp", default=True)  # decides: MFSDP101
    @click.option("--pp", type=int, default=1, show_default=True)
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapped


@click.group()
@click.option("--iters", default=10)
@click.pass_context
def cli(ctx, iters):
    ctx.obj = {"iters": iters}


@cli.command()
@parallel_options
@click.pass_obj
def train(obj, fsdp, pp):
    cfg = llama3_8b_pretrain_config()
    cfg.train.train_iters = obj["iters"]
    cfg.ddp.use_megatron_fsdp = fsdp
    cfg.model.pipeline_model_parallel_size = pp
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    cli()
