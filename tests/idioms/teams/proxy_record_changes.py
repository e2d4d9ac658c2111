# idiom: a recording proxy with __setattr__ notes every change and passes it on
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Recorder:
    def __init__(self, target, log, prefix=""):
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_log", log)
        object.__setattr__(self, "_prefix", prefix)

    def __getattr__(self, name):
        value = getattr(self._target, name)
        if name in ("ddp", "model", "checkpoint", "train"):
            return Recorder(value, self._log, f"{self._prefix}{name}.")
        return value

    def __setattr__(self, name, value):
        self._log.append((self._prefix + name, value))
        setattr(self._target, name, value)


def recipe():  # recipe
    log = []
    cfg = llama3_8b_pretrain_config()
    recorded = Recorder(cfg, log)
    recorded.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    recorded.train.train_iters = len(log) * 100
    return cfg
