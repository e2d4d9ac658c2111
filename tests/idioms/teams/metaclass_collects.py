# idiom: a metaclass collects the annotated class attributes as settings
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Collect(type):
    def __new__(mcls, name, bases, namespace):
        cls = super().__new__(mcls, name, bases, namespace)
        cls.settings = {}
        for base in reversed(cls.__mro__):
            for key, value in vars(base).items():
                if "__" in key and not key.startswith("__"):
                    cls.settings[key] = value
        return cls


class Job(metaclass=Collect):
    train__train_iters = 100

    @classmethod
    def build(cls):
        cfg = llama3_8b_pretrain_config()
        for key, value in cls.settings.items():
            section, _, name = key.partition("__")
            setattr(getattr(cfg, section), name, value)
        return cfg


class Sharded(Job):
    ddp__use_megatron_fsdp = True  # decides: MFSDP101
    ddp__data_parallel_sharding_strategy = "optim_grads_params"


class Right(Sharded):
    checkpoint__ckpt_format = "fsdp_dtensor"


def plain():  # recipe
    return Job.build()


def sharded():  # recipe
    return Sharded.build()


def right():  # recipe
    return Right.build()
