"""A script that builds its configuration from options is judged as it is when started without any."""

# Statements are easier to tell apart with one in a line.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

SCRIPT = """\
import argparse
from dataclasses import dataclass, field


@dataclass
class DDP:
    use_megatron_fsdp: bool = False


@dataclass
class Model:
    tensor_model_parallel_size: int = 1
    pipeline_model_parallel_size: int = 1
    context_parallel_size: int = 1


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)
    model: Model = field(default_factory=Model)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plain", dest="fsdp", action="store_false")
    group = parser.add_argument_group("parallelism")
    group.add_argument("--tensor-parallel", "-t", type=int, default=4)
    group.add_argument("--pipeline-parallel", type=int, required=True)
    return parser


def main():
    args = options().parse_args(ARGUMENTS)
    cfg = ConfigContainer()
    cfg.ddp.use_megatron_fsdp = args.fsdp
    cfg.model.tensor_model_parallel_size = args.tensor_parallel
    cfg.model.pipeline_model_parallel_size = args.pipeline_parallel
    return cfg


if __name__ == "__main__":
    main()
"""


def read(text: str) -> Recipe:
    return next(each for each in read_python(["train.py"], Sources({"train.py": text})).recipes if each.name == "main")


def values(arguments: str, before: str = "") -> dict[str, Value]:
    script = SCRIPT.replace("    args =", f"    {before}\n    args =") if before else SCRIPT
    recipe = read("import sys\nfrom elsewhere import words\n" + script.replace("ARGUMENTS", arguments))
    names = ("ddp.use_megatron_fsdp", "model.tensor_model_parallel_size", "model.pipeline_model_parallel_size")
    return {name: recipe.setting(name).value for name in names}


def test_an_option_is_its_default_and_one_without_is_unknown() -> None:
    assert values("") == {
        "ddp.use_megatron_fsdp": Known(True),
        "model.tensor_model_parallel_size": Known(4),
        "model.pipeline_model_parallel_size": UNKNOWN,
    }


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        pytest.param('type=int, default="4"', Known(4), id="a type of Python's own"),
        pytest.param('type=lambda said: int(said) * 2, default="4"', Known(8), id="a function of the program"),
        pytest.param('type=lambda said: len(Path(said).parts), default="/a/b"', Known(3), id="with a path"),
        pytest.param('type=int, default="four"', UNKNOWN, id="which refuses it"),
        pytest.param('type=elsewhere, default="4"', UNKNOWN, id="which is not at hand"),
        pytest.param("type=str, default=4", Known(4), id="of a default that is no text"),
    ],
)
def test_a_default_that_is_text_is_converted_to_the_type(declared: str, value: Value) -> None:
    script = SCRIPT.replace("type=int, default=4", declared).replace("ARGUMENTS", "")
    recipe = read(f"from pathlib import Path\nfrom elsewhere import elsewhere\n{script}")
    assert recipe.setting("model.tensor_model_parallel_size").value == value


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ('nargs="*"', Known(4)),
        ("nargs=argparse.REMAINDER", Known(4)),
        ('nargs="*", default=["x"]', Known(5)),
        ('nargs="+"', NOT_NONE),
        ("", NOT_NONE),
    ],
)
def test_words_that_nobody_needs_to_give_are_none(declared: str, value: Value) -> None:
    script = SCRIPT.replace("    return parser", f'    parser.add_argument("words", {declared})\n    return parser')
    script = script.replace("= args.tensor_parallel", "= 4 + len(args.words)").replace("ARGUMENTS", "")
    assert read(script).setting("model.tensor_model_parallel_size").value == value


@pytest.mark.parametrize("arguments", ['["--tensor-parallel", "2"]', 'args=["--tensor-parallel", "2"]'])
def test_words_that_the_script_gives_itself_are_parsed(arguments: str) -> None:
    assert values(arguments) == {**values(""), "model.tensor_model_parallel_size": Known(2)}


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        pytest.param('["--pipeline-parallel", "2"]', Known(2), id="that is not given"),
        pytest.param('["--more-9", "x", "--pipeline-parallel", "2"]', UNKNOWN, id="that is given"),
    ],
)
def test_an_option_of_which_nobody_knows_whether_it_is_declared(arguments: str, size: Value) -> None:
    # So many that the sides are joined.
    more = "".join(f'if find_spec("p{n}"):\n        parser.add_argument("--more-{n}")\n    ' for n in range(12))
    script = SCRIPT.replace("return parser", f"{more}return parser").replace("ARGUMENTS", arguments)
    recipe = read(f"from importlib.util import find_spec\n{script}")
    assert recipe.setting("model.pipeline_model_parallel_size").value == size


@pytest.mark.parametrize(
    "statement",
    [
        'sys.argv = ["train.py", "--tensor-parallel", "2"]',
        'sys.argv = sys.argv[:1] + ["-t", "2"]',
        'sys.argv += ["--tensor-parallel=2"]',
        'sys.argv.extend(["--tensor-parallel", "2"])',
        'sys.argv.append("-t2")',
        'sys.argv[1:] = ["--tensor-parallel", "2"]',
        'sys.argv.clear()\n    sys.argv.insert(0, "x")\n    sys.argv.append("-t2")',
    ],
)
def test_words_that_the_script_puts_in_place_of_its_own_are_parsed(statement: str) -> None:
    parsed = values("sys.argv[1:]", before=statement)
    assert parsed == {**values(""), "model.tensor_model_parallel_size": Known(2)}
    assert values("", before=statement) == parsed


@pytest.mark.parametrize("statement", ["sys.argv = words()", "sys.argv += words()"])
def test_words_that_the_script_puts_there_and_that_are_not_known(statement: str) -> None:
    assert values("", before=statement)["model.tensor_model_parallel_size"] == UNKNOWN


def test_words_that_are_not_known_may_give_any_option() -> None:
    assert set(values("open('a').read().split()").values()) == {UNKNOWN}


@pytest.mark.parametrize("arguments", ["None", "[]", "args=[]", "sys.argv[1:]"])
def test_without_words_an_option_is_its_default(arguments: str) -> None:
    assert values(arguments) == values("")


SIZE = "cfg.model.context_parallel_size = "

FLOWS = {
    "as it is": (SIZE + "args.tensor_parallel", 4, "--tensor-parallel"),
    "under its destination": ("cfg.ddp.use_megatron_fsdp = args.fsdp", True, "--plain"),
    "by name": (SIZE + "getattr(args, 'tensor_parallel')", 4, "--tensor-parallel"),
    "calculated with": (SIZE + "args.tensor_parallel * 2", 8, "--tensor-parallel"),
    "compared": ("cfg.ddp.use_megatron_fsdp = args.tensor_parallel > 4", False, "--tensor-parallel"),
    "negated": ("cfg.ddp.use_megatron_fsdp = not args.fsdp", False, "--plain"),
    "in a text": (SIZE + "f'{args.tensor_parallel}x'", "4x", "--tensor-parallel"),
    "through a built-in": (SIZE + "max(1, args.tensor_parallel)", 4, "--tensor-parallel"),
    "of several options": (SIZE + "args.tensor_parallel if args.fsdp is None else args.both", 7, "--both, --the-other"),
    "through a parameter": ("change(cfg, args.tensor_parallel)", 4, "--tensor-parallel"),
    "through all parameters": ("change(cfg, **{'size': args.tensor_parallel})", 4, "--tensor-parallel"),
    "with a fallback": (SIZE + "args.tensor_parallel or 1", 4, "--tensor-parallel"),
    "a constructor's argument": ("cfg.model = Model(1, 1, args.tensor_parallel)", 4, "--tensor-parallel"),
    "a replaced field": ("cfg.model = replace(cfg.model, context_parallel_size=args.tensor_parallel)", 4, "--tensor-parallel"),
    "an environment variable": ("os.environ['NCCL_A'] = str(args.tensor_parallel)", "4", "--tensor-parallel"),
    "chosen by it": (SIZE + "{(4, True): 9}[args.tensor_parallel, args.fsdp]", 9, ""),
    "of its own": (SIZE + "2", 2, ""),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "value", "option"), FLOWS.values(), ids=FLOWS.keys())
def test_a_value_knows_the_option_that_it_comes_from(statement: str, value: object, option: str) -> None:
    text = SCRIPT.replace("ARGUMENTS", "").replace("    return cfg\n", f"    {statement}\n    return cfg\n")
    text = text.replace("import argparse\n", "import argparse\nimport os\nfrom dataclasses import replace\n")
    text = text.replace("    return parser\n", "    parser.add_argument('--both', default=7, dest='both')\n"
        "    parser.add_argument('--the-other', dest='both')\n    return parser\n")  # fmt: skip
    text += "\n\ndef change(cfg, size):\n    cfg.model.context_parallel_size = size\n"
    path = next(
        path
        for start, path in (
            ("os.environ", "env.NCCL_A"), ("cfg.ddp", "ddp.use_megatron_fsdp"), ("", "model.context_parallel_size"),
        )
        if statement.startswith(start)
    )  # fmt: skip
    setting = read(text).setting(path)
    assert setting.value == Known(value)  # type: ignore[arg-type]
    assert setting.origin is not None
    assert setting.origin.option == option


def test_what_an_option_must_give_is_the_options_as_well() -> None:
    setting = read(SCRIPT.replace("ARGUMENTS", "")).setting("model.pipeline_model_parallel_size")
    assert setting.origin is not None
    assert setting.origin.option == "--pipeline-parallel"


PARSERS = {
    "a loop over all options": (
        """
    parser = argparse.ArgumentParser()
    parser.add_argument("--use_megatron_fsdp", type=bool, default=True)
    for name, value in vars(parser.parse_args()).items():
        setattr(cfg.ddp, name, value)
""",
        Known(True),
    ),
    "a loop over the options that a helper file adds to": (
        """
    parser = argparse.ArgumentParser()
    parser.add_argument("--use_megatron_fsdp", type=bool, default=True)
    parser = add_more_options(parser)
    for name, value in vars(parser.parse_args()).items():
        setattr(cfg.ddp, name, value)
""",
        UNKNOWN,
    ),
    "the options of another parser": (
        """
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--fsdp", action=argparse.BooleanOptionalAction, default=True)
    parser = argparse.ArgumentParser(parents=[common])
    cfg.ddp.use_megatron_fsdp = parser.parse_args().fsdp
""",
        Known(True),
    ),
    "a command's option": (
        """
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train")
    train.add_argument("--fsdp", type=int, default=1)
    cfg.ddp.use_megatron_fsdp = bool(parser.parse_args().fsdp)
""",
        Known(True),
    ),
    "two commands with different defaults": (
        """
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("train").add_argument("--fsdp", type=int, default=1)
    commands.add_parser("tune").add_argument("--fsdp", type=int, default=0)
    cfg.ddp.use_megatron_fsdp = bool(parser.parse_args().fsdp)
""",
        NOT_NONE,
    ),
    "a group that code out of sight adds to": (
        """
    parser = argparse.ArgumentParser()
    parser.add_argument("--overlap", default=True)
    add_more_options(parser.add_argument_group("more"))
    for name, value in vars(parser.parse_args()).items():
        setattr(cfg.ddp, name, value)
""",
        UNKNOWN,
    ),
}


@pytest.mark.parametrize("parser", PARSERS)
def test_parsers(parser: str) -> None:
    statements, expected = PARSERS[parser]
    text = SCRIPT.partition("def options")[0].replace(
        "import argparse\n", "import argparse\nfrom tools import add_more_options\n"
    )
    recipe = read(f"{text}def main():\n    cfg = ConfigContainer()\n{statements}    return cfg\n")
    assert recipe.setting("ddp.use_megatron_fsdp").value == expected


def test_one_option_of_a_required_group_is_given() -> None:
    text = (
        SCRIPT.partition("def options")[0]
        + """
def main():
    parser = argparse.ArgumentParser()
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--sharded", action="store_true")
    group.add_argument("--wide", action="store_true")
    args = parser.parse_args()
    cfg = ConfigContainer()
    if args.sharded:
        cfg.ddp.use_megatron_fsdp = True
    elif args.wide:
        cfg.model.tensor_model_parallel_size = 8
    else:
        raise ValueError("one of them")
    return cfg
"""
    )
    found = [
        (each.settings.value("ddp.use_megatron_fsdp"), each.settings.value("model.tensor_model_parallel_size"))
        for each in read(text).variants
    ]
    assert found == [(Known(True), Known(1)), (Known(False), Known(8))]


def test_an_option_that_the_program_cannot_do_without_is_given() -> None:
    text = (
        SCRIPT.partition("def options")[0].replace("import argparse\n", "import argparse\nimport os\n")
        + """
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--home")
    parser.add_argument("--tp", type=int, default=2)
    args = parser.parse_args()
    cfg = ConfigContainer()
    cfg.model.tensor_model_parallel_size = args.tp
    cfg.model.save = os.path.join(args.home, "checkpoints")
    return cfg
"""
    )
    assert read(text).setting("model.tensor_model_parallel_size").value == Known(2)


def test_a_variable_that_the_program_cannot_do_without_is_given() -> None:
    text = (
        SCRIPT.partition("def options")[0].replace("import argparse\n", "import os\n")
        + """
def variable(name, default=None, cast=str):
    value = os.environ.get(name, default)
    if value is None:
        raise RuntimeError(name)
    return cast(value)


def main():
    cfg = ConfigContainer()
    cfg.model.save = variable("SAVE_DIR")
    cfg.model.tensor_model_parallel_size = variable("TP", "2", int)
    return cfg
"""
    )
    recipe = read(text)
    assert recipe.setting("model.tensor_model_parallel_size").value == Known(2)
    assert not isinstance(recipe.setting("model.save").value, Known)


def test_a_function_of_the_module_by_the_name_that_an_option_gives() -> None:
    text = (
        SCRIPT.partition("def options")[0].replace("import argparse\n", "import argparse\nimport sys\n")
        + """
def small():
    return ConfigContainer(model=Model(8))

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--recipe", default="small")
    return getattr(sys.modules[__name__], parser.parse_args().recipe)()
"""
    )
    assert read(text).setting("model.tensor_model_parallel_size").value == Known(8)


TASKS = {
    "a task": ("task = run.Partial(train, cfg=build())\n    run.run(task, executor=run.LocalExecutor())", False),
    "a changed task": ("task = run.Partial(train, cfg=build())\n    task.cfg.ddp.use_megatron_fsdp = True\n    run.run(task)", True),
    "a configuration that the task makes": ("run.run(run.Partial(train, cfg=run.Config(build, fsdp=True)))", True),
    "a task of an experiment": (
        "with run.Experiment('fsdp') as experiment:\n        experiment.add(run.Partial(train, cfg=build(True)))\n        experiment.run()",
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_a_task_of_nemo_run_is_run(task: str) -> None:
    statements, expected = TASKS[task]
    text = SCRIPT.partition("def options")[0].replace(
        "import argparse\n", "import nemo_run as run\nfrom megatron.bridge.training.pretrain import pretrain\n"
    )
    text += "def build(fsdp=False):\n    return ConfigContainer(ddp=DDP(fsdp))\n\n\ndef train(cfg):\n    pretrain(cfg, None)\n\n\n"
    recipe = read(f"{text}def main():\n    {statements}\n")
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(expected)


def test_a_command_has_the_options_of_its_parents() -> None:
    text = SCRIPT.replace("ARGUMENTS", "").replace(
        "    return parser\n",
        "    whole = argparse.ArgumentParser()\n"
        "    commands = whole.add_subparsers()\n"
        "    for name in ('fit', 'test'):\n"
        "        commands.add_parser(name, parents=[parser])\n"
        "    return whole\n",
    )
    assert read(text).setting("model.tensor_model_parallel_size").value == Known(4)


STEP = """
import argparse, functools, inspect
from dataclasses import dataclass, field

@dataclass
class Model:
    tensor_model_parallel_size: int = 1

@dataclass
class ConfigContainer:
    model: Model = field(default_factory=Model)

def step(batch): ...

class Step: ...

STEPS = {{"function": step, "class": Step}}

@functools.lru_cache(maxsize=None)
def load(name):
    return STEPS[name]

def recipe():
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", default="{default}")
    cfg = ConfigContainer()
    cfg.model.tensor_model_parallel_size = 2 if inspect.isclass(load(parser.parse_args().step)) else 4
    return cfg
"""


@pytest.mark.parametrize(("default", "size"), [("function", 4), ("class", 2)])
def test_what_a_cached_function_gives_for_an_option_is_known(default: str, size: int) -> None:
    sources = Sources({"script.py": STEP.format(default=default)})
    (found,) = read_python(["script.py"], sources).recipes
    assert found.setting("model.tensor_model_parallel_size").value == Known(size)
