"""Questions about the versions of packages: the target answers them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Known, Value
from mfsdp_lint.megatron.versions import Target, resolve_target
from tests.readers.python.upstream_recipes import values


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


TOP = """\
import importlib.metadata, os, platform, sys
import megatron.bridge, megatron.core, pkg_resources
from megatron.bridge import __version__, package_info
from megatron.core.utils import is_te_min_version, is_torch_min_version
from packaging import version
from packaging.version import Version

"""


def answers(question: str, *targets: Target) -> set[Value]:
    text = f"{TOP}def recipe():\n    cfg = base()\n    cfg.train.train_iters = 1 if {question} else 2\n    return cfg\n"
    return values(text, "train.train_iters", *targets)


SINCE_05 = (
    "__version__ >= '0.5'",
    "megatron.bridge.__version__.startswith(('0.5', '0.6'))",
    "getattr(megatron.bridge, '__version__', '0') >= '0.5'",
    "(package_info.MAJOR, package_info.MINOR) >= (0, 5)",
    "package_info.VERSION[:2] >= (0, 5)",
    "package_info.__shortversion__ >= '0.5'",
    "megatron.core.__version__ >= '0.18'",
    "Version(__version__) >= Version('0.5.0rc1')",
    "version.parse(__version__).release >= (0, 5)",
    "version.parse(__version__).minor > 4",
    "tuple(int(each) for each in __version__.split('.')[:2]) >= (0, 5)",
    "importlib.metadata.version('megatron_bridge') >= '0.5'",
    "importlib.metadata.distribution('megatron-bridge').version >= '0.5'",
    "pkg_resources.get_distribution('megatron-bridge').version >= '0.5'",
)


@pytest.mark.parametrize("question", SINCE_05)
def test_the_target_answers_what_is_installed(question: str) -> None:
    assert answers(question, resolve_target("0.6.0")) == {Known(1)}
    assert answers(question, resolve_target("0.3.1")) == {Known(2)}


TRUE = (
    "Version('0.10') > Version('0.9')",
    "Version('1.0') == Version('1.0.0')",
    "Version('1.0rc1') < Version('1.0') < Version('1.0.post1')",
    "Version('1.0.dev3') < Version('1.0a1')",
    "Version('1.0+cu124') > Version('1.0')",
    "str(Version('v1.0-RC.1')) == '1.0rc1'",
    "Version('2!1.4').epoch == 2",
    "Version('1.2.3+abc').public == '1.2.3'",
    "Version('1.2.3.dev1').is_prerelease",
)


@pytest.mark.parametrize("question", TRUE)
def test_versions_compare_as_packaging_does(question: str) -> None:
    assert answers(question) == {Known(1)}


def test_a_text_that_is_no_version_is_refused() -> None:
    text = f"{TOP}try:\n    Version('newest')\n    N = 1\nexcept ValueError:\n    N = 2\n"
    text += "def recipe():\n    cfg = base()\n    cfg.train.train_iters = N\n    return cfg\n"
    assert values(text, "train.train_iters") == {Known(2)}


def test_torch_and_transformer_engine_are_known_where_the_target_says_them() -> None:
    target = resolve_target("0.6.0")
    known = replace(target, torch="2.9.0", te="2.10.0")
    for question in ("is_torch_min_version('2.10')", "is_te_min_version('2.9.0')"):
        assert answers(question, target) == {Known(1), Known(2)}
    assert answers("is_torch_min_version('2.10')", known) == {Known(2)}
    assert answers("is_te_min_version('2.9.0')", known) == {Known(1)}


def test_a_core_that_is_not_known_has_no_known_version() -> None:
    between = replace(resolve_target("0.6.0"), between=True)
    assert answers("megatron.core.__version__ >= '0.18'", between) == {Known(1), Known(2)}


def test_releases_that_share_a_reading_answer_together() -> None:
    targets = resolve_target("0.4.2"), resolve_target("0.4.0")
    assert answers("__version__ >= '0.4'", *targets) == {Known(1)}
    assert answers("__version__ >= '0.4.1'", *targets) != {Known(1)}


@pytest.mark.parametrize(
    "question",
    [
        "sys.version_info >= (3, 10)",
        "not sys.version_info < (3, 8)",
        "sys.version_info[:2] > (3, 9)",
        "sys.version_info.major == sys.version_info[0] == 3",
        "sys.platform == 'linux'",
        "os.name == 'posix'",
        "platform.system() != 'Darwin'",
    ],
)
def test_megatron_runs_on_linux_and_on_a_python_that_its_releases_need(question: str) -> None:
    assert answers(question, resolve_target("0.6.0")) == {Known(1)}


@pytest.mark.parametrize(
    "question", ["sys.version_info > (3, 10)", "sys.version_info < (3, 13)", "sys.version_info[1] > 9"]
)
def test_which_python_it_is_is_not_known(question: str) -> None:
    assert answers(question, resolve_target("0.6.0")) == {Known(1), Known(2)}


FOR_ANOTHER = """\
from megatron.bridge import __version__
from megatron.bridge.training.config import ConfigContainer


def _fsdp2(cfg: ConfigContainer) -> ConfigContainer:
    cfg.dist.use_torch_fsdp2 = True
    return cfg


VARIANTS = {}
"""


@pytest.mark.parametrize(
    ("use", "is_told"),
    [
        ("if __version__ >= '0.6':\n    VARIANTS['fsdp2'] = _fsdp2\n", False),
        ("if __version__ < '0.6':\n    pass\nelse:\n    VARIANTS['fsdp2'] = _fsdp2\n", False),
        ("if __version__ >= '0.3':\n    VARIANTS['fsdp2'] = _fsdp2\n", True),
        ("if __version__ >= '0.6':\n    VARIANTS['fsdp2'] = _fsdp2\nVARIANTS['other'] = _fsdp2\n", True),
        ("from of_the_site import asked\nif asked():\n    VARIANTS['fsdp2'] = _fsdp2\n", True),
        ("", True),
    ],
)
def test_a_function_that_is_for_another_release_is_no_recipe(
    use: str, is_told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("variants.py").write_text(FOR_ANOTHER + use)
    main(
        ["--no-cache", "--target-bridge", "0.4.2", "--select", "MFSDP202", "--output-format", "concise", "variants.py"]
    )
    assert ("MFSDP202" in capsys.readouterr().out) is is_told
