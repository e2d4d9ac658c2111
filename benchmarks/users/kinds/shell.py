# ruff: noqa: E501 — the files of a project are written as they are, in one string each
"""Texts of shell that two runs use: variables, words, functions, arrays."""

from __future__ import annotations

import random

from benchmarks.users.project import CONNECTIONS, FSDP, LAUNCH, TP, Project, second_user_of_shell


def _env_file(draw: random.Random) -> tuple[str, str]:
    """Return the path of a shared file of shell, and the words that source it."""
    path = draw.choice(["env.sh", "common.sh", "lib/env.sh", "scripts/setup_env.sh"])
    spelled = draw.choice(["source {}", ". ./{}", 'source "$(dirname "$0")/{}"', 'ROOT=.; . "$ROOT/{}"'])
    return path, spelled.format(path)


def _export(draw: random.Random) -> str:
    return draw.choice(
        [f"export {CONNECTIONS}=1", f"export {CONNECTIONS}='1'", f"export OMP_NUM_THREADS=1 {CONNECTIONS}=1"]
    )


def shared_variable(draw: random.Random) -> Project:
    path, line = _env_file(draw)
    source = line if "dirname" not in line else f"source {path}"
    language, files, user = second_user_of_shell(draw, source, TP)
    fsdp = f"{LAUNCH} {FSDP} --ckpt-format fsdp_dtensor"
    if draw.random() < 0.5:
        fsdp = fsdp.replace(" --", " \\\n    --")
    files |= {path: f"{_export(draw)}\nexport NCCL_DEBUG=INFO\n", "a.sh": f"#!/bin/bash\n{line}\n{fsdp}\n"}
    lint = draw.choice([["a.sh", path], ["."], ["a.sh"]])
    if lint == ["."] and language == "shell":
        lint = ["a.sh", path]
    return Project("shared variable", language, files, lint, ["bash a.sh"], f"{CONNECTIONS}=1", user)


def shared_words(draw: random.Random) -> Project:
    path, line = _env_file(draw)
    source = line if "dirname" not in line else f"source {path}"
    name = draw.choice(["COMMON", "TRAIN_ARGS", "CKPT"])
    rest = draw.choice(["", " --save /ckpt", " --seq-length 4096"])
    array = draw.random() < 0.5
    text = f"{name}=(--ckpt-format torch_dist{rest})\n" if array else f'{name}="--ckpt-format torch_dist{rest}"\n'
    use = f'"${{{name}[@]}}"' if array else f"${name}"
    language, files, user = second_user_of_shell(draw, source, f"{LAUNCH} {use}")
    order = draw.choice([f"{use} {FSDP}", f"{FSDP} {use}"])
    files |= {path: text, "a.sh": f"#!/bin/bash\n{line}\n{LAUNCH} --save /ckpt {order}\n"}
    lint = draw.choice([["a.sh", path], ["a.sh"]])
    return Project("shared words", language, files, lint, ["bash a.sh"], "ckpt_format=torch_dist", user)


def shared_function(draw: random.Random) -> Project:
    path, line = _env_file(draw)
    source = line if "dirname" not in line else f"source {path}"
    language, files, user = second_user_of_shell(draw, source, "launch --bf16")
    body = f'launch() {{\n    {LAUNCH} --ckpt-format torch_dist --save /ckpt "$@"\n}}\n'
    files |= {path: body, "a.sh": f"#!/bin/bash\n{line}\nlaunch {FSDP}\n"}
    lint = draw.choice([["a.sh", path], ["a.sh"]])
    return Project("shared function", language, files, lint, ["bash a.sh"], "ckpt_format=torch_dist", user)


def variable_read(draw: random.Random) -> Project:
    fsdp = f"{LAUNCH} {FSDP} --ckpt-format fsdp_dtensor"
    export = (
        _export(draw)
        if draw.random() < 0.7
        else draw.choice([f"declare -x {CONNECTIONS}=1", f'eval "export {CONNECTIONS}=1"'])
    )
    files: dict[str, str] = {}
    language = draw.choice(
        ["echo", "must be set", "child script", "child Python", "Python in a string", "after", "conditional"]
    )
    before, after = "", ""
    match language:
        case "echo":
            before = f"set -u\necho connections ${CONNECTIONS}\n"
        case "must be set":
            before = f": ${{{CONNECTIONS}:?}}\necho user there\n"
        case "child script":
            files["plain.sh"] = f"#!/bin/bash\n{TP}\n"
            before, after = draw.choice([("", "bash plain.sh\n"), ("bash plain.sh\n", "")])
        case "child Python":
            files["eval.py"] = f"import os\n\nprint('user', os.environ['{CONNECTIONS}'])\n"
            before, after = draw.choice([("", "python eval.py\n"), ("python eval.py\n", "")])
        case "Python in a string":
            after = f'python -c \'import os; print("user", os.environ["{CONNECTIONS}"])\'\n'
        case "after":
            after = f"{TP}\n"
        case "conditional":
            after = f'if [ "${{{CONNECTIONS}}}" = 1 ]; then echo user tuned; fi\n'
    files["run.sh"] = f"#!/bin/bash\n{export}\n{before}{fsdp}\n{after}"
    user = "bash run.sh | grep -v use_megatron_fsdp=True"
    return Project(
        "variable read",
        language,
        files,
        ["run.sh"],
        ["bash run.sh | grep use_megatron_fsdp=True"],
        f"{CONNECTIONS}=1",
        user,
    )


def array_twice(draw: random.Random) -> Project:
    name = draw.choice(["ARGS", "TRAIN"])
    style = draw.choice(["slice", "replaced", "word given twice", "whole twice"])
    words = f"--ckpt-format torch_dist --save /ckpt {FSDP}"
    match style:
        case "slice":
            head = f"{name}=({words})\n"
            fsdp, user = f'{LAUNCH} "${{{name}[@]}}"\n', f'echo user "${{{name}[@]:0:4}}"\n'
        case "replaced":
            head = f"{name}=({words})\n"
            fsdp, user = f'{LAUNCH} "${{{name}[@]}}"\n', f'echo user "${{{name}[@]/--use-megatron-fsdp/}}"\n'
        case "word given twice":
            head = "FMT=torch_dist\n"
            fsdp, user = f"{LAUNCH} {FSDP} --save /ckpt --ckpt-format $FMT\n", "python convert.py --loader $FMT\n"
        case _:
            head = f"{name}=(--ckpt-format torch_dist --save /ckpt)\n"
            fsdp, user = f'{LAUNCH} "${{{name}[@]}}" {FSDP}\n', f'echo user "${{{name}[@]}}"\n'
    files = {"run.sh": f"#!/bin/bash\n{head}{fsdp}{user}", "convert.py": "import sys\nprint('user', sys.argv[1:])\n"}
    return Project(
        f"array: {style}",
        "shell",
        files,
        ["run.sh"],
        ["bash run.sh | grep use_megatron_fsdp=True"],
        "ckpt_format=torch_dist",
        "bash run.sh | grep '^user'",
    )


def computed_source(draw: random.Random) -> Project:
    """Draw a user that sources files by a pattern, or by a name that it is given."""
    path = draw.choice(["lib/env.sh", "lib/cluster.sh", "settings/site.sh"])
    folder, name = path.split("/")
    stem = name.removesuffix(".sh")
    line, given = draw.choice(
        [
            (f'for each in {folder}/*.sh; do source "$each"; done', ""),
            (f'source "{folder}/$1.sh"', f" {stem}"),
            (f'source "${{ENV_FILE:-{path}}}"', ""),
            (f'ROOT="$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)"\nsource "$ROOT/{path}"', ""),
            (f'. {folder}/"${{SITE:-{stem}}}".sh', ""),
            (f'load() {{ source "{folder}/$1.sh"; }}\nload {stem}', ""),
        ]
    )
    words = draw.random() < 0.5
    fsdp = f"{LAUNCH} {FSDP} --save /ckpt $COMMON" if words else f"{LAUNCH} {FSDP} --ckpt-format fsdp_dtensor"
    text = 'COMMON="--ckpt-format torch_dist"\n' if words else f"{_export(draw)}\n"
    files = {path: text, "a.sh": f"#!/bin/bash\nsource {path}\n{fsdp}\n"}
    work = f"{LAUNCH} $COMMON" if words else TP
    language = draw.choice(["shell", "no suffix", "YAML", "Makefile"])
    match language:
        case "Makefile" if "\n" not in line and not given:
            files["Makefile"] = "plain:\n\t" + f"{line}; {work}".replace("$", "$$") + "\n"
            user = "make -s plain SHELL=/bin/bash"
        case "YAML" if not given and "BASH" not in line:
            indented = "".join(f"      {each}\n" for each in f"{line}\n{work}".splitlines())
            files["ci.yaml"] = f"steps:\n  - name: plain\n    run: |\n{indented}"
            user = "run_yaml ci.yaml"
        case "no suffix":
            files["plain"] = f"#!/usr/bin/env bash\n{line}\n{work}\n"
            user = f"bash plain{given}"
        case _:
            language = "shell"
            files["b.sh"] = f"#!/bin/bash\n{line}\n{work}\n"
            user = f"bash b.sh{given}"
    wrong = "ckpt_format=torch_dist" if words else f"{CONNECTIONS}=1"
    lint = draw.choice([["a.sh", path], ["a.sh"]])
    return Project("computed name", language, files, lint, ["bash a.sh"], wrong, user)


def dotenv(draw: random.Random) -> Project:
    """Draw a file of variables that a launch exports whole, and another reader of it."""
    path = draw.choice([".env", "train.env", "cluster.env"])
    files = {
        path: f"NCCL_DEBUG=INFO\n{CONNECTIONS}=1\n",
        "a.sh": f"#!/bin/bash\nset -a\n. ./{path}\nset +a\n{LAUNCH} {FSDP} --ckpt-format fsdp_dtensor\n",
    }
    language = draw.choice(["shell", "Makefile", "Python", "YAML"])
    match language:
        case "shell":
            files["b.sh"] = draw.choice(
                [
                    f"#!/bin/bash\nset -a\nsource {path}\nset +a\n{TP}\n",
                    f"#!/bin/bash\nexport $(grep -v '^#' {path} | xargs)\n{TP}\n",
                    f"#!/bin/bash\nenv $(cat {path}) {TP}\n",
                ]
            )
            user = "bash b.sh"
        case "Makefile":
            files["Makefile"] = f"include {path}\nexport\n\nplain:\n\t{TP}\n"
            user = "make -s plain"
        case "Python":
            files["plain.py"] = (
                f"values = dict(line.strip().split('=') for line in open('{path}'))\nprint('user', values['{CONNECTIONS}'])\n"
            )
            user = "python plain.py"
        case _:
            files["ci.yaml"] = (
                f"steps:\n  - name: plain\n    run: |\n      set -o allexport; source ./{path}\n      {TP}\n"
            )
            user = "run_yaml ci.yaml"
    return Project("file of variables", language, files, ["a.sh"], ["bash a.sh"], f"{CONNECTIONS}=1", user)


def branches(draw: random.Random) -> Project:
    """Draw a script with several ways to a launch, each at fault."""
    style = draw.choice(["if", "case", "function", "loop", "and", "size"])
    variable = draw.random() < 0.5
    words = f"{FSDP} --save /ckpt"
    words += " --ckpt-format fsdp_dtensor" if variable else draw.choice(["", " --ckpt-format torch_dist"])
    head = f"{_export(draw)}\n" if variable else ""
    match style:
        case "if":
            body = f'if [ "$1" = big ]; then\n    {LAUNCH} {words} --num-layers 80\nelse\n    {LAUNCH} {words}\nfi\n'
        case "case":
            body = f'case "$1" in\n    big) {LAUNCH} {words} --num-layers 80 ;;\n    *) {LAUNCH} {words} ;;\nesac\n'
        case "function":
            body = f'run() {{\n    {LAUNCH} {words} "$@"\n}}\nif [ "$1" = big ]; then run --num-layers 80; else run --num-layers 8; fi\n'
        case "loop":
            body = f"for layers in 8 80; do\n    {LAUNCH} {words} --num-layers $layers\ndone\n"
        case "and":
            body = f'[ "$1" = big ] && MORE="--num-layers 80"\n{LAUNCH} {words} $MORE\n'
        case _:
            body = f'SIZE=${{1:-small}}\nARGS=({words})\n[[ $SIZE == big ]] && ARGS+=(--num-layers 80)\n{LAUNCH} "${{ARGS[@]}}"\n'
    wrong = f"{CONNECTIONS}=1" if variable else "ckpt_format=torch_dist"
    language, files, user = draw.choice(
        [
            ("shell", {"plain.sh": f"#!/bin/bash\n{TP}\n"}, "bash plain.sh"),
            ("Makefile", {"Makefile": f"plain:\n\t{TP}\n"}, "make -s plain"),
            ("Python", {"plain.py": "print('user')\n"}, "python plain.py"),
        ]
    )
    files["run.sh"] = f"#!/bin/bash\n{head}{body}"
    return Project(f"ways: {style}", language, files, ["run.sh"], ["bash run.sh big", "bash run.sh small"], wrong, user)


def array_read(draw: random.Random) -> Project:
    """Draw an array, or words, that something else than a launch looks at."""
    language = draw.choice(["shell", "file", "Python", "function"])
    name = draw.choice(["ARGS", "TRAIN", "OPTS"])
    words = f"--ckpt-format torch_dist --save /ckpt {FSDP}"
    head, launch = f"{name}=({words})\n", f'{LAUNCH} "${{{name}[@]}}"\n'
    use = draw.choice(
        [
            f'echo user "${{{name}[1]}}"\n',
            f'echo user "${{{name}[*]}}"\n',
            f'printf "user %s\\n" "${{{name}[@]}}"\n',
            f'if [[ " ${{{name}[*]}} " == *" torch_dist "* ]]; then echo user converts; fi\n',
            f'for word in "${{{name}[@]}}"; do echo user $word; done\n',
            f'set -- "${{{name}[@]}}"\necho user $2\n',
            f'copy=("${{{name}[@]:0:2}}")\necho user "${{copy[@]}}"\n',
            f'declare -n ref={name}\necho user "${{ref[1]}}"\n',
        ]
    )
    files = {}
    match language:
        case "file":
            use = f'printf "%s\\n" "${{{name}[@]}}" > args.txt\nsed "s/^/user /" args.txt\n'
        case "Python":
            use = f'python show_words.py "${{{name}[@]}}"\n'
            files["show_words.py"] = "import sys\n\nprint('user', sys.argv[1:])\n"
        case "function":
            use = f'told() {{ echo user "$@"; }}\ntold "${{{name}[@]}}"\n'
    files["run.sh"] = f"#!/bin/bash\n{head}" + (launch + use if draw.random() < 0.5 else use + launch)
    return Project(
        "array: read",
        language,
        files,
        ["run.sh"],
        ["bash run.sh | grep use_megatron_fsdp=True"],
        "ckpt_format=torch_dist",
        "bash run.sh | grep '^user'",
    )
