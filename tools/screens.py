"""Pictures of the tool on a terminal of 80 columns: docs/screens/*.svg, from real runs on examples/.

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
WIDTH = 80

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "check": ("llama3_8b_fsdp.py",),
    "diff": ("llama3_8b_fsdp.py", "--diff"),
    "why": ("why", "llama3_8b_fsdp.py::llama3_8b_fsdp", "checkpoint.ckpt_format"),
    "audit": ("audit", "llama3_8b_fsdp.py", "--settings", "model.*_parallel_size"),
}

FONTS = re.compile(r"    @font-face \{\{.*?\}\}\n", re.DOTALL)
"""Fonts that a picture would load from elsewhere; the viewer's own do."""


def screens() -> dict[str, str]:
    """Run every command, and return its picture by the file's name."""
    return {
        f"{name}.svg": picture(on_a_terminal(*words), " ".join(("mfsdp-lint", *words)))
        for name, words in COMMANDS.items()
    }


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


def picture(text: str, title: str) -> str:
    """Draw a terminal with a text and its colours as SVG. It loads nothing."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(text))
    return str(console.export_svg(title=title, code_format=FONTS.sub("", CONSOLE_SVG_FORMAT)))


def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, drawn in screens().items():
        (FOLDER / name).write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
