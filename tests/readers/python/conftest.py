"""The evaluator is tested as the command line runs it; hypothesis minds a recursion limit that changes meanwhile."""

from __future__ import annotations

from mfsdp_lint import process

process.own()
