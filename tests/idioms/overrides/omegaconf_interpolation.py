# idiom: entries of an OmegaConf configuration that refer to each other, and one that is changed later
# versions: >=0.3,<0.5
from omegaconf import OmegaConf

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

JOB = OmegaConf.create(
    {
        "format": "fsdp_dtensor",
        "root": "/ckpt",
        "checkpoint": {"ckpt_format": "${format}", "save": "${root}/llama", "load": "${.save}"},
    }
)


def main():
    job = OmegaConf.create(JOB)
    job.on = True
    job.ddp = {"use_megatron_fsdp": "${on}"}
    job.format = "torch_dist"  # decides: MFSDP101
    cfg = llama3_8b_pretrain_config()
    for section in ("ddp", "checkpoint"):
        for name, value in job[section].items():
            setattr(getattr(cfg, section), name, value)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
