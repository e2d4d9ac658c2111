"""Finds and fixes FSDP mistakes in Megatron-Bridge recipes, before the run."""

__version__ = "0.1.0"
