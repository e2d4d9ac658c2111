# idiom: upstream's helper for Moonlight's pipeline layout
# versions: >=0.3,<0.6
from megatron.bridge.recipes.moonlight import moonlight_16b_pretrain_config
from megatron.bridge.recipes.moonlight.moonlight_16b import _get_moonlight_pipeline_layout


def moonlight():  # recipe
    cfg = moonlight_16b_pretrain_config()
    cfg.model.pipeline_model_parallel_size = 2
    cfg.model.virtual_pipeline_model_parallel_size = 1
    cfg.model.pipeline_model_parallel_layout = _get_moonlight_pipeline_layout(2, 1)
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
    return cfg
