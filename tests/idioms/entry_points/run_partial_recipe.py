# idiom: a nemo_run task of a function that builds and trains
# outside: nemo_run
import nemo_run as run
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def train(fsdp: bool = True):  # decides: MFSDP101
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = fsdp
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    run.run(run.Partial(train), executor=run.LocalExecutor())
