"""Nothing that others wrote steers a terminal or a job of a CI: one module prints, and it escapes."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mfsdp_lint import terminal
from mfsdp_lint.cli import COMMANDS, main
from tests.test_layout import MODULES, WORKER

STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
ASKED = {"isatty", "fileno", "flush"}
"""Attributes of a stream that others may ask for: none of them prints."""

PRINTING = {"print_exc", "print_exception", "print_tb", "print_stack", "pprint", "pp"}

HOSTILE = "a\n::error::owned\x1b[2J\u202e\x9b31m##[warning]\r"


def printing(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The lines of a module that print, or get hold of a stream to print to."""
    asked = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in ASKED
    }  # `sys.stdout.isatty`
    tested = {id(node.test) for node in ast.walk(tree) if isinstance(node, ast.IfExp)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="print" | "pprint"):
                yield node.lineno, node.id
            case ast.Attribute(attr=name) if name in PRINTING:
                yield node.lineno, name
            case ast.Attribute(value=ast.Name(id="sys"), attr=name) if name in STREAMS:
                if id(node) not in asked and id(node) not in tested:
                    yield node.lineno, f"sys.{name}"
            case ast.ImportFrom(module="sys" | "traceback" | "pprint", names=names):
                yield from ((node.lineno, each.name) for each in names if each.name in {*STREAMS, *PRINTING})


def test_one_module_prints() -> None:
    """But for generators, which the wheel goes without, and the dry run's own processes, whose output is a journal."""
    elsewhere = [name for name in MODULES if name.startswith((f"{WORKER}.", "tools."))]
    found = {
        name: list(printing(ast.parse(path.read_text(encoding="utf-8"))))
        for name, path in MODULES.items()
        if name not in (*elsewhere, "terminal")
    }
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert list(printing(ast.parse(MODULES["terminal"].read_text(encoding="utf-8"))))


@pytest.mark.parametrize(
    "code",
    [
        "print(1)",
        "import sys; sys.stderr.write('x')",
        "import sys; out = sys.stdout",
        "from sys import stderr",
        "import sys; sys.stdout.buffer.write(b'x')",
        "import traceback; traceback.print_exc()",
        "from pprint import pprint",
        "log = print",
    ],
)
def test_whoever_prints_is_found(code: str) -> None:
    assert list(printing(ast.parse(code)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, é, 模型 and 🚀\n\ttabs\n", "plain, é, 模型 and 🚀\n\ttabs\n"),
        ("\x1b[2J\r\x07\u202e\x9b\ud800", "\\x1b[2J\\r\\x07\\u202e\\x9b\\ud800"),
        ("a\u2028b\x85c\x0bd\n", "a\\u2028b\\x85c\\x0bd\n"),
        ("::error::x\n  ::warning file=y::x\n", "\\x3a:error::x\n  \\x3a:warning file=y::x\n"),
        ("a::b\nc.py::recipe\n", "a::b\nc.py::recipe\n"),
        ("a ##[error]x\n##vso[task.setvariable]x", "a \\x23#[error]x\n\\x23#vso[task.setvariable]x"),
        ("\ufeff::error::x", "\\ufeff::error::x"),
    ],
)
def test_text_is_shown_with_its_lines_and_nothing_that_steers(text: str, shown: str) -> None:
    assert terminal.lines(text) == shown
    assert terminal.lines(shown) == shown


def test_colours_are_kept_where_there_are_some_and_nothing_else() -> None:
    text = "\x1b[1;31merror\x1b[0m \x1b[2J\x1b]0;title\x07"
    assert terminal.lines(text, colored=True) == "\x1b[1;31merror\x1b[0m \\x1b[2J\\x1b]0;title\\x07"
    assert "\x1b" not in terminal.lines(text)


def test_a_note_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.note(f"error: {HOSTILE}", "  more", f"::{HOSTILE}")
    said = capsys.readouterr().err.splitlines()
    assert [line[:14] for line in said] == [
        "mfsdp-lint: er",
        "  more",
        "\\x3a:a\\n::erro",
    ]


Place = Callable[[Path], list[str]]

RULE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    return cfg
"""


def toml(text: str) -> str:
    escaped = "".join(each if each.isascii() and each.isprintable() else f"\\U{ord(each):08x}" for each in text)
    return f'"{escaped}"'


def configured(line: str, file: str = "mfsdp-lint.toml") -> Place:
    def place(folder: Path) -> list[str]:
        (folder / file).write_text(line.format(toml(HOSTILE)), encoding="utf-8")
        return ["."]

    return place


def file_of(name: str, text: str, *arguments: str) -> Place:
    def place(folder: Path) -> list[str]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        return [*arguments]

    return place


PLACES: dict[str, Place] = {
    "a key": configured("{} = 1"),
    "a table": configured("[{}]\na = 1"),
    "a key of pyproject.toml": configured("[tool.mfsdp-lint]\n{} = 1", "pyproject.toml"),
    "a table of pyproject.toml that is nearly ours": configured("[tool.mfsdp]\n{} = 1", "pyproject.toml"),
    "no TOML": file_of("mfsdp-lint.toml", f"x = {HOSTILE}"),
    "extend": configured("extend = {}"),
    "extend-rules": configured("extend-rules = [{}]"),
    "select": configured("select = [{}]"),
    "per-file-ignores": configured("[per-file-ignores]\n{0} = [{0}]"),
    "severity": configured("[severity]\n{0} = {0}"),
    "preset": configured("preset = {}"),
    "baseline": configured("baseline = {}"),
    "target-bridge": configured("target-bridge = {}"),
    "target-gpu": configured("target-gpu = {}"),
    "front-end": configured("front-end = {}"),
    "required-version": configured("required-version = {}"),
    "output-format": configured("output-format = {}"),
    "a key of a rule": file_of("lint/x.yaml", f"? {toml(HOSTILE)}\n: 1\n", "--config", "rules.toml"),
    "a rule that is no YAML": file_of("lint/x.yaml", "a: [\x1b[2J\n::error::owned", "--config", "rules.toml"),
    "a baseline that is none": file_of("b.json", HOSTILE, "--baseline", "b.json"),
    "a path": lambda _: [f"./{HOSTILE}"],
    "an option": lambda _: [f"--{HOSTILE}"],
    "an argument too many": lambda _: ["--no-cache", "--config", f"/{HOSTILE}"],
    "--select": lambda _: ["--select", HOSTILE],
    "--set": lambda _: ["--set", f"ddp.{HOSTILE}=1"],
    "--set without a value": lambda _: ["--set", HOSTILE],
    "--env": lambda _: ["--env", f" {HOSTILE}"],
    "--target-bridge": lambda _: ["--target-bridge", HOSTILE],
    "--front-end": lambda _: ["--front-end", HOSTILE],
    "--since": lambda _: ["--since", HOSTILE],
    "--output-file": lambda _: ["--output-file", f"nowhere/{HOSTILE}"],
    "--cache-dir": lambda _: ["--cache-dir", f"nowhere/{HOSTILE}"],
    "--python": lambda _: ["--confirm", "--python", HOSTILE],
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("output_format", ["full", "github"])
def test_a_check_steers_nothing_wherever_the_text_stands(
    place: str, output_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.toml").write_text('[tool.mfsdp-lint]\nextend-rules = ["lint"]')
    (tmp_path / "recipe.py").write_text(RULE)
    main([*PLACES[place](tmp_path), "--output-format", output_format])
    told = capsys.readouterr()
    assert steering(told.err) == []
    assert steering(re.sub(r"(?m)^::(error|warning|notice) file=", "", told.out)) == []  # which are meant


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"server"}))
def test_every_command_steers_nothing_with_what_it_is_asked(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in ([HOSTILE], [HOSTILE] * 3, [f"--{HOSTILE}"], ["--config", HOSTILE, "x"], ["x", "--set", HOSTILE]):
        main([command, *arguments])
        told = capsys.readouterr()
        assert steering(told.err + told.out) == []


def test_a_fault_of_the_tool_steers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def fail(*_: object) -> None:
        raise RuntimeError(HOSTILE)

    monkeypatch.setattr("mfsdp_lint.engine.cache.run", fail)
    for debug in ("0", "1"):
        monkeypatch.setenv("MFSDP_LINT_DEBUG", debug)
        assert main(["."]) == 2
        said = capsys.readouterr().err
        assert "owned" in said
        assert steering(said) == []


def steering(said: str) -> list[str]:
    """The lines that steer: invisible characters, or a command to a CI."""
    return [
        line
        for line in said.split("\n")
        if line.lstrip().startswith("::")
        or "##[" in line
        or any(unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") for each in line)
    ]
