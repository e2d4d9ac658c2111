"""The tool's own version. It is no part of `mfsdp_lint` itself, which imports from the stages that ask for it."""

__version__ = "0.1.0"
