"""Hydra's composition: what is stated as known is what Hydra makes of it, where that is installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.trees import Section
from mfsdp_lint.readers.yaml.compose import compose_hydra
from mfsdp_lint.readers.yaml.document import Files
from tests.megatron.front_ends.project import Project

GROUPS = {
    "db/mysql.yaml": "name: mysql\nport: 3306\n",
    "db/postgres.yaml": "defaults:\n  - base\nname: postgres\n",
    "db/base.yaml": "timeout: 10\nname: base\n",
    "db/with_engine.yaml": "defaults:\n  - engine: slow\n  - ../extra@inner: one\n  - _self_\nname: with_engine\n",
    "db/engine/slow.yaml": "speed: 1\n",
    "db/engine/fast.yaml": "speed: 2\n",
    "extra/one.yaml": "one: 1\n",
    "extra/global.yaml": "# @package _global_\nat_the_root: true\n",
    "extra/elsewhere.yaml": "\n# @package else.where\nthere: true\n",
    "extra/licensed.yaml": "# Licence\n# @package else.where\nthere: true\n",
}


def composed(project: Project, primary: str, files: Mapping[str, str] = GROUPS) -> Section:
    project.write({**{f"conf/{name}": text for name, text in files.items()}, "conf/config.yaml": primary})
    found = Files(Sources())
    root = found.tree("conf/config.yaml")
    assert root is not None
    return compose_hydra("conf/config.yaml", root, found, {}, Section())


def known(whole: Section) -> dict[str, Plain]:
    return {".".join(key): leaf.value.value for key, leaf in whole.leaves() if isinstance(leaf.value, Known)}


CASES: Mapping[str, tuple[Any, ...]] = {
    "a group is put into its package": ("- db: mysql\n", {"db.name": "mysql", "db.port": 3306}),
    "a file of its own name comes last, where it is not named": ("- db: mysql\n", {"db.port": 1}, "db: {port: 1}\n"),
    "a file of its own is where it is named": ("- _self_\n- db: mysql\n", {"db.port": 3306}, "db: {port: 1}\n"),
    "a group in another package": ("- db@source.main: mysql\n", {"source.main.port": 3306}),
    "a group in no package": ("- db@_global_: mysql\n", {"port": 3306}),
    "a group in the package at hand": ("- db@_here_: mysql\n", {"port": 3306}),
    "several of a group": ("- db: [mysql, base]\n", {"db.name": "base", "db.port": 3306, "db.timeout": 10}),
    "none of a group": ("- db: null\n", {}),
    "a single configuration": ("- db/mysql\n", {"db.name": "mysql"}),
    "what a choice names is beside it": ("- db: postgres\n", {"db.name": "postgres", "db.timeout": 10}),
    "what a choice chooses is inside its package": ("- db: with_engine\n", {"db.engine.speed": 1, "db.inner.one": 1}),
    "another choice": ("- db: mysql\n- override db: base\n", {"db.name": "base"}),
    "another choice further down": ("- db: with_engine\n- override db/engine: fast\n", {"db.engine.speed": 2}),
    "another choice of a package": (
        "- db@main: mysql\n- db@other: mysql\n- override db@other: base\n",
        {"main.name": "mysql", "other.name": "base"},
    ),
    "a choice that follows another": (
        "- extra: one\n- db@a.b: ${kind}\n- kind: mysql\n",
        {"a.b.name": "mysql"},
    ),
    "a header names the package": ("- extra: global\n", {"at_the_root": True}),
    "a header of one's own": ("- extra: elsewhere\n", {"else.where.there": True}),
    "a header behind other comments is none": ("- extra: licensed\n", {"extra.there": True}),
    "a choice that need not be there": ("- optional db: gone\n- db@x: mysql\n", {"x.name": "mysql"}),
    "hydra's own": ("- db: mysql\n- override hydra/job_logging: none\n", {"db.name": "mysql"}),
    "references cross files": ("- db: mysql\n", {"port": 3306}, "port: ${db.port}\n"),
}


@pytest.mark.filterwarnings("ignore:In 'config'. Defaults list is missing")
@pytest.mark.parametrize("case", CASES)
def test_composition(project: Project, case: str) -> None:
    entries, wanted, *own = CASES[case]
    primary = "defaults:\n" + "".join(f"  {line}\n" for line in entries.splitlines()) + "".join(own)
    files = {**GROUPS, "kind/mysql.yaml": "kind: mysql\n"}
    whole = composed(project, primary, files)
    found = known(whole)
    assert {path: found.get(path) for path in wanted} == wanted
    assert not whole.open
    _as_hydra_does(project, found)


def _as_hydra_does(project: Project, found: Mapping[str, Plain]) -> None:
    real = pytest.importorskip("hydra")
    omegaconf = pytest.importorskip("omegaconf")
    with real.initialize_config_dir(config_dir=str(project.folder / "conf"), version_base="1.3"):
        container = omegaconf.OmegaConf.to_container(real.compose("config"), resolve=True)
    assert found == dict(_flat(container))


def _flat(node: object, above: str = "") -> list[tuple[str, object]]:
    if not isinstance(node, dict):
        return [(above, node)]
    return [pair for name, below in node.items() for pair in _flat(below, f"{above}.{name}" if above else name)]


@pytest.mark.parametrize(
    "entries",
    ["- gone\n", "- db: gone\n", "- db: ???\n", "- db: ${nowhere}\n", "- [a]\n", "- {a: b, c: d}\n", "- config\n"],
)
def test_what_is_not_there_may_say_anything_but_what_is_said_after_it(project: Project, entries: str) -> None:
    primary = f"defaults:\n  {entries}  - _self_\nwritten: 1\n"
    whole = composed(project, primary)
    assert whole.open
    assert known(whole).get("written", 1) == 1


def test_defaults_that_are_no_list(project: Project) -> None:
    assert composed(project, "defaults: {a: 1}\nwritten: 1\n").open


def test_choices_that_double_with_every_file_end(project: Project) -> None:
    files = {f"c{step}.yaml": f"defaults: [c{step + 1}, c{step + 1}]\n" for step in range(40)}
    assert composed(project, "defaults: [c0, _self_]\n", files).open


def test_a_group_that_is_overridden_belongs_to_the_list_of_the_file_that_is_missing(project: Project) -> None:
    primary = "defaults:\n  - base\n  - override optim: adam\n  - override engine: big\n  - _self_\nlr: 2\n"
    files = {"optim/adam.yaml": "name: adam\n", "config.yaml": primary}
    project.write({f"conf/{name}": text for name, text in files.items()})
    found = Files(Sources())
    root = found.tree("conf/config.yaml")
    assert root is not None
    whole = compose_hydra("conf/config.yaml", root, found, {"engine/big": {"size": 8}}, Section())
    assert whole.open
    assert {".".join(key): leaf.value for key, leaf in whole.leaves()} == {
        "optim.name": Known("adam"),
        "engine.size": Known(8),
        "lr": Known(2),
    }
