export CUDA_DEVICE_MAX_CONNECTIONS=1
export PP=2
FORMAT=fsdp_dtensor
