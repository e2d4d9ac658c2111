FSDP = False
CHECKPOINT = {"format": "fsdp_dtensor", "interval": 100}  # decides: MFSDP102
