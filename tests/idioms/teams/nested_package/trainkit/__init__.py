from .recipes import build

__all__ = ["build"]
