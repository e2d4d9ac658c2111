"""Images that build upon each other, arguments of a build, and services that are built."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.test_started_by_others import BAD, CONNECTIONS, FORMAT, GOOD, NAME, RUN, Files, told

TRAIN = f"CMD {RUN} {GOOD}\n"

IMAGES: dict[str, tuple[str, list[str]]] = {
    "a stage builds upon another": (
        f"FROM x AS base\nENV {NAME}=1\nFROM --platform=linux/amd64 Base as train\n{TRAIN}",
        [f"Dockerfile:2 {CONNECTIONS}"],
    ),
    "a stage has the command of the one that it builds upon": (
        f"FROM x AS base\n{TRAIN}FROM base\nENV {NAME}=1\n",
        [f"Dockerfile:4 {CONNECTIONS}"],
    ),
    "a stage sets a variable again": (f"FROM x AS base\nENV {NAME}=1\nFROM base\nENV {NAME}=8\n{TRAIN}", []),
    "a stage beside another": (f"FROM x AS base\nENV {NAME}=1\nFROM x\n{TRAIN}", []),
    "an entry point takes the inherited command away": (
        f'FROM x AS base\nCMD {BAD}\nFROM base\nENTRYPOINT ["torchrun", "pretrain_gpt.py"]\n',
        [],
    ),
    "an argument with a default": (
        f"FROM x\nARG N=1\nENV {NAME}=${{N}}\n{TRAIN}",
        [f"Dockerfile:2 {CONNECTIONS}"],
    ),
    "an argument of the whole file": (
        f"ARG N=1\nFROM x\nARG N\nENV {NAME}=$N\n{TRAIN}",
        [f"Dockerfile:1 {CONNECTIONS}"],
    ),
    "an argument that a stage does not ask for": (f"ARG N=1\nFROM x\nENV {NAME}=$N\n{TRAIN}", []),
    "an argument of the stage that another builds upon": (
        f"FROM x AS base\nARG N=1\nFROM base\nENV {NAME}=$N\n{TRAIN}",
        [f"Dockerfile:2 {CONNECTIONS}"],
    ),
    "an argument without a default": (f"FROM x\nARG N\nENV {NAME}=$N\n{TRAIN}", []),
    "a default in place of an argument": (
        f"FROM x\nARG N\nENV {NAME}=${{N:-1}}\n{TRAIN}",
        [f"Dockerfile:3 {CONNECTIONS}"],
    ),
    "a variable counts more than an argument": (f"FROM x\nENV N=8\nARG N=1\nENV {NAME}=$N\n{TRAIN}", []),
    "an argument is not in the environment": (f"FROM x\nARG {NAME}=1\n{TRAIN}", []),
    "a variable of an earlier one": (
        f'FROM x\nENV N 1\nENV A=b \\\n  # {NAME}=8\n  {NAME}="${{N}}"\n{TRAIN}',
        [f"Dockerfile:2 {CONNECTIONS}"],
    ),
    "a variable of the same instruction": (f"FROM x\nENV N=8\nENV N=1 {NAME}=$N\n{TRAIN}", []),
    "a variable of the image from outside": (f"FROM x\nENV {NAME}=$N\n{TRAIN}", []),
    "a value in two parts": (f"FROM x\nENV N=1\nENV {NAME}=\"$N\"'6'\n{TRAIN}", []),
    "an escaped reference": (f"FROM x\nENV N=1\nENV {NAME}=\\$N\n{TRAIN}", []),
    "a variable within a command": (
        f"FROM x\nARG F=torch_dist\nENV F=$F\nCMD {RUN} --save /c --ckpt-format $F\n",
        [f"Dockerfile:2 {FORMAT}"],
    ),
    "an argument within a command, where it is not set": (
        f"FROM x\nARG F=torch_dist\nCMD {RUN} --save /c --ckpt-format $F\n",
        [],
    ),
}


@pytest.mark.parametrize(("text", "wanted"), IMAGES.values(), ids=IMAGES)
def test_an_image(
    text: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told({"Dockerfile": text}, tmp_path, capsys) == wanted


SERVICE = f"services:\n  t:\n    image: x\n    command: {RUN} {GOOD}\n    environment:\n"
BUILT = f"services:\n  t:\n    command: {RUN} {GOOD}\n    build:\n      context: .\n"

SERVICES: dict[str, tuple[Files, list[str]]] = {
    "a default in a list": (
        {"compose.yaml": f"{SERVICE}    - {NAME}=${{N:-1}}\n"},
        [f"compose.yaml:6 {CONNECTIONS}"],
    ),
    "a value of .env in a list": (
        {"compose.yaml": f"{SERVICE}    - {NAME}=${{N:-8}}\n", ".env": "N=1\n"},
        [f".env:1 {CONNECTIONS}"],
    ),
    "a value of .env that is not known": (
        {"compose.yaml": f"{SERVICE}    - {NAME}=${{N:-1}}\n", ".env": "N=$M\n"},
        [],
    ),
    "a text in place of a variable that is set": (
        {"compose.yaml": f"{SERVICE}    - {NAME}=${{N:+8}}\n", ".env": "N=1\n"},
        [],
    ),
    "an argument of its build": (
        {"compose.yaml": f"{BUILT}      args: {{N: 1}}\n", "Dockerfile": f"FROM x\nARG N=8\nENV {NAME}=$N\n"},
        [f"compose.yaml:6 {CONNECTIONS}"],
    ),
    "an argument that its build is not given": (
        {"compose.yaml": f"{BUILT}      args: [M=8]\n", "Dockerfile": f"FROM x\nARG N=1\nENV {NAME}=$N\n"},
        [f"Dockerfile:2 {CONNECTIONS}"],
    ),
    "a target": (
        {
            "compose.yaml": f"{BUILT}      target: a\n",
            "Dockerfile": f"FROM x AS a\nENV {NAME}=1\nFROM x AS b\nENV {NAME}=8\n",
        },
        [f"Dockerfile:2 {CONNECTIONS}"],
    ),
}

PLAIN = f"services:\n  t:\n    image: x\n    command: {RUN} {GOOD}\n"
SET = f"{PLAIN}    environment: {{{NAME}: %s}}\n"
OVERRIDE = "services:\n  t:\n    environment:\n    - {}\n"

MERGED: dict[str, tuple[Files, list[str]]] = {
    "a variable that the override cures": (
        {"docker-compose.yml": SET % 1, "docker-compose.override.yml": OVERRIDE.format(f"{NAME}=8")},
        [],
    ),
    "a variable that the override spoils": (
        {"docker-compose.yml": SET % 8, "docker-compose.override.yml": OVERRIDE.format(f"{NAME}=1")},
        [f"docker-compose.override.yml:4 {CONNECTIONS}"],
    ),
    "a variable that the override leaves": (
        {"compose.yaml": SET % 1, "compose.override.yaml": OVERRIDE.format("OTHER=8")},
        [f"compose.yaml:5 {CONNECTIONS}"],
    ),
    "a variable that the override takes from its caller": (
        {"compose.yaml": SET % 1, "compose.override.yaml": OVERRIDE.format(NAME)},
        [],
    ),
    "a mapping over a list": (
        {
            "compose.yaml": f"{SERVICE}    - {NAME}=1\n",
            "compose.override.yml": (SET % 8).replace("image: x", "tty: on"),
        },
        [],
    ),
    "a mapping over a mapping": (
        {"compose.yaml": SET % 1, "compose.override.yml": f"services: {{t: {{environment: {{{NAME}: 8}}}}}}\n"},
        [],
    ),
    "another service": (
        {"compose.yaml": SET % 1, "compose.override.yaml": OVERRIDE.format(f"{NAME}=8").replace("t:", "u:", 1)},
        [f"compose.yaml:5 {CONNECTIONS}"],
    ),
    "a command that the override replaces": (
        {
            "compose.yaml": f"{SERVICE}    - {NAME}=1\n".replace(GOOD, BAD),
            "compose.override.yaml": f"services:\n  t:\n    command: {RUN} {GOOD}\n",
        },
        [f"compose.yaml:6 {CONNECTIONS}"],
    ),
    "an entry point whose command the override has": (
        {
            "compose.yaml": "services:\n  t:\n    image: x\n    entrypoint: [torchrun]\n",
            "compose.override.yaml": f"services:\n  t:\n    command: {RUN.removeprefix('torchrun ')} {BAD}\n",
        },
        [f"compose.override.yaml:3 {FORMAT}"],
    ),
    "an argument of its build": (
        {
            "compose.yaml": f"services:\n  t:\n    build: .\n    command: {RUN} {GOOD}\n",
            "compose.override.yaml": "services:\n  t:\n    build:\n      args: [N=1]\n",
            "Dockerfile": f"FROM x\nARG N=8\nENV {NAME}=$N\n",
        },
        [f"compose.override.yaml:4 {CONNECTIONS}"],
    ),
    "a section that the override takes away": (
        {"compose.yaml": SET % 1, "compose.override.yaml": "services:\n  t:\n    environment: !reset {}\n"},
        [],
    ),
    "an override of another file": (
        {
            "compose.yaml": PLAIN,
            "docker-compose.yml": SET % 1,
            "docker-compose.override.yml": OVERRIDE.format(f"{NAME}=8"),
        },
        [f"docker-compose.yml:5 {CONNECTIONS}"],
    ),
    "files that .env names": (
        {
            "compose.yaml": SET % 1,
            "gpu.yaml": OVERRIDE.format(f"{NAME}=8"),
            ".env": "COMPOSE_FILE=compose.yaml:gpu.yaml\n",
        },
        [],
    ),
}

BASE, OTHER = "docker/compose.yaml", "docker/other.yaml"

NAMED: dict[str, tuple[Files, list[str]]] = {
    "a command that cures": (
        {BASE: SET % 1, OTHER: OVERRIDE.format(f"{NAME}=8"), "up.sh": f"docker compose -f {BASE} -f {OTHER} up\n"},
        [],
    ),
    "a command that spoils": (
        {
            BASE: SET % 8,
            OTHER: OVERRIDE.format(f"{NAME}=1"),
            "Makefile": f"up:\n\tdocker-compose --file={BASE} \\\n\t  --file={OTHER} up -d\n",
        },
        [f"{OTHER}:4 {CONNECTIONS}"],
    ),
    "a command beside the files": (
        {
            BASE: SET % 1,
            OTHER: OVERRIDE.format(f"{NAME}=8"),
            "docker/up.sh": 'docker compose -p x -f "$HERE/compose.yaml" -f "$HERE/other.yaml" up\n',
        },
        [],
    ),
    "several commands": (
        {
            BASE: SET % 8,
            OTHER: OVERRIDE.format(f"{NAME}=1"),
            "docker/more.yaml": OVERRIDE.format(f"{NAME}=4"),
            "up.sh": f"docker compose -f {BASE} -f {OTHER} up\ndocker compose -f {BASE} -f docker/more.yaml up\n",
        },
        [f"{OTHER}:4 {CONNECTIONS}"],
    ),
    "a file by itself": (
        {BASE: SET % 1, OTHER: OVERRIDE.format(f"{NAME}=8"), "up.sh": f"docker compose -f {BASE} up\n"},
        [f"{BASE}:5 {CONNECTIONS}"],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), NAMED.values(), ids=NAMED)
def test_files_that_a_command_names_together(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()  # commands are searched for in a project
    assert told(files, tmp_path, capsys) == wanted


@pytest.mark.parametrize(("files", "wanted"), MERGED.values(), ids=MERGED)
def test_files_that_compose_merges(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted


@pytest.mark.parametrize(("files", "wanted"), SERVICES.values(), ids=SERVICES)
def test_a_service(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted
