"""Edits of Python statements: only the wanted tokens change."""

from __future__ import annotations

import ast
import re

import pytest

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes import assigning, python
from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.fixes.statements import PythonFile, parse
from tests.fixes.marked import marked


def read(text: str, how: str = "assigned") -> tuple[PythonFile, Origin]:
    plain, origin = marked(text, how=how)  # type: ignore[arg-type]
    file = parse("recipe.py", plain)
    assert file is not None
    return file, origin


def after(file: PythonFile, edits: list[Edit] | None) -> str | None:
    return None if edits is None else apply_edits("recipe.py", file.document.text, edits)


FORMAT = "checkpoint.ckpt_format"
REPLACED = {
    "the value of an assignment": (
        '«cfg.checkpoint.ckpt_format = "torch_dist"»  # kept\n',
        'cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # kept\n',
    ),
    "the value that is pointed at": (
        'cfg.checkpoint.ckpt_format = «"torch_dist"»\n',
        'cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n',
    ),
    "odd spacing stays": (
        "«cfg . checkpoint\t.ckpt_format   =( # why\n  'torch_dist' )»;x = 1\n",
        "cfg . checkpoint\t.ckpt_format   =( # why\n  'fsdp_dtensor' );x = 1\n",
    ),
    "single quotes stay single": (
        "x = {'a': «Config(save='x', ckpt_format='torch_dist')»}\n",
        "x = {'a': Config(save='x', ckpt_format='fsdp_dtensor')}\n",
    ),
    "triple quotes and prefixes go": (
        'c.ckpt_format = «r"""torch_dist"""»\n',
        'c.ckpt_format = "fsdp_dtensor"\n',
    ),
    "a name takes the quotes that the file uses": (
        "FMT = 'torch_dist'\ncfg.checkpoint.ckpt_format = «FMT»\n",
        "FMT = 'torch_dist'\ncfg.checkpoint.ckpt_format = 'fsdp_dtensor'\n",
    ),
    "a keyword argument, wide characters in front": (
        'x = f("ééé", "😀",\r\n  «ckpt_format = "torch_dist"», # ü\r\n)\r\n',
        'x = f("ééé", "😀",\r\n  ckpt_format = "fsdp_dtensor", # ü\r\n)\r\n',
    ),
    "the innermost of nested calls": (
        'return Top(ckpt_format="a", checkpoint=«Checkpoint(save=1, ckpt_format="b")»)\n',
        'return Top(ckpt_format="a", checkpoint=Checkpoint(save=1, ckpt_format="fsdp_dtensor"))\n',
    ),
    "an argument of another name, when it is what is pointed at": (
        'cfg = common(«fmt="torch_dist"»)\n',
        'cfg = common(fmt="fsdp_dtensor")\n',
    ),
    "a dictionary entry": (
        'o = {"checkpoint": {«"ckpt_format": "torch_dist"», "save": "x"}}\n',
        'o = {"checkpoint": {"ckpt_format": "fsdp_dtensor", "save": "x"}}\n',
    ),
    "setattr": (
        '«setattr(cfg.checkpoint, "ckpt_format", "torch_dist")»\n',
        'setattr(cfg.checkpoint, "ckpt_format", "fsdp_dtensor")\n',
    ),
    "a subscript": (
        '«cfg["checkpoint"]["ckpt_format"] = "torch_dist"»\n',
        'cfg["checkpoint"]["ckpt_format"] = "fsdp_dtensor"\n',
    ),
    "an annotated field": (
        'class C:\n    «ckpt_format: str = "torch_dist"»\n',
        'class C:\n    ckpt_format: str = "fsdp_dtensor"\n',
    ),
    "one branch of a conditional value": (
        'c.ckpt_format = "x" if fast else «"torch_dist"»\n',
        'c.ckpt_format = "x" if fast else "fsdp_dtensor"\n',
    ),
    "adjacent strings": (
        'c.ckpt_format = «"torch" "_dist"»\n',
        'c.ckpt_format = "fsdp_dtensor"\n',
    ),
    "behind a form feed and a backslash": (
        '\f«c.ckpt_format = \\\n    "torch_dist"»\n',
        '\fc.ckpt_format = \\\n    "fsdp_dtensor"\n',
    ),
    "lone carriage returns": (
        'x = 1\r«c.ckpt_format = "torch_dist"»\ry = 2\r',
        'x = 1\rc.ckpt_format = "fsdp_dtensor"\ry = 2\r',
    ),
}


@pytest.mark.parametrize(("before", "wanted"), REPLACED.values(), ids=REPLACED)
def test_replace_value(before: str, wanted: str) -> None:
    file, origin = read(before)
    assert after(file, python.PythonEdits(file).replace_value(origin, FORMAT, "fsdp_dtensor", {})) == wanted


LEFT_ALONE = {
    "a chained assignment says two things": '«a.ckpt_format = b.ckpt_format = "torch_dist"»\n',
    "an augmented assignment": '«a.ckpt_format += "x"»\n',
    "a value that is computed": '«a.ckpt_format = pick("torch_dist")»\n',
    "a whole conditional value": '«a.ckpt_format = "x" if fast else "y"»\n',
    "a default in the head of a function": 'def f(«ckpt_format="torch_dist"»):\n    pass\n',
    "setattr with a name that is not written out": '«setattr(cfg.checkpoint, name, "torch_dist")»\n',
    "two writes of the name in what is pointed at": "x = «(A(ckpt_format=1), B(ckpt_format=2))»\n",
    "no statement at all": "«# nothing»\nx = 1\n",
}


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_what_is_not_certain_is_not_replaced(text: str) -> None:
    file, origin = read(text)
    assert python.PythonEdits(file).replace_value(origin, FORMAT, "fsdp_dtensor", {}) is None


def test_the_edit_covers_the_value_alone() -> None:
    file, origin = read('é = 1; «cfg.checkpoint.ckpt_format = "torch_dist"»  # c\n')
    edits = python.PythonEdits(file).replace_value(origin, FORMAT, "fsdp_dtensor", {})
    assert edits is not None
    (edit,) = edits
    assert (edit.span.line, edit.span.column, edit.span.end_line, edit.span.end_column) == (1, 37, 1, 49)
    assert edit.text == '"fsdp_dtensor"'


ARGUMENT_ADDED = {
    "no arguments": ("x = «C()»\n", 'x = C(ckpt_format="f")\n'),
    "blank brackets": ("x = «C( )»\n", 'x = C(ckpt_format="f")\n'),
    "all on one line": ("x = «C(1, a=2)»\n", 'x = C(1, a=2, ckpt_format="f")\n'),
    "a trailing comma on one line": ("x = «C(a=2,)»\n", 'x = C(a=2, ckpt_format="f",)\n'),
    "one a line": (
        "x = «C(\n    a=1,\n    b=2,  # two, three\n)»\n",
        'x = C(\n    a=1,\n    b=2,  # two, three\n    ckpt_format="f",\n)\n',
    ),
    "one a line, CRLF and tabs": ("x = «C(\r\n\ta=1,\r\n)»\r\n", 'x = C(\r\n\ta=1,\r\n\tckpt_format="f",\r\n)\r\n'),
    "one a line, no trailing comma": ("x = «C(\n    a=1\n)»\n", 'x = C(\n    a=1,\n    ckpt_format="f"\n)\n'),
    "no trailing comma but a comment": (
        "x = «C(\n    a=1  # one\n)»\n",
        'x = C(\n    a=1,  # one\n    ckpt_format="f",\n)\n',
    ),
    "the bracket behind the last argument": (
        "x = «C(a=1,\n      b=2)»\n",
        'x = C(a=1,\n      b=2,\n      ckpt_format="f")\n',
    ),
    "the last arguments share a line": ("x = «C(\n    a=1, b=2,\n)»\n", 'x = C(\n    a=1, b=2, ckpt_format="f",\n)\n'),
    "behind a spread": ("x = «C(**more)»\n", 'x = C(**more, ckpt_format="f")\n'),
    "inside another call": ("x = T(c=«m.C(a=(1, 2))», d=[3])\n", 'x = T(c=m.C(a=(1, 2), ckpt_format="f"), d=[3])\n'),
}


@pytest.mark.parametrize(("before", "wanted"), ARGUMENT_ADDED.values(), ids=ARGUMENT_ADDED)
def test_add_argument(before: str, wanted: str) -> None:
    file, origin = read(before, how="default")
    assert after(file, python.PythonEdits(file).add_arguments(origin, [(FORMAT, "f")])) == wanted


def test_several_arguments_at_once() -> None:
    file, origin = read("d = «D()»\n", how="default")
    new: list[tuple[str, Plain]] = [("ddp.use_megatron_fsdp", True), ("ddp.average_in_collective", False)]
    wanted = "d = D(use_megatron_fsdp=True, average_in_collective=False)\n"
    assert after(file, python.PythonEdits(file).add_arguments(origin, new)) == wanted


@pytest.mark.parametrize(
    "text", ["x = «C(  # why\n)»\n", "x = «C(y for y in z)»\n", 'x = «C(ckpt_format="g")»\n', "@«C()»\ndef f(): ...\n"]
)
def test_no_argument_where_it_is_not_certain(text: str) -> None:
    file, origin = read(text, how="default")
    assert python.PythonEdits(file).add_arguments(origin, [(FORMAT, "f")]) is None


CONNECTIONS = "env.CUDA_DEVICE_MAX_CONNECTIONS"
DELETED = {
    "a line with its comment": (
        'import os\n«os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"»  # overlap\nx = 1\n',
        "import os\nx = 1\n",
    ),
    "the last line of a file without a line ending": (
        'import os\r\n«os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"»',
        "import os",
    ),
    "the only statement of a file": ('«os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"»\n', ""),
    "the only statement of a block": (
        'if x:\n    «os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "1")»  # why\ny = 1\n',
        "if x:\n    pass  # why\ny = 1\n",
    ),
    "the body of a one-line block": ('if x: «cfg.env_vars["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"»\n', "if x: pass\n"),
    "the first of a line": ('«e["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"»; y = 2\n', "y = 2\n"),
    "the last of a line": ('y = 2; «e["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"»  # c\n', "y = 2  # c\n"),
    "an entry in the middle": (
        'e = {"A": "0", «"CUDA_DEVICE_MAX_CONNECTIONS": "1"», "B": "2"}\n',
        'e = {"A": "0", "B": "2"}\n',
    ),
    "the last entry": ('e = {"A": "0", «"CUDA_DEVICE_MAX_CONNECTIONS": "1"»}\n', 'e = {"A": "0"}\n'),
    "the only entry": ('cfg.env_vars = {«"CUDA_DEVICE_MAX_CONNECTIONS": "1"»}\n', "cfg.env_vars = {}\n"),
    "an entry with its line": (
        'e = {\n    "A": "0",  # a\n    «"CUDA_DEVICE_MAX_CONNECTIONS": "1"»,  # c\n    "B": "2",\n}\n',
        'e = {\n    "A": "0",  # a\n    "B": "2",\n}\n',
    ),
    "an entry behind a comment": (
        'e = {"A": "0",  # a\n     «"CUDA_DEVICE_MAX_CONNECTIONS": "1"»}\n',
        'e = {"A": "0",  # a\n     }\n',
    ),
    "an entry of an update": (
        'os.environ.update({"A": "0", «"CUDA_DEVICE_MAX_CONNECTIONS": "1"»})\n',
        'os.environ.update({"A": "0"})\n',
    ),
    "an update with nothing else": (
        'x = 1\nos.environ.update({«"CUDA_DEVICE_MAX_CONNECTIONS": "1"»})\n',
        "x = 1\n",
    ),
    "an update by keyword": (
        'x = 1\nos.environ.update(«CUDA_DEVICE_MAX_CONNECTIONS="1"»)\n',
        "x = 1\n",
    ),
    "a keyword argument": ('e = dict(«CUDA_DEVICE_MAX_CONNECTIONS="1"», B="2")\n', 'e = dict(B="2")\n'),
}


@pytest.mark.parametrize(("before", "wanted"), DELETED.values(), ids=DELETED)
def test_delete_write(before: str, wanted: str) -> None:
    file, origin = read(before)
    assert after(file, python.PythonEdits(file).delete_write(origin, CONNECTIONS)) == wanted


def test_a_write_whose_result_is_used_stays() -> None:
    file, origin = read('x = «os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "1")»\n')
    assert python.PythonEdits(file).delete_write(origin, CONNECTIONS) is None


SWITCH = "dist.use_megatron_fsdp"
BEHIND = {
    "on the next line, by the same name": (
        "def r():\n    «cfg.dist.use_megatron_fsdp = True»  # on\n    return cfg\n",
        'def r():\n    cfg.dist.use_megatron_fsdp = True  # on\n    cfg.checkpoint.ckpt_format = "f"\n    return cfg\n',
    ),
    "CRLF and tabs": (
        "def r():\r\n\t«self.cfg.dist.use_megatron_fsdp = True»\r\n\tx()\r\n",
        'def r():\r\n\tself.cfg.dist.use_megatron_fsdp = True\r\n\tself.cfg.checkpoint.ckpt_format = "f"\r\n\tx()\r\n',
    ),
    "at the end of a file without a line ending": (
        "«cfg.dist.use_megatron_fsdp = True»",
        'cfg.dist.use_megatron_fsdp = True\ncfg.checkpoint.ckpt_format = "f"',
    ),
    "behind all that is on the line": (
        "«cfg.dist.use_megatron_fsdp = True»; b = 2;  # c\nd\n",
        'cfg.dist.use_megatron_fsdp = True; b = 2;  # c\ncfg.checkpoint.ckpt_format = "f"\nd\n',
    ),
    "in a one-line block": (
        "if x: «cfg.dist.use_megatron_fsdp = True»  # c\n",
        'if x: cfg.dist.use_megatron_fsdp = True; cfg.checkpoint.ckpt_format = "f"  # c\n',
    ),
    "in a one-line block over two lines": (
        "if x: \\\n    «cfg.dist.use_megatron_fsdp = True»\n",
        'if x: \\\n    cfg.dist.use_megatron_fsdp = True; cfg.checkpoint.ckpt_format = "f"\n',
    ),
    "behind a statement of several lines": (
        "if x:\n    «cfg.dist.use_megatron_fsdp = (\n  True\n)»\n",
        'if x:\n    cfg.dist.use_megatron_fsdp = (\n  True\n)\n    cfg.checkpoint.ckpt_format = "f"\n',
    ),
    "behind a form feed": (
        "\f«cfg.dist.use_megatron_fsdp = True»\n",
        '\fcfg.dist.use_megatron_fsdp = True\ncfg.checkpoint.ckpt_format = "f"\n',
    ),
    "subscripts, in the file's quotes": (
        "a = 'x'\n«runs[0].cfg['dist']['use_megatron_fsdp'] = True»\n",
        "a = 'x'\nruns[0].cfg['dist']['use_megatron_fsdp'] = True\nruns[0].cfg['checkpoint']['ckpt_format'] = 'f'\n",
    ),
    "behind a constructor": (
        "cfg = ConfigContainer(dist=DistributedInitConfig(«use_megatron_fsdp=True»))\n",
        'cfg = ConfigContainer(dist=DistributedInitConfig(use_megatron_fsdp=True))\ncfg.checkpoint.ckpt_format = "f"\n',
    ),
    "behind the constructor of a section": (
        "cfg.dist = DistributedInitConfig(«use_megatron_fsdp=True»)\n",
        'cfg.dist = DistributedInitConfig(use_megatron_fsdp=True)\ncfg.checkpoint.ckpt_format = "f"\n',
    ),
    "setattr": (
        '«setattr(cfg.dist, "use_megatron_fsdp", True)»\n',
        'setattr(cfg.dist, "use_megatron_fsdp", True)\ncfg.checkpoint.ckpt_format = "f"\n',
    ),
    "behind several targets": (
        "«cfg.dist.use_megatron_fsdp = cfg.ddp.use_megatron_fsdp = True»\n",
        'cfg.dist.use_megatron_fsdp = cfg.ddp.use_megatron_fsdp = True\ncfg.checkpoint.ckpt_format = "f"\n',
    ),
    "behind a row of targets": (
        "«cfg.ddp.use_megatron_fsdp, cfg.dist.use_megatron_fsdp = True, True»\n",
        'cfg.ddp.use_megatron_fsdp, cfg.dist.use_megatron_fsdp = True, True\ncfg.checkpoint.ckpt_format = "f"\n',
    ),
    "by the name of the whole, behind an alias": (
        "def r(cfg):\n    d = cfg.dist\n    «d.use_megatron_fsdp = True»\n",
        'def r(cfg):\n    d = cfg.dist\n    d.use_megatron_fsdp = True\n    cfg.checkpoint.ckpt_format = "f"\n',
    ),
    "by the name that the function uses for the section": (
        "def r(c, x):\n    c.checkpoint.save = 1\n    «x.use_megatron_fsdp = True»\n",
        'def r(c, x):\n    c.checkpoint.save = 1\n    x.use_megatron_fsdp = True\n    c.checkpoint.ckpt_format = "f"\n',
    ),
}


@pytest.mark.parametrize(("before", "wanted"), BEHIND.values(), ids=BEHIND)
def test_assign_behind_the_anchor(before: str, wanted: str) -> None:
    file, origin = read(before)
    assert after(file, assigning.assign_after(file, origin, SWITCH, [(FORMAT, "f")])) == wanted


def test_an_alias_serves_its_own_section() -> None:
    file, origin = read("def r(ddp):\n    «ddp.use_megatron_fsdp = True»\n")
    new: list[tuple[str, Plain]] = [
        ("ddp.data_parallel_sharding_strategy", "optim"),
        ("ddp.average_in_collective", False),
    ]
    assert after(file, assigning.assign_after(file, origin, "ddp.use_megatron_fsdp", new)) == (
        "def r(ddp):\n    ddp.use_megatron_fsdp = True\n"
        '    ddp.data_parallel_sharding_strategy = "optim"\n    ddp.average_in_collective = False\n'
    )


NO_NAME = {
    "an alias of nobody knows what": "def r(d):\n    «d.use_megatron_fsdp = True»\n",
    "a configuration that a call gives": "«get().dist.use_megatron_fsdp = True»\n",
    "a function's argument": "x = common(«use_megatron_fsdp=True»)\n",
    "two candidates": "def r(a, b, d):\n    a.dist.x = b.dist.x\n    «d.use_megatron_fsdp = True»\n",
}


@pytest.mark.parametrize("text", NO_NAME.values(), ids=NO_NAME)
def test_nothing_is_assigned_through_a_name_that_is_not_certain(text: str) -> None:
    file, origin = read(text)
    assert assigning.assign_after(file, origin, SWITCH, [(FORMAT, "f")]) is None


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (
            "def r():\n  «x = 1»\n  return cfg\n",
            'def r():\n  x = 1\n  cfg.checkpoint.ckpt_format = "f"\n  return cfg\n',
        ),
        ("def r(): «x = 1»; return cfg\n", 'def r(): x = 1; cfg.checkpoint.ckpt_format = "f"; return cfg\n'),
        ("def r():\n    «x = 1»\n    return cfg, x\n", None),
    ],
)
def test_assign_at_the_end_of_a_function(before: str, wanted: str | None) -> None:
    file, origin = read(before)
    assert after(file, python.PythonEdits(file).assign_at_end(origin, [(FORMAT, "f")])) == wanted


WAYS = {
    "one that ends before": "def r(on):\n  if not on:\n    return cfg\n  «x = 1»\n  @return cfg\n",
    "another branch": "def r(on):\n  if on:\n    «x = 1»\n    @return cfg\n  else:\n    return cfg\n",
    "behind what ends it": "def r(on):\n  if on:\n    «x = 1»\n    @return cfg\n  return cfg\n",
    "another case": "def r(on):\n  match on:\n    case 1:\n      «x = 1»\n    case 2:\n      return c\n  @return cfg\n",
    "two ways on": "def r(on):\n  «x = 1»\n  if on:\n    @return cfg\n  @return cfg\n",
    "back in a loop": "def r(all):\n  for on in all:\n    if on:\n      @return cfg\n    «x = 1»\n  @return cfg\n",
    "what handles an error": "def r():\n  try:\n    «x = 1»\n  except E:\n    @return cfg\n  @return cfg\n",
}


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_assign_at_the_end_of_those_ways_on_which_a_statement_is(text: str) -> None:
    file, origin = read(text.replace("@", ""))
    wanted = re.sub(r"( +)@", r'\1cfg.checkpoint.ckpt_format = "f"\n\1', text).replace("«", "").replace("»", "")
    assert after(file, python.PythonEdits(file).assign_at_end(origin, [(FORMAT, "f")])) == wanted


RETURNED = {
    "a name is assigned to in front of it": (
        "def f():\n    cfg = g()\n    return cfg\n",
        'def f():\n    cfg = g()\n    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n    return cfg\n',
    ),
    "also where something stands behind that": (
        "def f():\n    return cfg\n    cfg.x = 1\n",
        'def f():\n    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n    return cfg\n    cfg.x = 1\n',
    ),
    "what a call gives gets a name": (
        "def f():\n    return g(\n        1,\n    )  # made\n",
        "def f():\n    cfg = g(\n        1,\n    )  # made\n"
        '    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n    return cfg\n',
    ),
    "what is given and not returned is written to at the end": (
        "def f(cfg, on):\n    cfg.checkpoint.save = 1\n    if on:\n        pass  # so far\n",
        "def f(cfg, on):\n    cfg.checkpoint.save = 1\n    if on:\n        pass  # so far\n"
        '    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n',
    ),
    "which is another one where that is taken": (
        "def f(cfg):\n    return g(cfg)",
        'def f(cfg):\n    config = g(cfg)\n    config.checkpoint.ckpt_format = "fsdp_dtensor"\n    return config',
    ),
}


@pytest.mark.parametrize(("before", "wanted"), RETURNED.values(), ids=RETURNED)
def test_assign_at_the_end(before: str, wanted: str) -> None:
    file = parse("recipe.py", before)
    assert file is not None
    function = file.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert after(file, assigning.assign_at_end(file, function, [(FORMAT, "fsdp_dtensor")])) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "def f(): return g()",
        "def f(cfg, config):\n    return g()",
        "def f():\n    return 1",
        "def f(a):\n    b.checkpoint = 1\n",
    ],
)
def test_what_is_returned_may_have_no_name(text: str) -> None:
    file = parse("recipe.py", text)
    assert file is not None
    function = file.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert assigning.assign_at_end(file, function, [(FORMAT, "fsdp_dtensor")]) is None
