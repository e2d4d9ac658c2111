__all__ = ["USE_FSDP", "CKPT_FORMAT"]

USE_FSDP = True
CKPT_FORMAT = "torch_dist"
PIPELINE = 4
