_base_ = "base.py"
ddp = dict(use_megatron_fsdp=True)
checkpoint = dict(save="/ckpt/fsdp")
