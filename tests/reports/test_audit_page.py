"""The data and the text of the audit's page, without a browser."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pathspec
import pytest

from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.engine.read import question, read
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.reports.audit import page
from mfsdp_lint.reports.audit.page import family_of
from tests.browser.samples import REAL
from tests.commands.samples import Ask, ask

__all__ = ["ask"]


def page_of(ask: Ask, *arguments: str) -> tuple[str, dict[str, Any]]:
    code, page, err = ask("audit", "--output-format", "html", *arguments)
    assert (code, err) == (0, "")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return page, json.loads(found[1])


class Side:
    """A side read as the page's script reads it."""

    def __init__(self, side: dict[str, Any], kinds: list[str]) -> None:
        self.side, self.kinds = side, kinds

    def cell(self, recipe: str, setting: str) -> tuple[str, ...]:
        """Value, kind, and what will run where that is something else."""
        paths = [path for path, _ in self.side["settings"]]
        number = paths.index(setting)
        flat = next(each for each in self.side["recipes"] if each["name"] == recipe)["cells"]
        own = dict(zip(flat[::2], flat[1::2], strict=True))
        value, kind, _, *run = self.side["cells"][own.get(number, self.side["settings"][number][1])]
        return (self.text(value), self.kinds[kind], *map(self.text, run[:1]))

    def text(self, number: int) -> str:
        return "" if number < 0 else str(self.side["texts"][number])


def side_of(ask: Ask, *arguments: str) -> Side:
    _, data = page_of(ask, *arguments)
    return Side(data["sides"][0], data["kinds"])


def test_a_value_is_written_by_the_recipe_a_helper_or_nobody(ask: Ask) -> None:
    side = side_of(ask, "recipes.py")
    assert side.cell("sharded", "model.tensor_model_parallel_size") == ("8", "here")
    assert side.cell("sharded", "ddp.use_megatron_fsdp") == ("True", "helper")
    assert side.cell("small", "model.pipeline_model_parallel_size") == ("1", "default")


def test_what_start_up_replaces_is_there_beside_what_is_written(ask: Ask) -> None:
    path = Path("replaced.py")
    path.write_text(
        "from settings import ConfigContainer, CheckpointConfig\n\n\ndef base():\n"
        "    return ConfigContainer(checkpoint=CheckpointConfig(save='/results'))\n\n\n"
        "def replaced():\n    cfg = base()\n    cfg.dist.use_megatron_fsdp = True\n    return cfg\n"
    )
    side = side_of(ask, "replaced.py")
    assert side.cell("replaced", "ddp.use_megatron_fsdp") == ("False", "startup", "True")
    assert side.cell("replaced", "dist.use_megatron_fsdp") == ("True", "here")
    assert side.cell("replaced", "checkpoint.save") == ('"/results"', "helper")


def test_absolute_paths_are_shown_as_those_of_the_project(ask: Ask) -> None:
    Path("pyproject.toml").touch()
    text, data = page_of(ask, str(Path("recipes.py").resolve()))
    assert str(Path.cwd()) not in text
    assert {each["path"] for each in data["sides"][0]["recipes"]} == {"recipes.py"}


@pytest.mark.parametrize("text", ["", "[]", '{"findings": 3}', '{"findings": [{"code": "MFSDP101"}]}', "[" * 100_000])
def test_only_a_report_of_findings_gives_a_trend(ask: Ask, text: str) -> None:
    Path("former.json").write_text(text)
    code, _, err = ask("audit", "--output-format", "html", "recipes.py", "--former", "former.json")
    assert (code, err) == (
        2,
        "mfsdp-lint: error: --former: former.json: it is no report of mfsdp-lint --output-format json\n",
    )
    code, _, err = ask("audit", "--output-format", "html", "recipes.py", "--former", "nothing.json")
    assert (code, err) == (2, "mfsdp-lint: error: --former: nothing.json: no such file or directory\n")


def test_settings_that_are_asked_for_are_the_columns_at_first(ask: Ask) -> None:
    _, data = page_of(ask, "recipes.py", "--settings", "dist.*")
    assert data["chosen"] == ["dist.use_megatron_fsdp", "dist.use_torch_fsdp2"]


def test_only_recipes_that_are_asked_for_are_there(ask: Ask) -> None:
    _, data = page_of(ask, "recipes.py", "--recipe", "sha*")
    assert [each["name"] for each in data["sides"][0]["recipes"]] == ["sharded"]


def test_every_target_is_a_side_the_newest_first(ask: Ask) -> None:
    _, data = page_of(ask, "recipes.py", "--target-bridge", ">=0.3,<0.5")
    titles = [each["title"] for each in data["sides"]]
    assert titles[0] == "megatron-bridge 0.4.2"
    assert "megatron-bridge 0.3.1" in titles[1:]


def test_a_page_is_the_same_whenever_it_is_made(ask: Ask) -> None:
    assert page_of(ask, "recipes.py") == page_of(ask, "recipes.py")


def test_the_page_names_no_other_place(ask: Ask) -> None:
    page, _ = page_of(ask, "recipes.py")
    for name in ("src=", "href=", "url(", "@import"):
        assert not re.search(rf"{re.escape(name)}[\"']?https?:", page)


def test_data_cannot_end_the_element_it_stands_in() -> None:
    data = {"</script>": "<!--<script>\u2028&"}
    written = page.embedded(data)
    assert not set("<>&\u2028") & set(written)
    assert json.loads(written) == data


def test_the_script_makes_no_markup_out_of_text() -> None:
    script = "".join(Path(page.ASSETS, name).read_text(encoding="utf-8") for name in page.SCRIPTS)
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert way not in script


def test_without_jinja_the_page_says_what_to_install(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "mfsdp_lint.reports.audit.page")
    monkeypatch.delattr("mfsdp_lint.reports.audit.page")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, out, err = ask("audit", "recipes.py", "--output-format", "html")
    assert (code, out) == (2, "")
    assert err == "mfsdp-lint: error: jinja2 comes with mfsdp-lint[report]: pip install '.[report]' in a checkout\n"


def test_revisions_are_compared_in_the_page_alone(ask: Ask) -> None:
    code, _, err = ask("audit", "recipes.py", "--since", "HEAD")
    assert code == 2
    assert "--output-format html" in err


@pytest.mark.parametrize(
    ("name", "family"),
    [("llama3_8b_pretrain_config", "llama"), ("Qwen3", "qwen"), ("runs/gpt_345m.sh", "gpt"), ("_123", "other")],
)
def test_a_family_is_the_first_word_of_a_name(name: str, family: str) -> None:
    assert family_of(name) == family


def test_what_depends_on_the_way_through_the_code_is_told_for_each_way(ask: Ask) -> None:
    _, data = page_of(ask, "recipes.py", "--recipe", "either")
    (recipe,) = data["sides"][0]["recipes"]
    ways = {" and ".join(each["when"]): each["settings"] for each in recipe["variants"]}
    assert ways["nodes > 4"]["dist.use_torch_fsdp2"] == "True"
    assert [each["dist.use_torch_fsdp2"] for each in ways.values()] == ["True", "False"]
    assert side_of(ask, "recipes.py").cell("either", "dist.use_torch_fsdp2")[0] == "True or False"


def test_memory_is_in_the_page_where_it_is_asked_for(ask: Ask) -> None:
    Path("real.py").write_text(REAL)
    _, data = page_of(ask, "real.py", "--memory", "--world-size", "64", "--parameters", "8B")
    side = data["sides"][0]
    memory = side["recipes"][0]["memory"]
    own = next(row for row in memory["rows"] if row[0])
    assert "optim_grads_params" in side["texts"][own[1]]
    assert memory["ranks"] == 64
    _, without = page_of(ask, "real.py")
    stacks = [stack for row, stack in zip(memory["rows"], memory["stacks"], strict=True) if row[0]]
    assert [len(stack) for stack in stacks] == [6]
    assert all(stacks[0][:4])
    assert "memory" not in without["sides"][0]["recipes"][0]


def test_the_wheel_has_what_the_page_is_made_of() -> None:
    project = Path(__file__).parents[2]
    wheel = (project / "pyproject.toml").read_text(encoding="utf-8").partition("[tool.hatch.build.targets.wheel]")[2]
    patterns = wheel.partition("exclude = [")[2].partition("\n]")[0]
    left_out = pathspec.GitIgnoreSpec.from_lines(re.findall(r'^ *"(.+?)",', patterns, re.MULTILINE))
    assert left_out.match_file("src/mfsdp_lint/checkout.py")
    ignored = pathspec.GitIgnoreSpec.from_lines((project / ".gitignore").read_text(encoding="utf-8").splitlines())
    needed = ["page.html", "overview.html", "upgrade.html", "finding.html", "page.css", *page.SCRIPTS]
    for name in needed:
        path = Path(page.ASSETS, name).relative_to(project).as_posix()
        assert not left_out.match_file(path)
        assert not ignored.match_file(path)
    assert {each.name for each in Path(page.ASSETS).iterdir()} == set(needed)


def test_what_is_written_has_an_origin_that_is_no_default(ask: Ask) -> None:
    asked, _ = question(Options(paths=("recipes.py",)))
    for recipe in read(asked, Sources({})).recipes:
        for settings in (variant.settings for variant in recipe.variants):
            slowly = set(Settings.written(settings))
            sections = {path for path in slowly if any(other.startswith(f"{path}.") for other in settings)}
            assert {path for path in settings.written() if settings.origin(path)} == slowly - sections
