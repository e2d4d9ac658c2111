# idiom: descriptors validate the user's settings, and __set_name__ knows the path
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Setting:
    def __init__(self, path, default):
        self.path, self.default = path, default

    def __set_name__(self, owner, name):
        self.name = "_" + name
        owner.settings = {**getattr(owner, "settings", {}), name: self}

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return instance.__dict__.get(self.name, self.default)

    def __set__(self, instance, value):
        if not isinstance(value, type(self.default)):
            raise TypeError(self.name)
        instance.__dict__[self.name] = value


class Job:
    iters = Setting("train.train_iters", 100)
    fsdp = Setting("ddp.use_megatron_fsdp", False)
    format = Setting("checkpoint.ckpt_format", "torch_dist")

    def config(self):
        cfg = llama3_8b_pretrain_config()
        for name, setting in self.settings.items():
            section, field = setting.path.split(".")
            setattr(getattr(cfg, section), field, getattr(self, name))
        return cfg


def recipe():  # recipe
    job = Job()
    job.fsdp = True  # decides: MFSDP101
    return job.config()


def untouched():  # recipe
    return Job().config()
