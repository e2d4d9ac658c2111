"""Every file is opened by one module, which neither waits nor reads without end: a project may hold anything."""

from __future__ import annotations

import ast
import os
import resource
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core import files
from mfsdp_lint.engine.cache import VARIABLE
from tests.test_layout import MODULES, WORKER

MODULES_THAT_OPEN = {"io", "os", "codecs", "gzip", "lzma", "bz2", "tokenize", "tarfile", "zipfile", "shelve", "dbm"}
METHODS_THAT_OPEN = {"read_text", "read_bytes", "write_text", "write_bytes", "ZipFile", "TarFile", "FileInput"}


def opening(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The lines of a module that open a file by its path."""
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="open" | "FileIO" as name) if name not in own:
                yield node.lineno, name
            case ast.Attribute(value=ast.Name(id=module), attr="open") if module in MODULES_THAT_OPEN:
                yield node.lineno, f"{module}.open"
            case ast.Attribute(attr=name) if name in METHODS_THAT_OPEN:
                yield node.lineno, name
            # `path.open()` and `path.open("rb")`; what else is opened is given something else.
            case ast.Call(func=ast.Attribute(attr="open"), args=[] | [ast.Constant(value=str()), *_]):
                yield node.lineno, ".open"
            case ast.ImportFrom(module=module, names=names) if module in MODULES_THAT_OPEN:
                yield from ((node.lineno, each.name) for each in names if each.name in ("open", *METHODS_THAT_OPEN))


def test_one_module_opens_files() -> None:
    """But for generators, which the wheel goes without, the dry run's own processes, which import nothing of ours, and
    what the evaluator reads of libraries, which nobody imports.

    `terminal` opens the null device in place of a reader that is gone.
    """
    apart = (f"{WORKER}.", "tools.", "readers.python.library.written.")
    elsewhere = [name for name in MODULES if name.startswith(apart)]
    found = {
        name: list(opening(ast.parse(path.read_text(encoding="utf-8"))))
        for name, path in MODULES.items()
        if name not in (*elsewhere, "core.files")
    }
    assert {name: [what for _, what in lines] for name, lines in found.items() if lines} == {"terminal": ["os.open"]}


@pytest.mark.parametrize(
    "code",
    [
        "open(path)",
        "import os; os.open(path, os.O_RDONLY)",
        "import io; io.open(path)",
        "from io import open",
        "path.open()",
        "path.open('rb')",
        "path.read_text(encoding='utf-8')",
        "path.write_bytes(b'')",
        "import zipfile; zipfile.ZipFile(path)",
        "read = open",
    ],
)
def test_whoever_opens_a_file_is_found(code: str) -> None:
    assert list(opening(ast.parse(code)))


def test_a_regular_file_is_read_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\r\nb")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    assert files.read(tmp_path / "file") == b"a\r\nb"
    assert files.text(tmp_path / "file") == "a\nb"
    for name in ("pipe", "link", "/dev/zero", "/dev/tty"):
        with pytest.raises(OSError, match=r"not a regular file|No such device"):
            files.read(tmp_path / name)
    with pytest.raises(IsADirectoryError):
        files.read(tmp_path)
    with pytest.raises(ValueError, match="null"):
        files.read("a\0b")


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * (1 << 20))
    assert len(files.read(path, 1 << 20)) == 1 << 20
    path.write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(OSError, match="larger than 1 MB"):
        files.read(path, 1 << 20)


def test_a_file_that_does_not_say_its_size_is_read(tmp_path: Path) -> None:
    assert files.read("/proc/self/status").startswith(b"Name:")


def test_a_new_file_is_put_in_place_of_a_link_and_not_through_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (tmp_path / "file").symlink_to(outside)
    (tmp_path / f"file.{os.getpid()}").symlink_to(outside)
    files.put(str(tmp_path / "file"), b"x")
    assert (tmp_path / "file").read_bytes() == b"x"
    assert not outside.exists()
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        files.written(tmp_path / "pipe")


RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "torch_dist"
    cfg.checkpoint.save = "/results"
    return cfg
"""

Put = Callable[[Path], None]


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def gaps(path: Path) -> None:
    """A regular file of 100 GB, which takes no room."""
    with open(path, "wb") as stream:
        stream.truncate(100 << 30)


def configuration(text: str) -> Put:
    def put(path: Path) -> None:
        (path.parent / "mfsdp-lint.toml").write_text(text)

    return put


PLACES: dict[str, tuple[str, str, list[str]]] = {
    "extend": ("base.toml", 'extend = "base.toml"', ["."]),
    "extend-rules": ("rule.yaml", 'extend-rules = ["."]', ["recipe.py"]),
    "the terms of rules": ("terms.yaml", 'extend-rules = ["."]', ["recipe.py"]),
    "baseline": ("baseline.json", 'baseline = "baseline.json"', ["."]),
    "a baseline that is updated": ("baseline.json", 'baseline = "baseline.json"', [".", "--update-baseline"]),
    "the configuration": ("mfsdp-lint.toml", "", ["."]),
    "a configuration that is named": ("other.toml", "", [".", "--config", "other.toml"]),
    "pyproject.toml": ("pyproject.toml", "", ["."]),
    "a list of paths": ("paths.txt", "", ["@paths.txt"]),
    "a recipe": ("other.py", "", ["."]),
    "a recipe that is named": ("other.py", "", ["other.py"]),
    "a module that is imported": ("helper.py", "", ["imports.py"]),
    "a file of overrides": ("run.yaml", "", ["."]),
    "a script": ("run.sh", "", ["."]),
    "a notebook": ("run.ipynb", "", ["."]),
    "a lock": ("uv.lock", "", ["."]),
    "requirements": ("requirements.txt", "", ["."]),
    "what git ignores": (".gitignore", "", ["."]),
    "a repository": (".git", "", ["."]),
    "an unfinished file": (".mfsdp-lint-0123456789ab.tmp", "", ["--fix", "--unsafe-fixes", "."]),
    "a report of the configuration": ("report.json", 'output-format = ["full", "json=report.json"]', ["."]),
    "the list of hooks": (".pre-commit-config.yaml", "", ["init"]),
    "questions": ("questions.jsonl", "", ["judge", "questions.jsonl"]),
    "settings": ("settings.json", "", ["dry-run", "settings.json"]),
    "why": ("other.py", "", ["why", "other.py", "ddp.use_megatron_fsdp"]),
    "a checkpoint's tracker": ("latest_checkpointed_iteration.txt", "", ["checkpoint", "."]),
    "a checkpoint's metadata": (".metadata", "", ["checkpoint", "."]),
}


@contextmanager
def bounded() -> Iterator[None]:
    """Ends what waits, and what takes a gigabyte more than there is."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)

    def late(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 30), hard))
    signal.alarm(120)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)


READ_AS_A_WHOLE = ("extend", "extend-rules", "baseline", "the configuration", "what git ignores", "settings")


@pytest.mark.parametrize(
    ("place", "make"),
    [
        *((place, make) for place in PLACES for make in (pipe, device)),
        *((place, gaps) for place in READ_AS_A_WHOLE),
    ],
)
def test_nothing_waits_or_reads_without_end(
    place: str, make: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, configured, arguments = PLACES[place]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.py").write_text(RECIPE)
    if "imports.py" in arguments:
        (tmp_path / "imports.py").write_text("from helper import settings\n" + RECIPE)
    if configured:
        (tmp_path / "mfsdp-lint.toml").write_text(configured)
    make(tmp_path / name)
    with bounded():
        code = main([*arguments])
    told = capsys.readouterr()
    assert code in (0, 1, 2)
    assert "internal error" not in told.err
    assert "MFSDP902" not in told.out


@pytest.mark.parametrize("make", [pipe, device, gaps])
def test_what_stands_in_place_of_a_result_that_was_kept_is_judged_anew(
    make: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "kept"))
    (tmp_path / "recipe.py").write_text(RECIPE)

    def check() -> str:
        with bounded():
            assert main(["recipe.py"]) == 1
        return capsys.readouterr().out

    first = check()
    (kept,) = (tmp_path / "kept").glob("*.outcome")
    kept.unlink()
    make(kept)
    assert check() == first
    assert stat.S_ISREG(kept.lstat().st_mode)
    assert kept.stat().st_size < 1 << 20


def test_the_text_on_standard_input_is_read_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, said in (["-"], "-: larger than 4 MB"), (["judge"], "<stdin>:1: a line of more than 4 MB"):
        with open("/dev/zero", encoding="utf-8") as endless, bounded():
            monkeypatch.setattr("sys.stdin", endless)
            assert main(arguments) == 2
        assert said in capsys.readouterr().err
