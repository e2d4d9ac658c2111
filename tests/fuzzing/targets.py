"""What is fuzzed: each target makes an input, and does with it what the tool would. What it may raise, it swallows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, suppress
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

from mfsdp_lint.cli import main as command_line
from mfsdp_lint.core.kept import dumps, loads
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import fields, replace
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, OneOf, Value
from mfsdp_lint.engine import cache as kept
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.addresses import ask
from mfsdp_lint.inputs.configuration import read_configuration
from mfsdp_lint.inputs.detect import detect
from mfsdp_lint.inputs.discover import GitIgnored
from mfsdp_lint.inputs.options import Options, UsageError, merge
from mfsdp_lint.inputs.suppression import comments
from mfsdp_lint.megatron.conditions import Site, parse_applicability
from mfsdp_lint.megatron.conditions.language import ConditionError, Terms, parse
from mfsdp_lint.megatron.versions import UnknownVersion, VersionError, resolve_target
from mfsdp_lint.readers.overrides import parse_command_line as parse_overrides
from mfsdp_lint.readers.python_files import python_comments
from mfsdp_lint.readers.registry import file_types
from mfsdp_lint.readers.yaml.nodes import yaml_comments
from mfsdp_lint.rules.form import RuleError, read_rule, read_terms
from mfsdp_lint.rules.judging import NotAConfiguration, judge
from mfsdp_lint.rules.load import TERMS_FILE, raw_rules
from tests.fuzzing import corpus, mutate

VERSION = "0.3.1"

Target = Callable[[Random], None]
"""Does one case, in a folder of its own that is the current one. Raises whatever the tool must not raise."""


def _write(path: str, text: str) -> None:
    Path(path).write_bytes(text.encode("utf-8", "surrogatepass"))


@cache
def _terms() -> Terms:
    return read_terms(raw_rules()[TERMS_FILE], TERMS_FILE)


@cache
def _site() -> Site:
    return Site(resolve_target(VERSION))


def condition(chance: Random) -> None:
    text = mutate.text(chance, corpus.conditions())
    try:
        found = parse(text, _terms()).at(_site())
    except ConditionError:
        return
    paths = sorted(found.paths())
    for _ in range(2):
        variant = Variant(WrittenSettings.of({path: _value(chance) for path in paths}))
        found.truth(variant)
        tuple(found.deciding(variant))


def _value(chance: Random) -> Value:
    values = mutate.VALUES
    return chance.choice(
        (UNKNOWN, NOT_NONE, Known(chance.choice(values)), OneOf((chance.choice(values), chance.choice(values))))
    )


def versions(chance: Random) -> None:
    with suppress(VersionError):
        parse_applicability(mutate.text(chance, (">=0.2 | megatron-lm >=0.14", ">=0.4,<0.6, te <2.10", "core >=0.19")))


def comment(chance: Random) -> None:
    line = mutate.text(chance, corpus.COMMENTS)
    text = mutate.text(chance, (f"def f(\n    x={line}\n):\n    {line}\n    return x  {line}\n{line}\n",))
    comments("a.py", text, python_comments)
    with suppress(UnicodeEncodeError):  # no YAML file has such a text
        text.encode()
        comments("a.yaml", text, yaml_comments)


def configuration(chance: Random) -> None:
    _write("pyproject.toml", mutate.text(chance, corpus.CONFIGURATIONS))
    with suppress(UsageError):
        merge({}, read_configuration())


def address(chance: Random) -> None:
    _write("addresses.txt", mutate.text(chance, corpus.ADDRESSES))
    text = mutate.text(chance, corpus.ADDRESSES)
    if text.startswith(("/", "..")):  # who asks for the whole disk gets it
        return
    with suppress(UsageError):
        ask((text,), file_types())


def override(chance: Random) -> None:
    with suppress(UsageError):
        parse_overrides((mutate.text(chance, corpus.OVERRIDES),), (mutate.text(chance, ("A=1", "NAME")),))


def ignore(chance: Random) -> None:
    _write(".gitignore", mutate.text(chance, corpus.IGNORES))
    ignored = GitIgnored()
    for name in ("a.py", mutate.text(chance, ("recipes.py", "build"))[:200]):
        ignored("src/deep", name, False)


def requirements(chance: Random) -> None:
    for name in ("requirements.txt", "pyproject.toml", "uv.lock", "Dockerfile", ".gitmodules", "environment.yml"):
        with suppress(FileNotFoundError):
            os.unlink(name)
    text = mutate.text(chance, corpus.REQUIREMENTS)
    _write(chance.choice(("requirements.txt", "pyproject.toml", "uv.lock", "Dockerfile", ".gitmodules")), text)
    with suppress(UnknownVersion):
        detect((".",), Options())


def rule(chance: Random) -> None:
    with suppress(RuleError):
        read_rule(mutate.data(chance, corpus.rules()), "TEAM001.yaml", _terms())


def settings(chance: Random) -> None:
    with suppress(NotAConfiguration):
        judge(mutate.data(chance, _configurations()), target=VERSION, world_size=8)


@cache
def _configurations() -> tuple[Mapping[str, Any], ...]:
    examples = (example for each in corpus.rules() for example in (each.get("examples") or {}).get("bad", ()))
    return tuple(dict(example["settings"]) for example in examples if example.get("settings"))


def kept_run(chance: Random) -> None:
    """Both what was damaged, and what the user's own tool would have sealed in another shape."""
    there = Path("kept")
    if chance.random() < 0.5:
        part = chance.choice([field.name for field in fields(kept.Kept)])
        other = replace(loads(_kept_bytes()), **{part: chance.choice((None, 1, "x", ("x",), {"x": 1}, b"x"))})
        said = chance.choice((other, part, [other]))
        sealed = kept.sealed("kept", dumps(said))
        assert sealed is not None
        there.write_bytes(sealed)
        assert kept.load("kept") is None or (said is other and part != "looks")
        return
    sealed = kept.sealed("kept", _kept_bytes())
    assert sealed is not None
    data = bytearray(sealed)
    for _ in range(chance.choice((1, 1, 3, 20))):
        at = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at : at + chance.choice((1, 5, 100))]
            case 2:
                data[at:at] = data[: chance.choice((1, 5, 100))]
            case _:
                data[at : at + 1] = mutate.text(chance, ("true", '"x"', "[]", "1", "null")).encode("utf-8", "replace")
    there.write_bytes(data)
    assert kept.load("kept") is None or data == sealed


@cache
def _kept_bytes() -> bytes:
    folder = Path("cache")
    _write("kept.py", corpus.python()[0])
    options = Options(paths=("kept.py",), target_bridge=VERSION, output_format=("concise",), cache_dir=str(folder))
    assert kept.run(options).findings
    (file,) = folder.glob("*.outcome")
    return file.read_bytes().partition(b"\n")[2]


def yaml_text(chance: Random) -> None:
    _run("case.yaml", mutate.text(chance, corpus.yaml()), chance)


def python_text(chance: Random) -> None:
    _run("case.py", mutate.text(chance, corpus.python()), chance)


def python_program(chance: Random) -> None:
    _run("case.py", mutate.program(chance, corpus.python()), chance)


def _run(path: str, text: str, chance: Random) -> None:
    _write(path, text)
    seen = chance.random() < 0.1
    run(
        Options(paths=(path,), target_bridge=VERSION, output_format=("full" if seen else "concise",), unsafe_fixes=seen)
    )


_COMMANDS = (
    "--output-format json",
    "--output-format github",
    "--output-format full",
    "--diff",
    "--fix",
    "audit",
    "audit --output-format csv",
    "audit --output-format json",
)


def everything(chance: Random) -> None:
    """The command line itself, on a folder with a file of each kind."""
    for name in ("case.py", "case.yaml"):
        _write(name, mutate.text(chance, corpus.python() if name.endswith("y") else corpus.yaml()))
    Path(os.fsdecode(b"odd\xff\n::x.py")).write_text(corpus.python()[0], encoding="utf-8")
    command = [*chance.choice(_COMMANDS).split(), "--target-bridge", VERSION, "."]
    with redirect_stderr(StringIO()) as complaints:
        code = command_line(command)
    assert code in (0, 1), (command, complaints.getvalue())


TARGETS: Mapping[str, Target] = {
    "condition": condition,
    "versions": versions,
    "comment": comment,
    "configuration": configuration,
    "address": address,
    "override": override,
    "ignore": ignore,
    "requirements": requirements,
    "rule": rule,
    "settings": settings,
    "cache": kept_run,
    "yaml": yaml_text,
    "python-text": python_text,
    "python-program": python_program,
    "everything": everything,
}


def case_of(name: str, seed: int, number: int) -> Random:
    """The randomness of one case, which is all that it depends on."""
    return Random(json.dumps([name, seed, number]))
