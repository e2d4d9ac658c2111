from ..constants import ITERS
from .sizes import SIZES
from .tweaks import sharded


def build(size):
    cfg = SIZES[size]()
    cfg.train.train_iters = ITERS
    return sharded(cfg)
