"""Modules that run in processes of their own, with a Python that has torch; start.py starts them, as the package
`mfsdp_dry_run`.

Nothing here imports mfsdp_lint: only the standard library, packages that are installed with that Python, each other.
"""
