# idiom: sections that few recipes have
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import FaultToleranceConfig, NVRxStragglerDetectionConfig


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ft = FaultToleranceConfig(enable_ft_package=True, calc_ft_timeouts=True)
    cfg.nvrx_straggler = NVRxStragglerDetectionConfig(enabled=True, report_time_interval=300)
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
    return cfg
