import os

FSDP = True
PARALLEL = {"tp": 1, "pp": 1}
FORMAT = os.environ.get("CKPT_FORMAT", "torch_dist")
