from team import defaults
from team.shared import _format, base


def llama(fsdp: bool = True):
    cfg = base(fsdp=fsdp, pp=defaults.PARALLEL["pp"])
    cfg.train.micro_batch_size = 1
    return cfg


def llama_long():
    cfg = base()
    cfg.ddp.use_megatron_fsdp = defaults.FSDP
    _format(cfg)
    cfg.model.seq_length = 8192
    return cfg
