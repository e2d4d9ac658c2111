# idiom: a package of helpers with relative imports, constants in a third file
# run: main.py
from trainkit import build

from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

if __name__ == "__main__":
    pretrain(build("8b"), forward_step)  # launch
