"""PlainSettings as a command line of Megatron-LM: which attributes they are, and what its validation says of them."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.commands import dry_run
from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.dryrun import run as of_a_check
from mfsdp_lint.dryrun.containment import contained
from mfsdp_lint.dryrun.introspection import confirm, question, tree_at, validate, validator
from mfsdp_lint.dryrun.inventory import Installed
from mfsdp_lint.dryrun.outcome import PlainSettings, RunOutcome
from mfsdp_lint.dryrun.subject import Examiner, KnownSettings, Subject, can_be_tried, recipe_of
from mfsdp_lint.dryrun.verify import verify_command_line
from mfsdp_lint.inputs.detect import with_core
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.readers.yaml.read import read_yaml
from mfsdp_lint.rules.load import load_rules
from tests.dryrun.samples import PASSED, failed, refuses

TARGET = with_core("0.16.1", "as asked")
JUDGE = Examiner(TARGET, [rule for rule in load_rules() if rule.preset is None], front_end=MEGATRON_LM)

WRONG_FORMAT = "AssertionError: Megatron FSDP only supports fsdp_dtensor checkpoint format"
FUSED = "AssertionError: --use-torch-fsdp2 is not supported with gradient accumulation fusion"


def recipe(text: str) -> Recipe:
    """The one recipe of a functional test."""
    (found,) = read_yaml("model_config.yaml", text, TARGET)
    return found


def subject(settings: PlainSettings) -> Subject:
    """PlainSettings of the command line, and what the rules say of them."""
    return JUDGE.subjects([replace(recipe_of(settings), front_end=MEGATRON_LM)])[0]


def asked(settings: PlainSettings, original: PlainSettings | None = None) -> dict[str, Any]:
    """What the process is asked about."""
    return question(settings, settings if original is None else original, "0.16.1")


def test_a_setting_is_asked_by_the_name_that_the_parsed_arguments_have() -> None:
    found = asked({"checkpoint.ckpt_format": "torch", "model.fp8_param": True})
    assert found["attributes"] == {"checkpoint.ckpt_format": ["ckpt_format"], "model.fp8_param": ["fp8_param_gather"]}


def test_of_a_renamed_attribute_the_name_of_this_version_comes_first() -> None:
    name = "dist.use_gloo_process_groups"
    assert asked({name: False})["attributes"][name][0] == "enable_gloo_process_groups"


def test_an_attribute_that_means_the_opposite_has_the_opposite_value() -> None:
    assert asked({"model.share_embeddings_and_output_weights": False})["settings"] == {
        "model.share_embeddings_and_output_weights": True
    }


def test_what_no_flag_sets_has_no_attribute() -> None:
    assert asked({"dist.lazy_init": True})["attributes"] == {"dist.lazy_init": []}


def test_an_environment_variable_is_no_flag() -> None:
    found = asked({"env.NCCL_DEBUG": "INFO"})
    assert found["settings"] == {"env.NCCL_DEBUG": "INFO"}
    assert found["attributes"] == {}


TWINS = {"dist.use_megatron_fsdp": True, "ddp.use_megatron_fsdp": True}
"""Two settings that one flag stands for."""


def test_where_one_flag_stands_for_two_settings_both_are_said() -> None:
    assert asked(TWINS)["settings"] == TWINS


def test_the_setting_that_was_changed_decides_for_its_twin() -> None:
    assert asked({**TWINS, "dist.use_megatron_fsdp": False}, TWINS)["settings"] == {"dist.use_megatron_fsdp": False}


def test_the_setting_that_was_taken_out_takes_its_twin_with_it() -> None:
    assert asked({"ddp.use_megatron_fsdp": True}, TWINS)["settings"] == {}


def test_a_flag_that_only_another_version_has_is_left_to_the_parser() -> None:
    assert asked({"args.use_custom_fsdp": True})["foreign"] == {"args.use_custom_fsdp": "--use-custom-fsdp"}


@pytest.mark.parametrize("name", ["flag_of_a_script_of_their_own", "data_path"])
def test_a_flag_of_this_version_or_of_none_is_not(name: str) -> None:
    assert asked({f"args.{name}": "x"})["foreign"] == {}


# -- what is given of a recipe -------------------------------------------------------------------------------------


def test_only_what_is_written_is_given_and_the_rest_left_to_the_parser() -> None:
    (found,) = JUDGE.subjects([recipe("ENV_VARS:\n  NCCL_DEBUG: INFO\nMODEL_ARGS:\n  --use-megatron-fsdp: true\n")])
    assert found.given.settings == {**TWINS, "env.NCCL_DEBUG": "INFO"}


def test_a_recipe_of_megatron_bridge_is_left_out() -> None:
    assert JUDGE.subjects([recipe_of(TWINS)]) == []


def test_what_start_up_refuses_can_be_tried_and_what_happens_later_cannot() -> None:
    found = subject({**TWINS, "checkpoint.ckpt_format": "torch_dist", "model.pipeline_model_parallel_size": 2})
    tried = {each.rule.code: can_be_tried(each) for each in found.violations}
    assert (tried["MFSDP101"], tried["MFSDP350"]) == (True, False)


# -- verdicts ------------------------------------------------------------------------------------------------------


def only_fsdp_dtensor(settings: PlainSettings) -> str:
    """As the real one, which has torch_dist by default."""
    right = settings.get("checkpoint.ckpt_format", "torch_dist") == "fsdp_dtensor"
    return "" if right or not settings.get("ddp.use_megatron_fsdp") else WRONG_FORMAT


def test_a_finding_is_confirmed_by_its_error_and_by_the_control_run_that_passes() -> None:
    about = subject({**TWINS, "checkpoint.ckpt_format": "torch_dist"})
    ask = refuses(only_fsdp_dtensor)
    seen = validate(about.given.settings, about.violations, ask, partial(JUDGE, every=True))
    (violation,) = (each for each in about.violations if each.rule.code == "MFSDP101")
    assert confirm(violation, seen, ask).verdict == "confirmed"


def test_what_a_stronger_rule_speaks_for_may_be_refused_first() -> None:
    """Both FSDPs: it is not the checkpoint format that the command line asks about first."""
    about = subject({**TWINS, "dist.use_torch_fsdp2": True, "checkpoint.ckpt_format": "torch_dist"})

    def ask(settings: PlainSettings) -> RunOutcome:
        if settings.get("dist.use_torch_fsdp2") and settings.get("model.gradient_accumulation_fusion", True):
            return replace(failed("startup", FUSED), config={"model.gradient_accumulation_fusion": True})
        message = only_fsdp_dtensor(settings)
        return failed("startup", message) if message else PASSED

    seen = validate(about.given.settings, about.violations, ask, partial(JUDGE, every=True))
    assert [refusal.violation and refusal.violation.rule.code for refusal in seen.refusals] == ["MFSDP252", "MFSDP101"]
    assert seen.last.passed
    (violation,) = (each for each in about.violations if each.rule.code == "MFSDP201")
    assert confirm(violation, seen, ask).verdict == "confirmed"


# -- the source tree -----------------------------------------------------------------------------------------------


def tree(folder: Path, version: str) -> str:
    """A checkout, as far as it is looked at before anything is run."""
    for name in ("core", "training"):
        (folder / "megatron" / name).mkdir(parents=True)
    major, minor, patch = version.split(".")
    text = f"MAJOR = {major}\nMINOR = {minor}\nPATCH = {patch}\nPRE_RELEASE = ''\n"
    (folder / "megatron" / "core" / "package_info.py").write_text(text)
    (folder / "megatron" / "training" / "arguments.py").write_text("")
    return str(folder)


def test_a_tree_is_judged_as_the_version_that_it_says_it_is(tmp_path: Path) -> None:
    found = tree_at(tree(tmp_path, "0.15.3"), "2.13.0+cpu")
    assert (found.target.core, found.target.torch) == ("0.15.3", "2.13.0")
    assert found.label == f"Megatron-LM in {tmp_path} (megatron-core 0.15.3)"


def test_what_is_no_tree_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name a checkout of Megatron-LM"):
        tree_at(str(tmp_path))


def test_a_tree_of_no_known_version_is_one_as_well(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown megatron-core version"):
        tree_at(tree(tmp_path, "0.3.0"))


# -- the whole way, with a tree that is small enough to see through ------------------------------------------------

ARGUMENTS = """
import argparse, os

def parse_args(extra_args_provider=None, ignore_unknown_args=False):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--use-megatron-fsdp", action="store_true")
    parser.add_argument("--ckpt-format", default="torch_dist", choices=["torch_dist", "fsdp_dtensor"])
    parser.add_argument("--micro-batch-size", type=int)
    parser.add_argument("--global-batch-size", type=int)
    args = extra_args_provider(parser).parse_args()
    args.world_size = int(os.environ["WORLD_SIZE"])
    return args

def validate_args(args, defaults={}):
    print("upstream says a lot")
    if args.global_batch_size is None:
        args.global_batch_size = args.micro_batch_size * args.world_size
    if args.use_megatron_fsdp:
        assert os.environ.get("CUDA_DEVICE_MAX_CONNECTIONS") != "1", (
            "FSDP always requires CUDA_DEVICE_MAX_CONNECTIONS value large than one")
        assert args.ckpt_format == "fsdp_dtensor", "Megatron FSDP only supports fsdp_dtensor checkpoint format"
"""

TORCH = """
import types

cuda = types.SimpleNamespace(is_available=lambda: False)

def use_deterministic_algorithms(on):
    pass
"""

WRONG = {"ddp.use_megatron_fsdp": True, "checkpoint.ckpt_format": "torch_dist", "env.CUDA_DEVICE_MAX_CONNECTIONS": "1"}


@pytest.fixture
def small_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A Megatron-LM with four flags and three checks, and the torch that it needs."""
    folder = tree(tmp_path / "Megatron-LM", "0.16.1")
    written = {"training/arguments.py": ARGUMENTS, "core/utils.py": "HAVE_TE = False\n", "../torch.py": TORCH}
    for name, text in written.items():
        (Path(folder) / "megatron" / name).write_text(text)
    ready = Installed(sys.executable, "3.11", {"torch": "2.13.0"})
    for module in (dry_run, of_a_check):
        monkeypatch.setattr(module, "look", lambda python: ready)
    return folder


def run(small_tree: str, settings: PlainSettings, *arguments: str) -> int:
    """`mfsdp-lint dry-run` of settings."""
    file = Path(small_tree) / "settings.json"
    file.write_text(json.dumps(settings))
    return main(["dry-run", "--megatron-lm", small_tree, str(file), *arguments])


def test_every_refusal_of_the_tree_is_found(small_tree: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(small_tree, WRONG) == 1
    out = capsys.readouterr().out
    assert out.startswith("confirmed ")
    assert "MFSDP501 confirmed: AssertionError: FSDP always requires CUDA_DEVICE_MAX_CONNECTIONS" in out
    assert "MFSDP101 confirmed: AssertionError: Megatron FSDP only supports fsdp_dtensor checkpoint format" in out
    assert f"Megatron-LM in {small_tree} (megatron-core 0.16.1)" in out


def test_what_its_parser_refuses_is_told_and_what_it_does_not_have_left_out(
    small_tree: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"checkpoint.ckpt_format": "zarr", "args.use_custom_fsdp": True, "model.num_layers": 2}
    assert run(small_tree, settings, "--output-format", "json") == 1
    document = json.loads(capsys.readouterr().out)
    (recipe,) = document["recipes"]
    # The parser names one mistake at a time, and a choice that it does not have before a flag that it does not know.
    assert [each["error"].partition(" (")[0] for each in recipe["refusals"]] == [
        "ArgumentError: argument --ckpt-format: invalid choice: 'zarr'",
        "ArgumentError: unrecognized arguments: --use-custom-fsdp",
    ]
    assert document["megatron_lm"] == {"directory": small_tree, "core": "0.16.1"}


def test_what_the_tree_makes_of_settings_is_told_in_their_names(small_tree: str) -> None:
    found = tree_at(small_tree)
    given = KnownSettings({"train.micro_batch_size": 4}, (), world_size=8)
    with contained(sys.executable) as launch, validator(launch, found.target, 60, found) as asked:
        outcome = asked.ask(given.settings, given)
        refused = asked.ask({**given.settings, "ddp.use_megatron_fsdp": True}, given)
    assert outcome.changed == {"train.global_batch_size": [None, 32]}
    assert refused.config["checkpoint.ckpt_format"] == "torch_dist"
    assert asked.pretended == ("a GPU of compute capability 9.0", "Transformer Engine 2.12.0")


def test_a_tree_that_cannot_be_imported_says_what_is_missing(
    small_tree: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path(small_tree) / "megatron" / "training" / "arguments.py").write_text("import a_package_of_theirs")
    assert run(small_tree, WRONG) == 2
    assert "cannot be imported: ModuleNotFoundError: No module named 'a_package_of_theirs'" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--tier", "cpu"], ["--execute"]])
def test_nothing_of_a_command_line_is_trained_or_executed(
    arguments: list[str], small_tree: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(small_tree, WRONG, *arguments) == 2
    assert "--megatron-lm" in capsys.readouterr().err


def checked(folder: Path, *arguments: str) -> int:
    """`mfsdp-lint --confirm` of a functional test with the wrong checkpoint format."""
    file = folder / "model_config.yaml"
    file.write_text("MODEL_ARGS:\n  --use-megatron-fsdp: true\n  --ckpt-format: torch_dist\n")
    return main([str(file), "--target-core", "0.16.1", "--confirm", *arguments])


def test_without_a_tree_a_finding_of_a_check_is_inconclusive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(tmp_path) == 1
    told = "a dry run was inconclusive: it takes a source tree of Megatron-LM, which --megatron-lm names"
    assert told in capsys.readouterr().out


def test_with_a_tree_it_has_its_verdict(small_tree: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(tmp_path, "--megatron-lm", small_tree) == 1
    assert f"a dry run (introspect) confirmed it: {WRONG_FORMAT}" in capsys.readouterr().out


def test_findings_for_another_version_than_that_of_the_tree_are_inconclusive(
    small_tree: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(tmp_path, "--megatron-lm", small_tree, "--target-core", "0.15.3") == 1
    assert "it is about other versions than that of Megatron-LM in" in capsys.readouterr().out


def test_the_examples_of_rules_are_verified_with_a_tree(small_tree: str) -> None:
    rules = [rule for rule in load_rules() if rule.code == "MFSDP101"]
    (row,) = verify_command_line(rules, tree_at(small_tree), sys.executable, ["MFSDP101"])
    assert (row.tier, row.agreement) == ("introspect", "agreement")
