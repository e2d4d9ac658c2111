"""Files are parsed without the bodies of their functions, and say the same as if they were parsed whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mfsdp_lint.readers.python
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.readers.python.state.parsing import Unread, checked, outline
from mfsdp_lint.readers.python.state.trees import functions_in, nodes_in

LONG = "".join(f"    value_{number} = {number}  # a body that is worth leaving out\n" for number in range(6))


def dumped(tree: ast.Module) -> str:
    """All of a tree but where blocks end: that of a block is not told where a function that is read later ends it."""
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.stmt) and hasattr(node, "body"):
            node.end_lineno = node.end_col_offset = None
    return ast.dump(tree, include_attributes=True)


def unread(tree: ast.Module) -> list[str]:
    return [node.name for node in statements(tree.body) if isinstance(node, Unread)]


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if not isinstance(node, Unread):
            yield from statements(getattr(node, "body", []))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param(f"import a\ndef f(x=1):\n{LONG}\nB = f\n", ["f"], id="a function"),
        pytest.param(f"def f(\n    x=1,\n    *y,\n) -> int:  # noqa\n{LONG}", ["f"], id="a head over several lines"),
        pytest.param(f"@a(\n    1)\ndef f():\n{LONG}", ["f"], id="decorators stay"),
        pytest.param(
            f"class C:\n    def f(self):\n{LONG.replace('    ', '        ')}\n    c = 1\n", ["f"], id="a method"
        ),
        pytest.param(f"if a:\n    def f():\n{LONG.replace('    ', '        ')}else:\n    b = 1\n", ["f"], id="in `if`"),
        pytest.param(f"def f():\n{LONG}# a comment\n{LONG}\n\nb = 1\n", ["f"], id="a comment in the first column"),
        pytest.param(
            f'def f():\n    """\nTold in the first column.\n\ndef g():\n{LONG}    """\n{LONG}b = 1\n',
            ["f"],
            id="a text with code",
        ),
        pytest.param(f'A = """\ndef f():\n{LONG}"""\nb = 1\n', [], id="code that is all text"),
        pytest.param(f"def f():\n    a = 'b \\\nc'\n{LONG}b = 1\n", ["f"], id="a continued text"),
        pytest.param(f"def f():\n{LONG}    a = 1 + \\\n2\nb = 1\n", ["f"], id="a continued line"),
        pytest.param(f"def f():\n{LONG}    # not continued \\\ndef g():\n{LONG}", [], id="a continued comment"),
        pytest.param(f"def f():\n    a = [\n1, 2]\n{LONG}b = 1\n", [], id="a bracket that closes in the first column"),
        pytest.param(f"def f(a={{1:\n2}}):\n{LONG}", [], id="a colon in a head that goes on"),
        pytest.param(f"def f(): return 1\n\ndef g():\n{LONG}", ["g"], id="a function of one line"),
        pytest.param(f"a = 'def f():'\n'''\ndef f():\n{LONG}'''\n", [], id="the other quotes"),
        pytest.param(f'a = 1  # """\ndef f():\n{LONG}\n# """\n', [], id="quotes in a comment"),
        pytest.param(f'a = \'"""\'\ndef f():\n{LONG}\nb = \'"""\'\n', [], id="quotes in a text"),
        pytest.param(f'a = """x\\"""\ndef f():\n{LONG}"""\n', [], id="escaped quotes"),
        pytest.param(f"def f():\n{LONG}".replace("\n", "\r\n"), [], id="other line endings"),
        pytest.param(f"def f():\n{LONG}".replace("    ", "\t"), [], id="tabs"),
        pytest.param(f"async def f():\n{LONG}\ndef g():\n{LONG}", ["g"], id="async"),
        pytest.param(f"def f():\n{LONG}    def g():\n        yield 1\n    return g\n", ["f"], id="a function inside"),
        pytest.param(f"def f():\n    ä = 'ä'; return ä\n{LONG}", ["f"], id="not ASCII"),
    ],
)
def test_an_outline_is_the_same_tree(text: str, names: list[str]) -> None:
    tree = outline(text)
    assert unread(tree) == names
    assert dumped(tree) == dumped(ast.parse(text))
    assert not unread(tree)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param(f"def f(x=1):\n{LONG}\nB = f\n", ["f"], id="a function"),
        pytest.param(f"class C:\n    def f(self):\n{LONG.replace('    ', '        ')}", ["f"], id="the end of a class"),
        pytest.param(
            f"def f(\n    x=1,\n): return dict(\n{LONG.replace('  #', ',  #')})\n", [], id="a body beside its head"
        ),
        pytest.param(f"def f():\n    @a\n    def g():\n        pass\n{LONG}", ["f"], id="a decorator first"),
        pytest.param(
            f'def f():\n    """\nTold in the first column.\n"""\n{LONG}', ["f"], id="a text in the first column"
        ),
        pytest.param(
            f"def f():\n    a = [\n1, 2]\n{LONG}b = 1\n", ["f"], id="a bracket that closes in the first column"
        ),
        pytest.param(f"def f(): \\\n    return 1\n{LONG.replace('    ', '')}", [], id="a head that goes on"),
        pytest.param(f"def f():\n{LONG}    return 1 \\\n\n", [], id="a last line that goes on"),
        pytest.param(f"def f():\n{LONG}".replace("    ", "\t"), ["f"], id="tabs"),
        pytest.param(f"def f():\n{LONG}".replace("\n", "\r\n"), [], id="other line endings"),
        pytest.param(f"def f():\n    ä = 'ä'; return ä\n{LONG}    ä = 'ä'", ["f"], id="not ASCII"),
        pytest.param(f"def f():\n{LONG}    def g():\n        yield 1\n    return g\n", ["f"], id="a function inside"),
    ],
)
def test_a_checked_tree_is_the_same_with_every_end(text: str, names: list[str]) -> None:
    whole, tree = ast.parse(text), checked(text)
    assert unread(tree) == names
    ends = [(node.name, node.end_lineno, node.end_col_offset) for node in statements(tree.body) if type(node) is Unread]
    assert unread(tree) == names, "where a function ends is known without its body"
    assert ast.dump(tree, include_attributes=True) == ast.dump(whole, include_attributes=True)
    read = {node.name: (node.end_lineno, node.end_col_offset) for node in functions_in(tree)}
    assert all(read[name] == (line, column) for name, line, column in ends)


def test_a_body_that_is_no_python_is_told_of_an_asked_file() -> None:
    with pytest.raises(SyntaxError):
        checked(f"def f():\n{LONG}    return return\n")


def test_the_evaluator_itself_is_the_same_by_outline() -> None:
    found = 0
    for path in sorted(Path(mfsdp_lint.readers.python.__path__[0]).rglob("*.py")):
        text = path.read_text()
        tree = outline(text)
        found += len(unread(tree))
        assert dumped(tree) == dumped(ast.parse(text)), path
    assert found > 300


def test_walks_find_the_nodes_and_functions_that_pythons_own_finds() -> None:
    for path in sorted(Path(mfsdp_lint.readers.python.__path__[0]).rglob("*.py")):
        tree = outline(path.read_text())
        contexts = (ast.expr_context, ast.Load, ast.Store, ast.Del)
        every = [node for node in ast.walk(ast.parse(path.read_text())) if not isinstance(node, contexts)]
        functions = [node.name for node in every if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        assert sorted(node.name for node in functions_in(tree)) == sorted(functions)
        assert list(map(type, nodes_in(tree))) == list(map(type, every)), path


def test_a_walk_for_a_word_leaves_other_bodies_unread() -> None:
    tree = outline(f"def f():\n{LONG}    register(1)\n\ndef g():\n{LONG}")
    found = [node for node in nodes_in(tree, saying="register") if isinstance(node, ast.Name)]
    assert ([node.id for node in found if node.id == "register"], unread(tree)) == (["register"], ["g"])


def test_a_function_ends_where_its_text_ends() -> None:
    (function,) = outline(f"def f():\n{LONG}\n\n").body
    (whole,) = ast.parse(f"def f():\n{LONG}\n\n").body
    assert isinstance(function, Unread)
    assert (function.end_lineno, function.end_col_offset) == (whole.end_lineno, whole.end_col_offset)


def test_what_is_no_python_is_refused_as_ever() -> None:
    with pytest.raises(SyntaxError):
        outline(f"def f():\n{LONG}\nclass (:\n")


def test_nothing_is_known_of_a_function_that_is_no_python(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(f"def changed(cfg):\n{LONG}    cfg.ddp.x = 1 1\n\ndef tp():\n    return 4\n")
    recipe = tmp_path / "recipe.py"
    recipe.write_text(
        "from helpers import changed, tp\n"
        "class ConfigContainer: pass\n"
        "class Part: pass\n"
        "def recipe():\n"
        "    cfg = ConfigContainer()\n"
        "    cfg.model = Part()\n"
        "    cfg.ddp = Part()\n"
        "    cfg.ddp.use_megatron_fsdp = False\n"
        "    changed(cfg)\n"
        "    cfg.model.tensor_model_parallel_size = tp()\n"
        "    return cfg\n"
    )
    (found,) = read_python([str(recipe)], Sources()).recipes
    assert found.setting("ddp.use_megatron_fsdp").value.state != "known"
    assert found.setting("model.tensor_model_parallel_size").value.state == "known"
