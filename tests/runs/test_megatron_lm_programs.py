"""A program of Megatron-LM adds to its command line: defaults of the parser, args_defaults, assignments before
validation."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known, Value
from tests.runs.project import Project

PROVIDER = """\
def options(parser):
    group = parser.add_argument_group("ours")
    group.add_argument("--note", default="")
    {0}
    return parser
"""
BODY = """\
from megatron.training import get_args, initialize_megatron, pretrain
from megatron.training.arguments import parse_args, validate_args

from ours import options


def main():
    {0}


if __name__ == "__main__":
    main()
"""
PRETRAIN = "pretrain(None, None, None, None, {0})"
FLAGS = "--num-layers 8 --bf16 --micro-batch-size 1"
STRATEGY, FORMAT = "ddp.data_parallel_sharding_strategy", "checkpoint.ckpt_format"
FSDP = "ddp.use_megatron_fsdp"


def started(project: Project, body: str, provider: str = "pass", flags: str = FLAGS) -> Recipe:
    project.write("ours.py", PROVIDER.format(provider))
    project.write("train.py", BODY.format(body))
    project.write("run.sh", f"torchrun --nproc_per_node 8 train.py {flags}\n")
    (recipe,) = project.runs("run.sh")
    return recipe


def values(recipe: Recipe, *paths: str) -> list[Value]:
    return [recipe.variants[0].value(path) for path in paths]


SET = 'parser.set_defaults(use_megatron_fsdp=True, data_parallel_sharding_strategy="optim_grads_params")'
BY_PROVIDER = PRETRAIN.format("extra_args_provider=options")


def test_defaults_of_the_parser_hold_where_no_flag_is_given(project: Project) -> None:
    recipe = started(project, BY_PROVIDER, SET, f"{FLAGS} --data-parallel-sharding-strategy optim")
    assert recipe.front_end == MEGATRON_LM
    assert values(recipe, FSDP, STRATEGY, FORMAT) == [Known(True), Known("optim"), Known("torch_dist")]
    origin = recipe.variants[0].origin(FSDP)
    assert origin is not None
    assert (origin.point.path, origin.point.line) == ("ours.py", 4)


@pytest.mark.parametrize(
    "provider",
    [
        pytest.param("group.set_defaults(use_megatron_fsdp=True)", id="of a group"),
        pytest.param('parser.set_defaults(**{"use_megatron_fsdp": True})', id="of a table"),
        pytest.param('parser.add_argument("--ours", dest="use_megatron_fsdp", action="store_true")', id="by a word"),
    ],
)
def test_other_ways_to_set_what_a_flag_sets(project: Project, provider: str) -> None:
    flags = f"{FLAGS} --ours" if "--ours" in provider else FLAGS
    assert values(started(project, BY_PROVIDER, provider, flags), FSDP) == [Known(True)]


@pytest.mark.parametrize(
    "provider",
    [
        pytest.param(f"{SET}; import elsewhere; elsewhere.add(parser)", id="code out of sight has the parser"),
        pytest.param(f"{SET}; [setattr(each, 'default', None) for each in parser._actions]", id="its own insides"),
        pytest.param(f"{SET}; import elsewhere; parser.set_defaults(**elsewhere.DEFAULTS)", id="any defaults"),
    ],
)
def test_what_may_change_other_defaults_leaves_them_unknown(project: Project, provider: str) -> None:
    assert values(started(project, BY_PROVIDER, provider), FORMAT) == [UNKNOWN]


def test_args_defaults_fill_in_what_is_none(project: Project) -> None:
    given = 'args_defaults={"use_megatron_fsdp": True, "save": "/ckpt", "ckpt_format": "fsdp_dtensor"}'
    recipe = started(project, PRETRAIN.format(given))
    assert values(recipe, FSDP, "checkpoint.save", FORMAT) == [Known(False), Known("/ckpt"), Known("torch_dist")]


@pytest.mark.parametrize(
    "body",
    [
        "args = parse_args(options)\n    args.use_megatron_fsdp = True\n    validate_args(args)",
        "args = parse_args()\n    args.use_megatron_fsdp = True\n    initialize_megatron(parsed_args=args)",
        "args = parse_args()\n    vars(args).update(use_megatron_fsdp=True)\n    validate_args(args, {})",
    ],
)
def test_assignments_between_parsing_and_validation(project: Project, body: str) -> None:
    assert values(started(project, body), FSDP, FORMAT) == [Known(True), Known("torch_dist")]


def test_what_comes_behind_validation_does_not_matter(project: Project) -> None:
    body = f"{BY_PROVIDER}\n    for step in range(10000):\n        print(step)"
    assert values(started(project, body, SET), FSDP, FORMAT) == [Known(True), Known("torch_dist")]


def test_arguments_that_code_out_of_sight_has_are_unknown(project: Project) -> None:
    body = "args = parse_args()\n    args.use_megatron_fsdp = True\n    import x; x.f(args)\n    validate_args(args)"
    assert values(started(project, body), FSDP, FORMAT) == [UNKNOWN, UNKNOWN]


def test_a_program_that_adds_nothing_is_the_run_of_its_flags(project: Project) -> None:
    recipe = started(project, BY_PROVIDER, flags=f"{FLAGS} --use-megatron-fsdp")
    assert (recipe.kind, values(recipe, FSDP, FORMAT)) == ("arguments", [Known(True), Known("torch_dist")])


def test_words_that_the_program_puts_into_sys_argv(project: Project) -> None:
    body = (
        'import sys\n    sys.argv[1:] = ["--ckpt-format", "torch"] + sys.argv[1:]\n'
        f'    sys.argv += ["--context-parallel-size", "2"]\n    {BY_PROVIDER}'
    )
    recipe = started(project, body, SET)
    paths = FORMAT, "model.context_parallel_size", "model.bf16", "model.tensor_model_parallel_size"
    assert values(recipe, *paths) == [Known("torch"), Known(2), Known(True), Known(1)]
    origin = recipe.variants[0].origin(FORMAT)
    assert origin is not None
    assert (origin.point.path, origin.point.line) == ("train.py", 9)


def told(project: Project, capsys: pytest.CaptureFixture[str], code: str) -> list[str]:
    project.lint(".")
    lines = capsys.readouterr().out.splitlines()
    return [" ".join(line.split()[:3]) for line in lines if code in line]


ASKED = PRETRAIN.format('args_defaults={"use_megatron_fsdp": True}')


def test_fsdp_in_args_defaults_is_told(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    started(project, ASKED)
    assert told(project, capsys, "MFSDP707") == ["train.py:8:74: warning MFSDP707"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(PRETRAIN.format('args_defaults={"use_megatron_fsdp": False}'), id="it is not asked for"),
        pytest.param(
            PRETRAIN.format('None, options, {"save": "/ckpt", "use_torch_fsdp2": False}'), id="a default that counts"
        ),
        pytest.param(BY_PROVIDER, id="none are given"),
    ],
)
def test_no_fsdp_is_ignored_where(project: Project, capsys: pytest.CaptureFixture[str], body: str) -> None:
    started(project, body, SET)
    assert told(project, capsys, "MFSDP707") == []


def test_without_a_start_only_what_the_program_says_is_known(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write("ours.py", PROVIDER.format("parser.set_defaults(use_torch_fsdp2=True)"))
    project.write("train.py", BODY.format(BY_PROVIDER))
    project.lint("train.py")
    assert "MFSDP252" not in capsys.readouterr().out  # a flag may turn the fusion off
    project.write("ours.py", PROVIDER.format("parser.set_defaults(use_torch_fsdp2=True, use_megatron_fsdp=True)"))
    assert told(project, capsys, "MFSDP201") == ["ours.py:4:25: error MFSDP201"]


def test_a_module_in_a_list_of_words(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("pkg/train.py", BODY.format(ASKED).replace("from ours", "from pkg.ours"))
    project.write("pkg/ours.py", PROVIDER.format("pass"))
    project.write("Dockerfile", 'FROM base\nCOPY pkg /work/pkg\nWORKDIR /work\nCMD ["torchrun", "-m", "pkg.train"]\n')
    assert told(project, capsys, "MFSDP707") == ["pkg/train.py:8:74: warning MFSDP707"]


LOOP = """\
from megatron.core.distributed import {0}


def main():
    model = {0}(config=None, ddp_config=None, module=None)
    for _ in range(10):
        model.step()


if __name__ == "__main__":
    main()
"""


def test_a_loop_that_wraps_the_model_itself_is_not_judged_and_told(project: Project) -> None:
    project.write("loop.py", LOOP.format("TorchFullyShardedDataParallel"))
    (told,) = project.unfollowed("loop.py")
    assert (told.line, told.why) == (4, "out of sight")
    assert "TorchFullyShardedDataParallel" in told.message
    project.write("loop.py", LOOP.format("DistributedDataParallel"))
    assert project.unfollowed("loop.py") == ()


def test_fsdp_that_is_switched_on_behind_validation_is_told(project: Project) -> None:
    body = "initialize_megatron()\n    args = get_args()\n    args.use_megatron_fsdp = {0}"
    project.write("train.py", BODY.format(body.format(True)))
    (told,) = project.unfollowed("train.py")
    assert "assigns use_megatron_fsdp" in told.message
    project.write("train.py", BODY.format(body.format(False)))
    assert project.unfollowed("train.py") == ()
