# idiom: a registry class with classmethods, filled by its subclasses' __init_subclass__
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.recipes.qwen import qwen3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class Experiment:
    registry = {}
    base = None
    fsdp = False

    def __init_subclass__(cls, key, **kwargs):
        super().__init_subclass__(**kwargs)
        Experiment.registry[key] = cls

    def config(self):
        cfg = type(self).base()
        cfg.ddp.use_megatron_fsdp = self.fsdp
        return self.adapt(cfg)

    def adapt(self, cfg):
        return cfg


class Llama(Experiment, key="llama"):
    base = staticmethod(llama3_8b_pretrain_config)
    fsdp = True  # decides: MFSDP101


class Qwen(Experiment, key="qwen"):
    base = staticmethod(qwen3_8b_pretrain_config)
    fsdp = True

    def adapt(self, cfg):
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
        return super().adapt(cfg)


def llama():  # recipe
    return Experiment.registry["llama"]().config()


def qwen():  # recipe
    return Experiment.registry["qwen"]().config()


if __name__ == "__main__":
    for key, experiment in Experiment.registry.items():
        if key == "llama":
            pretrain(experiment().config(), forward_step)  # launch
