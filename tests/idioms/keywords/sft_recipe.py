# idiom: fine-tuning with FSDP
# versions: >=0.3
from megatron.bridge.recipes.llama import llama3_8b_sft_config
from megatron.bridge.training.finetune import finetune
from megatron.bridge.training.gpt_step import forward_step


def main():
    cfg = llama3_8b_sft_config()
    cfg.checkpoint.pretrained_checkpoint = "/ckpt/llama3"
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    finetune(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
