"""Pictures of the tool on a terminal: docs/screens/*.svg, from real runs on examples/.

python -m tools.screens
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping

from mfsdp_lint.checkout import CHECKOUT

FOLDER = CHECKOUT.parent / "docs" / "screens"
WIDTH, WIDE = 80, 128

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "check": ("llama3_8b_fsdp.py",),
    "diff": ("llama3_8b_fsdp.py", "--diff"),
    "why": ("why", "llama3_8b_fsdp.py::llama3_8b_fsdp", "checkpoint.ckpt_format"),
    "audit": ("audit", "llama3_8b_fsdp.py", "--settings", "model.*_parallel_size"),
    "fit": ("audit", ".", "--memory", "--world-size", "64", "--gpu", "h100"),
}
"""The words of each picture's command."""

FONTS = re.compile(r"    @font-face \{\{.*?\}\}\n", re.DOTALL)
"""Fonts that a picture would load from elsewhere; the viewer's own do."""


def screens() -> dict[str, str]:
    """Run every command, and return its picture by the file's name."""
    drawn = {}
    for name, words in COMMANDS.items():
        width = WIDE if "--memory" in words else WIDTH  # a table
        drawn[f"{name}.svg"] = picture(on_a_terminal(*words, width=width), " ".join(("mfsdp-lint", *words)), width)
    return drawn


def on_a_terminal(*words: str, width: int = WIDTH) -> str:
    """Run the tool in examples/ on a pseudo-terminal, and return all that it prints, with its colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    environment |= {"PYTHONPATH": str(CHECKOUT.parent / "src"), "TERM": "xterm", "MFSDP_LINT_CACHE_DIR": ""}
    command = [sys.executable, "-m", "mfsdp_lint", *words]
    with subprocess.Popen(
        command, cwd=CHECKOUT.parent / "examples", env=environment, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        pieces = []
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not piece:
                break
            pieces.append(piece)
        os.close(ours)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return b"".join(pieces).decode().replace("\r\n", "\n")


def picture(text: str, title: str, width: int) -> str:
    """Draw a terminal with a text and its colours as SVG. It loads nothing."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(text))
    return str(console.export_svg(title=title, code_format=FONTS.sub("", CONSOLE_SVG_FORMAT)))


def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, drawn in screens().items():
        (FOLDER / name).write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
