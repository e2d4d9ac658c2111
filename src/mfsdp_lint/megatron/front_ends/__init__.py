"""Frameworks on top of Megatron: how each writes a configuration, and what it makes of it. A data file each."""
