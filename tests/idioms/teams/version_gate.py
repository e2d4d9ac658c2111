# idiom: a conditional import per version, with a feature flag object
from types import SimpleNamespace

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

try:
    from megatron.bridge.training.comm_overlap import CommOverlapConfig
except ImportError:
    CommOverlapConfig = None

try:
    from megatron.bridge.recipes.llama import llama3_70b_pretrain_deterministic_config  # from 0.6 on
except (ImportError, AttributeError):
    HAVE_DETERMINISTIC = False
else:
    HAVE_DETERMINISTIC = True

FEATURES = SimpleNamespace(deterministic=HAVE_DETERMINISTIC, overlap=CommOverlapConfig is not None)


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    if not FEATURES.deterministic:
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101 [<0.6]
    if FEATURES.overlap:
        cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=False)
    return cfg
