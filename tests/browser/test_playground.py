"""The playground of the site says what the command line says, asks nobody else, and can be read by everybody."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Route

from mfsdp_lint.cli import main
from tests.browser.opened import is_required, opened
from tests.browser.playground import Playground, Sample, samples, served

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.long]

ROOT = Path(__file__).parents[2]
FETCHED = ROOT / ".cache" / "playground"
STATED = re.compile(r"the linter: (\d+) MB, or (\d+) MB where the server compresses")
"""What the page says it loads."""

SCHEMES = {"light": "default", "dark": "slate"}
"""As the theme calls them."""

EVERY = {"python": 16, "yaml": 16, "megatron_lm": 4, "shell": 3}
"""How many examples are passed over for one that is tried; `benchmarks/playground.py` tries them all."""

ENDED = "fatal.error|call stack|most recent call first"
"""What Pyodide writes to the console when Python ends."""

WRONG = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def llama3_8b_fsdp():
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.average_in_collective = False
    return cfg
"""


def some() -> list[Any]:
    """Samples in every notation."""
    return [
        pytest.param(sample, id=f"{code}-{notation}")
        for notation, every in EVERY.items()
        for code, sample in list(samples(notation))[::every]
    ]


@pytest.fixture(scope="module")
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of the site, with all that the playground runs on."""
    if not (FETCHED / ".fetched").exists():
        assert not is_required(), "make playground"
        pytest.skip("what the playground runs on is not fetched (make playground)")
    folder, _ = request.getfixturevalue("site")
    runtime = folder / "playground" / "runtime"
    subprocess.run([sys.executable, "playground/assemble.py", str(FETCHED), str(runtime)], cwd=ROOT, check=True)
    with served(folder) as place:
        yield place


def test_the_page_says_how_much_it_loads(address: str, site: tuple[Path, object]) -> None:
    stated = STATED.search((ROOT / "docs" / "playground.md").read_text())
    assert stated is not None
    files = [file.read_bytes() for file in (site[0] / "playground" / "runtime").iterdir()]
    loaded = [sum(map(len, files)), sum(len(gzip.compress(file)) for file in files)]
    assert loaded == [pytest.approx(int(mb) * 1e6, rel=0.05) for mb in stated.groups()]


@pytest.fixture(scope="module")
def playground(browser: Browser, address: str) -> Iterator[Playground]:
    """The page with the linter loaded; whatever it asks another host for is refused, and told."""
    with opened(browser, offline=False, expected=ENDED) as page:
        made = Playground(page)

        def meet(route: Route) -> None:
            made.requests.append(route.request.url)
            if route.request.url.startswith(address):
                route.continue_()
            else:
                route.abort()

        page.context.route("**/*", meet)
        page.goto(f"{address}/playground/")
        made.check(Sample("recipe.py", WRONG, "0.3.1"))
        yield made


@pytest.fixture
def printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., str]:
    """What the command line prints of a sample."""

    def run(sample: Sample, *options: str) -> str:
        monkeypatch.chdir(tmp_path)
        Path(sample.name).write_bytes(sample.text.encode())
        main(["--isolated", "--no-cache", "--target-bridge", sample.target, *options, sample.name])
        return capsysbinary.readouterr().out.decode()

    return run


@pytest.mark.parametrize("sample", some())
def test_a_recipe_is_judged_and_fixed_as_by_the_command_line(
    playground: Playground, sample: Sample, printed: Callable[..., str]
) -> None:
    playground.check(sample)
    expected = json.loads(printed(sample, "--output-format", "json"))["findings"]
    assert playground.findings() == [(each["code"], each["line"], each["message"]) for each in expected]
    patch = printed(sample, "--diff").splitlines(keepends=True)
    assert playground.diff() == "".join(line for line in patch if not line.startswith(("---", "+++")))


def test_the_configuration_tells_what_is_written_what_will_run_and_why(playground: Playground) -> None:
    playground.check(Sample("recipe.py", WRONG, "0.4.2"))
    page = playground.page
    page.fill("#pg-filter", "params_dtype")
    row = page.locator("tr.pg-changed", has_text="model.params_dtype")
    assert row.locator("td").all_inner_texts()[:2] == ["unknown", '"torch.bfloat16"']
    assert "at start-up: mixed precision" in row.inner_text()
    page.fill("#pg-filter", "checkpoint.ckpt_format")
    page.click(".pg-recipe button")
    page.locator(".pg-story pre", has_text="cfg = llama3_8b_pretrain_config()").wait_for()
    page.fill("#pg-filter", "")


def test_the_fix_is_applied_and_leaves_nothing_to_fix(playground: Playground) -> None:
    playground.check(Sample("recipe.py", WRONG, "0.3.1"))
    assert '+    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n' in playground.diff()
    playground.page.click("#pg-apply")
    playground.page.wait_for_selector("#pg-fix", state="hidden")
    playground.wait()
    assert 'cfg.checkpoint.ckpt_format = "fsdp_dtensor"' in playground.page.input_value("#pg-editor")
    assert "MFSDP101" not in {code for code, _, _ in playground.findings()}


def test_a_line_of_a_finding_is_shown_in_the_editor(playground: Playground) -> None:
    playground.check(Sample("recipe.py", WRONG, "0.3.1"))
    playground.page.locator(".pg-line").first.click()
    selected = "editor => editor.value.slice(editor.selectionStart, editor.selectionEnd)"
    assert playground.page.eval_on_selector("#pg-editor", selected) == "True"


def test_what_is_typed_is_checked_without_a_button(playground: Playground) -> None:
    playground.check(Sample("recipe.py", "x = 1\n", "0.3.1"))
    assert playground.findings() == []
    playground.page.fill("#pg-editor", WRONG)
    playground.page.wait_for_selector("[data-code=MFSDP101]")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("recipe.py", "def use_megatron_fsdp(:\n", "not valid Python"),
        ("recipe.py", "use_megatron_fsdp = " + "-" * 150 + "(1" * 120, "not valid Python"),
        ("overrides.yaml", "ddp:\n  use_megatron_fsdp: [1,\nb: 2\n", "not valid YAML"),
        ("overrides.yaml", "ddp:\n  use_megatron_fsdp: " + "[" * 3000 + "\n", "too deeply nested"),
        ("recipe.py", "use_megatron_fsdp\x00\x01", "not text"),
        ("notes.txt", "nothing to read", "not a kind of file this tool reads"),
    ],
    ids=["python", "deep-python", "yaml", "deep-yaml", "bytes", "another-kind"],
)
def test_a_file_that_cannot_be_read_is_told_and_the_page_goes_on(
    playground: Playground, name: str, text: str, told: str
) -> None:
    playground.check(Sample(name, text, "0.3.1"))
    assert told in playground.page.inner_text("#pg-results")
    playground.check(Sample("recipe.py", WRONG, "0.3.1"))
    assert "MFSDP101" in {code for code, _, _ in playground.findings()}


def test_what_a_browser_cannot_follow_is_told_and_the_next_check_begins_anew(playground: Playground) -> None:
    playground.check(Sample("recipe.py", "use_megatron_fsdp = " + "a." * 20_000 + "b\n", "0.3.1"))
    assert "Python ended here: the text is nested deeper than a browser lets it follow" in playground.status()
    assert not playground.page.is_visible("#pg-results")
    playground.check(Sample("recipe.py", WRONG, "0.3.1"))
    assert "MFSDP101" in {code for code, _, _ in playground.findings()}


def test_a_file_that_is_dropped_is_read_under_its_name(playground: Playground) -> None:
    text = "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist\n  save: /results\n"
    file = "text => { const all = new DataTransfer(); all.items.add(new File([text], 'mine.yaml')); return all; }"
    playground.page.dispatch_event("#pg-editor", "drop", {"dataTransfer": playground.page.evaluate_handle(file, text)})
    playground.page.wait_for_selector("[data-code=MFSDP101][data-line='4']")
    assert playground.page.input_value("#pg-name") == "mine.yaml"


def test_a_site_without_the_linter_says_so(browser: Browser, address: str) -> None:
    with opened(browser, offline=False, expected="404") as page:
        page.route("**/runtime/*", lambda route: route.fulfill(status=404))
        page.goto(f"{address}/playground/")
        page.click("#pg-check")
        page.locator("#pg-status.pg-failed", has_text="this copy of the site is without it").wait_for()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [1400, 400])
def test_it_can_be_read_by_everybody(playground: Playground, scheme: str, width: int) -> None:
    playground.check(Sample("recipe.py", WRONG, "0.3.1"))
    page = playground.page
    page.fill("#pg-filter", "ddp.")
    page.set_viewport_size({"width": width, "height": 900})
    page.eval_on_selector("body", "(body, name) => body.dataset.mdColorScheme = name", SCHEMES[scheme])
    page.wait_for_timeout(500)  # colours fade over
    found = Axe().run(page, context="#pg", options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]})
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.fill("#pg-filter", "")


def test_nobody_else_is_asked_and_nothing_at_all_once_it_is_loaded(playground: Playground, address: str) -> None:
    assert [url for url in playground.requests if not url.startswith(address)] == []
    before = len(playground.requests)
    playground.check(Sample("launch.sh", "#!/bin/bash\ntorchrun pretrain_gpt.py --use-megatron-fsdp\n", "0.3.1"))
    assert playground.requests[before:] == []
