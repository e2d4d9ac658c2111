"""However oddly a statement is formatted: the wanted tokens change, and nothing else does."""

from __future__ import annotations

import ast
import re

from hypothesis import assume, given
from hypothesis import strategies as st

from mfsdp_lint.fixes import assigning, python
from mfsdp_lint.fixes.editor import ABSENT
from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.fixes.statements import parse
from tests.fixes.marked import marked

PATH = "checkpoint.ckpt_format"
blanks = st.sampled_from(["", " ", "  ", "\t", " \f "])
endings = st.sampled_from(["\n", "\r\n", "\r"])
comments = st.sampled_from(["", "# plain", '# "quoted", (brackets', "#ünï😀", "# a: b, c"])
quotes = st.sampled_from(['"', "'", '"""'])
words = st.sampled_from(["torch_dist", "é", "😀 x", "", "a,b", "x#y"])
others = st.sampled_from(["1", "f(2, a=3)", "[4, {5: 6}]", "'(,'", '"é#"', "lambda: 0", "(yield)"])


@st.composite
def gaps(draw: st.DrawFn) -> str:
    """White space between brackets: blanks, or a line end with a comment in front of it."""
    end = draw(st.sampled_from([""]) | endings)
    return draw(blanks) + (draw(comments) + end + draw(blanks) if end else "")


@st.composite
def items(draw: st.DrawFn, wanted: str, separator: str, name: str) -> str:
    """Items between brackets, one of which is the wanted one."""
    before = [f"a{index}" for index in range(draw(st.integers(0, 2)))]
    after = [f"b{index}" for index in range(draw(st.integers(0, 2)))]
    quoted = '"' if separator == ":" else ""

    def other(key: str) -> str:
        return f"{draw(gaps())}{quoted}{key}{quoted}{draw(gaps())}{separator}{draw(gaps())}{draw(others)}"

    middle = f"{draw(gaps())}«{quoted}{name}{quoted}{draw(gaps())}{separator}{draw(gaps())}{wanted}»"
    each = [*map(other, before), middle, *map(other, after)]
    last = draw(st.sampled_from(["", ","]))
    return "".join(f"{item}{draw(gaps())}," for item in each[:-1]) + each[-1] + draw(gaps()) + last + draw(gaps())


@st.composite
def statements(draw: st.DrawFn, wanted: str, name: str = "ckpt_format") -> str:
    """A statement that writes the wanted value somewhere, with marks around that."""
    match draw(st.integers(0, 4)):
        case 0:
            return f"cfg.{name}{draw(blanks)}={draw(blanks)}({draw(gaps())}«{wanted}»{draw(gaps())})"
        case 1:
            return f"«cfg{draw(blanks)}.{name}{draw(blanks)}={draw(blanks)}{wanted}»"
        case 2:
            return f"x = {draw(blanks)}Config({draw(items(wanted, '=', name))})"
        case 3:
            return f"x = {{{draw(items(wanted, ':', name))}}}"
    inner = f"Config({draw(items(wanted, '=', name))})"
    return f"return Top({draw(gaps())}inner{draw(blanks)}={draw(gaps())}{inner}{draw(gaps())})"


@st.composite
def files(draw: st.DrawFn, wanted: str, name: str = "ckpt_format") -> str:
    """The statement somewhere in a function, with others around it."""
    end, indentation = draw(endings), draw(st.sampled_from(["  ", "\t", "        "]))
    before = draw(st.sampled_from(["", "'é'; ", f"x = 'ü'{end}{indentation}"]))
    after = draw(st.sampled_from(["", ";", "; y = 1", f"{end}{indentation}z = '😀'"]))
    comment = draw(comments)
    tail = f"{draw(blanks)}{comment}" + draw(st.sampled_from([end, ""]))
    return f"# ö{end}def f(cfg):{end}{indentation}{before}{draw(statements(wanted, name))}{after}{tail}"


def expected(before: str, value: str) -> ast.Module:
    """The tree of the text between the marks replaced as a person would: the one string that is a format."""

    class Replace(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.Constant:
            return ast.Constant(value) if node.value == "WANTED" else node

    return Replace().visit(ast.parse(before))  # type: ignore[no-any-return]


@given(files("'WANTED'") | files('"WANTED"') | files('"""WANTED"""'))
def test_replacing_a_value(text: str) -> None:
    plain, origin = marked(text)
    file = parse("recipe.py", plain)
    assert file is not None
    edits = python.PythonEdits(file).replace_value(origin, PATH, "fsdp_dtensor", {})
    assert edits is not None
    after = apply_edits("recipe.py", plain, edits)
    assert ast.dump(ast.parse(after)) == ast.dump(expected(plain, "fsdp_dtensor"))
    (edit,) = edits
    start, end = file.document.range(edit.span)
    assert plain[start:end] in ("'WANTED'", '"WANTED"', '"""WANTED"""')
    assert after == plain[:start] + edit.text + plain[end:]
    assert edit.text[0] == plain[start]


@given(files("'WANTED'", "CONNECTIONS"))
def test_deleting_a_write(text: str) -> None:
    plain, origin = marked(text)
    file = parse("recipe.py", plain)
    assert file is not None
    edits = python.PythonEdits(file).delete_write(origin, "env.CONNECTIONS")
    assert edits is not None
    after = apply_edits("recipe.py", plain, edits)
    tree = ast.parse(after)
    assert "WANTED" not in ast.dump(tree)
    kept = [node.value for node in ast.walk(ast.parse(plain)) if isinstance(node, ast.Constant)]
    kept.remove("WANTED")
    names = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert sorted(map(repr, names)) == sorted(repr(value) for value in kept if value != "CONNECTIONS")
    # Nothing goes with it but what separates it from others, and comments that are about nothing else then.
    inside = text.partition("«")[2].partition("»")[0]
    gone = "".join(plain[slice(*file.document.range(edit.span))] for edit in edits)
    rest = re.sub(r"#[^\r\n]*", "", gone.replace(inside, "", 1))
    assert re.fullmatch(r"[\s,;]*(cfg\.CONNECTIONS\s*=\s*\(\s*\))?[\s,;]*", rest)
    assert "".join(edit.text for edit in edits).strip() in ("", "pass")


@given(files("True", "use_megatron_fsdp"), st.integers(1, 3))
def test_assigning_behind(text: str, count: int) -> None:
    plain, origin = marked(text)
    file = parse("recipe.py", plain)
    assert file is not None
    new = [(f"checkpoint.field{index}", index) for index in range(count)]
    edits = assigning.assign_after(file, origin, "use_megatron_fsdp", new)
    assume(edits is not None)
    assert edits is not None
    after = apply_edits("recipe.py", plain, edits)
    lines = [node for node in ast.walk(ast.parse(after)) if isinstance(node, ast.Assign)]
    added = [ast.unparse(node) for node in lines if "field" in ast.unparse(node)]
    assert added == [
        added[0].partition(".checkpoint")[0] + f".checkpoint.field{index} = {index}" for index in range(count)
    ]
    for edit in edits:
        after = after.replace(edit.text, "", 1)
    assert after == plain


@given(files("True", "use_megatron_fsdp"), st.sampled_from(["env.CONNECTIONS", "env_vars.CONNECTIONS"]))
def test_taking_a_variable_back_behind(text: str, path: str) -> None:
    plain, origin = marked(text)
    file = parse("recipe.py", plain)
    assert file is not None
    edits = assigning.assign_after(file, origin, "use_megatron_fsdp", [(path, ABSENT)])
    assume(edits is not None)
    assert edits is not None
    after = apply_edits("recipe.py", plain, edits)
    calls = [ast.unparse(node) for node in ast.walk(ast.parse(after)) if isinstance(node, ast.Call)]
    assert any(re.search(r"\.pop\(.CONNECTIONS., None\)", each) for each in calls)
    for edit in edits:
        after = after.replace(edit.text, "", 1)
    assert after == plain
