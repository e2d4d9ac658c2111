"""A value that a program loads from data is followed back to its entry there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.python.test_deciding import origin, text_at

IMPORTS = """
import ast, json, yaml
from pathlib import Path
from types import SimpleNamespace
from omegaconf import OmegaConf
HERE = Path(__file__).parent
@dataclass
class Options:
    fsdp: bool = False
    size: int = 1
"""

# The text of a data file, and the statement that turns FSDP on with it; what is between « and » decides.
FILES = {
    "an entry of JSON": (
        "a.json",
        '{"fsdp":\n  «true»}',
        "cfg.ddp.use_megatron_fsdp = json.load(open(HERE / 'a.json'))['fsdp']",
    ),
    "JSON with tabs": (
        "a.json",
        '{\t"size": 1,\n\t"fsdp": «true»\n}',
        "cfg.ddp.use_megatron_fsdp = read('a.json')['fsdp']",
    ),
    "an entry of YAML": ("a.yaml", "a:\n  fsdp: «true»\n", "cfg.ddp.use_megatron_fsdp = read('a.yaml')['a']['fsdp']"),
    "a pair of a list": (
        "a.yaml",
        "- [wgrad_deterministic, false]\n- [use_megatron_fsdp, «true»]\n",
        "for name, value in read('a.yaml'): setattr(cfg.ddp, name, value)",
    ),
    "an element by its number": (
        "a.json",
        "[false, «true»]",
        "data = read('a.json'); cfg.ddp.use_megatron_fsdp = data[1]",
    ),
    "a literal in a text file": (
        "a.txt",
        "  {'fsdp': «True»}",
        "cfg.ddp.use_megatron_fsdp = ast.literal_eval((HERE / 'a.txt').read_text())['fsdp']",
    ),
    "keyword arguments of a dataclass": (
        "a.json",
        '{"fsdp": «true»}',
        "options = Options(**read('a.json')); cfg.ddp.use_megatron_fsdp = options.fsdp",
    ),
    "entries that update an object": (
        "a.json",
        '{"use_megatron_fsdp": «true»}',
        "vars(cfg.ddp).update(read('a.json'))",
    ),
    "names of a namespace": (
        "a.json",
        '{"fsdp": «true»}',
        "options = SimpleNamespace(**read('a.json')); cfg.ddp.use_megatron_fsdp = options.fsdp",
    ),
    "keyword arguments of a function": ("a.json", '{"fsdp": «true»}', "switch(cfg, **read('a.json'))"),
    "a tree of OmegaConf": (
        "a.yaml",
        "ddp:\n  fsdp: «true»\n",
        "conf = OmegaConf.load(HERE / 'a.yaml'); cfg.ddp.use_megatron_fsdp = conf.ddp.fsdp",
    ),
    "a tree as a dictionary": (
        "a.yaml",
        "ddp:\n  fsdp: «true»\n",
        "conf = OmegaConf.load(HERE / 'a.yaml'); on = OmegaConf.to_container(conf)['ddp']['fsdp']\n"
        "    cfg.ddp.use_megatron_fsdp = on",
    ),
    "what is read only once": ("a.yaml", "fsdp: «true»\n", "cfg.ddp.use_megatron_fsdp = once()['fsdp']"),
    "a value that is worked out": (
        "a.yaml",
        "mode: «fsdp»\n",
        "cfg.ddp.use_megatron_fsdp = read('a.yaml')['mode'] == 'fsdp'",
    ),
}
HELPERS = """
from functools import cache
def read(name):
    with open(HERE / name) as stream:
        return yaml.safe_load(stream) if name.endswith('yaml') else json.load(stream)
@cache
def once():
    return read('a.yaml')
def switch(cfg, fsdp=False):
    cfg.ddp.use_megatron_fsdp = fsdp
"""


@pytest.mark.parametrize("name", FILES)
def test_the_entry_of_a_file_decides(name: str, tmp_path: Path) -> None:
    file, data, statement = FILES[name]
    before, _, rest = data.partition("«")
    (tmp_path / file).write_text(data.replace("«", "").replace("»", ""))
    written = origin(tmp_path, f"{IMPORTS}{HELPERS}def recipe():\n    cfg = base()\n    {statement}\n    return cfg\n")
    span = written.places(lambda path: True)[0].span
    assert (Path(span.path).name, span.line) == (file, before.count("\n") + 1)
    assert text_at(written) == rest.partition("»")[0]


TEXTS = {
    "a text of the module": ('TEXT = """\nddp:\n  fsdp: «true»\n"""\n', "yaml.safe_load(TEXT)['ddp']['fsdp']"),
    "a text in the call": ("", "json.loads('{\"fsdp\": «true»}')['fsdp']"),
    "a tree of OmegaConf": ('TEXT = """\nddp:\n  fsdp: «true»\n"""\n', "OmegaConf.create(TEXT).ddp.fsdp"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_line_of_a_text_in_the_program_decides(name: str, tmp_path: Path) -> None:
    table, expression = TEXTS[name]
    recipe = f"def recipe():\n    cfg = base()\n    cfg.ddp.use_megatron_fsdp = {expression}\n    return cfg\n"
    text = f"{IMPORTS}{table}{recipe}"
    written = origin(tmp_path, text.replace("«", "").replace("»", ""))
    assert text_at(written) == text.partition("«")[2].partition("»")[0]


@pytest.mark.parametrize("literal", ['"fsdp: \\x74rue"', '"fsdp:" " true"', "'fsdp: {}'.format('true')"])
def test_a_text_that_is_spelled_otherwise_is_told_where_it_is_loaded(literal: str, tmp_path: Path) -> None:
    written = origin(
        tmp_path,
        f"{IMPORTS}def recipe():\n    cfg = base()\n    cfg.ddp.use_megatron_fsdp = yaml.safe_load({literal})['fsdp']\n"
        "    return cfg\n",
    )
    assert {place.span.path for place in written.places(lambda path: True)} == {str(tmp_path / "recipes.py")}


def test_a_list_that_was_changed_since_is_told_at_the_write(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[false, false]")
    written = origin(
        tmp_path,
        f"{IMPORTS}{HELPERS}def recipe():\n    cfg = base()\n    data = read('a.json')\n    data[1] = True\n"
        "    cfg.ddp.use_megatron_fsdp = data[1]\n    return cfg\n",
    )
    assert {Path(place.span.path).name for place in written.places(lambda path: True)} == {"recipes.py"}
