# idiom: a trainer with a lazily built config, changed by method chaining before fit()
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class Trainer:
    _config = None

    def __init__(self, recipe, *, overrides=None):
        self.recipe = recipe
        self.overrides = overrides or {}

    @property
    def config(self):
        if self._config is None:
            self._config = self.recipe()
            for key, value in self.overrides.items():
                self[key] = value
        return self._config

    def __setitem__(self, key, value):
        section, name = key.split("/")
        setattr(getattr(self.config, section), name, value)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._config = None
        return False

    def fit(self):
        pretrain(self.config, forward_step)  # launch


if __name__ == "__main__":
    with Trainer(llama3_8b_pretrain_config, overrides={"train/train_iters": 4}) as trainer:
        trainer["ddp/use_megatron_fsdp"] = True  # decides: MFSDP101
        trainer.fit()
