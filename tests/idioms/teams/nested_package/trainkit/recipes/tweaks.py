from .. import constants as c


def sharded(cfg):
    for key in c.SHARDING:
        setattr(cfg.ddp, key, c.SHARDING[key])
    return cfg
