# idiom: Hydra's compose API in a context manager, without @hydra.main
# decides: MFSDP101 at conf/parallel/fsdp.yaml:1
# depends: ddp.use_megatron_fsdp
from hydra import compose, initialize

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    with initialize(version_base=None, config_path="conf"):
        conf = compose(config_name="config", overrides=["iters=5"])
    cfg = llama3_8b_pretrain_config()
    cfg.train.train_iters = conf.iters
    cfg.ddp.use_megatron_fsdp = conf.parallel.fsdp
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
