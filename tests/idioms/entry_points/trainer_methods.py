# idiom: a trainer class that configures step by step
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class Trainer:
    strategy = "optim_grads_params"

    def configure(self):
        self.cfg = llama3_8b_pretrain_config()
        self.shard()
        return self.cfg

    def shard(self):
        self.cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        self.cfg.ddp.data_parallel_sharding_strategy = self.strategy

    def train(self):
        pretrain(self.configure(), forward_step)  # launch


def main():
    Trainer().train()


if __name__ == "__main__":
    main()
