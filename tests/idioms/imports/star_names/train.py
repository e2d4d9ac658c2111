# idiom: constants that one file takes from another with *, but for what that does not export
# versions: >=0.3,<0.5
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from site_defaults import *

PIPELINE = globals().get("PIPELINE", 1)


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = USE_FSDP
    cfg.model.pipeline_model_parallel_size = PIPELINE
    cfg.checkpoint.ckpt_format = CKPT_FORMAT
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
