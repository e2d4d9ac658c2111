# idiom: a package whose __getattr__ imports its recipes lazily
# versions: >=0.3,<0.5
# decides: MFSDP101 at configs/sharded.py:6
import configs

from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

if __name__ == "__main__":
    pretrain(configs.sharded_8b(), forward_step)  # launch
