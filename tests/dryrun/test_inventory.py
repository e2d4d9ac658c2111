"""Which GPUs there are, and what can be done with them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from mfsdp_lint.dryrun import inventory
from mfsdp_lint.dryrun.inventory import BRIDGE, CPU, PACKAGES, Device, Gpu, Installed
from mfsdp_lint.dryrun.worker.inventory import gpus, version
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.megatron.versions import Target, nearest

H100 = Gpu("NVIDIA H100 80GB HBM3", (9, 0))
A100 = Gpu("NVIDIA A100", (8, 0))
NONE = Installed("python", "3.11.7", dict.fromkeys(PACKAGES, "1.0"), (), "this machine has none")

VERSIONS = {"megatron-bridge": "0.3.1", "megatron-core": "0.16.1", "torch": "2.13.0"}


def test_no_gpu_takes_no_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert gpus([f"{tmp_path}/nvidia*"]) == {"gpus": [], "no_gpu": "this machine has none"}


@pytest.mark.parametrize(
    ("cuda", "nccl", "count", "found"),
    [
        ("12.8", True, 1, {"gpus": [{"name": "H100", "capability": (9, 0)}], "no_gpu": ""}),
        ("12.8", True, 0, {"gpus": [], "no_gpu": "torch sees none"}),
        ("12.8", False, 1, {"gpus": [], "no_gpu": "torch 2.13.0 is built without NCCL"}),
        (None, True, 1, {"gpus": [], "no_gpu": "torch 2.13.0 is built without CUDA"}),
    ],
)
def test_torch_says_which_it_can_use(
    cuda: str | None, nccl: bool, count: int, found: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nvidia0").touch()
    torch = SimpleNamespace(
        __version__="2.13.0",
        version=SimpleNamespace(cuda=cuda),
        distributed=SimpleNamespace(is_nccl_available=lambda: nccl),
        cuda=SimpleNamespace(
            device_count=lambda: count, get_device_name=lambda _: "H100", get_device_capability=lambda _: (9, 0)
        ),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert gpus([f"{tmp_path}/nvidia*"]) == found


def test_auto_takes_gpus_where_there_are_as_many_as_ranks() -> None:
    two = replace(NONE, gpus=(H100, A100))
    assert two.device("auto", 2) == Device("cuda", "nccl", transformer_engine=True, capability=(8, 0), gpus=2)
    assert two.device("auto", 4) == CPU
    assert two.device("cpu", 2) == CPU
    assert NONE.device("auto", 2) == CPU


def test_no_gpu_is_told() -> None:
    with pytest.raises(UsageError, match="--tier gpu: python sees no GPU: this machine has none") as error:
        NONE.device("gpu", 2)
    assert "--executor slurm or ray sends it to a cluster" in error.value.more[0]


def test_ranks_share_a_gpu_where_the_tier_for_gpus_is_asked_for() -> None:
    one = replace(NONE, gpus=(H100,))
    assert one.device("gpu", 2) == Device("cuda", "nccl", transformer_engine=True, capability=(9, 0), gpus=1)
    assert one.device("auto", 2) == CPU


def test_a_container_has_what_this_python_may_lack() -> None:
    assert NONE.on_the_nodes(1, in_a_container=False) == Device("cuda", "nccl", True, capability=(9, 0), gpus=1)
    without = replace(NONE, packages={**NONE.packages, "transformer-engine": None})
    assert not without.on_the_nodes(0, in_a_container=False).transformer_engine
    assert without.on_the_nodes(0, in_a_container=True).transformer_engine


@pytest.mark.parametrize(
    ("installed", "said"),
    [
        (NONE, "cannot run: this machine has none"),
        (
            replace(NONE, gpus=(H100,)),
            "can run on 1 NVIDIA H100 80GB HBM3 (9.0), layers of Transformer Engine",
        ),
        (
            replace(NONE, gpus=(H100, H100), packages={**NONE.packages, "transformer-engine": None}),
            "can run on 2 NVIDIA H100 80GB HBM3 (9.0), megatron-core's own layers, for "
            "transformer-engine is missing: nothing in 8 bits, and no offloading",
        ),
        (replace(NONE, gpus=(H100,), packages={}), "cannot run; there is 1 NVIDIA H100 80GB HBM3 (9.0)"),
    ],
)
def test_the_setup_says_what_the_tier_for_gpus_can_do(installed: Installed, said: str) -> None:
    assert f"\ngpu         {said}\n" in inventory.setup_report(installed)


def test_a_package_that_is_not_there_has_no_version() -> None:
    assert version("no-such-package") is None
    assert version("megatron-nothing") is None


def test_an_installation_without_a_version_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    metadata = tmp_path / "nameless-1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: nameless\n")
    assert not version("nameless")


def test_a_megatron_that_is_only_on_the_path_has_the_version_of_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "megatron" / "bridge"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "package_info.py").write_text("MAJOR = 0\n__version__ = f'{MAJOR}.4.2'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert version("megatron-bridge") == "0.4.2"


@pytest.mark.parametrize("of_bridge", ["0.3.1", "0.3.1+local.1", "0.4.2"])
def test_what_can_be_imported_is_asked_as_a_dry_run_asks_it(of_bridge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version of Transformer Engine to pretend is that of the release, and never an empty one."""
    asked: list[Target] = []

    @contextmanager
    def validator(launch: object, target: Target, timeout: float) -> Iterator[None]:
        asked.append(target)
        yield

    monkeypatch.setattr(inventory, "validator", validator)
    installed = replace(NONE, python=sys.executable, packages={**NONE.packages, **VERSIONS, BRIDGE: of_bridge})
    assert inventory.why_broken(installed, 10.0) == ""
    assert [nearest(each.bridge) for each in asked] == [nearest(of_bridge)]
    assert nearest(of_bridge).te
    assert "cpu         can run" in inventory.setup_report(installed)


@pytest.mark.parametrize("of_bridge", ["17.0", "main", "2026-11-01", "0.3.1-dirty!"])
def test_a_release_that_no_rules_are_known_for_cannot_be_tried(of_bridge: str) -> None:
    installed = replace(NONE, packages={**NONE.packages, **VERSIONS, BRIDGE: of_bridge})
    broken = inventory.why_broken(installed, 10.0)
    assert broken.startswith(f"no rules are known for megatron-bridge {of_bridge} with megatron-core 0.16.1")
    assert "cpu         cannot run" in inventory.setup_report(installed, broken)
