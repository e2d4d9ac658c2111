"""Paths → files."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from mfsdp_lint.inputs.discover import Discovered
from mfsdp_lint.inputs.discover import discover as discover_types
from mfsdp_lint.inputs.sources import Problem
from mfsdp_lint.readers.registry import file_types


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()


def discover(paths: Iterable[str], exclude: Sequence[str] = ()) -> Discovered:
    """With the types of files that the tool reads."""
    return discover_types(paths, file_types(), exclude)


def found(*paths: str, exclude: tuple[str, ...] = ()) -> list[str]:
    discovered = discover(paths, exclude)
    assert discovered.problems == []
    return [file.path for file in discovered.files]


def problems(*paths: str) -> list[tuple[str, str, str]]:
    return [(problem.path, problem.kind, problem.message) for problem in discover(paths).problems]


@pytest.mark.usefixtures("tree")
class TestFiles:
    def test_files_that_are_read_are_found_at_any_depth(self) -> None:
        make("a.py", "conf/b.yaml", "conf/deep/c.yml", "README.md", "conf/data.json", "run.sh", "job.slurm")
        assert [(file.path, file.kind) for file in discover(["."]).files] == [
            ("a.py", "python"),
            ("conf/b.yaml", "yaml"),
            ("conf/deep/c.yml", "yaml"),
            ("job.slurm", "shell"),
            ("run.sh", "shell"),
        ]

    @pytest.mark.parametrize("argument", ["recipes", "recipes/", "./recipes", "../{name}/recipes", "{here}/recipes"])
    def test_a_path_begins_with_the_argument_as_it_was_given(self, argument: str) -> None:
        make("recipes/a.py")
        argument = argument.format(here=Path.cwd(), name=Path.cwd().name)
        assert found(argument) == [argument.rstrip("/") + "/a.py"]

    def test_what_ci_starts_is_read_though_it_is_hidden(self) -> None:
        ci = [".buildkite/a.yml", ".circleci/config.yml", ".github/workflows/a.yml", ".gitlab-ci.yml", ".gitlab/a.yml"]
        make(*ci, ".idea/a.yml", ".pre-commit-config.yaml", ".github/.cache/a.yml")
        assert found(".") == ci

    def test_what_is_hidden_generated_or_installed_is_skipped(self) -> None:
        make("a.py", ".git/a.py", ".venv/a.py", ".hidden.yaml", "venv/a.py", "node_modules/x/a.yaml", "build/a.py")
        make("x.egg-info/a.py", "lib/site-packages/a.py", "__pycache__/a.py", "dist/a.py", "env/pyvenv.cfg", "env/a.py")
        assert found(".") == ["a.py"]

    def test_what_is_named_is_taken_even_if_it_would_be_skipped(self) -> None:
        make(".github/a.yaml", "build/a.py", "build/build/b.py", ".hidden.py", "env/pyvenv.cfg", "env/c.py")
        assert found(".github", "build", ".hidden.py", "env", "build/build/b.py", exclude=("*.py",)) == [
            ".github/a.yaml",
            ".hidden.py",
            "build/build/b.py",
        ]
        assert found("env") == ["env/c.py"]

    @pytest.mark.parametrize(
        ("pattern", "left"),
        [
            ("old", ["a.py", "x/gen_b.py"]),
            ("gen_*", ["a.py", "x/old/c.py"]),
            ("x/old", ["a.py", "x/gen_b.py"]),
            ("./x/old/", ["a.py", "x/gen_b.py"]),
            ("x/**", ["a.py"]),
            ("**/gen_*.py", ["a.py", "x/old/c.py"]),
            ("**/a.py", ["x/gen_b.py", "x/old/c.py"]),
            ("[", ["a.py", "x/gen_b.py", "x/old/c.py"]),
        ],
    )
    def test_globs_leave_out(self, pattern: str, left: list[str]) -> None:
        make("a.py", "x/gen_b.py", "x/old/c.py")
        assert found(".", exclude=(pattern,)) == left
        here = str(Path.cwd())
        assert found(here, exclude=(pattern,)) == [f"{here}/{path}" for path in left]
        if "/" in pattern:
            absolute = f"{here}/{pattern.removeprefix('./')}"
            assert found(".", exclude=(absolute,)) == left

    def test_neither_order_nor_repetition_of_arguments_changes_the_result(self) -> None:
        make("a.py", "x/b.py", "x/y/c.yaml")
        Path("link").symlink_to("x")
        Path("z.py").symlink_to("a.py")
        arguments = ["x", "./x/b.py", "missing.py", ".", "link", "x/y/c.yaml"]
        results = [discover(order) for order in itertools.permutations(arguments)]
        results.append(discover(arguments * 2))
        assert all(result == results[0] for result in results)
        assert [file.path for file in results[0].files] == ["a.py", "x/b.py", "x/y/c.yaml"]

    def test_a_file_behind_several_links_is_read_once(self) -> None:
        make("x/.shared/a.py", "x/b.py")
        Path("x/first").symlink_to(".shared")
        Path("x/second").symlink_to(".shared")
        Path("x/c.py").symlink_to("b.py")
        assert found("x") == ["x/b.py", "x/first/a.py"]

    def test_links_that_lead_out_of_the_paths_are_not_followed(self) -> None:
        make("shared/a.py", "x/b.py")
        Path("x/root").symlink_to("/")
        Path("x/shared").symlink_to("../shared")
        Path("x/c.py").symlink_to("../shared/a.py")
        assert found("x") == ["x/b.py"]
        assert found("x", "shared") == ["shared/a.py", "x/b.py"]
        assert found("x/shared", "x/c.py") == ["x/c.py"]  # what is named is taken, once

    def test_circles_of_links_end(self) -> None:
        make("x/a.py", "x/y/b.py")
        Path("x/y/up").symlink_to("..")
        Path("x/self").symlink_to(".")
        Path("x/y/all").symlink_to(Path.cwd())
        assert found("x") == ["x/a.py", "x/y/b.py"]


@pytest.mark.usefixtures("tree")
class TestProblems:
    def test_a_path_that_does_not_exist_is_wrong_usage_and_the_others_are_still_found(self) -> None:
        make("a.py")
        assert discover(["nope", "a.py"]).files == discover(["a.py"]).files
        assert problems("nope", "a.py") == [("nope", "usage", "no such file or directory")]
        assert problems("") == [("", "usage", "no such file or directory")]
        assert problems("a\0b") == [("a\0b", "usage", "not a possible path")]

    def test_a_named_file_of_another_kind_is_wrong_usage(self) -> None:
        make("run.bat")
        kinds = (
            ".py, .ipynb, .yaml, .yml, Kustomization, .sh, .bash, .zsh, .ksh, .sbatch, .slurm, .dockerfile, "
            ".Dockerfile, Dockerfile, Containerfile, .mk, Makefile, makefile, GNUmakefile, .just, justfile, Justfile, "
            "launch.json, tasks.json, .service, .smk, Snakefile, .json, .toml"
        )
        assert problems("run.bat") == [("run.bat", "usage", f"not a kind of file this tool reads ({kinds})")]

    def test_a_link_that_leads_nowhere_is_unreadable_named_or_found(self) -> None:
        make("x/a.py")
        Path("x/gone.py").symlink_to("nowhere")
        Path("x/gone.txt").symlink_to("nowhere")
        Path("x/circle.yaml").symlink_to("circle.yaml")
        gone = ("x/gone.py", "unreadable", "a link that leads nowhere")
        assert problems("x/gone.py") == [gone]
        assert problems("x") == [("x/circle.yaml", "unreadable", "too many levels of symbolic links"), gone]

    def test_what_is_no_regular_file_is_unreadable_where_it_is_named(self) -> None:
        os.mkfifo("pipe.py")
        assert discover(["pipe.py"]).problems == [Problem("pipe.py", 1, 1, "not a regular file")]
        assert discover(["."]).problems == []

    def test_a_directory_that_cannot_be_opened_is_unreadable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        make("a.py", "x/b.py")
        scan = os.scandir

        def refuse(path: str) -> object:
            if path == "x":
                raise PermissionError(13, "Permission denied")
            return scan(path)

        monkeypatch.setattr(os, "scandir", refuse)
        assert [file.path for file in discover(["."]).files] == ["a.py"]
        assert problems(".") == [("x", "unreadable", "permission denied")]


PATTERNS = {
    ".gitignore": "out/\n*_old.py\n!keep_old.py\n/top.py\nconf/**/gen\n# words\n\\#odd.py\n",
    "conf/.gitignore": "local.yaml\n!out/\n",
    ".git/info/exclude": "mine.py\n!top.py\n",
}
NAMES = (
    "a.py",
    "a_old.py",
    "keep_old.py",
    "top.py",
    "x/top.py",
    "out/a.py",
    "conf/out/a.py",
    "conf/local.yaml",
    "local.yaml",
    "conf/a/b/gen/c.yaml",
    "gen/c.yaml",
    "mine.py",
    "x/mine.py",
    "#odd.py",
    "x y/ é.py",
)


@pytest.mark.usefixtures("tree")
class TestIgnoredByGit:
    """`git check-ignore` says what is right."""

    @pytest.fixture(autouse=True)
    def _repository(self, tree: Path) -> None:
        subprocess.run(["git", "init", "-q"], check=True)
        make(*NAMES)
        for name, text in PATTERNS.items():
            Path(name).write_text(text)

    def test_what_git_ignores_is_left_out(self) -> None:
        asked = "\0".join(NAMES)
        command = ["git", "-c", "core.excludesFile=", "check-ignore", "-z", "--stdin", "--no-index"]
        ignored = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout.split("\0")
        assert found(".") == sorted(set(NAMES) - set(ignored))
        assert 3 < len(found(".")) < len(NAMES) - 3

    def test_a_subfolder_is_read_as_in_the_whole(self) -> None:
        assert found("conf") == [name for name in found(".") if name.startswith("conf/")]

    def test_what_is_named_is_read(self) -> None:
        assert found("out", "a_old.py") == ["a_old.py", "out/a.py"]

    def test_everything_is_read_where_that_is_asked_for(self) -> None:
        files = discover_types(["."], file_types(), gitignore=False).files
        assert [file.path for file in files] == sorted(NAMES)


@pytest.mark.usefixtures("tree")
class TestPatternsThatAreNone:
    """A line that git cannot use, or that takes forever, ignores nothing; the others do."""

    @pytest.mark.parametrize(
        "line", ["\\", "a\\", "[z-a].py", "!", "[[:alpha:]", "[" * 3000, "*a" * 30, "a" + "*" * 60 + "b"]
    )
    def test_the_other_lines_count(self, line: str) -> None:
        name = "a" * 150
        make("kept.py", "left_out.py", f"{name}.py")
        Path(".gitignore").write_text(f"{line}\nleft_out.py\n")
        assert found(".") == [f"{name}.py", "kept.py"]
