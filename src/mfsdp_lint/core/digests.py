"""The hash that seals and marks cached results, without `hashlib`: that loads OpenSSL, which takes a tenth of a run in
which nothing has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b
    from hmac import compare_digest
else:
    try:
        from _blake2 import blake2b
        from _operator import _compare_digest as compare_digest
    except ImportError:  # another implementation of Python
        from hashlib import blake2b
        from hmac import compare_digest

__all__ = ["blake2b", "compare_digest"]
