# ruff: noqa: E501 — the files of a project are written as they are, in one string each
"""Texts of Python that two programs use: helpers, constants, defaults, tables."""

from __future__ import annotations

import random
from shlex import quote

from benchmarks.users.project import CONNECTIONS, FSDP, RECIPE, Project, notebook, second_user_of_python


def helper_out_of_sight(draw: random.Random) -> Project:
    """Draw a helper that several modules may call, of which one turns FSDP on."""
    module = draw.choice(["ckpt", "helpers", "base", "common"])
    name = draw.choice(["base_config", "small", "with_checkpoints"])
    style = draw.choice(["function", "parameter", "in place"])
    if style == "function":
        helper = f'{RECIPE}\n\ndef {name}():\n    cfg = upstream()\n    cfg.checkpoint.ckpt_format = "torch_dist"\n    return cfg\n'
        train = f"from {module} import {name}\n\n\ndef train():\n    cfg = {name}()\n    cfg.ddp.use_megatron_fsdp = True\n    return cfg\n"
        body = f"cfg = {name}()\nprint(cfg.checkpoint.ckpt_format)\n"
    elif style == "parameter":
        helper = f'{RECIPE}\n\ndef {name}(fsdp=False):\n    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = fsdp\n    cfg.checkpoint.ckpt_format = "torch_dist"\n    return cfg\n'
        train = f"from {module} import {name}\n\n\ndef train():\n    cfg = {name}(fsdp=True)\n    return cfg\n"
        body = f"cfg = {name}()\nprint(cfg.checkpoint.ckpt_format, cfg.ddp.use_megatron_fsdp)\n"
    else:
        helper = f'def {name}(cfg):\n    cfg.checkpoint.ckpt_format = "torch_dist"\n    cfg.checkpoint.save = cfg.checkpoint.load = "/ckpt"\n'
        train = f"{RECIPE}from {module} import {name}\n\n\ndef train():\n    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = True\n    {name}(cfg)\n    return cfg\n"
        body = f"from types import SimpleNamespace as N\ncfg = N(checkpoint=N())\n{name}(cfg)\nprint(cfg.checkpoint.ckpt_format)\n"
    language, files, user = second_user_of_python(draw, module, f"from {module} import {name}", body)
    if language == "YAML" and style == "in place":
        files, user, language = (
            {"plain.ipynb": notebook(f"from {module} import {name}", body)},
            "run_notebook plain.ipynb",
            "notebook",
        )
    files |= {f"{module}.py": helper, "train.py": train}
    lint = draw.choice([["train.py", f"{module}.py"], [f"{module}.py", "train.py"]])
    return Project(
        "helper",
        language,
        files,
        lint,
        ["show train.train"],
        "ckpt_format=torch_dist",
        user,
        repository=draw.random() < 0.8,
    )


def shared_constant(draw: random.Random) -> Project:
    module = draw.choice(["consts", "common", "settings", "defaults"])
    name = draw.choice(["FMT", "CKPT_FORMAT", "FORMAT"])
    imports = draw.choice([f"from {module} import {name}", f"from {module} import {name} as given"])
    used = imports.split()[-1]
    body = draw.choice([f'print("convert" if {used} == "torch_dist" else "copy")\n', f"print('--loader', {used})\n"])
    language, files, user = second_user_of_python(draw, module, imports, body)
    take = draw.choice([(f"from {module} import {name}", name), (f"import {module}", f"{module}.{name}")])
    files |= {
        f"{module}.py": f'{name} = "torch_dist"\nWIDTH = 8\n',
        "train.py": f"{RECIPE}{take[0]}\n\n\ndef train():\n    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = True\n    cfg.checkpoint.ckpt_format = {take[1]}\n    return cfg\n",
    }
    return Project(
        "constant",
        language,
        files,
        draw.choice([["train.py", f"{module}.py"], ["train.py"]]),
        ["show train.train"],
        "ckpt_format=torch_dist",
        user,
    )


def shared_default(draw: random.Random) -> Project:
    """Draw a default of a dataclass, of a parser or of a parameter that others take as well."""
    style = draw.choice(["dataclass", "parser", "parameter", "class attribute"])
    module = draw.choice(["common", "options"])
    match style:
        case "dataclass":
            shared = 'from dataclasses import dataclass\n\n\n@dataclass\nclass Options:\n    fmt: str = "torch_dist"\n    width: int = 8\n'
            name, value = "Options", "Options().fmt"
        case "class attribute":
            shared = 'class Options:\n    fmt = "torch_dist"\n'
            name, value = "Options", "Options.fmt"
        case "parser":
            shared = 'import argparse\n\n\ndef parser():\n    made = argparse.ArgumentParser()\n    made.add_argument("--fmt", default="torch_dist")\n    return made\n'
            name, value = "parser", "parser().parse_args([]).fmt"
        case _:
            shared = 'def chosen(fmt="torch_dist"):\n    return fmt\n'
            name, value = "chosen", "chosen()"
    language, files, user = second_user_of_python(draw, module, f"from {module} import {name}", f"print({value})\n")
    files |= {
        f"{module}.py": shared,
        "train.py": f"{RECIPE}from {module} import {name}\n\n\ndef train():\n    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = True\n    cfg.checkpoint.ckpt_format = {value}\n    return cfg\n",
    }
    return Project(
        f"default of a {style}",
        language,
        files,
        ["train.py", f"{module}.py"],
        ["show train.train"],
        "ckpt_format=torch_dist",
        user,
    )


def two_ways(draw: random.Random) -> Project:
    """Draw a recipe with several ways to its end, every one of them at fault."""
    enable = draw.random() < 0.3
    on = "" if enable else "    cfg.ddp.use_megatron_fsdp = True\n"
    more = "        cfg.model.num_layers = 80\n"
    style = draw.choice(["early return", "else", "match", "try"])
    match style:
        case "early return":
            body = f"    if big:\n{more}        return cfg\n    return cfg\n"
        case "else":
            body = f"    if big:\n{more}        return cfg\n    else:\n        return cfg\n"
        case "match":
            body = f"    match big:\n        case True:\n    {more}            return cfg\n    return cfg\n"
        case _:
            body = f"    if big:\n        try:\n    {more}            return cfg\n        finally:\n            print('made')\n    return cfg\n"
    where = draw.choice(["before", "written", "elsewhere"])
    written = '    cfg.checkpoint.ckpt_format = "torch_dist"\n' if where == "written" else ""
    default = draw.choice(["big", "big=False", "big: bool = True"])
    files = {
        "train.py": f"{RECIPE}\n\ndef train({default}):\n    cfg = upstream()\n{written}{on}{body}",
        "plain.py": "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n\nprint(llama3_8b_pretrain_config().checkpoint.ckpt_format)\n",
    }
    if where == "elsewhere" and not enable:
        # The line that turns it on is in a file that is not to be edited.
        files["base.py"] = f"{RECIPE}\n\ndef sharded():\n    cfg = upstream()\n{on}    return cfg\n"
        files["train.py"] = f"from base import sharded\n\n\ndef train({default}):\n    cfg = sharded()\n{body}"
    return Project(
        "two ways" + (" (enable)" if enable else ""),
        "Python",
        files,
        ["train.py"],
        ["show 'train.train(True)'", "show 'train.train(False)'"],
        "use_megatron_fsdp=False" if enable else "ckpt_format=torch_dist",
        "python plain.py",
        enable="train.py::train" if enable else "",
    )


_TRAIN = "\n\ndef train():\n    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = True\n"


def shared_table(draw: random.Random) -> Project:
    """Draw a table of settings, or a registry of recipes, that two programs take from."""
    module = draw.choice(["presets", "tables", "common"])
    style = draw.choice(["settings", "by name", "registry", "decorated", "keywords", "enumeration", "tuple"])
    match style:
        case "settings":
            shared = 'CHECKPOINT = {"ckpt_format": "torch_dist", "save": "/ckpt", "load": "/ckpt"}\n'
            name, value = "CHECKPOINT", 'CHECKPOINT["ckpt_format"]'
            take = "    for key, given in CHECKPOINT.items():\n        setattr(cfg.checkpoint, key, given)\n"
        case "by name":
            shared = 'PRESETS = {\n    "fast": {"fmt": "torch_dist"},\n    "slow": {"fmt": "torch"},\n}\n'
            name, value = "PRESETS", 'PRESETS["fast"]["fmt"]'
            take = '    cfg.checkpoint.ckpt_format = PRESETS["fast"]["fmt"]\n'
        case "registry":
            shared = f'{RECIPE}\n\ndef base():\n    cfg = upstream()\n    cfg.checkpoint.ckpt_format = "torch_dist"\n    return cfg\n\n\nRECIPES = {{"base": base}}\n'
            name, value = "RECIPES", 'RECIPES["base"]().checkpoint.ckpt_format'
            take = ""
        case "decorated":
            shared = f'{RECIPE}\nRECIPES = {{}}\n\n\ndef recipe(make):\n    RECIPES[make.__name__] = make\n    return make\n\n\n@recipe\ndef base():\n    cfg = upstream()\n    cfg.checkpoint.ckpt_format = "torch_dist"\n    return cfg\n'
            name, value = "RECIPES", 'RECIPES["base"]().checkpoint.ckpt_format'
            take = ""
        case "keywords":
            shared = 'CHECKPOINT = dict(ckpt_format="torch_dist", save="/ckpt", load="/ckpt")\n'
            name, value = "CHECKPOINT", 'CHECKPOINT["ckpt_format"]'
            take = "    vars(cfg.checkpoint).update(CHECKPOINT)\n"
        case "enumeration":
            shared = 'import enum\n\n\nclass Formats(str, enum.Enum):\n    DEFAULT = "torch_dist"\n    OLD = "torch"\n'
            name, value = "Formats", "Formats.DEFAULT.value"
            take = "    cfg.checkpoint.ckpt_format = Formats.DEFAULT.value\n"
        case _:
            shared = 'FORMATS = ("torch_dist", "torch")\n'
            name, value = "FORMATS", "FORMATS[0]"
            take = "    cfg.checkpoint.ckpt_format = FORMATS[0]\n"
    language, files, user = second_user_of_python(draw, module, f"from {module} import {name}", f"print({value})\n")
    train = f"{RECIPE}from {module} import {name}\n{_TRAIN}{take}    return cfg\n"
    if not take:
        train = f'from {module} import {name}\n\n\ndef train():\n    cfg = {name}["base"]()\n    cfg.ddp.use_megatron_fsdp = True\n    return cfg\n'
    files |= {f"{module}.py": shared, "train.py": train}
    lint = draw.choice([["train.py", f"{module}.py"], ["train.py"]])
    return Project(f"table: {style}", language, files, lint, ["show train.train"], "ckpt_format=torch_dist", user)


def shared_offloading(draw: random.Random) -> Project:
    """Draw settings of a model that one run cannot have, and another one can."""
    module = draw.choice(["presets", "sizes"])
    style = draw.choice(["keywords", "constant", "function"])
    match style:
        case "keywords":
            shared = "PRESET = dict(cpu_offloading=True, cpu_offloading_num_layers=4, recompute_granularity=None)\n"
            name, take, value = "PRESET", "    cfg.model.__dict__.update(PRESET)\n", 'PRESET["cpu_offloading"]'
        case "constant":
            shared = "OFFLOAD = True\n"
            name, take, value = "OFFLOAD", "    cfg.model.cpu_offloading = OFFLOAD\n", "OFFLOAD"
        case _:
            shared = "def offload(model):\n    model.cpu_offloading = True\n    model.cpu_offloading_num_layers = 4\n    return model\n"
            name, take = "offload", "    offload(cfg.model)\n"
            value = 'vars(offload(type("N", (), {})()))'
    language, files, user = second_user_of_python(draw, module, f"from {module} import {name}", f"print({value})\n")
    files |= {
        f"{module}.py": shared,
        "train.py": f"{RECIPE}from {module} import {name}\n\n\ndef train():\n    cfg = upstream()\n    cfg.model.pipeline_model_parallel_size = 2\n    cfg.model.pipeline_dtype = cfg.model.params_dtype\n{take}    return cfg\n",
    }
    lint = draw.choice([["train.py", f"{module}.py"], ["train.py"]])
    return Project(f"offloading: {style}", language, files, lint, ["show train.train"], "refused: ", user)


def shared_environment(draw: random.Random) -> Project:
    """Draw a variable of the environment that one module sets for several programs, or that is read later."""
    module = draw.choice(["setup_env", "cluster"])
    style = draw.choice(["at import", "function", "table", "read later", "child"])
    write = f'os.environ["{CONNECTIONS}"] = "1"\n'
    body = f'import os\nprint("user", os.environ["{CONNECTIONS}"])\n'
    files: dict[str, str] = {}
    if style in ("read later", "child"):
        use = (
            f'    print("user", os.environ["{CONNECTIONS}"])\n'
            if style == "read later"
            else f'    subprocess.run(["bash", "-c", "echo user ${CONNECTIONS}"], check=True)\n'
        )
        language = "Python" if style == "read later" else "shell"
        files["train.py"] = (
            f"import os\nimport subprocess\n\n{RECIPE}\n\ndef train():\n    {write}    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = True\n"
            f'    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n    return cfg\n\n\ndef main():\n    train()\n{use}\n\nif __name__ == "__main__":\n    main()\n'
        )
        # The reader is a part of the very run at fault, so that nothing local would help it.
        return Project(
            f"environment: {style}",
            language,
            files,
            ["train.py"],
            ["show train.train"],
            f"{CONNECTIONS}=1",
            "python train.py",
            fixable=False,
            unsafe=True,
        )
    match style:
        case "at import":
            shared, name, take = f"import os\n\n{write}READY = True\n", "READY", ""
        case "function":
            shared, name, take = f"import os\n\n\ndef setup():\n    {write}", "setup", "    setup()\n"
            body = f"import os\nsetup()\n{body}"
        case _:
            shared = f'ENV = {{"{CONNECTIONS}": "1", "NCCL_DEBUG": "INFO"}}\n'
            name, take = "ENV", "    os.environ.update(ENV)\n"
            body = f'print("user", ENV["{CONNECTIONS}"])\n'
    language, files, user = second_user_of_python(draw, module, f"from {module} import {name}", body)
    files |= {
        f"{module}.py": shared,
        "train.py": f'import os\n\n{RECIPE}from {module} import {name}\n{_TRAIN}    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n{take}    return cfg\n',
    }
    lint = draw.choice([["train.py", f"{module}.py"], ["train.py"]])
    return Project(
        f"environment: {style}", language, files, lint, ["show train.train"], f"{CONNECTIONS}=1", user, unsafe=True
    )


def argument_list(draw: random.Random) -> Project:
    """Draw a list of words that Python starts a launch with, and another use of it."""
    module = draw.choice(["words", "flags"])
    shared = 'COMMON = ["--ckpt-format", "torch_dist", "--save", "/ckpt"]\n'
    fsdp = ", ".join(f'"{each}"' for each in FSDP.split())
    run = f'subprocess.run(["torchrun", "--nproc_per_node", "8", "pretrain_gpt.py", *COMMON, {fsdp}], check=True)\n'
    if draw.random() < 0.4:
        use = draw.choice(
            [
                "print('user', COMMON[:2])\n",
                "print('user', 'torch_dist' in COMMON)\n",
                "print('user', len(COMMON), *COMMON)\n",
            ]
        )
        files = {"launch.py": f"import subprocess\n\n{shared}{run}{use}"}
        return Project(
            "list of words",
            "Python",
            files,
            ["launch.py"],
            ["python launch.py | grep use_megatron_fsdp=True"],
            "ckpt_format=torch_dist",
            "python launch.py | grep ^user",
        )
    body = draw.choice(["print(COMMON[1])\n", "print('--loader', *COMMON[:2])\n"])
    language, files, user = second_user_of_python(draw, module, f"from {module} import COMMON", body)
    files |= {f"{module}.py": shared, "launch.py": f"import subprocess\n\nfrom {module} import COMMON\n\n{run}"}
    lint = draw.choice([["launch.py", f"{module}.py"], ["launch.py"]])
    return Project("list of words", language, files, lint, ["python launch.py"], "ckpt_format=torch_dist", user)


def inherited_default(draw: random.Random) -> Project:
    """Draw a default that a class inherits, or that a function fills in."""
    module = draw.choice(["options", "schema"])
    style = draw.choice(["subclass", "field", "partial", "keyword only", "named tuple", "property", "post init"])
    head = "from dataclasses import dataclass, field\n\n\n@dataclass\nclass Options:\n"
    match style:
        case "subclass":
            shared = f'{head}    fmt: str = "torch_dist"\n\n\n@dataclass\nclass Large(Options):\n    width: int = 8\n'
            value, mine, name, other = "Options().fmt", "Large().fmt", "Options", "Large"
        case "field":
            shared = f'{head}    fmt: str = field(default="torch_dist", metadata={{"help": "of a checkpoint"}})\n'
            value = mine = "Options().fmt"
            name = other = "Options"
        case "partial":
            shared = 'from functools import partial\n\n\ndef make(fmt, width=8):\n    return fmt\n\n\nmade = partial(make, "torch_dist")\n'
            value = mine = "made()"
            name = other = "made"
        case "keyword only":
            shared = 'def made(*, fmt: str = "torch_dist", width: int = 8) -> str:\n    return fmt\n'
            value = mine = "made()"
            name = other = "made"
        case "named tuple":
            shared = 'from typing import NamedTuple\n\n\nclass Options(NamedTuple):\n    fmt: str = "torch_dist"\n    width: int = 8\n'
            value = mine = "Options().fmt"
            name = other = "Options"
        case "property":
            shared = 'class Options:\n    @property\n    def fmt(self):\n        return "torch_dist"\n'
            value = mine = "Options().fmt"
            name = other = "Options"
        case _:
            shared = f'{head}    fmt: str = ""\n\n    def __post_init__(self):\n        self.fmt = self.fmt or "torch_dist"\n'
            value = mine = "Options().fmt"
            name = other = "Options"
    language, files, user = second_user_of_python(draw, module, f"from {module} import {name}", f"print({value})\n")
    files |= {
        f"{module}.py": shared,
        "train.py": f"{RECIPE}from {module} import {other}\n{_TRAIN}    cfg.checkpoint.ckpt_format = {mine}\n    return cfg\n",
    }
    lint = draw.choice([["train.py", f"{module}.py"], ["train.py"]])
    return Project(f"inherited: {style}", language, files, lint, ["show train.train"], "ckpt_format=torch_dist", user)


def more_ways(draw: random.Random) -> Project:
    """Draw a recipe that takes several ways, or makes several configurations, each at fault."""
    enable = draw.random() < 0.25
    on = "" if enable else "    cfg.ddp.use_megatron_fsdp = True\n"
    style = draw.choice(["sizes", "nested", "with", "loop", "conditional", "guard", "two parameters"])
    default = ""
    match style:
        case "sizes":
            default, calls = 'size="8b"', ['"8b"', '"70b"', '"405b"']
            body = f'    cfg = upstream()\n{on}    if size == "8b":\n        return cfg\n    if size == "70b":\n        cfg.model.num_layers = 80\n        return cfg\n    cfg.model.num_layers = 126\n    return cfg\n'
        case "nested":
            default, calls = "big=False", ["True", "False"]
            body = f"    def make():\n        made = upstream()\n        return made\n\n    cfg = make()\n{on}    if big:\n        cfg.model.num_layers = 80\n        return cfg\n    return cfg\n"
        case "with":
            default, calls = "big=False", ["True", "False"]
            body = f"    import contextlib\n\n    cfg = upstream()\n{on}    with contextlib.nullcontext():\n        if big:\n            return cfg\n    return cfg\n"
        case "loop":
            default, calls = "big=False", ["True", "False"]
            body = f"    cfg = upstream()\n{on}    for layers in (32, 80):\n        cfg.model.num_layers = layers\n        if not big:\n            return cfg\n    return cfg\n"
        case "conditional":
            default, calls = "big=False", ["True", "False"]
            body = f"    cfg = upstream()\n{on}    return changed(cfg) if big else cfg\n"
        case "guard":
            default, calls = "big=None", ["True", "None"]
            body = f"    cfg = upstream()\n{on}    if big is None:\n        return cfg\n    cfg.model.num_layers = 80\n    return cfg\n"
        case _:
            default, calls = "big=False, long=False", ["True, True", "True, False", "False, True", "False, False"]
            body = f"    cfg = upstream()\n{on}    if big:\n        if long:\n            cfg.model.seq_length = 8192\n            return cfg\n        return cfg\n    elif long:\n        return cfg\n    return cfg\n"
    files = {
        "train.py": f"{RECIPE}\n\ndef changed(cfg):\n    cfg.model.num_layers = 80\n    return cfg\n\n\ndef train({default}):\n{body}",
    }
    language, more, user = second_user_of_python(
        draw,
        "train",
        "from train import changed",
        'print(vars(changed(__import__("types").SimpleNamespace(model=__import__("types").SimpleNamespace())).model))\n',
    )
    return Project(
        f"ways: {style}" + (" (enable)" if enable else ""),
        language,
        files | more,
        ["train.py"],
        [f"show {quote(f'train.train({each})')}" for each in calls],
        "use_megatron_fsdp=False" if enable else "ckpt_format=torch_dist",
        user,
        enable="train.py::train" if enable else "",
    )


def made_at_import(draw: random.Random) -> Project:
    """Draw a configuration that a module makes once, which one program completes and another one takes as it is."""
    module = draw.choice(["base", "shared"])
    shared = f'{RECIPE}\ncfg = upstream()\ncfg.checkpoint.ckpt_format = "torch_dist"\n'
    language, files, user = second_user_of_python(
        draw, module, f"from {module} import cfg", "print(cfg.checkpoint.ckpt_format)\n"
    )
    start = draw.choice(["from copy import deepcopy\n", ""])
    made = "deepcopy(base)" if start else "base"
    files |= {
        f"{module}.py": shared,
        "train.py": f"{start}from {module} import cfg as base\n\n\ndef train():\n    cfg = {made}\n    cfg.ddp.use_megatron_fsdp = True\n    return cfg\n",
    }
    lint = draw.choice([["train.py", f"{module}.py"], ["train.py"]])
    return Project("made at import", language, files, lint, ["show train.train"], "ckpt_format=torch_dist", user)
