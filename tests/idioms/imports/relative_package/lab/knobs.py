FSDP = True  # decides: MFSDP101
