"""Names that torch gives its types of numbers."""

from __future__ import annotations

DTYPES = {
    "float32", "float", "float16", "half", "bfloat16", "float64", "double", "int8", "uint8", "int16", "int32",
    "int64", "bool",
    "float8_e4m3fn", "float8_e5m2",
}  # fmt: skip
"""torch's dtype names (torch 2.13.0, torch/__init__.pyi)."""
