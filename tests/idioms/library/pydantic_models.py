# idiom: pydantic models with a validator, dumped into sections
# versions: >=0.3,<0.5
from typing import Literal

from pydantic import BaseModel, Field, field_validator

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class Parallel(BaseModel):
    pipeline_model_parallel_size: int = Field(default=1, ge=1)
    cpu_offloading: bool = False
    cpu_offloading_num_layers: int = 0


class Sharding(BaseModel):
    use_megatron_fsdp: bool = False
    data_parallel_sharding_strategy: str = "no_shard"

    @field_validator("data_parallel_sharding_strategy", mode="before")
    @classmethod
    def long_name(cls, value):
        return {"zero3": "optim_grads_params", "zero2": "optim_grads"}.get(value, value)


class Job(BaseModel):
    model: Parallel = Parallel()
    ddp: Sharding = Sharding()
    ckpt: Literal["torch_dist", "fsdp_dtensor"] = "torch_dist"


def configured(job: Job):
    cfg = llama3_8b_pretrain_config()
    for section in ("model", "ddp"):
        for name, value in getattr(job, section).model_dump().items():
            setattr(getattr(cfg, section), name, value)
    cfg.checkpoint.ckpt_format = job.ckpt
    return cfg


if __name__ == "__main__":
    job = Job(
        model={"pipeline_model_parallel_size": 2, "cpu_offloading": True, "cpu_offloading_num_layers": 4},  # decides: MFSDP401
        ddp={"use_megatron_fsdp": True, "data_parallel_sharding_strategy": "zero3"},
        ckpt="fsdp_dtensor",
    )
    pretrain(configured(job), forward_step)  # launch
