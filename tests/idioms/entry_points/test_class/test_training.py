# idiom: a test class that builds a recipe and launches it
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class TestTraining:
    def make(self):
        cfg = llama32_1b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        cfg.train.train_iters = 2
        return cfg

    def test_trains(self):
        pretrain(self.make(), forward_step)  # launch


if __name__ == "__main__":
    TestTraining().test_trains()
