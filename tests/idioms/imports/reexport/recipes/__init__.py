from .llama import sharded as sharded
from .llama import small

__all__ = ["sharded", "small"]
