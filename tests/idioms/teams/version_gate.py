# idiom: a conditional import per version, with a feature flag object
import importlib.util
from types import SimpleNamespace

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

try:
    from megatron.bridge.training.comm_overlap import CommOverlapConfig
except ImportError:
    CommOverlapConfig = None

try:
    from megatron.bridge.not_there_yet import Magic
except (ImportError, AttributeError):
    HAVE_MAGIC = False
else:
    HAVE_MAGIC = True

FEATURES = SimpleNamespace(
    magic=HAVE_MAGIC, te=importlib.util.find_spec("a_package_nobody_has") is not None, overlap=CommOverlapConfig is not None
)


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    if not FEATURES.magic:
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    if FEATURES.te:
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    if FEATURES.overlap:
        cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=False)
    return cfg
