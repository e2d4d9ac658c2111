"""The tree is Megatron itself: what package_info.py says, and what the code says where that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.inputs.detect.declared import NamedVersions, ProjectFolders, in_set_up, named_by, project_folders
from mfsdp_lint.inputs.detect.present import PROBES, declared, in_tree

SAYS = "MAJOR = 0\nMINOR = {}\nPATCH = {}\nPRE_RELEASE = '{}'\n"


def megatron_lm(root: Path, line: tuple[int, int], says: str) -> ProjectFolders:
    """A tree with the features of one line of megatron-core."""
    core = root / "megatron" / "core"
    for probe in PROBES:
        if probe.since <= line < probe.before:
            path = core / probe.path
            if probe.text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text((path.read_text() if path.exists() else "") + probe.text, encoding="utf-8")
            else:
                path.mkdir(parents=True, exist_ok=True)
    (core / "package_info.py").write_text(says, encoding="utf-8")
    return ProjectFolders((str(root),))


@pytest.mark.parametrize("minor", range(12, 21))
def test_what_the_file_says_counts_where_the_code_agrees(tmp_path: Path, minor: int) -> None:
    looked = megatron_lm(tmp_path, (0, minor), SAYS.format(minor, 1, ""))
    (found,) = in_tree(looked)
    assert (found.core, looked.remarks) == (f"0.{minor}.1", [])


def test_the_code_counts_where_the_file_is_wrong_and_that_is_said(tmp_path: Path) -> None:
    looked = megatron_lm(tmp_path, (0, 19), SAYS.format(17, 0, "rc0"))
    (found,) = in_tree(looked)
    path = tmp_path / "megatron/core/package_info.py"
    assert found.core == "0.19"
    assert looked.remarks == [f"{path} says 0.17.0rc0, but the code is that of megatron-core 0.19"]


def test_a_commit_between_two_lines_is_judged_by_both(tmp_path: Path) -> None:
    looked = between(tmp_path)
    (found,) = in_tree(looked)
    assert (found.core, found.between) == ("0.15.3 | 0.16.0", "0.16.0rc0")
    (said,) = looked.remarks
    assert "from between megatron-core 0.15 and 0.16" in said


def test_a_candidate_that_asks_for_the_groups_of_experts_as_the_next_line_does_is_no_older_one(tmp_path: Path) -> None:
    """As main was in October 2025: 0.15.0rc5, with the mesh of experts that 0.15.0 has not."""
    looked = megatron_lm(tmp_path, (0, 15), SAYS.format(15, 0, "rc5"))
    (tmp_path / "megatron/core/distributed/fsdp/src/megatron_fsdp").mkdir(parents=True)
    file = tmp_path / "megatron/core/distributed/fsdp/src/megatron_fsdp/utils.py"
    file.write_text("expt_device_mesh = None\n", encoding="utf-8")
    (found,) = in_tree(looked)
    assert (found.core, found.between) == ("0.15.3 | 0.16.0", "0.15.0rc5")


def test_a_branch_on_its_way_to_what_is_in_development_is_judged_by_that_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    megatron_lm(tmp_path, (0, 20), SAYS.format(20, 0, ".dev"))
    (tmp_path / "megatron/core/optimizer/__init__.py").unlink()
    script = (
        "torchrun pretrain_gpt.py --use-megatron-fsdp --megatron-fsdp-version 2 --ckpt-format fsdp_dtensor"
        " --use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params\n"
    )
    (tmp_path / "train.sh").write_text(script, encoding="utf-8")
    for options, told in ([], []), (["--target-core", "head"], ["MFSDP260"]):
        main(["--no-cache", "--output-format", "concise", "--select", "MFSDP260,MFSDP758", *options, str(tmp_path)])
        out = capsys.readouterr().out
        assert [line.split()[2] for line in out.splitlines() if "train.sh:" in line] == told


def test_what_holds_for_one_of_them_alone_is_not_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    between(tmp_path)
    script = (
        "torchrun pretrain_gpt.py --use-torch-fsdp2 --fp16 --untie-embeddings-and-output-weights"
        " --no-gradient-accumulation-fusion --tensor-model-parallel-size 1\n"
    )
    (tmp_path / "train.sh").write_text(script, encoding="utf-8")
    for options, told in ([], ["MFSDP255"]), (["--target-core", "0.16.0"], ["MFSDP202", "MFSDP255"]):
        main(["--no-cache", "--output-format", "concise", "--select", "MFSDP2", *options, str(tmp_path)])
        out = capsys.readouterr().out
        assert sorted(line.split()[2] for line in out.splitlines() if "train.sh:" in line) == told


def between(root: Path) -> ProjectFolders:
    """A Megatron-LM on its way from 0.15 to 0.16."""
    looked = megatron_lm(root, (0, 16), SAYS.format(16, 0, "rc0"))
    (root / "megatron/core/distributed/finalize_model_grads.py").unlink()
    return looked


@pytest.mark.parametrize("minor", [2, 9, 11])
def test_of_one_that_is_older_than_all_that_are_known_nothing_is_known(tmp_path: Path, minor: int) -> None:
    looked = older(tmp_path, minor)
    (found,) = in_tree(looked)
    assert found.older == f"0.{minor}.0rc0"
    path = tmp_path / "megatron/core/package_info.py"
    assert looked.remarks == [
        f"{path} says 0.{minor}.0rc0, of which nothing is known: only the text of scripts is judged"
    ]


def test_of_such_a_tree_only_the_text_of_scripts_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    older(tmp_path, 4)
    script = "torchrun pretrain_gpt.py --use-torch-fsdp2 --fp16 --tensor-model-parallel-size 1\n  --bf16\n"
    (tmp_path / "train.sh").write_text(script, encoding="utf-8")
    main(["--no-cache", "--output-format", "concise", str(tmp_path)])
    said = [line.split()[2] for line in capsys.readouterr().out.splitlines() if "train.sh:" in line]
    assert said == ["MFSDP915"]


def older(root: Path, minor: int) -> ProjectFolders:
    """A Megatron-LM of a line that is not known."""
    (root / "megatron/core").mkdir(parents=True)
    (root / "megatron/core/package_info.py").write_text(SAYS.format(minor, 0, "rc0"), encoding="utf-8")
    return ProjectFolders((str(root),))


def test_a_checkout_of_megatron_bridge_brings_the_core_of_its_submodule(tmp_path: Path) -> None:
    for path, minor in (("src/megatron/bridge", 4), ("3rdparty/Megatron-LM/megatron/core", 17)):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "package_info.py").write_text(SAYS.format(minor, 2, ""), encoding="utf-8")
    (found,) = in_tree(ProjectFolders((str(tmp_path),)))
    assert (found.bridge, found.core) == ("0.4.2", "0.17.2")


def test_a_package_is_found_from_any_folder_in_it(tmp_path: Path) -> None:
    recipes = tmp_path / "megatron/bridge/recipes/llama"
    recipes.mkdir(parents=True)
    (tmp_path / "megatron/bridge/package_info.py").write_text(SAYS.format(3, 1, ""), encoding="utf-8")
    (found,) = in_tree(project_folders([str(recipes)]))
    assert found.bridge == "0.3.1"


@pytest.mark.parametrize("text", ["", "MAJOR = 0\n", "MAJOR = x\nMINOR = 1\nPATCH = 2\n", "VERSION = '0.3.1'\n"])
def test_a_file_that_declares_no_version_says_nothing(text: str) -> None:
    assert declared(text) is None


# -- containers ---------------------------------------------------------------------------------------------------


def set_up(folder: Path, name: str, text: str) -> list[NamedVersions]:
    """Write a file of a project, and return the versions that it names."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return list(in_set_up(ProjectFolders((str(folder),))))


@pytest.mark.parametrize(
    ("name", "text", "bridge"),
    [
        ("Dockerfile", "FROM nvcr.io/nvidia/nemo:25.11 AS base\n", "0.2.0"),
        ("docker/Dockerfile.train", "ARG BASE=nvcr.io/nvidia/nemo:26.04.00\n", "0.4.0"),
        ("train.sbatch", "#SBATCH --container-image=nvcr.io#nvidia/nemo:26.02.01\n", "0.3.1"),
        ("scripts/launch.sh", 'CONTAINER="/images/nvidia+nemo+26.06.sqsh"\n', "0.5.0"),
        ("docker-compose.yml", "services:\n  train:\n    image: nvcr.io/nvidia/nemo:26.08\n", "0.6.0"),
    ],
)
def test_a_container_says_what_is_in_it(tmp_path: Path, name: str, text: str, bridge: str) -> None:
    (found,) = set_up(tmp_path, name, text)
    assert (found.place, found.bridge) == (f"{tmp_path / name}:{text.count(chr(10))}", bridge)


@pytest.mark.parametrize(
    ("name", "text", "bridge", "core"),
    [
        ("Dockerfile", "FROM ghcr.io/lab/megatron-lm:core_v0.17.1 AS base\n", None, "0.17.1"),
        ("Dockerfile", "FROM lab/trainer:core_r0.18.0-cu129\n", None, "0.18.0"),
        ("run.sbatch", "#SBATCH --container-image=/images/lab+mlm+core_v0.19.0.sqsh\n", None, "0.19.0"),
        ("megatron.def", "%post\n  git clone -b core_v0.17.1 https://github.com/NVIDIA/Megatron-LM\n", None, "0.17.1"),
        ("run.sh", "TAG=core_v0.15.2\ndocker run lab/mlm:$TAG bash go.sh\n", None, "0.15.2"),
        ("run.sh", 'B=/src/Megatron-Bridge\ngit -C "$B" checkout -q v0.5.0\n', "0.5.0", None),
        ("run.sh", "cd vendor/Megatron-Bridge && git fetch --tags\ngit checkout v0.4.2\n", "0.4.2", None),
        ("values.yaml", "image:\n  repository: lab/trainer\n  tag: core_v0.16.1\n", None, "0.16.1"),
        ("values.yaml", "imageTag: 'core_v0.17.0'\n", None, "0.17.0"),
        ("compose.yaml", "services:\n  t:\n    image: lab/megatron-bridge:v0.4.2\n", "0.4.2", None),
        ("values.yaml", "image:\n  repository: lab/megatron-bridge\n  tag: v0.4.2\n", "0.4.2", None),
        ("kustomization.yaml", "images:\n- name: a\n  newName: lab/megatron-lm\n  newTag: 0.16.1\n", None, "0.16.1"),
        ("compose.yaml", "services:\n  t:\n    image: lab/megatron_core:0.18.2\n", None, "0.18.2"),
    ],
)
def test_an_image_that_is_tagged_as_upstream_tags_a_release_has_that_release(
    tmp_path: Path, name: str, text: str, bridge: str | None, core: str | None
) -> None:
    found = set_up(tmp_path, name, text)
    assert {(each.bridge, each.core) for each in found} == {(bridge, core)}


@pytest.mark.parametrize(
    "text",
    [
        "FROM lab/trainer:0.16.1\n",  # the project's own numbers
        "FROM lab/megatron-lm:1.4.0\n",
        "FROM lab/megatron-lm:0.16\n",
        "FROM lab/megatron-lm-tools:0.16.1\n",
        "# FROM lab/megatron-lm:core_v0.16.1\n",
        "ENV STAGE=core_review\n",
    ],
)
def test_a_tag_that_is_none_of_upstream_says_nothing(tmp_path: Path, text: str) -> None:
    assert set_up(tmp_path, "Dockerfile", text) == []


@pytest.mark.parametrize(
    "text",
    [
        "# FROM nvcr.io/nvidia/nemo:25.11\n",
        "FROM nvcr.io/nvidia/nemo:${TAG}\n",
        "FROM nvcr.io/nvidia/nemo:24.01\n",
        "FROM nvcr.io/nvidia/nemo:25.11.nemotron_3_nano\n",
        "FROM nvcr.io/nvidia/nemo:26.08.rc5\n",
        "FROM nvcr.io/nvidia/pytorch:25.11-py3\n",
    ],
)
def test_a_container_that_the_table_does_not_know_says_nothing(tmp_path: Path, text: str) -> None:
    assert set_up(tmp_path, "Dockerfile", text) == []


@pytest.mark.parametrize(
    ("name", "text", "core"),
    [
        ("Dockerfile", "FROM python:3.12\nRUN pip install --no-deps megatron-core==0.18.2\n", "0.18.2"),
        ("images/Dockerfile", 'RUN apt-get update && \\\n    uv pip install "megatron-core[dev]==0.17.1"\n', "0.17.1"),
        ("Dockerfile", "ARG CORE=0.17.1\nRUN pip install megatron-core==${CORE}\n", "0.17.1"),
        ("setup.sh", "pip install megatron_core==${MCORE:-0.16.1}\n", "0.16.1"),
        (
            "setup.sh",
            "git clone --depth 1 -b core_v0.19.0 https://github.com/NVIDIA/Megatron-LM.git /opt/lm\n",
            "0.19.0",
        ),
        (
            "setup.sh",
            "git clone git@github.com:NVIDIA/Megatron-LM\ncd Megatron-LM && git checkout core_v0.18.2\n",
            "0.18.2",
        ),
        ("setup.sh", "pip install git+https://github.com/NVIDIA/Megatron-LM.git@core_v0.15.3\n", "0.15.3"),
        ("Dockerfile", "FROM nvcr.io/nvidia/nemo:26.02\nRUN pip install megatron-core==0.18.2\n", "0.18.2"),
        ("setup.sh", "pip install megatron-core==0.16.1\npip install megatron-core==0.17.1\n", "0.16.1 | 0.17.1"),
    ],
)
def test_a_script_or_a_dockerfile_says_what_it_installs(tmp_path: Path, name: str, text: str, core: str) -> None:
    assert [found.core for found in set_up(tmp_path, name, text) if found.core] == [core]


def test_a_makefile_says_what_its_own_launches_clone(tmp_path: Path) -> None:
    makefile = tmp_path / "Makefile"
    makefile.write_text(
        "TAG := core_v0.19.0\nlm:\n\tgit clone -b $(TAG) https://github.com/NVIDIA/Megatron-LM.git $@\n"
    )
    assert [found.core for found in named_by(ProjectFolders((str(tmp_path),)), str(makefile))] == ["0.19.0"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "justfile",
            'tag := "core_v0.19.0"\nlm:\n  git clone https://github.com/NVIDIA/Megatron-LM.git\n'
            "  git -C lm checkout {{tag}}\n",
        ),
        ("run.sbatch", "MLM=/opt/megatron/core_v0.19.0\nsrun python $MLM/pretrain_gpt.py\n"),
        ("run.sh", "cd /shared/src/Megatron-LM-core_v0.19.0\n"),
        (
            "ci.yml",
            "env:\n  REF: core_v0.19.0\njobs:\n  a:\n    steps:\n    - uses: actions/checkout@v4\n      with:\n"
            "        repository: NVIDIA/Megatron-LM\n        path: lm\n        ref: ${{ env.REF }}\n",
        ),
        ("MEGATRON_VERSION", "core_v0.19.0\n"),
        ("run.hcl", 'variable "megatron" {\n  default = "core_v0.19.0"\n}\n'),
    ],
)
def test_a_tag_of_megatron_lm_is_one_wherever_it_stands(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    places = ProjectFolders((str(tmp_path),))
    assert [found.core for found in named_by(places, str(tmp_path / name))] == ["0.19.0"]


@pytest.mark.parametrize(
    "text",
    [
        "# see core_v0.16.1\n",
        "# pip install megatron-core==0.16.1\n",
        'echo "this needs megatron-core==0.16.1"\n',
        "pip install megatron-core==$1\n",
        "git clone https://github.com/NVIDIA/Megatron-LM\n",
        "git clone -b core_v0.18.2 https://github.com/somebody/other\n",
        "CORE=0.16.1\nCORE=0.17.1\npip install megatron-core==$CORE\n",
    ],
)
def test_what_is_not_surely_installed_says_nothing(tmp_path: Path, text: str) -> None:
    assert set_up(tmp_path, "setup.sh", text) == []


def test_transformer_engine_and_torch_come_from_the_container_too(tmp_path: Path) -> None:
    (found,) = set_up(tmp_path, "Dockerfile", "FROM nvcr.io/nvidia/nemo:26.02\n")
    assert (found.core, found.te, found.torch) == ("0.16.0", "2.12", "2.10.0a0")
