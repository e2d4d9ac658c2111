# idiom: a fluent builder that collects callables and applies them in build()
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class Builder:
    def __init__(self, base):
        self._base = base
        self._steps = []

    def set(self, section, **values):
        def step(cfg):
            target = getattr(cfg, section)
            for name in values:
                setattr(target, name, values[name])

        self._steps.append(step)
        return self

    def fsdp(self, strategy="optim_grads_params"):
        return self.set("ddp", use_megatron_fsdp=True, data_parallel_sharding_strategy=strategy)  # decides: MFSDP101

    def when(self, condition, then):
        return then(self) if condition else self

    def build(self):
        cfg = self._base()
        for step in self._steps:
            step(cfg)
        return cfg


def main(debug=False):
    cfg = (
        Builder(llama3_8b_pretrain_config)
        .set("train", train_iters=500)
        .fsdp()
        .when(debug, lambda b: b.set("checkpoint", ckpt_format="fsdp_dtensor"))
        .build()
    )
    pretrain(cfg, forward_step_func=forward_step)  # launch


if __name__ == "__main__":
    main()
