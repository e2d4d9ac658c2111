"""Reading changed texts again: what they make no difference for is taken over, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.entries import interpreters
from mfsdp_lint.readers.python.eval import imports as evaluated_imports
from mfsdp_lint.readers.python.read import PythonRead, read_python
from tests.readers.python.samples import FRAME

FILES: Mapping[str, str] = {
    "config.py": FRAME,
    "common.py": """\
from config import ConfigContainer

def base(size):
    cfg = ConfigContainer()
    cfg.model.size = size
    return cfg

def larger(cfg):
    cfg.model.size += 1
    return cfg
""",
    "family/__init__.py": "from .small import small\n",
    "family/small.py": "# recipes\nfrom common import base, larger\n\ndef small():\n    return larger(base(2))\n",
    "derived.py": "# recipes\nimport family\n\ndef derived():\n    return family.small()\n",
    "alone.py": "from config import ConfigContainer\n\ndef alone():\n    return ConfigContainer()\n",
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "family").mkdir()
    for path, text in FILES.items():
        (tmp_path / path).write_text(text, encoding="utf-8")


def settings(read: PythonRead) -> dict[str, list[Any]]:
    return {
        recipe.qualified_name: [
            (variant.when, [(path, variant.value(path), _places(variant.origin(path))) for path in variant.settings])
            for variant in recipe.variants
        ]
        for recipe in read.recipes
    }


def _places(origin: Origin | None) -> list[Span]:
    return [] if origin is None else [origin.span, *_places(origin.earlier)]


def again(**changes: tuple[str, str]) -> tuple[set[str], dict[str, list[Any]], dict[str, list[Any]]]:
    """The recipes that were taken over when texts were replaced in files, all recipes, and those of a reading anew."""
    paths = sorted(FILES)
    sources = Sources()
    first = read_python(paths, sources)
    texts = {}
    for name, (old, new) in changes.items():
        path = f"{name.replace('__', '/')}.py"
        assert old in FILES[path]
        texts[path] = FILES[path].replace(old, new)
    changed = sources.with_texts(texts)
    second = read_python(paths, changed, before=first.again)
    kept = {recipe.name for recipe in second.recipes if any(recipe is other for other in first.recipes)}
    return kept, settings(second), settings(read_python(paths, Sources(texts)))


def test_where_nothing_has_changed_everything_is_taken_over() -> None:
    kept, found, anew = again()
    assert kept == {"small", "derived", "alone"}
    assert found == anew


def test_a_changed_recipe_is_read_again_and_so_is_what_builds_on_it() -> None:
    kept, found, anew = again(family__small=("base(2)", "base(5)"))
    assert kept == {"alone"}
    assert found == anew


def test_a_changed_helper_reaches_recipes_through_other_files() -> None:
    kept, found, anew = again(common=("+= 1", "+= 7"))
    assert kept == {"alone"}
    assert found == anew


def test_what_everything_imports_leaves_nothing_as_it_was() -> None:
    kept, found, anew = again(config=("size: object = 1", "size: object = 9"))
    assert kept == set()
    assert found == anew


def test_a_file_that_nobody_imports_changes_itself_alone() -> None:
    kept, found, anew = again(alone=("return Conf", "cfg = Conf"), derived=("()\n", "()  # nothing\n"))
    assert kept == {"small"}
    assert found == anew
    assert not any(name.endswith("alone") for name in found)


def test_a_helper_that_is_no_longer_called_is_a_recipe_of_its_own_in_a_file_that_did_not_change() -> None:
    kept, found, anew = again(family__small=("larger(base(2))", "base(2)"))
    assert "common.larger" in found
    assert kept == {"alone"}
    assert found == anew


def test_a_recipe_that_another_file_begins_to_call_is_still_one_unless_it_is_a_helper() -> None:
    kept, found, anew = again(alone=("return ConfigContainer()", "from derived import derived\n    return derived()"))
    assert kept == {"small", "derived"}
    assert found == anew


def test_a_file_that_cannot_be_read_any_more_is_told() -> None:
    paths = sorted(FILES)
    sources = Sources()
    first = read_python(paths, sources)
    second = read_python(paths, sources.with_texts({"common.py": "def base(:\n"}), before=first.again)
    assert [error.path for error in second.unreadable] == ["common.py"]
    assert settings(second) == settings(read_python(paths, Sources({"common.py": "def base(:\n"})))


PIECES: Mapping[str, str] = {
    "pieces.py": """\
from config import ConfigContainer

def above():
    return ConfigContainer()

def changed():
    cfg = ConfigContainer()
    cfg.model.size = 2
    return cfg

def caller():
    return changed()

def again():
    return changed()

def below():
    return ConfigContainer()
""",
    "shared.py": """\
from config import ConfigContainer

def size_of(number):
    holder = ConfigContainer()
    holder.model.size = number
    return holder.model.size

SIZE = size_of(2)

def with_size():
    cfg = ConfigContainer()
    cfg.model.size = SIZE
    return cfg
""",
}


@pytest.fixture
def pieces(tmp_path: Any) -> None:
    for path, text in PIECES.items():
        (tmp_path / path).write_text(text, encoding="utf-8")


def kept_of(path: str, old: str, new: str) -> set[str]:
    """The recipes of a file that were taken over; all are what a reading anew gives."""
    sources = Sources()
    first = read_python([*FILES, *PIECES], sources)
    changed = PIECES[path].replace(old, new)
    assert changed != PIECES[path]
    second = read_python([*FILES, *PIECES], sources.with_texts({path: changed}), before=first.again)
    assert settings(second) == settings(read_python([*FILES, *PIECES], Sources({path: changed})))
    return {
        recipe.name
        for recipe in second.recipes
        if recipe.path == path and any(recipe is other for other in first.recipes)
    }


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("cfg.model.size = 2", "cfg.model.size = 3", {"above", "below"}),
        ("    cfg.model.size = 2\n", "    cfg.model.size = 2\n    cfg.model.other = 1\n", {"above"}),  # the rest moves
        ("    cfg.model.size = 2\n", "", {"above"}),
        ("cfg.model.size = 2", "cfg.model.size = int('2')", set()),  # a call may do anything
        ("cfg.model.size = 2", "size = 2", set()),  # so may a name
        ("def changed():\n", "def changed(size=2):\n", set()),
        ("def below", "DEFAULT = 1\n\ndef below", set()),
    ],
)
def test_of_a_changed_file_those_stay_that_call_nothing_that_changed(old: str, new: str, kept: set[str]) -> None:
    assert kept_of("pieces.py", old, new) == kept


@pytest.mark.usefixtures("pieces")
def test_what_was_worked_out_for_all_is_worked_out_again() -> None:
    assert kept_of("shared.py", "holder.model.size = number", "holder.model.size = 7") == set()


KINDS = """\
import os
from config import ConfigContainer

def sized(size):
    cfg = ConfigContainer()
    cfg.model.size = size
    return cfg

def changed():
    return sized(size=2)

def looks_up():
    cfg = ConfigContainer()
    cfg.model.size = os.environ["A"]
    return cfg

def with_parameter(fsdp=False):
    cfg = ConfigContainer()
    if fsdp:
        cfg.model.size = 4
    return cfg

class Recipes:
    def method(self):
        cfg = ConfigContainer()
        cfg.model.size = 5
        return cfg

SHARED = with_parameter(True)
"""


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        (
            "size=2",
            "size=3",
            {"looks_up", "Recipes.method", "SHARED", "with_parameter"},
        ),  # a named argument is a setting
        ("size=2", "size=len('ab')", set()),
        ('= os.environ["A"]', '= os.environ["B"]', set()),  # which variables matter is asked of all
        ("size = 5", "size = 6", {"changed", "looks_up", "SHARED", "with_parameter"}),
    ],
)
def test_entry_points_of_every_kind_stay(tmp_path: Any, old: str, new: str, kept: set[str]) -> None:
    (tmp_path / "kinds.py").write_text(KINDS, encoding="utf-8")
    sources = Sources()
    first = read_python([*FILES, "kinds.py"], sources)
    changed = {"kinds.py": KINDS.replace(old, new, 1)}
    second = read_python([*FILES, "kinds.py"], sources.with_texts(changed), before=first.again)
    assert settings(second) == settings(read_python([*FILES, "kinds.py"], Sources(changed)))
    here = [recipe for recipe in second.recipes if recipe.path == "kinds.py"]
    assert {recipe.name for recipe in here if any(recipe is other for other in first.recipes)} == kept


PATCHING = """\
import common
from config import ConfigContainer

def enlarged(cfg):
    cfg.model.size = 8
    return cfg

def width(options):
    options.size = 3
    return options.size

common.larger = enlarged
common.WIDTH = width(ConfigContainer().model)
"""

PATCHED = """\
import patching
import common

def patched():
    cfg = common.larger(common.base(2))
    cfg.model.width = common.WIDTH
    return cfg

def other():
    return common.base(3)
"""


@pytest.mark.parametrize(
    ("path", "old", "new", "imports"),
    [
        ("patched.py", "base(3)", "base(4)", 1),
        ("patching.py", "cfg.model.size = 8", "cfg.model.size = 9", 0),
        ("patching.py", "options.size = 3", "options.size = 4", 1),  # what an import calls
        ("patching.py", "common.larger = enlarged", "common.base = enlarged", 1),
    ],
)
def test_effects_of_imports_are_found_again_where_the_change_may_have_a_part_in_them(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, path: str, old: str, new: str, imports: int
) -> None:
    texts = {"patching.py": PATCHING, "patched.py": PATCHED}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths, changed = [*FILES, *texts], {path: texts[path].replace(old, new)}
    anew = settings(read_python(paths, Sources(changed)))
    sources = Sources()
    first = read_python(paths, sources)
    imported: list[str] = []
    import_now = evaluated_imports.import_now

    def counted(interp: Any, module: Any) -> None:
        if interp.followed == frozenset():
            imported.append(module.path)
        import_now(interp, module)

    monkeypatch.setattr(interpreters, "import_now", counted)
    assert settings(read_python(paths, sources.with_texts(changed), before=first.again)) == anew
    assert imported.count("patching.py") == imports


@pytest.mark.usefixtures("pieces")
def test_a_file_that_calls_nothing_of_what_was_touched_stays_as_a_whole(tmp_path: Any) -> None:
    (tmp_path / "apart.py").write_text("from pieces import above\n\ndef apart():\n    return above()\n")
    (tmp_path / "using.py").write_text("from pieces import changed\n\ndef using():\n    return changed()\n")
    sources = Sources()
    asked = [*FILES, *PIECES, "apart.py", "using.py"]
    first = read_python(asked, sources)
    texts = {"pieces.py": PIECES["pieces.py"].replace("cfg.model.size = 2", "cfg.model.size = 3")}
    assert first.again is not None
    unchanged = first.again.unchanged(sources.with_texts(texts), asked)
    assert {"apart.py", "alone.py"} <= set(unchanged.whole)
    assert unchanged.whole.keys().isdisjoint({"pieces.py", "using.py"})
    assert {name for _, _, name in unchanged.single} == {"above", "below"}
