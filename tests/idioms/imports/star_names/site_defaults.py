from defaults import *

CKPT_FORMAT = "fsdp_dtensor"
