"""What a file may hold that nobody writes: it takes no longer than another, and what is not read is told."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.process import STACK
from tests.fuzzing.guard import guarded

HEAD = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "torch_dist"
"""
END = "    return cfg\n"
YAML = "dist:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist\n"


def python(line: str) -> bytes:
    return f"{HEAD}    {line}\n{END}".encode()


def declared(encoding: str) -> bytes:
    return f"# coding: {encoding}\n{HEAD}{END}".encode()


NOT_CHECKED: Mapping[str, tuple[bytes, str]] = {
    "parentheses.py": (python("x = " + "(" * 5000 + ")" * 5000), "too many nested parentheses"),
    "minus.py": (python("x = " + "-" * 20_000 + "1"), "nested too deeply"),
    "elif.py": (python("if a: pass\n" + "    elif b: pass\n" * 10_000), "nested too deeply"),
    "hexadecimal.py": (python("if cfg.x == 0x" + "f" * 5000 + ": pass"), "a number of thousands of digits"),
    "decimal.py": (python("if cfg.x == " + "9" * 5000 + ": pass"), "Exceeds the limit"),
    "nul.py": (python("x = '\0'"), "contains NUL bytes"),
    "utf8.py": (python("x = 1") + b"# \xff", "not UTF-8 (byte 0xff"),
    "utf16.py": (python("x = 1").decode().encode("utf-16"), "contains NUL bytes"),
    "rot13.py": (declared("rot13"), "not text in the declared encoding, rot13"),
    "zlib.py": (declared("zlib"), "not text in the declared encoding, zlib"),
    "undefined.py": (declared("undefined"), "not text in the declared encoding, undefined"),
    "nonsense.py": (declared("nonsense"), "unknown encoding: nonsense"),
    "surrogate.py": (declared("utf-7").replace(b"torch_dist", b"+2AA-"), "surrogates not allowed"),
    "large.py": (python("# " + "x" * 5_000_000), "larger than 4 MB"),
    "brackets.yaml": ((YAML + "x: " + "[" * 20_000).encode(), "too deeply nested"),
    "braces.yaml": ((YAML + "x: " + "{a: " * 20_000).encode(), "too deeply nested"),
    "nul.yaml": ((YAML + "x: \0\n").encode(), "contains NUL bytes"),
}

CHECKED: Mapping[str, bytes] = {
    "brackets.py": python("x = " + "[" * 190 + "]" * 190),
    "many.py": python("pass\n" + "".join(f"    cfg.model.a{number} = 1\n" for number in range(300))),
    "power.py": python("cfg.model.x = 10 ** 10 ** 9"),
    "texts.py": python("cfg.model.x = 'a' * 10 ** 11 + '%1000000000d' % 3 + f'{1:1000000000000}'"),
    "twice.py": python("x = [1]\n" + "    x = [x, x]\n" * 60 + "    cfg.model.x = x"),
    "longer.py": python("x = 'ab'\n" + "    x = x + x\n" * 60 + "    cfg.model.x = x"),
    "loop.py": python("while True:\n        cfg.model.x = 1"),
    "loops.py": python("for i in range(10**9):\n        for j in range(10**9): cfg.model.x = i"),
    "branches.py": python(
        "import os\n" + "".join(f"    if os.getenv('A{n}'): cfg.model.x{n % 7} = {n}\n" for n in range(200))
    ),
    "line.py": python("x = '" + "a" * 3_000_000 + "'"),
    "pattern.py": python("setattr(cfg.checkpoint, '(a+)+[', 1)"),
    "expressions.py": python("import re\n" + "    x = re.match(r'(a|aa|b?)+$', 'a' * 60 + 'c')\n" * 60),
    "translated.py": python(
        "t = str.maketrans({'a': 'a' * 1000})\n    x = 'a'\n" + "    x = x.translate(t)\n" * 9 + "    cfg.model.x = x"
    ),
    "heirs.py": b"class C0: pass\n"
    + b"".join(b"class C%d(C%d): pass\n" % (number, number - 1) for number in range(1, 200))
    + python("x = C199()"),
    "form.py": python("x = 1").replace(b"\n", b"\n\x0c"),
    "returns.py": python("x = 1").replace(b"\n", b"\r"),
    "bom.py": b"\xef\xbb\xbf" + python("x = 1"),
    "hashes.py": python("x = 1  #" + "#" * 1_000_000 + " mfsdp:"),
    "digits.yaml": (YAML + "model:\n  x: '" + "1" * 200_000 + "'\n  y: '" + "/a" * 100_000 + "='\n").encode(),
    "blanks.yaml": (YAML + "\n" * 200_000).encode(),
    "bomb.yaml": (
        YAML + "a: &a [x, x, x]\n" + "".join(f"b{n}: &b{n} [{f'*b{n - 1}, ' * 9 if n else '*a'}]\n" for n in range(30))
    ).encode(),
    "cycle.yaml": (YAML + "a: &a [*a]\nb: &b\n  <<: *b\n  c: *b\n").encode(),
    "tags.yaml": (YAML + "a: !!python/object/apply:os.system [x]\nb: !own 3\nc: !!binary aGk=\n").encode(),
    "numbers.yaml": (
        YAML
        + f"model:\n  a: 0x{'f' * 5000}\n  b: 1:{'59:' * 3000}59\n  c: {'9' * 5000}\n  d: 0b{'1' * 5000}\n  e: 1e9999\n"
    ).encode(),
    "keys.yaml": (YAML + "model:\n" + "".join(f"  k{number}: 1\n" for number in range(5000))).encode(),
    "key.yaml": (YAML + "? " + "k" * 1_000_000 + "\n: 1\n").encode(),
    "documents.yaml": ("---\na: 1\n" * 5000 + "---\n" + YAML).encode(),
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MFSDP_LINT_DEBUG", "1")  # no fault is contained
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(STACK)  # as the command has it
    Path("warm.py").write_bytes(python("x = 1"))
    Path("warm.yaml").write_text(YAML)
    codes("warm.py", "warm.yaml")
    yield
    sys.setrecursionlimit(limit)


def codes(*paths: str) -> dict[str, str]:
    found = run(Options(paths=paths, target_bridge="0.3.1", output_format=("concise",))).findings
    return {finding.code: finding.message for finding in found}


@pytest.mark.parametrize("name", NOT_CHECKED)
def test_what_is_not_read_is_told(name: str, tmp_path: Path) -> None:
    content, message = NOT_CHECKED[name]
    Path(name).write_bytes(content)
    with guarded(tmp_path):
        assert message in codes(name)["MFSDP901"]


@pytest.mark.parametrize("name", CHECKED)
def test_what_is_read_takes_no_longer(name: str, tmp_path: Path) -> None:
    Path(name).write_bytes(CHECKED[name])
    with guarded(tmp_path):
        found = codes(name)
    assert "MFSDP101" in found
    assert not {"MFSDP901", "MFSDP905"} & found.keys()


LAUNCH = "torchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format torch_dist --save /c"
HELD: Mapping[str, str] = {
    "Makefile": "X = a\n" + "X := $(X)$(X)$(X)\n" * 60 + f"run:\n\t{LAUNCH} --seed $(X)\n",
    "recursive.mk": f"X = $(X)$(X)$(X)\nY = $(X)$(Z)\nZ = $(Y)$(Y)\nrun:\n\t{LAUNCH} --seed $(Y)\n",
    "Dockerfile": "FROM x\n" + "\n" * 200_000 + f"CMD {LAUNCH}\n",
    "words.sh": f"# {'x' * 200_000}\n# {'/y' * 100_000}=\n{LAUNCH}\n",
    "zeros.sh": f"X=$(printf '%0999999999d' 1)\n{LAUNCH} --seed \"$X\"\n",
}
"""Files that hold a launch, with something that grows, or a long run of characters that may begin a name."""


@pytest.mark.parametrize("name", HELD)
def test_a_launch_is_found_beside_what_grows(name: str, tmp_path: Path) -> None:
    Path("warm.sh").write_text(LAUNCH)
    codes("warm.sh")
    Path(name).write_text(HELD[name])
    with guarded(tmp_path):
        assert "MFSDP101" in codes(name)


def test_a_function_that_calls_itself_again_and_again_is_told(tmp_path: Path) -> None:
    Path("handed.py").write_bytes(b"def turn(cfg):\n    for i in range(3):\n        turn(cfg)\n" + python("turn(cfg)"))
    with guarded(tmp_path):
        assert "`turn(cfg)` (handed.py:3) is not followed" in codes("handed.py")["MFSDP907"]


def test_a_list_of_words_that_doubles_is_told(tmp_path: Path) -> None:
    Path("warm.sh").write_text(LAUNCH)
    codes("warm.sh")
    Path("double.sh").write_text("set -- a b\n" + 'set -- "$@" "$@"\n' * 40 + f'{LAUNCH} "$@"\n')
    with guarded(tmp_path):
        assert "more ways and steps than are followed" in codes("double.sh")["MFSDP901"]


DEEP = ("x = " + "1+" * 50_000 + "1", "x = cfg" + ".a" * 50_000, "x = f" + "()" * 50_000, "x = cfg" + ".f()" * 3_000)


@pytest.mark.parametrize("line", DEEP, ids=["sum", "attributes", "calls", "chain"])
def test_what_some_pythons_read_is_read_or_told(line: str, tmp_path: Path) -> None:
    Path("deep.py").write_bytes(python(line))
    with guarded(tmp_path):
        outcome = run(Options(paths=("deep.py",), target_bridge="0.3.1", output_format=("concise",)))
    assert outcome.findings or outcome.unfollowed


STEERING = "a\n::error::owned\x1b[2J\u202e,x%0A\r=1.py"
OUTPUTS = (
    *("--output-format full", "--output-format concise", "--output-format github", "--output-format json"),
    *("--group-by recipe", "audit", "audit --output-format csv", "audit --output-format json"),
    *("--diff --show-fixes", "--show-unfollowed"),
)


@pytest.mark.parametrize("command", OUTPUTS)
def test_names_of_files_steer_neither_terminals_nor_jobs(
    command: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    Path(STEERING).write_bytes(python("x = 1"))
    Path(os.fsdecode(b"\xff" + STEERING.encode())).write_bytes(python("x = 1"))
    main([*command.split(), "--target-bridge", "0.3.1", "."])
    said = "".join(capfd.readouterr())
    page = tmp_path / "summary.md"
    if command != "--diff --show-fixes":  # a patch names files as git does
        said += page.read_text() if page.exists() else ""
    assert "owned" in said
    assert not any(line.startswith("::error::owned") for line in said.splitlines())
    assert not {"\x1b", "\u202e", "\r"} & set(said)


def test_a_file_that_vanishes_meanwhile_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from mfsdp_lint.engine import run as running
    from mfsdp_lint.engine.read import question

    def then_gone(options: Options) -> object:
        found = question(options)
        Path("warm.py").unlink()
        return found

    monkeypatch.setattr(running, "question", then_gone)
    assert codes(".")["MFSDP901"] == "not checked: no such file or directory"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="has no /proc")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/stdin", "/proc/kmsg", "/proc/self/mem", "/proc/self/fd"])
def test_devices_and_the_files_of_the_kernel_are_not_waited_for(device: str, tmp_path: Path) -> None:
    Path("link.py").symlink_to(device)
    Path("folder").symlink_to("/proc")
    with guarded(tmp_path):
        assert "MFSDP905" not in codes(".")
        run(Options(paths=("link.py",), target_bridge="0.3.1"))
