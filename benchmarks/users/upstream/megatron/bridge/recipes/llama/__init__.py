"""Stands in for upstream's recipe: a configuration whose sections take any setting."""


class Section:
    """Settings, None where nobody has set them."""

    def __getattr__(self, name):
        return None


class Config:
    """Sections by name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, Section())
        return getattr(self, name)


def llama3_8b_pretrain_config():
    """Return what the run at fault begins with."""
    made = Config()
    made.ddp.use_megatron_fsdp = False
    made.checkpoint.ckpt_format = "torch_dist"
    made.checkpoint.save = made.checkpoint.load = "/ckpt"
    return made
