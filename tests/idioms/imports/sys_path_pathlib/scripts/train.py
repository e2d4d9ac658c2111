# idiom: the folder above the script is put on sys.path
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from configs.base import base_config  # noqa: E402

from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = base_config()
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
