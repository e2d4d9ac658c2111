# idiom: a flat script that changes the configuration after the launch
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

cfg = llama3_8b_pretrain_config()
cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
pretrain(cfg, forward_step)  # launch
cfg.ddp.use_megatron_fsdp = False
cfg.train.train_iters = 1
