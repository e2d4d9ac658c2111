"""Formats of reports, a module each; each `render` is a plain function of findings, summary and the texts of the
files.

Findings are shown in the order given. Suppressed findings are counted, and listed by the formats that machines read.
"""

from __future__ import annotations

from collections.abc import Callable

Texts = Callable[[str], "str | None"]
"""The text of a file by its path as findings name it; None where there is none at hand (upstream code)."""
