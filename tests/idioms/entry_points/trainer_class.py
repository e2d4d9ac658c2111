# idiom: a trainer class that builds in the constructor and launches in a method
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class Trainer:
    def __init__(self, fsdp=True):  # decides: MFSDP101
        self.cfg = llama3_8b_pretrain_config()
        self.cfg.ddp.use_megatron_fsdp = fsdp

    def run(self):
        pretrain(self.cfg, forward_step)  # launch


if __name__ == "__main__":
    Trainer().run()
