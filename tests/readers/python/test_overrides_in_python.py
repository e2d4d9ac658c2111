"""Overrides that a program reads from files of its tree, or applies as Megatron-Bridge's own scripts do."""

# ruff: noqa: E501 (a program a line)

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import indent

import pytest

from mfsdp_lint.core.recipe import Recipe, Setting
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge

SCRIPT = """
import ast
import json
import os
from importlib import resources
from pathlib import Path

import tomllib
import yaml
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.utils.omegaconf_utils import (
    apply_overrides,
    create_omegaconf_dict_config,
    parse_hydra_overrides,
    process_config_with_overrides,
)
from omegaconf import OmegaConf

HERE = Path(__file__).resolve().parent
TOP


def recipe():
    cfg = llama3_8b_pretrain_config()
BODY
    return cfg
"""

FILES = {
    "conf.yaml": "ddp:\n  use_megatron_fsdp: true\ncheckpoint: &c\n  save_interval: 10\nother:\n  <<: *c\n  x: 1e-4\n",
    "conf.json": '{"use_megatron_fsdp": true,\n "bucket_size": 7}\n',
    "conf.toml": "[ddp]\nuse_megatron_fsdp = true\n",
    "conf.txt": "{'use_megatron_fsdp': True}\n",
    "bad.yaml": "a: [1\n",
    "odd.yaml": "ddp:\n  use_megatron_fsdp: ${oc.env:X}\n",
    "nested/more.yaml": "use_megatron_fsdp: true\n",
    "nested/__init__.py": "",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(body: str, top: str = "", files: Mapping[str, str] | None = None) -> Recipe:
    text = SCRIPT.replace("TOP", top).replace("BODY", indent(body, "    "))
    Path("a.py").write_text(text, encoding="utf-8")
    found = read_python(["a.py"], Sources(files or {}), load_knowledge(resolve_target("0.3.1")))
    return next(recipe for recipe in found.recipes if recipe.name == "recipe")


def fsdp(body: str, top: str = "") -> Setting:
    return read(body, top).setting("ddp.use_megatron_fsdp")


SET = "cfg.ddp.use_megatron_fsdp = "

READS = {
    "a path beside the file": "yaml.safe_load((HERE / 'conf.yaml').read_text())['ddp']['use_megatron_fsdp']",
    "a relative path": "yaml.safe_load(open('conf.yaml'))['ddp']['use_megatron_fsdp']",
    "a path by os.path": "yaml.safe_load(open(os.path.join(os.path.dirname(__file__), 'conf.yaml')))['ddp']['use_megatron_fsdp']",
    "a folder by os.path": "yaml.safe_load(open(os.path.dirname(os.path.abspath(__file__)) + '/conf.yaml'))['ddp']['use_megatron_fsdp']",
    "a path above and back": "json.load((HERE / 'nested' / '..' / 'conf.json').open())['use_megatron_fsdp']",
    "with_name": "json.loads(Path(__file__).with_name('conf.json').read_text())['use_megatron_fsdp']",
    "joinpath": "json.loads(HERE.joinpath('conf.json').read_text(encoding='utf-8'))['use_megatron_fsdp']",
    "parents": "yaml.safe_load((Path(__file__).parents[0] / 'nested/more.yaml').open())['use_megatron_fsdp']",
    "a folder": "yaml.load(open(HERE / 'nested' / 'more.yaml'), Loader=yaml.SafeLoader)['use_megatron_fsdp']",
    "a package's file": "yaml.safe_load(resources.files('nested').joinpath('more.yaml').read_text())['use_megatron_fsdp']",
    "bytes": "tomllib.load(open(HERE / 'conf.toml', 'rb'))['ddp']['use_megatron_fsdp']",
    "a literal": "ast.literal_eval((HERE / 'conf.txt').read_text())['use_megatron_fsdp']",
    "a text": "json.loads('{\"a\": [1, true]}')['a'][1]",
    "a merge key": "yaml.safe_load(open(HERE / 'conf.yaml'))['other']['save_interval'] == 10",
    "numbers of YAML 1.1": "yaml.safe_load(open(HERE / 'conf.yaml'))['other']['x'] == '1e-4'",
    "numbers of OmegaConf": "OmegaConf.load(HERE / 'conf.yaml').other.x == 1e-4",
    "lines": "len(open(HERE / 'conf.toml').readlines()) == 2",
    "a file that is there": "(HERE / 'conf.yaml').exists()",
    "an entry by select": "OmegaConf.select(OmegaConf.load('conf.yaml'), 'ddp.use_megatron_fsdp')",
    "what is not there by select": "OmegaConf.select(OmegaConf.load('conf.yaml'), 'ddp.nothing', default=True)",
}


@pytest.mark.parametrize("expression", READS.values(), ids=READS.keys())
def test_a_file_of_the_tree_is_read(expression: str, folder: Path) -> None:
    assert fsdp(SET + expression).value == Known(True)


INTERPOLATED = {
    "another entry": "OmegaConf.create({'b': True, 'a': {'on': '${b}'}}).a.on",
    "an entry beside it": "OmegaConf.create({'b': 1, 'a': {'b': True, 'on': '${.b}'}}).a.on",
    "an entry above": "OmegaConf.create({'b': True, 'a': {'b': 1, 'on': '${..b}'}}).a.on",
    "an interpolation": "OmegaConf.create({'a': '${b}', 'b': '${c}', 'c': True}).a",
    "a part of a text": "OmegaConf.create({'n': 1, 't': 'x${n}'}).t == 'x1'",
    "a name in a name": "OmegaConf.create({'which': 'b', 'a': '${${which}}', 'b': True}).a",
    "the default of a variable": "OmegaConf.create({'t': '${oc.env:NOBODY_SETS_THIS,x}'}).t == 'x'",
    "a decoded text": "OmegaConf.create({'t': '${oc.decode:\"true\"}'}).t",
    "an entry that is merged later": "OmegaConf.merge({'b': 1, 'a': '${b}'}, {'b': True}).a",
    "a value of a dictionary": "OmegaConf.to_container(OmegaConf.create({'b': True, 'a': '${b}'}), resolve=True)['a']",
    "itself, unresolved": "OmegaConf.to_container(OmegaConf.create({'b': 1, 'a': '${b}'}))['a'] == '${b}'",
    "an entry of a walk": "[value for _, value in OmegaConf.create({'a': '${b}', 'b': True}).items()][0]",
    "an entry of some name": "[conf[name] for conf in [OmegaConf.create({'a': True})] for name in conf][0]",
    "a known name": "'a' in OmegaConf.create({'a': 1}) and 'b' not in OmegaConf.create({'a': 1})",
    "a popped entry": "OmegaConf.create({'a': True}).pop('a')",
    "a default": "OmegaConf.create({'a': 1}).setdefault('b', True)",
}


@pytest.mark.parametrize("expression", INTERPOLATED.values(), ids=INTERPOLATED.keys())
def test_omegaconf_works_an_entry_out(expression: str, folder: Path) -> None:
    assert fsdp(SET + expression).value == Known(True)


def test_an_interpolation_is_worked_out_when_it_is_read(folder: Path) -> None:
    body = "conf = OmegaConf.create({'b': False})\nconf.part = {'a': '${b}'}\nconf.b = True\n"
    assert fsdp(f"{body}{SET}conf.part.a").value == Known(True)
    assert fsdp(f"{body}OmegaConf.resolve(conf)\nconf.b = False\n{SET}conf.part.a").value == Known(True)


UNREAD = {
    "a file out of the tree": "yaml.safe_load(open('/etc/conf.yaml'))['x']",
    "a folder above the project": "yaml.safe_load((HERE / '../../conf.yaml').read_text())['x']",
    "a file that is not there": "yaml.safe_load(open('nothing.yaml'))['x']",
    "an interpolation": "OmegaConf.load('odd.yaml').ddp.use_megatron_fsdp",
    "any object": "yaml.unsafe_load(open('conf.yaml'))['ddp']['use_megatron_fsdp']",
    "a name from outside": "yaml.safe_load(open(os.environ['CONF']))['x']",
    "hooks": "json.load(open('conf.json'), object_hook=lambda _: {'use_megatron_fsdp': os.environ['FSDP']})['use_megatron_fsdp']",
}


@pytest.mark.parametrize("expression", UNREAD.values(), ids=UNREAD.keys())
def test_what_is_out_of_sight_is_not_known(expression: str, folder: Path) -> None:
    assert not isinstance(fsdp(SET + expression).value, Known)


def test_what_the_program_writes_itself_is_not_read(folder: Path) -> None:
    write = "with open('conf.json', 'w') as stream:\n    json.dump({}, stream)\n"
    assert not isinstance(fsdp(f"{write}{SET}json.load(open('conf.json'))['use_megatron_fsdp']").value, Known)


def test_a_file_that_is_not_there_takes_the_handler(folder: Path) -> None:
    body = f"try:\n    {SET}json.load(open('nothing.json'))['x']\nexcept FileNotFoundError:\n    {SET}'none'"
    assert fsdp(body).value == Known("none")


def test_a_changed_text_counts(folder: Path) -> None:
    found = read(f"{SET}json.load(open('conf.json'))['bucket_size']", files={"conf.json": '{"bucket_size": 9}'})
    assert found.setting("ddp.use_megatron_fsdp").value == Known(9)


def test_a_default_from_the_environment_is_told(folder: Path) -> None:
    setting = fsdp(f"{SET}json.loads(os.environ.get('DDP', '{{\"x\": 1}}'))['x']")
    assert setting.value == Known(1)
    assert setting.origin is not None
    assert setting.origin.option == "$DDP"


WITH_TREE = "conf, excluded = create_omegaconf_dict_config(cfg)\n"
APPLY = "\napply_overrides(cfg, OmegaConf.to_container(conf, resolve=True), excluded)"

OVERRIDES = {
    "a list": "process_config_with_overrides(cfg, cli_overrides=['ddp.use_megatron_fsdp=true'])",
    "its result": "cfg = process_config_with_overrides(cfg, None, ['ddp.use_megatron_fsdp=TRUE'])",
    "a file": "process_config_with_overrides(cfg, config_filepath='conf.yaml')",
    "a file and a list": "process_config_with_overrides(cfg, HERE / 'odd.yaml', ['++ddp.use_megatron_fsdp=true'])",
    "the later one": "process_config_with_overrides(cfg, cli_overrides=['ddp.use_megatron_fsdp=1', 'ddp={use_megatron_fsdp: true}'])",
    "merged": f"{WITH_TREE}conf = OmegaConf.merge(conf, {{'ddp': {{'use_megatron_fsdp': True}}}}){APPLY}",
    "merged with a file": f"{WITH_TREE}conf = OmegaConf.merge(conf, OmegaConf.load('conf.yaml')){APPLY}",
    "merged with a created one": f"{WITH_TREE}conf = OmegaConf.merge(conf, OmegaConf.create('ddp: {{use_megatron_fsdp: true}}')){APPLY}",
    "merged in place": f"{WITH_TREE}conf.merge_with({{'ddp': {{'use_megatron_fsdp': True}}}}){APPLY}",
    "a dotted list": f"{WITH_TREE}conf = OmegaConf.merge(conf, OmegaConf.from_dotlist(['ddp.use_megatron_fsdp=true'])){APPLY}",
    "an attribute": f"{WITH_TREE}conf.ddp.use_megatron_fsdp = True{APPLY}",
    "an entry": f"{WITH_TREE}conf['ddp']['use_megatron_fsdp'] = True{APPLY}",
    "one key": f"{WITH_TREE}OmegaConf.update(conf, 'ddp.use_megatron_fsdp', True){APPLY}",
    "one section": f"{WITH_TREE}OmegaConf.update(conf, 'ddp', {{'use_megatron_fsdp': True}}, merge=True){APPLY}",
    "hydra": f"{WITH_TREE}conf = parse_hydra_overrides(conf, ['ddp.use_megatron_fsdp=true']){APPLY}",
    "the container": f"{WITH_TREE}d = OmegaConf.to_container(conf)\nd['ddp']['use_megatron_fsdp'] = True\napply_overrides(cfg, d, excluded)",
    "a dictionary": "apply_overrides(cfg, {'ddp': {'use_megatron_fsdp': True}, 'nothing': 1}, {})",
}


BESIDE_THE_FIELDS = "dataset.skip_getting_attention_mask_from_dataset"
"""An attribute that a constructor of upstream writes and no class declares: overrides are merged without it, and as
upstream's class may have more than is known of it, the attribute is unknown then."""


@pytest.mark.parametrize("body", OVERRIDES.values(), ids=OVERRIDES.keys())
def test_overrides_change_what_they_name_and_nothing_else(body: str, folder: Path) -> None:
    changed, plain = read(body), read("pass")
    assert changed.setting("ddp.use_megatron_fsdp").value == Known(True)
    other = {path for path in plain.paths() if changed.setting(path).value != plain.setting(path).value}
    assert other <= {"ddp.use_megatron_fsdp", "checkpoint.save_interval", BESIDE_THE_FIELDS}
    assert not changed.partial


LEAVING: dict[str, tuple[str, Plain]] = {
    "none": ("process_config_with_overrides(cfg, cli_overrides=[])", True),
    "no list": ("process_config_with_overrides(cfg)", True),
    "taken away": ("process_config_with_overrides(cfg, cli_overrides=['~ddp.use_megatron_fsdp'])", True),
    "an empty command line": (f"{WITH_TREE}conf = OmegaConf.merge(conf, OmegaConf.from_cli()){APPLY}", True),
    "the state before": (f"{WITH_TREE}cfg.ddp.use_megatron_fsdp = False{APPLY}", True),
    "not applied": (f"{WITH_TREE}conf.ddp.use_megatron_fsdp = False", True),
    "a copy": (f"{WITH_TREE}other = OmegaConf.merge(conf, {{'ddp': {{'use_megatron_fsdp': False}}}}){APPLY}", True),
}


@pytest.mark.parametrize(("body", "value"), LEAVING.values(), ids=LEAVING.keys())
def test_what_is_not_overridden_stays(body: str, value: Plain, folder: Path) -> None:
    assert fsdp(f"{SET}True\n{body}").value == Known(value)


FORGOTTEN = {
    "an unknown list": "process_config_with_overrides(cfg, cli_overrides=unknown())",
    "an unknown file": "process_config_with_overrides(cfg, config_filepath=unknown())",
    "a file that is not there": "process_config_with_overrides(cfg, config_filepath='nothing.yaml')",
    "an unknown mapping": f"{WITH_TREE}conf = OmegaConf.merge(conf, unknown()){APPLY}",
    "an unknown method": f"{WITH_TREE}conf.update(unknown()){APPLY}",
    "an unknown order": f"{WITH_TREE}conf.popitem(){APPLY}",
}


@pytest.mark.parametrize("body", FORGOTTEN.values(), ids=FORGOTTEN.keys())
def test_what_cannot_be_followed_is_forgotten(body: str, folder: Path) -> None:
    assert not isinstance(fsdp(f"{SET}True\n{body}", "from elsewhere import unknown").value, Known)


PLACES = {
    "a list of the module": ("process_config_with_overrides(cfg, cli_overrides=LIST)", "a.py", "use_megatron_fsdp=true"),
    "a file": ("process_config_with_overrides(cfg, config_filepath='conf.yaml')", "conf.yaml", "use_megatron_fsdp: true"),
    "a dictionary": (f"{WITH_TREE}conf = OmegaConf.merge(conf,\n    {{'ddp': {{\n    'use_megatron_fsdp': True}}}}){APPLY}", "a.py", "    'use_megatron_fsdp': True"),
    "a statement": (f"{WITH_TREE}conf.ddp.use_megatron_fsdp = True{APPLY}", "a.py", "conf.ddp.use_megatron_fsdp"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "path", "text"), PLACES.values(), ids=PLACES.keys())
def test_an_override_is_told_where_it_is_said(body: str, path: str, text: str, folder: Path) -> None:
    origin = fsdp(body, "LIST = [\n    'ddp.use_megatron_fsdp=true',\n]").origin
    assert origin is not None
    assert origin.span.path == path
    assert text in Path(path).read_text(encoding="utf-8").splitlines()[origin.point.line - 1]


OPEN = {
    "by a resolver of the program": "cfg.checkpoint.ckpt_format = OmegaConf.create({'a': '${mine:x}'}).a",
    "of an entry that is not there": "cfg.checkpoint.ckpt_format = OmegaConf.create({'a': '${b}'}).a",
    "in a list": "conf = OmegaConf.create({'a': ['${c}'], 'c': 'x'}); cfg.checkpoint.ckpt_format = conf.a[0]",
}


@pytest.mark.parametrize("body", OPEN.values(), ids=OPEN.keys())
def test_an_interpolation_is_not_the_text_that_it_is_written_as(body: str, folder: Path) -> None:
    assert not isinstance(read(body).setting("checkpoint.ckpt_format").value, Known)


def test_a_dataclass_gives_a_tree_of_its_defaults(folder: Path) -> None:
    top = "from dataclasses import dataclass, field\n"
    top += "@dataclass\nclass Part:\n    on: bool = False\n"
    top += "@dataclass\nclass Run:\n    part: Part = field(default_factory=Part)\n"
    body = "conf = OmegaConf.merge(OmegaConf.structured(Run), OmegaConf.from_dotlist(['part.on=true']))\n"
    body += "cfg.ddp.use_megatron_fsdp = conf.part.on"
    assert read(body, top).setting("ddp.use_megatron_fsdp").value == Known(True)


def test_an_override_of_which_the_value_alone_is_not_known_leaves_the_others_known(folder: Path) -> None:
    body = (
        "cfg = process_config_with_overrides(cfg, cli_overrides=[f'{}={{os.uname()}}/x', 'ddp.use_megatron_fsdp=true'])"
    )
    (named,) = read(body.format("checkpoint.save")).variants
    assert named.value("ddp.use_megatron_fsdp") == Known(True)
    assert not isinstance(named.value("checkpoint.save"), Known)
    (unnamed,) = read(body.format("{os.uname()}.save")).variants
    assert not isinstance(unnamed.value("checkpoint.ckpt_format"), Known)


def test_a_folder_that_is_known_when_the_program_runs_is_a_value_as_any_other(folder: Path) -> None:
    words = "[f'checkpoint.save={os.getcwd()}/x', f'checkpoint.load={HERE}/y', 'ddp.use_megatron_fsdp=true']"
    (variant,) = read(f"cfg = process_config_with_overrides(cfg, cli_overrides={words})").variants
    assert variant.value("checkpoint.save") == Known("<CWD>/x")
    assert variant.value("ddp.use_megatron_fsdp") == Known(True)
