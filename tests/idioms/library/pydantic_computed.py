# idiom: pydantic with a model validator, computed fields and model_copy(update=…)
# versions: >=0.3,<0.5
from pydantic import BaseModel, ConfigDict, computed_field, model_validator

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Run(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sharded: bool = False
    dtensor: bool = False
    pipeline: int = 1

    @computed_field
    @property
    def ckpt_format(self) -> str:
        return "fsdp_dtensor" if self.dtensor else "torch_dist"

    @model_validator(mode="after")
    def positive(self):
        if self.pipeline < 1:
            raise ValueError("pipeline must be positive")
        return self

    def config(self):
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = self.sharded
        cfg.checkpoint.ckpt_format = self.ckpt_format
        cfg.model.pipeline_model_parallel_size = self.pipeline
        return cfg


BASE = Run()


def plain():  # recipe
    return BASE.config()


def wrong():  # recipe
    return BASE.model_copy(update={"sharded": True}).config()  # decides: MFSDP101


def right():  # recipe
    return Run.model_validate({"sharded": True, "dtensor": True}).config()
