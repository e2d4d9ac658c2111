"""Turning Megatron-FSDP on: what the guides say to write, and what the rules then require."""
