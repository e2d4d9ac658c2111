# idiom: callbacks where the release has them
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

try:
    from megatron.bridge.training.callbacks import Callback
except ImportError:
    Callback = None


def main():
    cfg = llama3_8b_pretrain_config()
    if Callback is None:
        cfg.model.tensor_model_parallel_size = 2
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
