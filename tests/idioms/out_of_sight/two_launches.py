# idiom: a script that pretrains and then finetunes
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config
from megatron.bridge.training.finetune import finetune
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    first = llama3_8b_pretrain_config()
    first.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    pretrain(first, forward_step)  # launch
    second = llama32_1b_pretrain_config()
    second.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
    second.checkpoint.pretrained_checkpoint = "/ckpt/base"
    finetune(second, forward_step)  # launch


if __name__ == "__main__":
    main()
