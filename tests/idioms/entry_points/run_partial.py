# idiom: a nemo_run task of the launcher and the recipe
# outside: nemo_run
import nemo_run as run
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


def main():
    task = run.Partial(pretrain, config=recipe(), forward_step_func=forward_step)
    run.run(task, executor=run.LocalExecutor())  # launch


if __name__ == "__main__":
    main()
