# idiom: a click command with an option that turns FSDP on
import click
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@click.command()
@click.option("--fsdp/--no-fsdp", default=True)  # decides: MFSDP101
@click.option("--iters", default=100)
def main(fsdp, iters):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = fsdp
    cfg.train.train_iters = iters
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
