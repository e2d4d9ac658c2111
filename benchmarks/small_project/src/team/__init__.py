from team.llama import llama, llama_long

__all__ = ["llama", "llama_long"]
