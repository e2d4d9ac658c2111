"""What runs in processes of its own, with a Python that has torch; start.py starts it, as the package `mfsdp_dry_run`.

Nothing here imports anything of mfsdp_lint: only the standard library, what is installed with that Python, and each
other.
"""
