# idiom: a typer program whose callback keeps common options
# versions: >=0.3,<0.5
# argv: train
import typer
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

app = typer.Typer(add_completion=False)
common = {"fsdp": False}


@app.callback()
def options(fsdp: bool = True, ckpt: str = "torch_dist"):  # decides: MFSDP101
    common.update(fsdp=fsdp, ckpt=ckpt)


@app.command()
def train(tp: int = 1):
    cfg = llama3_8b_pretrain_config()
    cfg.model.tensor_model_parallel_size = tp
    cfg.ddp.use_megatron_fsdp = common["fsdp"]
    cfg.checkpoint.ckpt_format = common["ckpt"]
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    app()
