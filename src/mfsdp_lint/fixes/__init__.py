"""Fixes: planned where the values were written, proved by reading the changed text again, applied or shown as a patch.

Nothing here imports libcst before a Python edit is planned: a run without findings never pays for it.
"""
