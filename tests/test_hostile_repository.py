"""A repository is input: what came with it neither writes elsewhere, nor edits, nor speaks for the tool."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.kept import dumps, loads
from mfsdp_lint.core.records import replace
from mfsdp_lint.engine import cache
from mfsdp_lint.inputs.projects import OWN_FOLDER

BAD = """\
def recipe(cfg: ConfigContainer):
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "torch_dist"
    cfg.checkpoint.save = "/results"
    return cfg
"""

PATHS = {
    "output-format": 'output-format = ["json={}"]',
    "cache-dir": 'cache-dir = "{}"',
    "extend": 'extend = "{}"',
    "extend-rules": 'extend-rules = ["{}"]',
    "baseline": 'baseline = "{}"',
    "search-path": 'search-path = ["{}"]',
}
"""The keys that name a path, each as a configuration writes it."""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    return outside


@pytest.fixture
def here(tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "repository"
    (here / ".git").mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.delenv(cache.VARIABLE)
    (here / "recipe.py").write_text(BAD)
    return here


@pytest.mark.parametrize("leads_out", ["../outside/x", "/{outside}/x", "link/x"])
@pytest.mark.parametrize("key", PATHS)
def test_a_path_of_a_configuration_that_is_found_stays_in_the_repository(
    key: str, leads_out: str, here: Path, outside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = leads_out.format(outside=outside)
    (here / "link").symlink_to(outside)
    (here / "mfsdp-lint.toml").write_text(PATHS[key].format(path))
    assert main(["."]) == 2
    told = capsys.readouterr().err
    assert f"mfsdp-lint.toml: {key}: {path} leads out of the repository {here}, to {outside}" in told
    assert "(--config)" in told
    assert os.listdir(outside) == []


def test_whoever_names_the_configuration_may_write_where_it_says(here: Path, outside: Path) -> None:
    (here / "mfsdp-lint.toml").write_text('output-format = ["json=../outside/report.json"]')
    assert main(["--config", "mfsdp-lint.toml", "."]) == 1
    assert json.loads((outside / "report.json").read_text())["findings"]


@pytest.mark.parametrize("path", [".git/hooks/new", "sub/.GIT/x", ".git"])
@pytest.mark.parametrize("key", PATHS)
def test_nor_does_it_lead_into_the_folder_of_git(
    key: str, path: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "mfsdp-lint.toml").write_text(PATHS[key].format(path))
    assert main(["--update-baseline", "."]) == 2
    assert f"mfsdp-lint.toml: {key}: {path} belongs to git" in capsys.readouterr().err
    assert os.listdir(here / ".git") == []


def test_a_report_replaces_no_file_but_a_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mfsdp-lint.toml").write_text('output-format = ["sarif=recipe.py"]')
    assert main(["."]) == 2
    assert "mfsdp-lint.toml: output-format: recipe.py is no report" in capsys.readouterr().err
    assert (here / "recipe.py").read_text() == BAD


@pytest.mark.parametrize("name", ["json", "sarif", "gitlab", "junit", "rdjson", "full", "concise", "github"])
@pytest.mark.parametrize("text", [BAD, ""])
def test_a_report_replaces_the_report_before(name: str, text: str, here: Path) -> None:
    (here / "recipe.py").write_text(text)
    (here / "mfsdp-lint.toml").write_text(f'output-format = ["{name}=report"]\ncache = false\nexclude = ["report"]')
    assert main(["."]) < 2
    before = (here / "report").read_text()
    assert main(["."]) < 2
    assert (here / "report").read_text() == before


@pytest.mark.parametrize("key", ["fix", "fix-only", "unsafe-fixes"])
def test_a_configuration_that_is_found_does_not_edit(key: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mfsdp-lint.toml").write_text(f"{key} = true")
    assert main(["."]) == 1
    told = capsys.readouterr().err
    assert told.count(f"mfsdp-lint.toml: {key}: a configuration that came with the files edits nothing") == 1
    assert (here / "recipe.py").read_text() == BAD


def test_what_is_asked_on_the_command_line_is_not_made_unsafe_by_it(here: Path) -> None:
    (here / "recipe.py").write_text(BAD.replace("/results", "/a") + "    cfg.checkpoint.load = '/other'\n")
    (here / "mfsdp-lint.toml").write_text("unsafe-fixes = true")
    before = (here / "recipe.py").read_text()
    main(["--fix", "."])
    asked = (here / "recipe.py").read_text()
    (here / "recipe.py").write_text(before)
    (here / "mfsdp-lint.toml").unlink()
    main(["--fix", "."])
    assert asked == (here / "recipe.py").read_text()


def test_no_configuration_runs_anything(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mfsdp-lint.toml").write_text("confirm = true")
    assert main(["."]) == 2
    assert "confirm: no such setting" in capsys.readouterr().err


def test_a_configuration_that_is_named_edits(here: Path) -> None:
    (here / "mfsdp-lint.toml").write_text("fix = true\nunsafe-fixes = true")
    main(["--config", "mfsdp-lint.toml", "."])
    assert "fsdp_dtensor" in (here / "recipe.py").read_text()


def test_a_folder_of_sources_is_not_the_cache(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mfsdp-lint.toml").write_text('cache-dir = "."')
    assert main(["."]) == 2
    assert "holds other files" in capsys.readouterr().err
    assert not (here / ".gitignore").exists()


def test_a_cache_that_is_a_link_is_not_followed(here: Path, outside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / OWN_FOLDER).symlink_to(outside)
    assert main(["."]) == 2
    assert f"{OWN_FOLDER}: is a link" in capsys.readouterr().err
    assert os.listdir(outside) == []


def test_only_the_caches_own_files_are_removed_from_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_RUNS", 1)
    monkeypatch.setattr(cache, "MOST_MEMORIES", 1)
    main(["."])
    (here / OWN_FOLDER / ".precious").write_text("x")
    for code in ("MFSDP1", "MFSDP2"):
        main(["--ignore", code, "."])
    kept = sorted(each.name for each in (here / OWN_FOLDER).iterdir())
    assert kept[:2] == [".gitignore", ".precious"]
    assert {Path(each).suffix for each in kept[2:]} == {".memory", ".outcome"}
    assert len(kept) == 4


def _forged(here: Path, key: bytes) -> None:
    """Rewrite what is kept so that its finding points into a file that was never linted, and steers the terminal."""
    from hashlib import blake2b

    (place,) = (here / OWN_FOLDER).glob("*.outcome")
    outcome = loads(place.read_bytes().partition(b"\n")[2])
    findings = [
        replace(
            finding,
            span=replace(finding.span, path=str(here.parent / "secret"), line=1, end_line=1),
            code="\x1b]0;owned\x07\x1b[8m",
            message="\x1b[31mforged",
        )
        for finding in outcome.findings
    ]
    data = dumps(replace(outcome, findings=tuple(findings)))
    seal = blake2b(place.name.encode() + b"\n" + data, digest_size=32, key=key).hexdigest()
    place.write_bytes(seal.encode() + b"\n" + data)


def test_a_forged_cache_is_not_believed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["."])
    expected = capsys.readouterr().out
    _forged(here, os.urandom(32))
    assert main(["."]) == 1
    assert capsys.readouterr().out == expected


def test_what_is_kept_shows_linted_files_alone_and_steers_no_terminal(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here.parent / "secret").write_text("password\n")
    main(["."])
    key = cache.secret()
    assert key is not None
    _forged(here, key)
    capsys.readouterr()
    for arguments in (["--color", "always"], ["--output-format", "sarif"], ["--output-format", "rdjson"]):
        main([*arguments, "."])
        told = capsys.readouterr().out
        assert "password" not in told
        assert "\x1b]" not in told
        assert "\x1b[8m" not in told
        assert "\x1b[31mforged" not in told


def test_the_secret_is_the_users_alone(here: Path) -> None:
    main(["."])
    secret = Path(cache.secret_file())
    assert secret.stat().st_mode & 0o777 == 0o600
    first = secret.read_bytes()
    secret.chmod(0o644)
    main(["."])
    assert secret.read_bytes() != first
    assert secret.stat().st_mode & 0o777 == 0o600


def test_an_entry_answers_its_own_question_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["."])
    (one,) = (here / OWN_FOLDER).glob("*.outcome")
    answer = one.read_bytes()
    main(["--ignore", "MFSDP101", "."])
    (other,) = set((here / OWN_FOLDER).glob("*.outcome")) - {one}
    other.write_bytes(answer)
    capsys.readouterr()
    main(["--ignore", "MFSDP101", "."])
    assert "MFSDP101" not in capsys.readouterr().out
