# idiom: communication overlap as an object
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.comm_overlap import CommOverlapConfig


def overlapped():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=False, overlap_grad_reduce=True)
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
