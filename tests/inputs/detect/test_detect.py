"""Which versions a project uses, found by itself: what counts, in which order, and how it is told."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.inputs.detect import Detected, detect
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.megatron.versions import DEFAULT_TARGET, UnknownVersion

PACKAGE_INFO = "MAJOR = {}\nMINOR = {}\nPATCH = {}\nPRE_RELEASE = '{}'\n"

UV_LOCK = """\
version = 1

[[package]]
name = "megatron-bridge"
version = "0.4.2"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "megatron-core"
version = "0.17.1"

[[package]]
name = "torch"
version = "2.11.0"

[[package]]
name = "transformer-engine"
version = "2.14.1+366798ef"
"""

Project = Callable[..., Detected]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Writes the files of a project (text by path) and looks at it from its root."""
    monkeypatch.chdir(tmp_path)
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("sys.path", [])

    def look(files: dict[str, str], options: Options | None = None, path: str = ".") -> Detected:
        for name, text in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        modules, scripts = ([name for name in files if name.endswith(kind)] for kind in (".py", (".sh", "job.yaml")))
        return detect([path], options or Options(), modules, scripts)

    return look


def told(found: Detected) -> list[tuple[str, str, str]]:
    """Bridge, core and reason of every target."""
    return [(target.bridge, target.core, target.reason) for target in found.targets]


def test_nothing_to_go_by_is_the_newest_on_the_package_index_and_only_assumed(project: Project) -> None:
    found = project({"recipe.py": "x = 1\n"})
    assert told(found) == [("0.3.1", "0.16.1", "the newest on the package index")]
    assert found.targets[0].assumed


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("# Runs\n\nWith `megatron-bridge==0.5.1`, in our image.\n", "0.5.1"),
        ("Megatron-LM at tag `core_v0.18.2`:\n\n    pip install megatron-core==0.18.2\n", "0.18.2"),
    ],
)
def test_a_page_about_the_project_says_it_where_nothing_else_does(project: Project, text: str, version: str) -> None:
    (target,) = project({"README.md": text}).targets
    assert version in (target.bridge, target.core)
    assert target.reason.startswith("README.md:")
    (target,) = project({"README.md": text, "requirements.txt": "megatron-bridge==0.6.0\n"}).targets
    assert (target.bridge, target.reason) == ("0.6.0", "requirements.txt:1")


def test_a_page_that_names_several_versions_says_none(project: Project) -> None:
    text = "Tested with megatron-bridge==0.4.2 and megatron-bridge==0.5.1.\n"
    assert project({"README.md": text}).targets[0].assumed


def test_a_lock_file_says_everything_with_its_line(project: Project) -> None:
    found = project({"uv.lock": UV_LOCK})
    assert told(found) == [("0.4.2", "0.17.1", "uv.lock:4")]
    assert (found.targets[0].te, found.targets[0].torch, found.targets[0].assumed) == (
        "2.14.1+366798ef",
        "2.11.0",
        False,
    )


def test_a_component_from_another_place_is_told_with_it(project: Project) -> None:
    found = project(
        {"requirements.txt": "megatron-bridge==0.3.1\ntorch==2.10.0\n", "Dockerfile": "FROM nvidia/nemo:26.02\n"}
    )
    assert (found.targets[0].torch, found.targets[0].te) == ("2.10.0", "2.12")
    assert told(found) == [("0.3.1", "0.16.1", "requirements.txt:1; te from Dockerfile:1")]


# -- the order ----------------------------------------------------------------------------------------------------


EVERYTHING = {
    "src/megatron/bridge/package_info.py": PACKAGE_INFO.format(0, 6, 0, ""),
    "uv.lock": UV_LOCK,
    "requirements.txt": "megatron-bridge==0.3.0\n",
    "Dockerfile": "FROM nvcr.io/nvidia/nemo:26.06.01\n",
    ".venv/lib/python3.12/site-packages/megatron_bridge-0.2.0.dist-info/METADATA": "",
    "recipe.py": "from megatron.bridge.recipes.only_at_head import x\n",
}


@pytest.mark.parametrize(
    ("removed", "bridge", "reason"),
    [
        (0, "0.6.0", "src/megatron/bridge/package_info.py"),
        (1, "0.4.2", "uv.lock:4"),
        (2, "0.3.0", "requirements.txt:1"),
        (3, "0.5.1", "Dockerfile:1"),
        (4, "0.2.0", ".venv/lib/python3.12/site-packages/megatron_bridge-0.2.0.dist-info"),
    ],
)
def test_the_first_place_that_says_something_counts(project: Project, removed: int, bridge: str, reason: str) -> None:
    found = project(dict(list(EVERYTHING.items())[removed:]))
    assert [(each[0], each[2].partition(";")[0]) for each in told(found)] == [(bridge, reason)]


def test_what_was_asked_for_comes_first(project: Project) -> None:
    found = project(EVERYTHING, Options(target_bridge="0.2.2", target_te="2.9", target_gpu="h100"))
    assert told(found) == [("0.2.2", "0.16.0rc0", "as asked; torch from uv.lock:13")]
    assert (found.targets[0].te, found.targets[0].torch, found.targets[0].gpu) == ("2.9", "2.11.0", "h100")


def test_a_core_found_behind_the_place_that_says_which_bridge_it_is_does_not_count(project: Project) -> None:
    files = {
        "requirements.txt": "megatron-bridge==0.4.2\n",
        ".venv/lib/python3.12/site-packages/megatron_core-0.14.0.dist-info/METADATA": "",
    }
    assert told(project(files)) == [("0.4.2", "0.17.1", "requirements.txt:1")]


def test_folders_above_count_up_to_the_root_of_the_repository(project: Project) -> None:
    files = {".git/HEAD": "", "requirements.txt": "megatron-bridge==0.5.1\n", "a/b/recipe.py": ""}
    assert told(project(files, path="a/b/recipe.py")) == [("0.5.1", "0.18.2", "requirements.txt:1")]
    (Path("a") / ".git").mkdir()
    assert project({}, path="a/b/recipe.py").targets[0].assumed


# -- ranges -------------------------------------------------------------------------------------------------------


def test_a_range_is_every_known_release_in_it_the_newest_first(project: Project) -> None:
    found = project({"pyproject.toml": '[project]\ndependencies = ["megatron-bridge>=0.3.1,<0.5"]\n'})
    assert told(found) == [
        ("0.4.2", "0.17.1", "pyproject.toml:2"),
        ("0.4.1", "0.17.0rc0", "pyproject.toml:2"),
        ("0.4.0", "0.17.0rc0", "pyproject.toml:2"),
        ("0.3.1", "0.16.1", "pyproject.toml:2"),
    ]


def test_an_open_range_is_one_of_releases_without_the_development_branch(project: Project) -> None:
    found = project({"requirements.txt": "megatron-bridge>=0.5\n"})
    assert [target.bridge for target in found.targets] == ["0.6.0", "0.5.1", "0.5.0"]


def test_a_range_that_was_asked_for_stays_what_it_is(project: Project) -> None:
    found = project({"requirements.txt": "megatron-bridge==0.6.0\n"}, Options(target_bridge=">=0.6 | head"))
    assert [target.bridge for target in found.targets] == ["head", "0.6.0"]


def test_a_later_place_narrows_a_range_down(project: Project) -> None:
    files = {
        "pyproject.toml": 'dependencies = ["megatron-bridge>=0.3"]\n',
        "Dockerfile": "FROM nvcr.io/nvidia/nemo:26.04.01\n",
    }
    assert told(project(files)) == [("0.4.2", "0.17.1", "pyproject.toml:1, Dockerfile:1")]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".devcontainer/Dockerfile", "RUN git clone --branch core_v0.18.2 https://github.com/NVIDIA/Megatron-LM.git\n"),
        (".devcontainer/devcontainer.json", '{"image": "nvcr.io/nvidia/nemo:26.06.01"}\n'),
    ],
)
def test_the_image_that_people_develop_in_counts(project: Project, file: str, text: str) -> None:
    assert [(target.core, target.reason) for target in project({file: text}).targets] == [("0.18.2", f"{file}:1")]


@pytest.mark.parametrize(
    ("other", "wanted"),
    [
        ("IMAGE = 'registry/other:core_v0.19.0'\n", "0.19.0"),
        ("IMAGE = 1\n", "0.19.0"),
        ("IMAGE = 'registry/other:core_v0.18.2'\n", DEFAULT_TARGET.core),
    ],
    ids=["two that agree", "one", "two that do not"],
)
def test_images_in_python_files_count_where_they_agree(project: Project, other: str, wanted: str) -> None:
    files = {"images.py": "IMAGE = 'registry/trainer:core_v0.19.0'\n", "also.py": other}
    assert [target.core for target in project(files).targets] == [wanted]


@pytest.mark.parametrize(
    "step",
    [
        "run_commands('git clone -b v0.6.0 https://github.com/NVIDIA-NeMo/Megatron-Bridge /opt/bridge')",
        "pip_install(\n    'torch',\n    'megatron-bridge==0.6.0',\n)",
        "run_commands('pip install --no-deps megatron-bridge==0.6.0')",
    ],
)
def test_images_that_python_files_make_count(project: Project, step: str) -> None:
    found = project({"app.py": f"import modal\n\nimage = modal.Image.debian_slim().{step}\n"})
    assert [(target.bridge, target.reason.partition(":")[0]) for target in found.targets] == [("0.6.0", "app.py")]


def test_a_table_that_a_program_reads_says_what_it_checks_out(project: Project) -> None:
    table = '[megatron]\nrepo = "https://github.com/NVIDIA/Megatron-LM.git"\nref = "core_v0.18.2"\n'
    found = project({"runs/big.toml": table, "launch.py": "import tomllib\n"})
    assert [(target.core, target.reason) for target in found.targets] == [("0.18.2", "runs/big.toml:3")]


def test_a_place_that_contradicts_a_range_is_passed_over(project: Project) -> None:
    files = {"requirements.txt": "megatron-bridge>=0.5,<0.6\n", "Dockerfile": "FROM nvcr.io/nvidia/nemo:25.11\n"}
    assert [target.bridge for target in project(files).targets] == ["0.5.1", "0.5.0"]


def test_a_range_without_a_known_release_is_a_mistake_when_it_was_asked_for(project: Project) -> None:
    with pytest.raises(UnknownVersion, match=r"no known Megatron-Bridge version is in '>=0\.9'"):
        project({}, Options(target_bridge=">=0.9"))


def test_a_range_without_a_known_release_in_the_project_is_a_remark(project: Project) -> None:
    found = project({"requirements.txt": "megatron-bridge>=0.9\n"})
    assert found.targets[0].assumed
    assert found.remarks[0].startswith("requirements.txt:1: no known Megatron-Bridge version is in '>=0.9.0'")


# -- megatron-core ------------------------------------------------------------------------------------------------


def test_a_core_alone_is_that_of_the_bridge_release_that_pins_its_line(project: Project) -> None:
    assert told(project({"requirements.txt": "megatron-core==0.16.1\n"})) == [("0.3.1", "0.16.1", "requirements.txt:1")]


def test_a_core_that_no_bridge_release_pins_stands_alone(project: Project) -> None:
    (target,) = project({"requirements.txt": "megatron-core==0.14.0\n"}).targets
    assert (target.core, target.core_alone, target.label) == ("0.14.0", True, "megatron-core 0.14.0")


def test_another_core_than_the_pinned_one_can_be_asked_for(project: Project) -> None:
    (target,) = project({}, Options(target_bridge="0.4.2", target_core="0.18")).targets
    assert target.label == "megatron-bridge 0.4.2 with megatron-core 0.18.2"


@pytest.mark.parametrize("core", ["0.11.0", "0.21", "latest"])
def test_an_unknown_core_is_a_mistake(project: Project, core: str) -> None:
    with pytest.raises(UnknownVersion, match="unknown megatron-core version"):
        project({}, Options(target_core=core))


@pytest.mark.parametrize("options", [Options(target_te="newest"), Options(target_torch="newest")])
def test_a_component_needs_a_version(project: Project, options: Options) -> None:
    with pytest.raises(UnknownVersion, match=r"target-(te|torch): 'newest' is not a version"):
        project({}, options)


def test_a_version_that_is_none_is_passed_over(project: Project) -> None:
    (target,) = project({"requirements.txt": "megatron-bridge==0.3.1\ntorch==2.x-custom\n"}).targets
    assert (target.bridge, target.torch) == ("0.3.1", None)


# -- robustness ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["uv.lock", "poetry.lock", "requirements.txt", "pyproject.toml", "environment.yml"])
@pytest.mark.parametrize(
    "text",
    [
        "\0\0\0megatron-bridge",
        '[[package]]\nname = "megatron-bridge"',
        "megatron-bridge==not.a.version",
        "[[[{{{ torch ==",
    ],
)
def test_a_malformed_file_never_stops_a_run(project: Project, name: str, text: str) -> None:
    assert project({name: text}).targets[0].assumed


def test_what_is_no_file_is_left_alone(project: Project) -> None:
    os.mkfifo("requirements.txt")
    Path("uv.lock").mkdir()
    assert project({}).targets[0].assumed


# -- imports ------------------------------------------------------------------------------------------------------


def test_imports_tell_which_releases_have_them_all(project: Project) -> None:
    source = "import torch\nfrom megatron.bridge.data import DirectHFSFTDatasetConfig\n"
    found = project({"recipe.py": source})
    assert told(found) == [
        ("head", "0.20.0.dev", "what recipe.py:2 imports"),
        ("0.6.0", "0.19.0", "what recipe.py:2 imports"),
    ]


def test_imports_that_the_newest_on_the_index_has_too_tell_nothing(project: Project) -> None:
    found = project({"recipe.py": "from megatron.bridge.training.config import ConfigContainer\n"})
    assert found.targets[0].assumed


def test_a_module_that_no_release_has_tells_nothing(project: Project) -> None:
    source = (
        "from megatron.bridge.data import DirectHFSFTDatasetConfig\n"
        "from megatron.bridge.recipes.our_own import config\n"
    )
    assert [target.bridge for target in project({"recipe.py": source}).targets] == ["head", "0.6.0"]


def test_an_import_that_may_be_one_of_two_tells_nothing(project: Project) -> None:
    source = "try:\n    from megatron.bridge.data import DirectHFSFTDatasetConfig\nexcept ImportError:\n    pass\n"
    assert project({"recipe.py": source}).targets[0].assumed


RECIPE = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\ncfg = llama3_8b_pretrain_config()\n"


def test_a_field_that_only_some_releases_have_tells_these(project: Project) -> None:
    found = project({"recipe.py": f"{RECIPE}cfg.validation.eval_interval = 50\n"})
    assert found.targets[-1].bridge == "0.4.0"
    assert found.targets[-1].reason == "what recipe.py:3 sets"


@pytest.mark.parametrize(
    "text",
    [
        "cfg.ddp.use_megatron_fdsp = True\n",
        "if hasattr(cfg, 'validation'):\n    cfg.validation.eval_interval = 50\n",
        "try:\n    cfg.validation.eval_interval = 50\nexcept AttributeError:\n    pass\n",
        "assert cfg.validation.eval_interval == 50\n",
    ],
    ids=["a field of no release", "behind a question", "in a try statement", "no assignment"],
)
def test_what_may_be_there_for_one_release_among_others_tells_nothing(project: Project, text: str) -> None:
    assert project({"recipe.py": RECIPE + text}).targets[0].assumed


def test_a_field_beside_an_import_that_no_release_has_with_it_is_a_mistake(project: Project) -> None:
    source = f"from megatron.bridge.data import DirectHFSFTDatasetConfig\n{RECIPE}cfg.dist.lazy_init = True\n"
    assert [target.bridge for target in project({"recipe.py": source}).targets] == ["head", "0.6.0"]


# -- git ----------------------------------------------------------------------------------------------------------


GITMODULES = '[submodule "mb"]\n\tpath = 3rdparty/mb\n\turl = https://github.com/NVIDIA-NeMo/Megatron-Bridge.git\n'


def index_with(path: str, commit: str) -> bytes:
    """A git index with one submodule."""
    name = path.encode()
    entry = struct.pack(">10I20sH", *[0] * 6, 0o160000, 0, 0, 0, bytes.fromhex(commit), len(name)) + name + b"\0" * 4
    return b"DIRC" + struct.pack(">II", 2, 1) + entry


def test_a_submodule_counts_at_the_commit_that_is_recorded(project: Project) -> None:
    Path(".git").mkdir()
    Path(".git/index").write_bytes(index_with("3rdparty/mb", "c810129341a84e58f4cbed3093f70668a088c028"))
    assert told(project({".gitmodules": GITMODULES})) == [("0.4.2", "0.17.1", ".gitmodules, 3rdparty/mb at c810129")]


def test_a_submodule_that_is_checked_out_says_it_itself(project: Project) -> None:
    info = "3rdparty/mb/src/megatron/bridge/package_info.py"
    files = {".gitmodules": GITMODULES, info: PACKAGE_INFO.format(0, 5, 1, "")}
    assert told(project(files)) == [("0.5.1", "0.18.2", info)]


def test_a_submodule_at_another_commit_is_told(project: Project) -> None:
    Path(".git").mkdir()
    Path(".git/index").write_bytes(index_with("3rdparty/mb", "0" * 40))
    found = project({".gitmodules": GITMODULES})
    assert found.targets[0].assumed
    assert found.remarks == (
        ".gitmodules, 3rdparty/mb at 0000000: no release that is known; "
        "--target-bridge or --target-core says which to judge by",
    )


def test_a_commit_that_a_framework_is_tied_to_counts_as_the_releases_around_it(project: Project) -> None:
    Path(".git").mkdir()
    modules = '[submodule "lm"]\n\tpath = third_party/lm\n\turl = https://github.com/NVIDIA/Megatron-LM.git\n'
    Path(".git/index").write_bytes(index_with("third_party/lm", "d3528a21301db2d12e92912b3ec025dc8a2ed4d6"))
    found = project({".gitmodules": modules})
    assert {target.core for target in found.targets} >= {"0.16.1", "0.17.1"}
    assert {target.core.rpartition(".")[0] for target in found.targets} == {"0.16", "0.17"}


FLAGS = "pretrain_gpt.py --num-layers 2"


@pytest.mark.parametrize(
    ("script", "core", "reason"),
    [
        pytest.param(FLAGS, "0.16.1", "the newest on the package index", id="all have them"),
        pytest.param(f"{FLAGS} --use-mup", "0.19.0", "--use-mup in run.sh", id="a newer flag"),
        pytest.param(f"{FLAGS}\n# --use-mup", "0.16.1", "the newest on the package index", id="a comment"),
        pytest.param(f"{FLAGS} --use-custom-fsdp", "0.16.1", "the newest on the package index", id="an older flag"),
        pytest.param(f"{FLAGS} --our-flag", "0.16.1", "the newest on the package index", id="nobody's flag"),
    ],
)
def test_the_newest_release_that_has_every_flag_of_the_scripts(
    script: str, core: str, reason: str, project: Project
) -> None:
    assert [(target.core, target.reason) for target in project({"run.sh": script}).targets] == [(core, reason)]


def test_the_branch_of_a_submodule_counts_where_no_commit_is_recorded(project: Project) -> None:
    modules = (
        '[submodule "lm"]\n\tpath = lm\n\turl = https://github.com/NVIDIA/Megatron-LM.git\n\tbranch = core_v0.19.0\n'
    )
    found = project({".gitmodules": modules})
    assert [(each.core, each.reason) for each in found.targets] == [("0.19.0", ".gitmodules")]


def test_the_set_up_of_a_launch_counts_wherever_the_launch_is(project: Project) -> None:
    found = project({"tasks/llama/sky.sh": "pip install megatron-core==0.18.2\ntorchrun pretrain_gpt.py\n"})
    assert [(each.core, each.reason) for each in found.targets] == [("0.18.2", "tasks/llama/sky.sh:1")]


def test_requirements_in_the_folders_of_a_project_count_where_they_agree(project: Project) -> None:
    files = {".git/HEAD": "", "ci/requirements.txt": "megatron-core==0.19.0\n", "run.sh": "torchrun pretrain_gpt.py\n"}
    found = project(files, path="run.sh")
    assert [(each.core, each.reason) for each in found.targets] == [("0.19.0", "ci/requirements.txt:1")]
    found = project({**files, "old/requirements.txt": "megatron-core==0.17.1\n"}, path="run.sh")
    assert [each.assumed for each in found.targets] == [True]


def test_an_assignment_in_a_file_that_is_called_setup_is_no_version(project: Project) -> None:
    found = project({"setup.py": "megatron_bridge = AutoBridge.from_hf_pretrained(name)\n"})
    assert (found.remarks, [each.assumed for each in found.targets]) == ((), [True])


def test_a_flag_that_the_project_declares_says_nothing_of_a_release(project: Project) -> None:
    files = {"run.sh": f"{FLAGS} --use-mup --num-layers 4", "arguments.py": 'parser.add_argument("--use-mup")\n'}
    assert [target.core for target in project(files).targets] == ["0.16.1"]
    # Also where the script alone is asked for.
    found = project({**files, ".git/HEAD": "", "other/run.sh": files["run.sh"]}, path="other/run.sh")
    assert [target.core for target in found.targets] == ["0.16.1"]


@pytest.mark.parametrize(
    ("launcher", "core"),
    [
        pytest.param('run(["torchrun", "pretrain_gpt.py", "--num-layers", "2", "--use-mup"])', "0.19.0", id="a list"),
        pytest.param(
            'words = ["torchrun"]\nwords.append("--num-layers")\nwords.append("--use-mup")', "0.19.0", id="calls"
        ),
        pytest.param('flags(program="pretrain_gpt.py", num_layers=2, use_mup=True)', "0.19.0", id="keys"),
        pytest.param('{"start": "torchrun", "num_layers": 2, "use_mup": True}', "0.19.0", id="a table"),
        pytest.param('{"start": "torchrun", "num-layers": 2, "use-mup": True}', "0.19.0", id="with dashes"),
        pytest.param(
            'import torch as t\nnum_layers = 2\n"torchrun"\nt.x.profile(use_mup=True)',
            "0.16.1",
            id="of another package",
        ),
        pytest.param("num_layers = 2\nuse_mup = True", "0.16.1", id="no launch"),
        pytest.param('"torchrun"\nmodel.num_layers = 2\nmodel.use_mup = True', "0.16.1", id="attributes"),
        pytest.param(
            '"torchrun"\nnum_layers = 2\noption(None, "--use-mup")\nuse_mup = 1', "0.16.1", id="its own option"
        ),
    ],
)
def test_python_that_starts_training_has_flags_as_well(launcher: str, core: str, project: Project) -> None:
    assert [target.core for target in project({"launch.py": f"{launcher}\n"}).targets] == [core]


RUN = "torchrun pretrain_gpt.py --num-layers 2\n"


def by_place(found: Detected) -> dict[tuple[str, ...], str]:
    """The core of every place; () is the rest."""
    return {target.places: target.core for target in found.targets}


def test_a_folder_that_names_versions_is_judged_by_them_and_the_rest_by_those_of_the_root(project: Project) -> None:
    files = {
        ".git/HEAD": "",
        "requirements.txt": "megatron-core==0.16.1\n",
        "train.sh": RUN,
        "people/bob/train.sh": RUN,
        "people/ida/requirements.txt": "megatron-core==0.19.0\n",
        "people/ida/deep/train.sh": RUN,
    }
    assert by_place(project(files)) == {(".",): "0.16.1", ("people/ida",): "0.19.0"}


def test_the_nearest_folder_counts_at_every_level_whatever_kind_of_file_names_it(project: Project) -> None:
    files = {
        ".git/HEAD": "",
        "uv.lock": UV_LOCK,
        "people/pyproject.toml": 'dependencies = ["megatron-core==0.18.2"]\n',
        "people/train.sh": RUN,
        "people/ida/Dockerfile": "RUN pip install megatron-core==0.19.0\n",
        "people/ida/train.sh": RUN,
    }
    assert by_place(project(files)) == {("people",): "0.18.2", ("people/ida",): "0.19.0"}
    assert by_place(project(files, path="people/ida/train.sh"))[("people/ida",)] == "0.19.0"


def test_a_launch_that_names_its_image_is_nearer_than_its_folder(project: Project) -> None:
    files = {
        ".git/HEAD": "",
        "ida/requirements.txt": "megatron-core==0.19.0\n",
        "ida/own.sh": f"IMAGE=nvcr.io/nvidia/nemo:26.04.01\n{RUN}",
        "ida/other.sh": RUN,
        "ida/installs.sh": f"IMAGE=nvcr.io/nvidia/nemo:26.04.01\npip install -r requirements.txt\n{RUN}",
    }
    assert by_place(project(files)) == {("ida",): "0.19.0", ("ida/own.sh",): "0.17.1"}


@pytest.mark.parametrize(
    "packages",
    ["[megatron-core==0.17.1, einops]", "{packages: [einops,megatron-core==0.17.1]}", "\n  - megatron-core==0.17.1"],
)
def test_a_job_names_the_packages_of_its_own_environment(project: Project, packages: str) -> None:
    job = f"entrypoint: {RUN}runtime_env:\n  pip: {packages}\n"
    files = {".git/HEAD": "", "requirements.txt": "megatron-core==0.19.0\n", "job.yaml": job, "train.sh": RUN}
    assert by_place(project(files))[("job.yaml",)] == "0.17.1"


def test_a_range_of_the_nearest_folder_is_narrowed_by_those_above(project: Project) -> None:
    files = {
        ".git/HEAD": "",
        "requirements.txt": "megatron-core==0.18.2\n",
        "ida/pyproject.toml": 'dependencies = ["megatron-core>=0.17"]\n',
        "ida/train.sh": RUN,
    }
    assert by_place(project(files)) == {("ida",): "0.18.2"}


def test_what_one_folder_names_says_nothing_of_its_neighbours(project: Project) -> None:
    files = {
        ".git/HEAD": "",
        "people/bob/train.sh": RUN,
        "people/ida/requirements.txt": "megatron-core==0.19.0\n",
        "people/ida/train.sh": RUN,
    }
    assert by_place(project(files)) == {(): "0.16.1", ("people/ida",): "0.19.0"}


def test_megatron_around_a_folder_counts_more_than_what_the_folder_installs(project: Project) -> None:
    files = {
        ".git/HEAD": "",
        "megatron/core/package_info.py": PACKAGE_INFO.format(0, 18, 2, ""),
        "examples/requirements.txt": "megatron-core==0.15.0\n",
        "examples/train.sh": f"IMAGE=nvcr.io/nvidia/nemo:26.04.01\n{RUN}",
    }
    assert by_place(project(files)) == {(".",): "0.18.2"}


def test_the_same_versions_of_two_folders_are_one_target(project: Project) -> None:
    files = {
        ".git/HEAD": "",
        "requirements.txt": "megatron-core==0.16.1\n",
        "train.sh": RUN,
        **{f"{name}/requirements.txt": "megatron-core==0.19.0\n" for name in ("ida", "bob")},
        **{f"{name}/train.sh": RUN for name in ("ida", "bob")},
    }
    assert list(by_place(project(files)).values()) == ["0.16.1", "0.19.0"]


def test_what_was_asked_for_holds_everywhere(project: Project) -> None:
    files = {
        "requirements.txt": "megatron-core==0.16.1\n",
        "ida/requirements.txt": "megatron-core==0.19.0\n",
        "ida/train.sh": RUN,
    }
    assert by_place(project(files, Options(target_core="0.18.2"))) == {(): "0.18.2"}
