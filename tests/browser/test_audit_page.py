"""The page of `audit --output-format html`, as somebody uses it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from mfsdp_lint.cli import main
from tests.browser.samples import HOSTILE, HOSTILE_FILE, REAL, audit_page, many, write_project
from tests.folders import working_in

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.long]

LLAMA = "#/recipe/recipes%2Fllama%2Fllama3.py%3A%3Allama3_8b_config"
VIEWS = {
    "summary": "",
    "recipes": "#/",
    "recipe": LLAMA,
    "compare": "#/compare?a=recipes/llama/llama3.py::llama3_8b_config&b=recipes/llama/llama3.py::llama3_70b_config",
    "findings": "#/findings",
    "rule": "#/findings/MFSDP101",
    "nowhere": "#/recipe/nothing",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the project's page."""
    folder = tmp_path_factory.mktemp("project")
    write_project(folder)
    return audit_page(folder).as_uri()


@pytest.fixture(scope="module")
def made_of_many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page of 120 recipes, of which not all are in sight."""
    folder = tmp_path_factory.mktemp("many")
    write_project(folder, many(120))
    return audit_page(folder).as_uri()


@pytest.fixture(scope="module")
def made_with_memory(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page of two recipes that begin with one of the release's, with their memory."""
    folder = tmp_path_factory.mktemp("memory")
    halved = REAL.replace("llama3_8b_fsdp", "halved").replace(
        "    return", "    cfg.model.tensor_model_parallel_size = 2\n    return"
    )
    write_project(folder, {"recipes/real.py": REAL, "recipes/halved.py": halved})
    return audit_page(folder, "--memory", "--world-size", "16").as_uri()


def unfold(page: Page) -> None:
    """Opens all that is folded and in sight, at once."""
    page.locator("summary:visible").evaluate_all("found => found.forEach(each => each.click())")


def names(page: Page) -> list[str]:
    return page.locator("#matrix tbody tr:not(.group) .name a").all_inner_texts()


def cell(page: Page, recipe: str, column: str) -> str:
    titles = [each.split("\n")[0].strip("↑↓ ") for each in page.locator("#matrix thead th").all_inner_texts()]
    row = page.locator("#matrix tbody tr", has=page.get_by_role("link", name=recipe, exact=True))
    return row.locator("th, td").nth(titles.index(column)).inner_text()


# -- the summary ------------------------------------------------------------------------------------------------------


def counts(page: Page, caption: str) -> list[list[str]]:
    table = page.locator("table.counts", has=page.locator("caption", has_text=caption))
    return [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]


def test_the_page_begins_with_the_findings_in_figures(page: Page, made: str) -> None:
    page.goto(made)
    expect(page.get_by_role("heading", level=1, name="Summary")).to_be_visible()
    assert counts(page, "By family") == [
        ["hostile", "1", "1", "0", "0", "0"],
        ["llama", "2", "1", "0", "0", "1"],
        ["qwen", "1", "0", "0", "0", "1"],
    ]
    rules = {row[0].split()[0]: row[1:] for row in counts(page, "By rule")}
    assert rules["MFSDP101"] == ["error", "2", "2"]
    page.get_by_role("link", name="llama", exact=True).click()
    assert names(page) == ["llama3_8b_config", "llama3_70b_config"]
    page.get_by_role("link", name="Summary").click()
    page.get_by_role("link", name="MFSDP101").click()
    expect(page.get_by_role("heading", name="MFSDP101 fsdp-checkpoint-format")).to_be_visible()


def test_an_earlier_report_gives_the_trend(page: Page, tmp_path: Path) -> None:
    write_project(tmp_path)
    with working_in(tmp_path):
        main(["recipes", "--exit-zero", "--output-format", "json=former.json"])
    path = tmp_path / "recipes/llama/llama3.py"
    path.write_text(
        path.read_text().replace("cfg = base()", "cfg = base(); cfg.checkpoint.ckpt_format = 'fsdp_dtensor'")
    )
    page.goto(audit_page(tmp_path, "--former", "former.json").as_uri())
    # The recipe that still needs Megatron-FSDP's format has another cause; the one without FSDP needs the usual format.
    rules = {row[0].split()[0]: row[2:] for row in counts(page, "By rule")}
    assert rules["MFSDP101"] == ["1", "1", "2", "-1"]
    assert rules["MFSDP102"] == ["1", "1", "0", "+1"]
    assert "1 new, 1 gone" in page.locator("#summary .lead").inner_text()


# -- recipes by settings ----------------------------------------------------------------------------------------------


def test_every_recipe_has_a_row_under_its_folder_and_family(page: Page, made: str) -> None:
    page.goto(f"{made}#/")
    expect(page).to_have_title("Audit of 4 recipes – mfsdp-lint")
    assert page.locator("#matrix .group button").all_inner_texts() == ["hostile", "llama", "qwen"]
    assert names(page) == ["hostile_config", "llama3_8b_config", "llama3_70b_config", "qwen3_moe_config"]
    assert cell(page, "llama3_70b_config", "TP/PP/CP/EP").startswith("●4/2/1/1")


def test_a_cell_says_where_its_value_comes_from_in_colour_sign_and_words(page: Page, made: str) -> None:
    page.goto(f"{made}#/")
    assert "(written here)" in cell(page, "llama3_8b_config", "FSDP")
    assert "(helper)" in cell(page, "llama3_8b_config", "save/load")
    shown = page.locator("td.cell.here").first
    assert shown.evaluate("each => getComputedStyle(each).backgroundColor") != "rgba(0, 0, 0, 0)"
    assert "written here" in page.locator("#legend").inner_text()


def test_what_will_run_stands_beside_what_is_written_where_start_up_replaces_it(page: Page, made: str) -> None:
    page.goto(f"{made}#/?columns=ddp.use_megatron_fsdp")
    assert cell(page, "llama3_8b_config", "ddp.use_megatron_fsdp").startswith("⇒False → True")
    assert page.locator("td.differs").count() == 2
    page.get_by_label("Start-up").select_option("changes")
    assert "llama3_8b_config" in names(page)


def test_a_search_is_for_names_files_and_settings(page: Page, made: str) -> None:
    page.goto(f"{made}#/")
    search = page.get_by_placeholder("Search names")
    search.fill("QWEN")
    assert names(page) == ["qwen3_moe_config"]
    expect(page.locator("#shown")).to_have_text("1 of 4 recipes")
    search.fill("llama 70b")
    assert names(page) == ["llama3_70b_config"]
    search.fill("tensor_model_parallel_size=4")
    assert names(page) == ["llama3_70b_config"]
    search.fill("nothing like this")
    assert "No recipe is like that." in page.locator("#matrix").inner_text()


@pytest.mark.parametrize(
    ("label", "value", "left"),
    [
        ("FSDP", "megatron-fsdp", ["hostile_config", "llama3_8b_config"]),
        ("Model", "llama", ["llama3_8b_config", "llama3_70b_config"]),
        ("Precision", "fp8", ["qwen3_moe_config"]),
        ("Findings", "error", ["hostile_config", "llama3_8b_config"]),
        ("Findings", "none", ["llama3_70b_config", "qwen3_moe_config"]),
        ("Findings", "MFSDP101", ["hostile_config", "llama3_8b_config"]),
    ],
)
def test_a_filter_leaves_the_recipes_that_are_so(
    page: Page, made: str, label: str, value: str, left: list[str]
) -> None:
    page.goto(f"{made}#/")
    page.locator("#filters").get_by_label(label, exact=True).select_option(value)
    assert names(page) == left
    page.get_by_role("button", name="Reset").click()
    assert len(names(page)) == 4


def test_a_column_is_sorted_up_then_down_then_not(page: Page, made: str) -> None:
    page.goto(f"{made}#/?group=none")
    head = page.get_by_role("button", name="TP/PP/CP/EP")
    for order, first in (("ascending", "2/1/1/1"), ("descending", "4/2/1/1"), ("none", "2/1/1/1")):
        head.click()
        assert page.locator("#matrix thead th", has=head).get_attribute("aria-sort") == order
        assert first in cell(page, names(page)[0], "TP/PP/CP/EP")
    page.get_by_role("button", name="findings").click()
    assert names(page)[:2] == ["hostile_config", "llama3_8b_config"]


def test_columns_can_be_chosen_among_all_settings(page: Page, made: str) -> None:
    page.goto(f"{made}#/")
    page.get_by_role("button", name="Columns").click()
    page.get_by_placeholder("Search settings", exact=True).fill("expert_model")
    page.get_by_label("model.expert_model_parallel_size").check()
    page.keyboard.press("Escape")
    assert cell(page, "qwen3_moe_config", "model.expert_model_parallel_size").startswith("●4")
    assert "columns=" in page.url
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("button", name="As at first").click()
    page.get_by_role("button", name="Done").click()
    assert "columns=" not in page.url


def test_groups_can_be_other_ones_and_folded(page: Page, made: str) -> None:
    page.goto(f"{made}#/")
    page.get_by_label("Group by").select_option("fsdp")
    assert page.locator("#matrix .group button").all_inner_texts() == ["FSDP megatron-fsdp", "FSDP –"]
    page.get_by_role("button", name="FSDP –").click()
    assert names(page) == ["hostile_config", "llama3_8b_config"]
    expect(page.get_by_role("button", name="FSDP –")).to_have_attribute("aria-expanded", "false")


def test_the_keyboard_alone_is_enough(page: Page, made: str) -> None:
    page.goto(f"{made}#/")
    page.keyboard.press("/")
    page.keyboard.type("llama3")
    assert len(names(page)) == 2
    page.locator("#matrix tbody [tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "llama3_8b_config"
    page.keyboard.press("Space")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == "llama3_70b_config"
    page.keyboard.press("Space")
    expect(page.get_by_role("link", name="Compare these two")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="llama3_70b_config")).to_be_visible()


def test_every_view_has_an_address_and_the_way_back_leads_through_them(page: Page, made: str) -> None:
    page.goto(f"{made}#/")
    page.get_by_label("Model", exact=True).select_option("llama")
    page.get_by_role("link", name="llama3_8b_config").click()
    page.get_by_role("link", name="Compare with another").click()
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="llama3_8b_config")).to_be_visible()
    page.go_back()
    assert names(page) == ["llama3_8b_config", "llama3_70b_config"]
    page.go_back()
    assert len(names(page)) == 4
    page.go_forward()
    assert page.get_by_label("Model", exact=True).input_value() == "llama"


# -- a recipe ---------------------------------------------------------------------------------------------------------


def test_a_recipe_shows_its_findings_with_the_code_and_the_change_that_repairs_it(page: Page, made: str) -> None:
    page.goto(made + LLAMA)
    finding = page.locator("#recipe .finding", has_text="MFSDP101")
    assert "use_megatron_fsdp = True" in finding.locator(".frame .code").first.inner_text()
    assert "fsdp_dtensor" in finding.locator(".diff .new").inner_text()
    finding.get_by_role("link", name="MFSDP101").click()
    expect(page.get_by_role("heading", name="MFSDP101 fsdp-checkpoint-format")).to_be_visible()
    assert "Applies to" in page.locator("#rule-MFSDP101 .documentation").inner_text()


def test_a_value_unfolds_to_the_chain_of_its_origins(page: Page, made: str) -> None:
    page.goto(made + LLAMA.replace("8b", "70b"))
    setting = page.locator(".setting", has_text="tensor_model_parallel_size").first
    expect(setting.locator(".chain")).to_have_count(0)
    setting.locator("summary").click()
    chain = setting.locator(".chain > li").all_inner_texts()
    assert "It is assigned recipes/llama/llama3.py:13" in chain[0]
    assert "cfg.model.tensor_model_parallel_size = 4" in chain[0]
    assert "It replaced what was assigned" in chain[1]
    assert "common.py:6 in base" in chain[1]


def test_the_chain_begins_with_the_step_of_start_up_that_replaces_a_value(page: Page, made: str) -> None:
    page.goto(made + LLAMA)
    page.get_by_label("Which settings").select_option("startup")
    setting = page.locator(".setting", has_text="use_megatron_fsdp").first
    expect(setting.locator(".value")).to_contain_text("False → True")
    setting.locator("summary").click()
    assert "Start-up replaces it" in setting.locator(".chain > li").first.inner_text()
    assert "megatron-bridge 0.3.1" in setting.locator(".chain > li").first.inner_text()


def test_settings_of_a_recipe_can_be_searched(page: Page, made: str) -> None:
    page.goto(made + LLAMA)
    page.get_by_label("Search settings and values").fill("sharding_strategy")
    assert page.locator(".setting .path").all_text_contents() == ["data_parallel_sharding_strategy"]


def test_the_layout_is_drawn_with_the_ranks_that_share_shards(page: Page, made: str) -> None:
    page.goto(made + LLAMA)
    assert "TP 2 × PP 1 × CP 1 × DP 2 = 4 GPUs" in page.locator(".formula").inner_text()
    assert page.locator(".rank").count() == 4
    assert page.locator(".number.dense").all_text_contents() == ["0", "2"]
    page.get_by_label("GPUs").select_option("8")
    assert page.locator(".number.dense").all_text_contents() == ["0", "2", "4", "6"]
    says = page.locator(".ranks").get_attribute("aria-label") or ""
    assert "Megatron-FSDP shards optimizer states, gradients and parameters over 4 ranks (DP × CP)." in says


def test_experts_have_their_own_data_parallel_ranks(page: Page, made: str) -> None:
    page.goto(f"{made}#/recipe/recipes%2Fqwen%2Fqwen3.py%3A%3Aqwen3_moe_config")
    assert "experts: ETP 2 × EP 4 × DP 1 in each stage" in page.locator(".formula").inner_text()


# -- comparing --------------------------------------------------------------------------------------------------------


def differing(page: Page) -> dict[str, list[str]]:
    rows = page.locator(".differences tbody tr:not(.group)")
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows.all()}


def test_two_recipes_are_compared_by_what_differs(page: Page, made: str) -> None:
    page.goto(made + VIEWS["compare"])
    found = differing(page)
    assert "save" not in found
    assert found["tensor_model_parallel_size"][0].startswith("◆2")
    assert found["tensor_model_parallel_size"][1].startswith("●4")
    page.get_by_role("button", name="Swap").click()
    assert differing(page)["tensor_model_parallel_size"][0].startswith("●4")
    assert "MFSDP101" in page.locator("#compare .alone").inner_text()


def test_ticked_recipes_are_those_that_are_compared(page: Page, made: str) -> None:
    page.goto(f"{made}#/")
    page.get_by_label("Compare llama3_8b_config").check()
    page.get_by_label("Compare llama3_70b_config").check()
    page.get_by_role("link", name="Compare", exact=True).click()
    assert page.locator("#compare select option:checked").all_inner_texts() == ["llama3_8b_config", "llama3_70b_config"]
    assert page.url.count("llama3") == 4
    page.get_by_role("link", name="Recipes").click()
    expect(page.get_by_label("Compare llama3_70b_config")).to_be_checked()


def test_a_recipe_is_compared_at_two_targets(page: Page, tmp_path: Path) -> None:
    write_project(tmp_path)
    page.goto(audit_page(tmp_path, "--target-bridge", ">=0.3,<0.5").as_uri() + LLAMA)
    assert page.locator(".strip li").first.inner_text().startswith("FSDP")
    link = page.locator(".others a", has_text="megatron-bridge 0.3.1")
    link.click()
    expect(page.get_by_role("heading", level=1, name="Compare")).to_be_visible()
    assert page.locator("select option:checked", has_text="megatron-bridge 0.3.1").count() == 1


def test_a_recipe_is_compared_with_what_it_was_at_a_revision(page: Page, tmp_path: Path) -> None:
    write_project(tmp_path)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
        subprocess.run([*git, *words], check=True)
    path = tmp_path / "recipes/llama/llama3.py"
    path.write_text(path.read_text().replace("_size = 4", "_size = 8"))
    page.goto(audit_page(tmp_path, "--since", "HEAD").as_uri() + "#/")
    page.get_by_label("Compared").select_option(label="differs from HEAD")
    assert names(page) == ["llama3_70b_config"]
    page.get_by_role("link", name="llama3_70b_config").click()
    page.get_by_role("link", name="1 difference from HEAD").click()
    assert [each.split("\n")[0] for each in differing(page)["tensor_model_parallel_size"]] == [
        "●8",
        "●4",
    ]


# -- whatever a recipe holds, whoever looks at it ---------------------------------------------------------------------


@pytest.mark.parametrize("view", [*VIEWS.values(), f"#/recipe/recipes%2F{HOSTILE_FILE}%3A%3Ahostile_config"])
def test_what_recipes_hold_is_never_markup(page: Page, made: str, view: str) -> None:
    page.goto(made + view)
    unfold(page)
    page.wait_for_timeout(50)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, b, script[src]").count() == 0


def test_hostile_names_and_values_are_shown_as_they_are(page: Page, made: str) -> None:
    page.goto(f"{made}#/")
    page.get_by_role("link", name="hostile_config").click()
    assert HOSTILE_FILE in page.locator(".title .place").inner_text()
    page.get_by_label("Search settings and values").fill("load")
    expect(page.locator(".setting .value", has_text="script").first).to_contain_text(HOSTILE[:60])


def test_nothing_is_loaded_and_no_other_script_may_run(page: Page, made: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{made}#/")
    page.goto(made + VIEWS["findings"])
    assert {each.partition("#")[0] for each in asked} == {made}
    policy = page.locator("meta[http-equiv]").get_attribute("content") or ""
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_everybody_can_use_it(page: Page, made: str, view: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(made + VIEWS[view])
    unfold(page)
    decided_by_scheme = {"runOnly": ["color-contrast", "link-in-text-block"]}
    options = {"resultTypes": ["violations"]} | (decided_by_scheme if scheme == "dark" else {})
    found = Axe().run(page, options=options)
    assert found.violations_count == 0, found.generate_report()


def test_the_choice_of_columns_is_accessible_too(page: Page, made: str) -> None:
    page.goto(f"{made}#/")
    page.get_by_role("button", name="Columns").click()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_the_colours_are_those_of_the_system_or_of_ones_own_choice(page: Page, made: str) -> None:
    def ground() -> str:
        return str(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))

    page.emulate_media(color_scheme="dark")
    page.goto(f"{made}#/")
    dark = ground()
    button = page.get_by_role("button", name="Colours")
    button.click()
    expect(button).to_have_text("Colours: light")
    assert ground() != dark
    # The browser stores the choice in a process of its own: on a busy machine the page may be back before that, and the
    # choice be lost; then it is made once more.
    for _ in range(20):
        page.wait_for_timeout(250)
        page.reload()
        if button.text_content() == "Colours: light":
            break
        button.click()
    expect(button).to_have_text("Colours: light")
    button.click()
    assert ground() == dark


def test_a_narrow_page_needs_no_way_sideways_but_that_of_the_table(page: Page, made: str) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    for view in VIEWS.values():
        page.goto(made + view)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
    page.goto(f"{made}#/")
    page.get_by_text("Filters").click()
    expect(page.get_by_label("Model", exact=True)).to_be_visible()


def test_it_is_printed_without_what_is_clicked(page: Page, made_of_many: str) -> None:
    page.goto(made_of_many + "#/")
    assert len(names(page)) < 100
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(names(page)) == 120
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator("nav")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(names(page)) < 120


def test_of_many_recipes_those_in_sight_are_there(page: Page, made_of_many: str) -> None:
    page.goto(made_of_many + "#/")
    expect(page.locator("#matrix")).to_have_attribute("aria-rowcount", "133")
    page.locator("#scroller").evaluate("each => { each.scrollTop = each.scrollHeight }")
    expect(page.get_by_role("link", name="llama9_9b_config")).to_be_visible()
    assert len(names(page)) < 100
    page.get_by_placeholder("Search names").fill("llama3_")
    assert len(names(page)) == 10


def test_the_page_says_so_where_there_is_nothing(page: Page, tmp_path: Path) -> None:
    write_project(tmp_path, {"recipes/empty.py": "x = 1\n"})
    page.goto(audit_page(tmp_path).as_uri() + "#/")
    expect(page.locator("#matrix")).to_contain_text("No recipe is like that.")
    page.goto(page.url.partition("#")[0] + "#/findings")
    expect(page.locator("#findings")).to_contain_text("Nothing was found.")


def test_the_memory_of_a_recipe_stands_beside_it(page: Page, made_with_memory: str) -> None:
    page.goto(made_with_memory + "#/")
    page.get_by_role("link", name="llama3_8b_fsdp").click()
    own = page.locator(".memory tr.own")
    assert "optim_grads_params" in own.inner_text()
    assert "GiB" in own.locator("td").last.inner_text()
    widths = [piece.bounding_box() for piece in own.locator(".stack i").all()]
    assert all(box and box["height"] for box in widths)
    shown = [box["width"] for box in widths if box]
    parameters, gradients, main, optimizer, *_ = shown
    assert (len(shown), gradients >= parameters, optimizer > main > 0) == (6, True, True)
    assert page.get_by_label("GPUs").input_value() == "16"
    page.get_by_text("How it is worked out").click()
    found = Axe().run(page, ".memory")
    assert found.violations_count == 0, found.generate_report()


def test_the_memory_of_two_recipes_is_compared_to_one_scale(page: Page, made_with_memory: str) -> None:
    page.goto(made_with_memory + "#/compare?a=recipes/real.py::llama3_8b_fsdp&b=recipes/halved.py::halved")
    rows = page.locator("#compare .memory tbody tr")
    assert [row.locator("th").inner_text().strip() for row in rows.all()] == [
        "llama3_8b_fsdp: Megatron-FSDP optim_grads_params",
        "halved: Megatron-FSDP optim_grads_params",
    ]
    whole, half = (row.locator(".stack").bounding_box() for row in rows.all())
    assert whole
    assert half
    assert whole["width"] == half["width"]
    parts = [sum(box["width"] for each in row.locator("i").all() if (box := each.bounding_box())) for row in rows.all()]
    assert 0 < min(parts) < max(parts)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_values_of_the_release_have_their_own_colour(page: Page, made_with_memory: str) -> None:
    page.goto(made_with_memory + "#/")
    assert cell(page, "llama3_8b_fsdp", "format").startswith("▲torch_dist")
