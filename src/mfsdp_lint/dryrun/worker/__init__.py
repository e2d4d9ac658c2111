"""Modules that run in processes of their own, with a Python that has torch; start.py starts them, as the package
`mfsdp_dry_run`.

Nothing here imports anything of mfsdp_lint: only the standard library, the packages that are installed with that
Python, and each other.
"""
