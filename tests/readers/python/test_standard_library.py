"""Functions of the standard library that depend on their arguments alone: the evaluator says what Python says."""

from __future__ import annotations

import random
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.core.values import Known, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.eval.standard_objects import NotKnown
from mfsdp_lint.readers.python.library.answers import LISTED, MULTIPLYING, compiled, named
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.readers.regular_expressions import matched

HEAD = """
import base64, binascii, calendar, configparser, csv, datetime, decimal, difflib, fnmatch, functools, hashlib, html
import itertools, json, keyword, math, operator, os.path, pathlib, re, shlex, statistics, string, textwrap
import urllib.parse, zlib
from datetime import timedelta
from dataclasses import dataclass, field
"""
RECIPE = """
@dataclass
class Model:
    answer: object = None

@dataclass
class ConfigContainer:
    model: Model = field(default_factory=Model)

def recipe():
    cfg = ConfigContainer()
    {body}
    cfg.model.answer = {expression}
    return cfg
"""

EXPRESSIONS = [
    r"int(re.match(r'tp(\d+)_pp(\d+)', 'tp4_pp2').group(2))",
    r"re.match(r'tp(?P<tp>\d+)', 'tp4')['tp']",
    r"re.search('x', 'abc') is None",
    r"bool(re.fullmatch('A.C', 'abc', re.I))",
    r"re.findall(r'(\w)=(\d)', 'a=1 b=2')",
    r"[m.group() for m in re.finditer(r'\d+', '1 22 333')]",
    r"re.sub(r'-+', '_', 'a--b-c')",
    r"re.split(r',\s*', 'a, b,c', maxsplit=1)",
    r"re.compile(r'(?P<a>.)(?P<b>.)?').match('x').groupdict()",
    r"re.match('(.)(.)', 'xy').groups()",
    r"re.match('b', 'xy') or 'none'",
    r"re.escape('a.b')",
    "string.Template('$a/${b}').substitute(a=1, b='two')",
    "string.Template('$a/$c').safe_substitute({'a': 1})",
    "textwrap.dedent('  a\\n  b')",
    "textwrap.indent('a', '--')",
    "fnmatch.fnmatchcase('llama3_8b', 'llama*')",
    "shlex.join(['a b', 'c'])",
    "urllib.parse.urlparse('s3://bucket/ckpt?fmt=x').netloc",
    "urllib.parse.parse_qs('a=1&a=2')['a']",
    "json.dumps({'tp': [1, None, True]})",
    "math.floor(math.log2(100)) + math.gcd(8, 12)",
    "statistics.median([1, 2, 9])",
    "difflib.get_close_matches('fsdp_dtnsor', ['torch_dist', 'fsdp_dtensor'])[0]",
    "base64.b64decode('YQ==').decode()",
    "str(datetime.date(2024, 2, 28) + timedelta(days=2))",
    "datetime.datetime(2024, 1, 2) < datetime.datetime.fromisoformat('2024-02-01')",
    "datetime.timedelta(hours=2).total_seconds()",
    "f'{datetime.date(2024, 2, 28).strftime(\"%Y\")}'",
    "str(decimal.Decimal('0.10'))",
    r"re.findall('(a?)+|b', 'ab')",
    r"re.compile('(b|a){2}').findall('abab')",
    "html.unescape('a &amp; b')",
    "[row[1] for row in csv.reader(['a,1', 'b,2'])]",
    "[row['tp'] for row in csv.DictReader(['name,tp', 'x,4'])]",
    "hashlib.sha256(b'tp4').hexdigest()[:8]",
    "json.dumps({'iters': 100000, 'sizes': [4096, 8192]}, sort_keys=True)",
    "repr([('tp', 4), ('pp', 2)])",
    "hashlib.md5('tp4'.encode()).hexdigest()",
    "zlib.crc32(b'tp4') + binascii.crc32(b'pp2')",
    "base64.urlsafe_b64encode(b'a?b').decode()",
    "calendar.isleap(2024) and not keyword.iskeyword('tp')",
    "fnmatch.fnmatch('llama3_8b', 'llama*') and not fnmatch.fnmatch('A', 'a')",
    "os.path.commonprefix(['llama3_8b', 'llama3_70b'])",
    "math.factorial(5) + math.comb(6, 3) + math.perm(4)",
    "round(math.pi * math.tau, 3) + math.copysign(1, -0.0)",
    "math.inf > 10**9",
    "string.ascii_lowercase[:3] + '-'.join(string.digits)",
    "'a-b'.translate(str.maketrans('-', '_')) + 'ab'.translate({97: 'x', 98: None})",
    "bytes.fromhex('6162').decode()",
    "int.from_bytes(b'ab', 'big') + float.fromhex('0x1p3')",
    "(255).to_bytes(2, 'big').hex()",
    "ascii([1, 'ü']) + str(round(2.5)) + hex(255)",
    "int(decimal.Decimal('8')) * 2",
    "datetime.date(2024, 12, 30).isocalendar().week",
    "list(datetime.date(2024, 12, 30).isocalendar())",
    "isinstance(datetime.datetime(2024, 1, 1), datetime.date)",
    "isinstance(decimal.Decimal('1'), (int, str))",
    "urllib.parse.urlparse('s3://bucket/ckpt')._replace(scheme='gs').geturl()",
    "urllib.parse.urldefrag('a#b').fragment",
    "shlex.split('a \"b c\" # d', comments=True)",
    "statistics.pstdev([1, 2, 3, 4]) + statistics.median_low([1, 9])",
    "statistics.quantiles([1, 2, 3, 4], n=2)",
    "pathlib.PurePosixPath('/data/a.yaml').parts",
    "pathlib.PurePosixPath('conf/a.yaml').match('*.yaml')",
    "str(pathlib.PurePosixPath('/data/a/b').relative_to('/data'))",
    "pathlib.PurePosixPath('/data/a').is_relative_to('/other') or pathlib.PurePosixPath('a').is_absolute()",
    "[''.join(each) for each in itertools.permutations('abc', 2)]",
    "list(itertools.combinations([1, 2, 3], r=2)) + list(itertools.combinations_with_replacement([1, 2], 2))",
    "[a * b for a, b in itertools.pairwise([1, 2, 3])]",
    "list(itertools.product([1, 2], 'a', repeat=2)) + list(itertools.zip_longest([1, 2], [3], fillvalue=0))",
    "functools.reduce(operator.mul, [1, 2, 3]) + operator.index(True)",
    "operator.add.__name__ + operator.itemgetter(1, 0)('ab')[0]",
]

PARSER = """
parser = configparser.ConfigParser()
parser.read_string('''[a]
on = yes
size = 8
twice = %(size)s%(size)s
Name = X
[b]
size = 1''')
"""
OF_PARSERS = [
    "parser.getboolean('a', 'on')",
    "parser.getint('a', 'size')",
    "parser['a']['twice']",
    "parser['a'].getint('gone', 7)",
    "parser.get('a', 'gone', fallback=None)",
    "dict(parser['b'])",
    "parser.sections()",
    "'b' in parser and 'c' not in parser",
    "parser.has_option('a', 'NAME')",
    "[name for name in parser['a']]",
]


def answer(expression: str, body: str = "") -> Value:
    """Return what the evaluator knows of an expression."""
    text = (
        HEAD
        + "from elsewhere import unknown\n"
        + RECIPE.format(body=textwrap.dedent(body).strip().replace("\n", "\n    "), expression=expression)
    )
    recipe = next(each for each in read_python(["a.py"], Sources({"a.py": text})).recipes if each.name == "recipe")
    return recipe.setting("model.answer").value


def of_python(expression: str, body: str = "") -> Any:
    """Return what Python gives."""
    names: dict[str, Any] = {}
    exec(HEAD + textwrap.dedent(body), names)
    return eval(expression, names)


def plain(value: Any) -> Any:
    """Return a value as settings have it: a tuple as a list."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_known_values_give_what_python_gives(expression: str) -> None:
    found = answer(expression)
    assert isinstance(found, Known), found
    assert plain(found.value) == plain(of_python(expression))


@pytest.mark.parametrize("expression", OF_PARSERS)
def test_a_parser_gives_what_python_gives(expression: str) -> None:
    found = answer(expression, _written(PARSER))
    assert isinstance(found, Known), found
    assert plain(found.value) == plain(of_python(expression, PARSER))


def _written(body: str) -> str:
    """Return the same with the text of the parser on one line, so that it can be indented."""
    head, text, tail = body.split("'''")
    return f"{head}{text!r}{tail}"


@pytest.mark.parametrize(
    ("body", "expression", "expected"),
    [
        (
            "p = configparser.ConfigParser(); p.read_string('[a]\\nx=1'); s = p['a']; p.set('a', 'x', '2')",
            "s['x']",
            "2",
        ),
        ("p = configparser.ConfigParser(); p.optionxform = str; p.read_string('[a]\\nX=1')", "list(p['a'])", ["X"]),
        (
            "p = configparser.ConfigParser(interpolation=None); p.read_string('[a]\\nx=%(y)s')",
            "p['a']['x']",
            "%(y)s",
        ),
        ("h = hashlib.sha1(); h.update(b'a'); one = h.copy(); h.update(b'b')", "one.hexdigest()[:4]", "86f7"),
        ("h = hashlib.sha1(b'a')\nif unknown():\n    h.update(b'b')", "h.name", "sha1"),
        ("m = re.match('(?P<a>.)', 'x')\nif m:\n    x = m['a']\nelse:\n    x = None", "x", "x"),
        ("name = 'tp2' if unknown() else 'tp4'", "int(re.match(r'tp(\\d)', name)[1]) > 1", True),
    ],
)
def test_objects_keep_what_the_program_does_to_them(body: str, expression: str, expected: object) -> None:
    found = answer(expression, body)
    assert isinstance(found, Known), found
    assert found.value == expected


@pytest.mark.parametrize(
    ("body", "expression"),
    [
        ("", "re.match(r'(a|aa|b?)+$', 'a' * 60 + 'c') is None"),
        ("", "re.match(unknown(), 'a')[0]"),
        ("", "re.match(r'a{e<=1}', 'b') is None"),
        ("", "re.sub('a', 'a' * 1500, 'a' * 1500)"),
        ("", "json.dumps({'a': 1}, indent=10**9)"),
        ("", "datetime.datetime.now().year"),
        ("", "datetime.datetime(2024, 1, 1).timestamp()"),  # depends on the machine's time zone
        ("", "str(decimal.Decimal('0.1') * 3)"),  # depends on the context
        ("", "str(datetime.date.today())"),
        ("", "math.factorial(10**6)"),
        ("", "int(decimal.Decimal('1e999999999'))"),
        ("", "math.floor(decimal.Decimal('1e999999999'))"),
        ("", "round(1, -10**9)"),
        ("", "list(itertools.product([1, 2], repeat=10**9))"),
        ("", "'a'.translate({97: 'b' * 10**6})"),
        ("h = hashlib.sha1(b'a'); unknown(h)", "h.hexdigest()"),
        ("h = hashlib.sha1(b'a'); h.update(unknown())", "h.hexdigest()"),
        ("", "pathlib.Path(__file__).parent.parts"),
        ("", "pathlib.Path(__file__).parent.is_relative_to('/data')"),
        ("p = configparser.ConfigParser()", "p.read('not_there.ini') or p.get('a', 'x', fallback=1)"),
        ("p = configparser.ConfigParser(); p.read_string('[a]\\nx=1'); unknown(p)", "p['a']['x']"),
        (
            "p = configparser.ConfigParser(); p.read_string('[a]\\na=' + '%(b)s' * 9 + '\\nb=' + '%(a)s' * 9)",
            "p['a']['a']",
        ),
        ("", "re.match(unknown(), 'a') is None"),
        (
            "box = []; re.match(r'(a|aa|b?)+$', 'a' * 60 + 'c'); re.sub('a', lambda m: box.append(1) or 'b', 'a')",
            "len(box)",
        ),
        ("", "re.sub('a', lambda m: 'b', 'a')"),
    ],
)
def test_what_takes_long_or_depends_on_more_is_not_known(body: str, expression: str) -> None:
    found = answer(expression, body)
    assert not isinstance(found, Known)


def test_every_listed_function_is_there() -> None:
    listed = {**LISTED, **MULTIPLYING}
    assert all(callable(named(f"{module}.{name}")) for module, names in listed.items() for name in names.split())


def test_a_file_of_the_tree_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sizes.ini").write_text("[model]\ntp = 4\n")
    assert answer("p.getint('model', 'tp')", "p = configparser.ConfigParser(); p.read('sizes.ini')") == Known(4)


ATOMS = (
    *("a", "b", ".", r"\d", r"\w", r"\s", "[ab]", "[^a]", "(a)", "(b|a)", "(?:ab)", "(?P<n>a)", r"\b", "^", "$"),
    *("-", "(a?)", r"\.", "(?=a)", "(?!b)", "(?<=a)", "1"),
)
REPEATED = ("", "", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??")


def test_regular_expressions_match_as_those_of_python_do() -> None:
    draw = random.Random(7)
    compared = 0
    for _ in range(3_000):
        pattern = "".join(draw.choice(ATOMS) + draw.choice(REPEATED) for _ in range(draw.randint(1, 5)))
        text = "".join(draw.choice("aabb1 -_.\n") for _ in range(draw.randint(0, 8)))
        flags = draw.choice([0, 0, re.I, re.M, re.S])
        try:
            theirs = re.compile(pattern, flags)
            ours = compiled(pattern, flags)
        except (re.error, NotKnown):
            continue
        compared += 1
        assert matched(ours, "findall", text) == theirs.findall(text), (pattern, text)
        for method in ("match", "search", "fullmatch"):
            found, expected = getattr(ours, method)(text), getattr(theirs, method)(text)
            assert (found and (found.span(), found.groups())) == (expected and (expected.span(), expected.groups()))
        assert (ours.sub("X", text), ours.split(text)) == (theirs.sub("X", text), theirs.split(text)), (pattern, text)
    assert compared > 1_000
