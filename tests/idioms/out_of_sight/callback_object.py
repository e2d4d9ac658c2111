# idiom: callbacks that hold the configuration are built before the launch
# versions: >=0.3
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.callbacks import Callback
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class Reporter(Callback):
    def __init__(self, cfg):
        self.cfg = cfg

    def on_train_start(self, context):
        print(self.cfg.train.train_iters)


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    pretrain(cfg, forward_step, callbacks=[Reporter(cfg)])  # launch


if __name__ == "__main__":
    main()
