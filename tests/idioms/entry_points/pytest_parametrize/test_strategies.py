# idiom: a parametrised test that launches once for each strategy
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

try:
    import pytest

    parametrize = pytest.mark.parametrize
except ImportError:

    def parametrize(names, values):
        return lambda test: test


@parametrize("strategy", ["optim_grads", "optim_grads_params"])
def test_strategy(strategy):
    cfg = llama32_1b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.ddp.data_parallel_sharding_strategy = strategy
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    for each in ("optim_grads", "optim_grads_params"):
        test_strategy(each)
