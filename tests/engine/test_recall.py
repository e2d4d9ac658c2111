"""A run after another one evaluates what has changed since, and says what a run that remembers nothing says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core import kept
from mfsdp_lint.core.recipe import Setting
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.settings import Answering, KeptSettings
from mfsdp_lint.core.values import UNKNOWN, Known
from mfsdp_lint.engine import cache
from mfsdp_lint.engine.judge import Judgement, Linter
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.projects import OWN_FOLDER
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.entries import running
from mfsdp_lint.readers.python.entries.entries import Entry
from mfsdp_lint.rules import index
from tests.engine.conftest import Told

HELPER = """\
from megatron.bridge.training.config import ConfigContainer


def shard(cfg):
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "torch_dist"
    return cfg


def plain(cfg):
    cfg.train.train_iters = 10
    return cfg
"""

RECIPE = """\
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from helper import {helper}


def {name}():
    cfg = {helper}(llama32_1b_pretrain_config())
    cfg.train.micro_batch_size = 1
    return cfg


def _late(cfg):
    cfg.ddp.use_megatron_fsdp = True
    return cfg
"""

ALONE = """\
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config


def second():
    cfg = llama32_1b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.validate()
    return cfg
"""

SCRIPT = """\
#!/bin/bash
torchrun --nproc-per-node 8 train.py --iters 5
"""

PROGRAM = """\
import argparse
from megatron.bridge.training.pretrain import pretrain
from first import first

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=1)
    cfg = first()
    cfg.train.train_iters = parser.parse_args().iters
    pretrain(cfg, None)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(cache.VARIABLE)
    texts = {
        "pyproject.toml": "[project]\nname = 'ours'\n[tool.mfsdp-lint]\ntarget-bridge = '0.3.1'\n",
        "helper.py": HELPER,
        "first.py": RECIPE.format(helper="shard", name="first"),
        "second.py": RECIPE.format(helper="plain", name="second"),
        "launch.sh": SCRIPT,
        "train.py": PROGRAM,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Has the name of every entry point that is evaluated."""
    names: list[str] = []
    evaluate = running.evaluate

    def named(interp: object, entry: Entry, *given: object, **options: object) -> object:
        names.append(entry.name)
        return evaluate(interp, entry, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(running, "evaluate", named)
    return names


def _replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(here: Path) -> None:
        text = (here / name).read_text()
        assert old in text
        (here / name).write_text(text.replace(old, new))

    change.__name__ = f"{name}: {new.strip() or 'nothing'}"
    return change


def _removed(here: Path) -> None:
    (here / "second.py").unlink()


def _added(here: Path) -> None:
    (here / "third.py").write_text(RECIPE.format(helper="shard", name="third"))


def _renamed(here: Path) -> None:
    (here / "helper.py").rename(here / "helping.py")


CHANGES = (
    _replaced("second.py", "micro_batch_size = 1", "micro_batch_size = 2"),
    _replaced("second.py", "    return cfg\n\n\ndef _late", "    return _late(cfg)\n\n\ndef _late"),
    _replaced("second.py", "import plain", "import plain, shard as plain"),
    _replaced("second.py", "from helper", "# a comment\nfrom helper"),
    _replaced("first.py", "def first", "def the_first"),
    _replaced("helper.py", '"torch_dist"', '"fsdp_dtensor"'),
    _replaced("helper.py", "use_megatron_fsdp = True", "use_megatron_fsdp = False"),
    _replaced("helper.py", "train_iters = 10", "ckpt_format = None"),
    _replaced("helper.py", "def plain", "def plane"),
    _replaced("helper.py", '"torch_dist"', '"torch_dist"  # mfsdp: ignore[MFSDP101] the launcher sets it'),
    _replaced("launch.sh", "--iters 5", "--iters 6"),
    _replaced("launch.sh", "torchrun", "CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun"),
    _replaced("launch.sh", "train.py", "other.py"),
    _replaced("train.py", "from first import first", "from second import second as first"),
    _replaced("train.py", "cfg.train", "cfg.ddp.use_megatron_fsdp = False\n    cfg.train"),
    _removed,
    _added,
    _renamed,
)


@pytest.mark.parametrize("shown", ["concise", "json"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
def test_the_answer_is_that_of_a_run_without_a_memory(
    change: Callable[[Path], None], shown: str, here: Path, told: Told
) -> None:
    told("--output-format", shown)
    change(here)
    assert told("--output-format", shown) == told("--output-format", shown, "--no-cache")


@pytest.mark.parametrize("change", [CHANGES[0], CHANGES[6], _added], ids=lambda change: change.__name__.strip("_"))
def test_where_the_version_is_assumed_it_is_that_too(change: Callable[[Path], None], here: Path, told: Told) -> None:
    (here / "pyproject.toml").write_text("")
    test_the_answer_is_that_of_a_run_without_a_memory(change, "concise", here, told)


COMPARED = """\
import constants
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config


def third():
    cfg = llama32_1b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = constants.FORMAT
    return cfg
"""


@pytest.mark.parametrize(
    "effect", ['constants.FORMAT = "torch_dist"', 'import os\nos.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"']
)
def test_what_a_file_does_when_it_is_imported_is_found_where_fixes_were_tried(
    effect: str, here: Path, told: Told
) -> None:
    (here / "constants.py").write_text('FORMAT = "fsdp_dtensor"\n')
    (here / "third.py").write_text(COMPARED)
    told("--output-format", "json")
    _replaced("third.py", "import constants\n", f"import constants\n{effect}\n")(here)
    assert told("--output-format", "json") == told("--output-format", "json", "--no-cache")


def test_only_what_has_changed_is_evaluated(here: Path, told: Told, evaluated: list[str]) -> None:
    told("--output-format", "concise")
    assert {"first", "second", "train"} <= set(evaluated)
    evaluated.clear()
    _replaced("second.py", "micro_batch_size = 1", "micro_batch_size = 2")(here)
    told("--output-format", "concise")
    assert set(evaluated) == {"second"}
    evaluated.clear()
    _replaced("helper.py", "train_iters = 10", "train_iters = 11")(here)
    told("--output-format", "concise")
    assert set(evaluated) == {"second"}
    evaluated.clear()
    _replaced("launch.sh", "--iters 5", "--iters 6")(here)
    told("--output-format", "concise")
    assert set(evaluated) == {"train"}


def test_a_finding_that_appears_asks_the_others_only_what_they_were_kept_with(
    here: Path, told: Told, evaluated: list[str]
) -> None:
    one_version = ("--output-format", "concise")
    for name in ("first.py", "second.py"):
        _replaced(name, "train.micro_batch_size = 1", "model.seq_length = 4096\n    cfg.dataset.seq_length = 4096")(
            here
        )
    told(*one_version)
    evaluated.clear()
    _replaced("second.py", "cfg.dataset.seq_length = 4096", "cfg.dataset.seq_length = 77")(here)
    now = told(*one_version)
    assert "MFSDP308" in str(now)
    assert set(evaluated) == {"second"}
    assert now == told(*one_version, "--no-cache")


def test_a_number_in_a_function_is_nothing_to_those_who_do_not_run_it(
    here: Path, told: Told, evaluated: list[str]
) -> None:
    _replaced("helper.py", "    cfg.train.train_iters = 10", "    many = 10\n    cfg.train.train_iters = many")(here)
    told("--output-format", "concise")
    evaluated.clear()
    _replaced("helper.py", "many = 10", "many = 11")(here)
    assert told("--output-format", "concise") == told("--output-format", "concise", "--no-cache")
    assert "first" not in evaluated[: evaluated.index("second") + 1]


def test_another_default_is_nothing_to_those_who_do_not_call_it(here: Path, told: Told, evaluated: list[str]) -> None:
    _replaced("helper.py", "def plain(cfg)", "def plain(cfg, fsdp=False)")(here)
    _replaced("helper.py", "    cfg.train.train_iters = 10", "    cfg.ddp.use_megatron_fsdp = fsdp")(here)
    before = told("--output-format", "concise")
    evaluated.clear()
    _replaced("helper.py", "fsdp=False", "fsdp=True")(here)
    after = told("--output-format", "concise")
    assert "first" not in evaluated
    assert "second" in evaluated
    assert after == told("--output-format", "concise", "--no-cache") != before


def test_of_new_deleted_and_renamed_files_only_these_are_evaluated(
    here: Path, told: Told, evaluated: list[str]
) -> None:
    told("--output-format", "concise")
    evaluated.clear()
    _added(here)
    told("--output-format", "concise")
    assert set(evaluated) == {"third", "_late"}
    evaluated.clear()
    (here / "third.py").rename(here / "last.py")
    told("--output-format", "concise")
    assert set(evaluated) == {"third", "_late"}
    evaluated.clear()
    (here / "last.py").unlink()
    told("--output-format", "concise")
    assert evaluated == []


def test_a_question_about_some_of_the_files_takes_over_what_is_known_of_each(
    here: Path, told: Told, evaluated: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    told("--output-format", "concise")
    evaluated.clear()
    main(["--output-format", "concise", "first.py", "helper.py"])
    some = capsys.readouterr().out
    assert "first" not in evaluated
    main(["--output-format", "concise", "first.py", "helper.py", "--no-cache"])
    assert some == capsys.readouterr().out


PLAIN = """\
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config


def plain():
    return llama32_1b_pretrain_config()
"""


@pytest.mark.parametrize("option", ["--diff", "--fix", "--output-format=concise", "--no-cache"])
def test_whatever_is_asked_takes_over_what_a_check_knows(
    option: str, here: Path, told: Told, evaluated: list[str]
) -> None:
    (here / "plain.py").write_text(PLAIN)
    told()
    evaluated.clear()
    told(option)
    assert ("plain" in evaluated) == (option == "--no-cache")


def test_a_module_keeps_its_name_whoever_loads_it_first(
    here: Path, told: Told, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "inner").mkdir()
    (here / "inner" / "__init__.py").write_text("")
    (here / "inner" / "torch.py").write_text(PLAIN)
    recipe = RECIPE.format(helper="plain", name="third").replace("import plain\n", "import plain\nimport torch\n")
    (here / "inner" / "third.py").write_text(recipe.replace("micro_batch_size = 1", "micro_batch_size = torch.lacks"))
    told("--output-format", "concise")
    _replaced("inner/third.py", "    return cfg\n\n\ndef _late", "    cfg.train.x = 1\n    return cfg\n\n\ndef _late")(
        here
    )
    said = []
    for options in ([], ["--no-cache"]):
        main(["--show-unfollowed", "--output-format", "concise", *options, "."])
        said.append(capsys.readouterr())
    assert said[0] == said[1]
    assert "module 'inner.torch' has no attribute 'lacks'" in said[0].err


def test_what_is_asked_of_written_files_and_was_not_kept_is_found_anew(
    here: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    told()
    judge, before = Linter.__call__, []

    def asking(self: Linter, sources: Sources, earlier: Judgement | None = None) -> Judgement:
        before.append(earlier)
        if len(before) == 2:  # of the written files
            raise kept.NotKept
        return judge(self, sources, earlier)

    with monkeypatch.context() as patched:
        patched.setattr(Linter, "__call__", asking)
        fixed = told("--fix")
    assert before[2] is None
    assert " 2 fixed (1 of a run that could not start);" in fixed
    assert fixed.replace(" 2 fixed (1 of a run that could not start);", "") == told("--no-cache")


def test_so_it_does_with_more_versions_and_front_ends_than_agendas_are_kept_for(
    here: Path, told: Told, evaluated: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_KEPT", 1)
    (here / "pyproject.toml").write_text("")
    told("--output-format", "concise")
    evaluated.clear()
    main(["--output-format", "concise", "first.py", "helper.py"])
    assert "first" not in evaluated


def test_a_helper_whose_only_caller_is_gone_is_judged_by_itself(here: Path, told: Told, evaluated: list[str]) -> None:
    told("--output-format", "concise")
    evaluated.clear()
    _removed(here)
    after = told("--output-format", "concise")
    assert set(evaluated) == {"plain"}
    assert after == told("--output-format", "concise", "--no-cache")


LOOKS = """import os
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from helper import shard

try:
    from own.sharding import shard
except ImportError:
    pass


def looking():
    cfg = llama32_1b_pretrain_config()
    if os.path.exists("second.py"):
        shard(cfg)
    return cfg
"""


@pytest.mark.parametrize("file", ["second.py", "own/sharding.py", "own/__init__.py", "helper/__init__.py"])
def test_who_looked_for_a_file_is_evaluated_once_it_appears_or_is_gone(file: str, here: Path, told: Told) -> None:
    (here / "looking.py").write_text(LOOKS)
    before = told("--output-format", "concise")
    text = (here / file).read_text() if (here / file).exists() else HELPER.replace("torch_dist", "fsdp_dtensor")
    for _ in range(3):
        if (here / file).exists():
            (here / file).unlink()
        else:
            (here / file).parent.mkdir(exist_ok=True)
            (here / file).write_text(text)
        after = told("--output-format", "concise")
        assert after == told("--output-format", "concise", "--no-cache") != before
        before = after


def test_code_that_cannot_be_followed_any_more_is_told(here: Path, told: Told) -> None:
    for path in here.glob("*.*"):
        if path.name not in ("second.py", "pyproject.toml"):
            path.unlink()
    (here / "second.py").write_text(ALONE)
    told("--show-unfollowed")
    _replaced("second.py", "= llama32_1b_pretrain_config()", "= llama32_1b_pretrain_configuration()")(here)
    after = told("--show-unfollowed")
    assert after == told("--show-unfollowed", "--no-cache")
    assert "1 recipe could not be followed" in after


def test_a_touched_file_costs_nothing(here: Path, told: Told, evaluated: list[str]) -> None:
    before = told("--output-format", "concise")
    evaluated.clear()
    (here / "notes.txt").write_text("of another kind\n")
    os.utime(here / "first.py")
    assert told("--output-format", "concise") == before
    assert evaluated == []


def test_a_memory_of_somebody_else_is_none(here: Path, told: Told, evaluated: list[str]) -> None:
    told()
    (memory,) = (here / OWN_FOLDER).glob("*.memory")
    memory.write_bytes(memory.read_bytes().replace(b"torch_dist", b"torch_list"))
    _replaced("second.py", "micro_batch_size = 1", "micro_batch_size = 2")(here)
    evaluated.clear()
    assert told() == told("--no-cache")
    assert "first" in evaluated


def test_only_own_types_are_kept() -> None:
    with pytest.raises(ValueError, match="no kept type"):
        kept.loads(kept.dumps(Path()))
    with pytest.raises(ValueError, match="no kept type"):
        kept.loads(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ValueError, match="no kept type"):
        kept.loads(b"cmfsdp_lint.core.kept\nloads\n.")


class _Tree(Answering):
    """Settings that know one path."""

    def get(self, path: str) -> Setting | None:
        found = Setting(path, Known(1)) if path == "a" else None
        return self.answers.settings.setdefault(path, found)

    def __iter__(self) -> object:  # type: ignore[override]
        return iter(("a",))


def test_settings_are_kept_as_their_answers() -> None:
    tree = _Tree()
    assert [tree.value("a"), tree.value("b")] == [Known(1), UNKNOWN]
    then = kept.loads(kept.dumps(tree))
    assert isinstance(then, KeptSettings)
    assert [then.value("a"), then.value("b"), then.get("b")] == [Known(1), UNKNOWN, None]
    assert kept.loads(kept.dumps(then)).value("a") == Known(1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda then: then.get("c"),
        lambda then: then.value("c"),
        lambda then: then.obstacle("a"),
        lambda then: then.history("a"),
        lambda then: then.written(),
        lambda then: then.undeclared(),
        list,
    ],
)
def test_another_question_is_no_part_of_what_is_kept(ask: Callable[[KeptSettings], object]) -> None:
    with pytest.raises(kept.NotKept):
        ask(kept.loads(kept.dumps(_Tree())))


@pytest.fixture
def typed(here: Path, evaluated: list[str]) -> Callable[..., tuple[set[str], set[str]]]:
    """Checks a text as an editor does, beside other unsaved texts; tells the codes of the findings and what was
    evaluated, and sees that a check without a memory finds the same.
    """
    memory = cache.ProcessMemory()

    def check(name: str, text: str, **others: str) -> tuple[set[str], set[str]]:
        asked = Options(
            paths=(name,), stdin=text, unsaved=tuple((f"{other}.py", each) for other, each in others.items())
        )
        asked = replace(asked, target_bridge="0.3.1", output_format=("concise",))
        evaluated.clear()
        found = cache.run_again(asked, memory)
        names = set(evaluated)
        assert (found.findings, found.summary) == ((anew := cache.run(asked)).findings, anew.summary)
        return {each.code for each in found.findings}, names

    return check


def test_what_is_typed_is_evaluated_alone(here: Path, typed: Callable[..., tuple[set[str], set[str]]]) -> None:
    text = (here / "first.py").read_text() + "\n\ndef other():\n    return llama32_1b_pretrain_config()\n"
    saves = text.replace("train.micro_batch_size = 1", "checkpoint.save = None")
    codes, evaluated = typed("first.py", text)
    assert "MFSDP101" in codes
    assert {"first", "other"} <= evaluated
    assert typed("first.py", text) == (codes, set())
    assert typed("first.py", saves)[1] == {"first"}
    assert typed("first.py", saves + "\n# a comment\n")[1] == set()


def test_other_open_files_count_as_they_are_typed_and_as_saved_once_they_are_closed(
    here: Path, typed: Callable[..., tuple[set[str], set[str]]]
) -> None:
    text = (here / "first.py").read_text()
    off = HELPER.replace("use_megatron_fsdp = True", "use_megatron_fsdp = False")
    assert "MFSDP101" in typed("first.py", text)[0]
    assert typed("first.py", text, helper=HELPER)[1] == set()
    assert "MFSDP101" not in typed("first.py", text, helper=off)[0]
    (here / "helper.py").write_text(off)
    assert typed("first.py", text, helper=off)[1] == set()
    assert "MFSDP101" not in typed("first.py", text)[0]
    assert "MFSDP101" in typed("first.py", text, helper=HELPER)[0]
    (here / "helper.py").unlink()
    assert "MFSDP907" in typed("first.py", text)[0]  # it raises: there is no such module
    (here / "helper.py").write_text(HELPER)
    assert "MFSDP101" in typed("first.py", text)[0]
