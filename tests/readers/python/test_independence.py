"""The contents of modules belong to a program: a file has the same answer whatever else is checked with it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.entries.entries import functions
from mfsdp_lint.readers.python.entries.running import evaluate
from mfsdp_lint.readers.python.eval.imports import import_now
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.snapshots.knowledge import load_knowledge
from tests.readers.python.independence import answers, differences
from tests.readers.python.patching_packages import package

IDIOMS = Path(__file__).parents[2] / "idioms"

LIBRARY = """
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

REGISTRY = {}
FORMAT = "torch_dist"


class Policy:
    strategy = "no_shard"


def register(function):
    REGISTRY[function.__name__] = function
    return function


def base():
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.ckpt_format = FORMAT
    cfg.ddp.data_parallel_sharding_strategy = Policy.strategy
    cfg.model.seq_length = base.length
    return cfg


base.length = 4096
"""

RECIPE = "def recipe():\n    return library.base()\n"

FORMAT, STRATEGY, LENGTH = "checkpoint.ckpt_format", "ddp.data_parallel_sharding_strategy", "model.seq_length"


def known(folder: Path, *checked: str, **texts: str) -> Mapping[str, Mapping[str, object]]:
    """Return the settings of the checked files' recipes, by file and function."""
    for name, text in {"library": LIBRARY, **texts}.items():
        (folder / f"{name}.py").write_text(text)
    paths = [str(folder / f"{name}.py") for name in checked]
    found = read_python(paths, Sources(), load_knowledge(resolve_target("0.3.1")))
    return {f"{Path(each.path).stem}.{each.name}": _settings(each) for each in found.recipes}


def _settings(recipe: Recipe) -> Mapping[str, object]:
    return {path: getattr(recipe.variants[0].value(path), "value", "?") for path in (FORMAT, STRATEGY, LENGTH)}


CHANGES = {
    "a variable": ("library.FORMAT = 'fsdp_dtensor'", FORMAT, "fsdp_dtensor"),
    "a variable, by name": ("setattr(library, 'FORMAT', 'fsdp_dtensor')", FORMAT, "fsdp_dtensor"),
    "an attribute of a class": ("library.Policy.strategy = 'optim'", STRATEGY, "optim"),
    "an attribute of a function": ("library.base.length = 512", LENGTH, 512),
    "in a function": ("def install():\n    library.FORMAT = 'zarr'\ninstall()", FORMAT, "zarr"),
    "unittest.mock": (
        "from unittest.mock import patch\npatch.object(library, 'FORMAT', 'zarr').start()",
        FORMAT,
        "zarr",
    ),
}


@pytest.mark.parametrize(("change", "path", "value"), CHANGES.values(), ids=CHANGES.keys())
def test_what_a_file_changes_of_another_holds_for_who_imports_it(
    tmp_path: Path, change: str, path: str, value: object
) -> None:
    found = known(
        tmp_path,
        "innocent",
        "patcher",
        "user",
        innocent=f"import library\n{RECIPE}",
        patcher=f"import library  # for recipes\n{change}\n",
        user=f"import library\nimport patcher\n{RECIPE}",
    )
    assert found["user.recipe"][path] == value
    assert found["innocent.recipe"] == {FORMAT: "torch_dist", STRATEGY: "no_shard", LENGTH: 4096}


def test_it_holds_where_the_file_that_changes_is_not_checked_itself(tmp_path: Path) -> None:
    texts = {
        "patcher": "import library\nlibrary.FORMAT = 'zarr'\n",
        "user": f"import library\nimport patcher\n{RECIPE}",
    }
    assert known(tmp_path, "user", **texts)["user.recipe"][FORMAT] == "zarr"


def test_a_name_that_was_imported_before_the_change_keeps_its_meaning(tmp_path: Path) -> None:
    patcher = "import library\ndef other():\n    return None\nlibrary.base = other\n"
    early = "from library import base\nimport patcher\ndef recipe():\n    return base()\n"
    late = "import patcher\nfrom library import base\ndef recipe():\n    cfg = base()\n    return cfg\n"
    found = known(tmp_path, "early", "late", patcher=patcher, early=early, late=late)
    assert found["early.recipe"][FORMAT] == "torch_dist"
    assert "late.recipe" not in found


def test_what_stays_unknown_is_changed_for_nobody(tmp_path: Path) -> None:
    shared = "import logging\nfrom elsewhere import use\n\nlogger = logging.getLogger(__name__)\nlogger.info('x')\n"
    (tmp_path / "shared.py").write_text(f"{shared}\n\ndef tell():\n    use(logger)\n")
    for name, text in {"user": "shared.tell()", "writer": "shared.logger.level = 3"}.items():
        (tmp_path / f"{name}.py").write_text(f"import shared\n\n{text}\n")
    interp = Interpreter(ModuleFinder(Sources()), load_knowledge(resolve_target("0.3.1")))
    interp.followed = frozenset()
    for name in ("user", "writer"):
        module = interp.finder.load(str(tmp_path / f"{name}.py"))
        assert module is not None
        import_now(interp, module)
    assert interp.affected.keys() == {str(tmp_path / "writer.py")}


def test_a_registry_has_what_the_program_imports(tmp_path: Path) -> None:
    plugin = "import library\n@library.register\ndef special():\n    return library.base()\n"
    asks = "def recipe():\n    cfg = library.base()\n    cfg.model.seq_length = len(library.REGISTRY)\n    return cfg\n"
    texts = {"plugin": plugin, "without": f"import library\n{asks}", "having": f"import library\nimport plugin\n{asks}"}
    for checked in (("without", "plugin", "having"), ("having",), ("without",)):
        found = known(tmp_path, *checked, **texts)
        assert found.get("without.recipe", {}).get(LENGTH) in (0, None)
        assert found.get("having.recipe", {}).get(LENGTH) in (1, None)
        assert found


@pytest.mark.parametrize(("change", "path", "value"), CHANGES.values(), ids=CHANGES.keys())
def test_what_a_function_imports_changes_others_for_those_who_call_it(
    tmp_path: Path, change: str, path: str, value: object
) -> None:
    texts = {
        "patcher": f"import library  # for recipes\n{change}\n",
        "innocent": f"import library\n{RECIPE}",
        "user": "import library\ndef before():\n    return library.base()\n"
        "def changed():\n    import patcher\n    return library.base()\n"
        "def after():\n    return library.base()\n"
        "def again():\n    changed()\n    return library.base()\n",
    }
    plain = {FORMAT: "torch_dist", STRATEGY: "no_shard", LENGTH: 4096}
    for checked in (("innocent", "user"), ("user", "patcher", "innocent"), ("user",)):
        found = known(tmp_path, *checked, **texts)
        assert found["user.changed"] == found["user.again"] == {**plain, path: value}
        assert found["user.before"] == found["user.after"] == plain
        assert found.get("innocent.recipe", plain) == plain


def test_a_name_that_was_imported_keeps_its_meaning_whatever_a_function_imports(tmp_path: Path) -> None:
    texts = {
        "patcher": "import library\ndef other():\n    return None\nlibrary.base = other\n",
        "user": "from library import base\ndef recipe():\n    import patcher\n    return base()\n",
    }
    assert known(tmp_path, "user", **texts)["user.recipe"][FORMAT] == "torch_dist"


def test_what_a_function_changes_twice_is_what_it_wrote_last(tmp_path: Path) -> None:
    texts = {
        "patcher": "import library\nlibrary.FORMAT = 'zarr'\n",
        "user": "import library\ndef recipe():\n    import patcher\n    library.FORMAT = 'torch'\n"
        "    import patcher\n    return library.base()\n",
    }
    assert known(tmp_path, "user", **texts)["user.recipe"][FORMAT] == "torch"


def test_what_only_a_function_imports_reads_what_a_recipe_wrote(tmp_path: Path) -> None:
    (tmp_path / "training.py").write_text("def train(cfg):\n    print(cfg.checkpoint.my_own)\n")
    recipe = "import library\ndef recipe():\n    cfg = library.base()\n    cfg.checkpoint.my_own = 3\n    return cfg\n"
    texts = {
        "library": LIBRARY,
        "silent": f"{recipe}def main():\n    from training import train\n    train(recipe())\n",
        "told": recipe,
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    paths = [str(tmp_path / f"{name}.py") for name in texts]
    found = read_python(paths, Sources(), load_knowledge(resolve_target("0.3.1"))).recipes
    undeclared = {Path(each.path).stem: [one.path for one in each.variants[0].settings.undeclared()] for each in found}
    assert undeclared["silent"] == []
    assert undeclared["told"] == ["checkpoint.my_own"]


def test_what_a_recipe_changes_of_a_module_is_gone_for_the_next_one(tmp_path: Path) -> None:
    texts = {
        "changing": "import library  # for recipes\ndef first():\n    library.FORMAT = 'zarr'\n"
        "    library.base.length = 1\n"
        "    library.Policy.strategy = 'optim'\n    return library.base()\n"
        "def second():\n    return library.base()\n"
    }
    found = known(tmp_path, "changing", **texts)
    assert found["changing.first"] == {FORMAT: "zarr", STRATEGY: "optim", LENGTH: 1}
    assert found["changing.second"] == {FORMAT: "torch_dist", STRATEGY: "no_shard", LENGTH: 4096}


@pytest.mark.parametrize("before", ["pass", "library.FORMAT = 'zarr'", "library.Policy.strategy = 'optim'"])
@pytest.mark.parametrize("after", ["pass", "library.FORMAT = 'torch'"])
def test_what_is_read_again_after_a_change_is_as_if_read_anew(tmp_path: Path, before: str, after: str) -> None:
    texts = {
        "library": LIBRARY,
        "patcher": f"import library  # for recipes\n{before}\n",
        "innocent": f"import library\n{RECIPE}",
        "user": f"import library\nimport patcher\n{RECIPE}",
        "later": "import library\ndef recipe():\n    import patcher\n    return library.base()\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    paths = [str(tmp_path / f"{name}.py") for name in ("innocent", "user", "later")]
    knowledge, sources = load_knowledge(resolve_target("0.3.1")), Sources()
    first = read_python(paths, sources, knowledge)
    changed = sources.with_texts({str(tmp_path / "patcher.py"): f"import library  # for recipes\n{after}\n"})
    again = read_python(paths, changed, knowledge, before=first.again)
    anew = read_python(paths, changed, knowledge)
    found, expected = ({each.path: _settings(each) for each in read.recipes} for read in (again, anew))
    assert found == expected
    assert len(found) == 3


def test_an_attribute_of_a_function_is_no_default_of_it(tmp_path: Path) -> None:
    text = (
        "import library\ndef sized(length=2):\n    cfg = library.base()\n    cfg.model.seq_length = length\n"
        "    return cfg\nsized.length = 8\ndef recipe():\n    return sized()\n"
    )
    assert known(tmp_path, "own", own=text)["own.recipe"][LENGTH] == 2


@pytest.mark.parametrize("seed", range(12))
def test_generated_packages_whose_modules_change_each_other(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    files = package(draw, tmp_path / "package")
    whole = answers(files, Sources())
    for subset in (draw.sample(files, len(files)), *([path] for path in files)):
        found = answers(subset, Sources())
        for path in subset:
            assert not list(differences(found[path], whole[path]))


@pytest.mark.long
def test_some_idioms_in_random_subsets_and_orders() -> None:
    """A quarter of them; `python benchmarks/independence.py tests/idioms` takes all."""
    draw = random.Random(7)
    every = sorted(map(str, IDIOMS.rglob("*.py")))
    files = draw.sample(every, len(every) // 4)
    whole = answers(files, Sources())
    for size in (len(files) // 2, *[1] * 10):
        subset = draw.sample(files, size)
        found = answers(subset, Sources())
        for path in subset:
            assert not list(differences(found[path], whole[path])), path


ASKING = """
import os
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

{top}

def first():
    cfg = llama3_8b_pretrain_config()
    cfg.train.global_batch_size = 8 * {nodes}
    return cfg


def second():
    cfg = llama3_8b_pretrain_config()
    cfg.train.global_batch_size = 8 * {nodes}
    return cfg
"""


@pytest.mark.parametrize(
    ("top", "nodes"),
    [
        ('def nodes():\n    return os.environ.get("NODES_OF_MINE")\n', "nodes()"),
        ('NODES = os.environ.get("NODES_OF_MINE")\n', "NODES"),
    ],
    ids=["by a function", "by a module"],
)
def test_every_recipe_is_given_the_variable_that_it_cannot_do_without(tmp_path: Path, top: str, nodes: str) -> None:
    """Whoever was first to ask for it: the others find what was remembered, or what the module holds."""
    assert set(known(tmp_path, "run", run=ASKING.format(top=top, nodes=nodes))) == {"run.first", "run.second"}


DEPENDING = """
import os
import yaml
from pathlib import Path
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def length():
    return int(os.environ.get("LENGTH_OF_MINE", "4096"))


def sizes():
    return yaml.safe_load((Path(__file__).parent / "sizes.yaml").read_text())


def helper():
    return length() * sizes()["factor"]


def other():
    cfg = llama3_8b_pretrain_config()
    cfg.model.seq_length = helper()
    return cfg


def recipe():
    cfg = llama3_8b_pretrain_config()
    cfg.model.seq_length = helper()
    return cfg
"""


@pytest.mark.parametrize("before", [(), ("other",), ("other", "recipe")], ids=["alone", "after another", "again"])
def test_an_answer_names_what_it_depends_on_whatever_was_evaluated_before(
    tmp_path: Path, before: tuple[str, ...]
) -> None:
    (tmp_path / "sizes.yaml").write_text("factor: 2\n")
    path = tmp_path / "recipes.py"
    path.write_text(DEPENDING)
    interp = Interpreter(ModuleFinder(Sources(), ()), load_knowledge(resolve_target("0.3.1")))
    module = interp.finder.load(str(path))
    assert module is not None
    entries = {each.name: each for each in functions(interp, module)}
    for name in before:
        evaluate(interp, entries[name], Spans(interp))
    found = evaluate(interp, entries["recipe"], Spans(interp))
    own = {each.name for each in found.dependencies.functions if each.module is module}
    assert own == {"recipe", "helper", "length", "sizes"}
    assert found.dependencies.variables == {"LENGTH_OF_MINE"}
    assert {Path(each).name for each in found.dependencies.data} == {"sizes.yaml"}
