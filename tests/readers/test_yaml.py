"""Override files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mfsdp_lint.cli import main
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin, Recipe
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Plain, Value
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.megatron.vocabulary import SECTIONS
from mfsdp_lint.readers.yaml import nodes as yaml_nodes
from mfsdp_lint.readers.yaml.nodes import (
    MAX_DEPTH,
    AliasNode,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    compose_documents,
)
from mfsdp_lint.readers.yaml.read import overlooked, read_yaml

RECIPES = Path(__file__).parent.parent / "recipes"

LOADERS = [pytest.param(yaml.SafeLoader, id="python"), pytest.param(yaml_nodes._LOADER, id="default")]


@pytest.fixture(autouse=True, params=LOADERS)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything holds for the parser of libyaml and for that of PyYAML, which is used where the first is missing."""
    monkeypatch.setattr(yaml_nodes, "_LOADER", request.param)


def recipe(text: str) -> Recipe:
    (only,) = read_yaml("conf/a.yaml", dedent(text))
    return only


def values(text: str) -> dict[str, Value]:
    """All settings of a text, without the sections themselves."""
    (variant,) = recipe(text).variants
    return {path: variant.value(path) for path in variant.settings if path not in SECTIONS}


def value(source: str) -> Value:
    return values(f"ddp:\n  x: {source}\n")["ddp.x"]


def origin(text: str, path: str) -> Origin:
    found = recipe(text).variants[0].origin(path)
    assert found is not None
    return found


def places(text: str, path: str) -> tuple[str, str]:
    """What the span and the focus of a setting cut out."""
    text = dedent(text)
    found = origin(text, path)
    assert found.focus is not None
    return Lines(text).cut(found.span), Lines(text).cut(found.focus)


def unreadable(text: str) -> tuple[int, int, str]:
    with pytest.raises(Unreadable) as caught:
        read_yaml("conf/a.yaml", text)
    assert caught.value.path == "conf/a.yaml"
    return caught.value.line, caught.value.column, caught.value.message


class TestRecipes:
    def test_an_override_file_is_a_partial_recipe(self) -> None:
        found = recipe("# words\n\nddp:\n  use_megatron_fsdp: true\n")
        assert (found.name, found.qualified_name, found.path) == ("a.yaml", "conf/a.yaml", "conf/a.yaml")
        assert (found.line, found.kind, found.partial, len(found.variants)) == (3, "overrides", True, 1)

    def test_a_real_file(self) -> None:
        text = (RECIPES / "override.yaml").read_text()
        (found,) = read_yaml("override.yaml", text)
        (variant,) = found.variants
        assert {path: variant.value(path) for path in variant.settings} == {
            "x-sharding": NOT_NONE,
            "x-sharding.data_parallel_sharding_strategy": Known("optim_grads_params"),
            "x-sharding.average_in_collective": Known(False),
            "model": NOT_NONE,
            "model.seq_length": Known(4096),
            "model.init_model_with_meta_device": Known(True),
            "optimizer": NOT_NONE,
            "optimizer.lr": Known(0.0003),
            "checkpoint": NOT_NONE,
            "checkpoint.save": Known(None),
            "checkpoint.load": Known(None),
            "checkpoint.ckpt_format": Known("torch_dist"),
            "ddp": NOT_NONE,
            "ddp.data_parallel_sharding_strategy": Known("optim_grads_params"),
            "ddp.average_in_collective": Known(True),
            "ddp.use_megatron_fsdp": Known(True),
            "ddp.overlap_grad_reduce": Known(True),
            "dataset": NOT_NONE,
            "dataset.blend": Known([["/data/a_text_document"], [1.0]]),
            "profiling": NOT_NONE,
            "profiling.__class__": Known("megatron.bridge.training.config.ProfilingConfig"),
            "profiling.profile_ranks": Known([0, 1]),
            "env.CUDA_DEVICE_MAX_CONNECTIONS": Known("1"),
        }
        pieces = {path: Lines(text).cut(origin.point) for path in variant.settings if (origin := variant.origin(path))}
        assert pieces["ddp.data_parallel_sharding_strategy"] == "optim_grads_params"
        assert pieces["checkpoint.load"] == ""
        assert pieces["checkpoint.ckpt_format"] == '"torch_dist"'
        assert pieces["profiling.profile_ranks"] == "- 0\n    - 1"
        assert pieces["env.CUDA_DEVICE_MAX_CONNECTIONS"] == "1"

    def test_every_document_of_a_file_is_a_recipe_of_its_own(self) -> None:
        text = "ddp: {a: 1}\n---\n- 1\n---\nddp.a: 2\n...\n---\n---\nmodel: {b: 3}\n"
        found = read_yaml("conf/a.yaml", text)
        assert [(one.name, one.qualified_name, one.line) for one in found] == [
            ("a.yaml", "conf/a.yaml", 1),
            ("a.yaml[3]", "conf/a.yaml[3]", 5),
            ("a.yaml[5]", "conf/a.yaml[5]", 9),
        ]
        assert found[1].setting("ddp.a").value == Known(2)

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("", id="nothing"),
            pytest.param("# ddp:\n#   use_megatron_fsdp: true\n", id="only comments"),
            pytest.param("- ddp:\n    use_megatron_fsdp: true\n", id="a list"),
            pytest.param("just text\n", id="text"),
            pytest.param("on: [push]\njobs: {test: {steps: [{run: make}]}}\n", id="a GitHub workflow"),
            pytest.param(
                "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\nspec:\n  ddp: {a: 1}\n", id="Kubernetes"
            ),
            pytest.param("model: llama.yaml\ntrain: true\n", id="names of sections without a section"),
            pytest.param("modules: {pre_trainer: {overrides: {use_torch_fsdp2: true}}}\n", id="another front-end"),
            pytest.param("? [ddp]\n: {a: 1}\n", id="a key that is no text"),
            pytest.param("ddp:\n  use_megatron_fsdp: {{ .Values.fsdp }}\n", id="a template"),
            pytest.param("ddp:\n{% if fsdp %}\n  use_megatron_fsdp: true\n{% endif %}\n", id="a template's condition"),
        ],
    )
    def test_what_is_no_override_file_gives_no_recipe(self, text: str) -> None:
        assert read_yaml("a.yaml", text) == []


class TestPaths:
    @pytest.mark.parametrize(
        "text",
        [
            "ddp:\n  overlap:\n    x: true\n",
            "ddp: {overlap: {x: true}}\n",
            "ddp.overlap.x: true\n",
            "ddp.overlap: {x: true}\n",
            "ddp:\n  overlap.x: true\n",
            "ddp:\n  'overlap':\n    \"x\": true\n",
        ],
    )
    def test_nested_and_dotted_keys_are_the_same(self, text: str) -> None:
        assert values(text)["ddp.overlap.x"] == Known(True)

    def test_of_two_spellings_the_later_one_counts(self) -> None:
        text = "ddp:\n  a: 1\n  b: 1\nddp.a: 2\nmodel.c: 3\nmodel:\n  c: 4\n"
        assert values(text) == {"ddp.a": Known(2), "ddp.b": Known(1), "model.c": Known(4)}
        found = origin(text, "ddp.a")
        assert (found.span.line, found.earlier and found.earlier.span.line) == (4, 2)

    def test_a_section_that_is_replaced_as_a_whole_takes_what_is_below_with_it(self) -> None:
        assert values("ddp.a: 1\nddp: null\nmodel: {x.y: 1, x: 2}\n") == {"model.x": Known(2)}
        assert recipe("ddp.a: 1\nddp: null\n").setting("ddp").value == Known(None)

    def test_of_duplicates_the_last_one_counts_and_remembers_the_first(self) -> None:
        text = "ddp:\n  a: 1\n  b: 1\n  a: 2\n  a: 3\nmodel: {c: 1}\nmodel: {d: 2}\n"
        assert values(text) == {"ddp.a": Known(3), "ddp.b": Known(1), "model.d": Known(2)}
        found = origin(text, "ddp.a")
        assert (found.span.line, found.earlier and found.earlier.span.line) == (5, 2)
        section = origin(text, "model")
        assert (section.span.line, section.earlier and section.earlier.span.line) == (7, 6)

    def test_later_writes_have_larger_numbers(self) -> None:
        text = "ddp: {a: 1, b: 2}\nmodel: {c: 3}\n"
        orders = [origin(text, path).order for path in ("ddp.a", "ddp.b", "model.c")]
        assert orders == sorted(set(orders))

    def test_environment_variables_are_settings_with_text_values(self) -> None:
        text = """\
            env_vars:
              A: 1
              B: "x"
              C: 1.5
              D: true
              E: null
              F: ${oc.env:HOME}
              G: [1]
            env_vars.H: 8
            """
        assert values(text) == {
            "env.A": Known("1"),
            "env.B": Known("x"),
            "env.C": Known("1.5"),
            "env.D": Known("True"),
            "env.E": UNKNOWN,
            "env.F": UNKNOWN,
            "env.G": UNKNOWN,
            "env.H": Known("8"),
        }

    def test_a_key_of_the_name_env_is_no_environment(self) -> None:
        assert values("env: {CUDA_DEVICE_MAX_CONNECTIONS: 1}\nenv.A: 1\nddp: {env: 1}\n") == {"ddp.env": Known(1)}

    def test_keys_that_are_no_text(self) -> None:
        text = "ddp: {1: a, yes: b, null: c, [d]: e, a..b: f, .c: g, " + "k" * 300 + ": h}\n"
        assert values(text) == {"ddp.1": Known("a"), "ddp.yes": Known("b")}


class TestValues:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("true", True),
            ("Yes", True),
            ("off", False),
            ('"true"', "true"),
            ("null", None),
            ("~", None),
            ("", None),
            ("'null'", "null"),
            ("12", 12),
            ("1_000", 1000),
            ("0x10", 16),
            ("010", 8),
            ("1:30", 90),
            ("1.5", 1.5),
            ("1e-4", 1e-4),
            ("-3E5", -3e5),
            ("1.0e5", 1e5),
            (".5", 0.5),
            ("-.inf", -math.inf),
            ("2024-01-01", "2024-01-01"),
            ("e-4", "e-4"),
            ("torch.bfloat16", "torch.bfloat16"),
            ("!!str 12", "12"),
            ('!!int "12"', 12),
            ("! 12", 12),
            ("&anchor 12", 12),
            ("|\n    two\n    lines\n", "two\nlines\n"),
            (">-\n    one\n    line\n", "one line"),
            ("two\n    lines", "two lines"),
            ("[1, [a, null], {b: 2.0, c: [yes]}]", [1, ["a", None], {"b": 2.0, "c": [True]}]),
            ("[]", []),
            (r"\${x}y", r"\${x}y"),
        ],
    )
    def test_values_are_those_of_omegaconf(self, source: str, expected: Plain) -> None:
        if source.startswith("\\"):
            assert value(source) == NOT_NONE  # an escape is still some text
            return
        found = value(source)
        assert found == Known(expected)
        assert isinstance(found, Known)
        assert type(found.value) is type(expected)

    @pytest.mark.parametrize(
        "source",
        [
            "${ddp.y}",
            "'${oc.env:FSDP,true}'",
            "${a}${b}",
            "???",
            '"???"',
            "!!python/name:os.system",
            "!!python/object/apply:os.system [true]",
            "!!python/object:x.Y {a: 1}",
            "!!binary aGk=",
            "!!set {a, b}",
            "!secret x",
            "!!int x",
            "!!bool maybe",
            "!!float ''",
            "9" * 5000,
        ],
    )
    def test_what_cannot_be_known_is_unknown(self, source: str) -> None:
        assert value(source) == UNKNOWN

    @pytest.mark.parametrize(
        "source", ["${oc.env:HOME}/run", "run-${n}", "[1, '${n}']", "[!x 1]", "['???']", "[{[a]: 1}]"]
    )
    def test_what_is_some_text_or_some_list_is_known_to_be_set(self, source: str) -> None:
        assert value(source) == NOT_NONE

    def test_a_mapping_is_merged_into_what_is_there_and_so_only_known_to_be_set(self) -> None:
        assert values("ddp: {x: {a: 1, b: {}}}\n") == {"ddp.x": NOT_NONE, "ddp.x.a": Known(1), "ddp.x.b": NOT_NONE}

    def test_a_dumped_dtype_is_its_name(self) -> None:
        text = "model:\n  params_dtype:\n    _call_: false\n    _target_: torch.bfloat16\n"
        assert values(text) == {"model.params_dtype": Known("torch.bfloat16")}

    def test_a_section_that_is_an_interpolation_is_unknown(self) -> None:
        text = "ddp.a: 1\nddp: ${base.ddp}\n"
        assert values(text) == {}
        assert recipe(text).setting("ddp").value == UNKNOWN


class TestAliases:
    TEXT = """\
        fast: &fast
          a: 1
          b: [1]
        slow: &slow {a: 2, c: &three 3}
        ddp:
          b: 4
          <<: [*fast, *slow]
          d: *three
        model: *slow
        """

    def test_merge_keys_and_aliases_are_written_out(self) -> None:
        found = values(self.TEXT)
        assert {path: found[path] for path in found if path.startswith(("ddp.", "model."))} == {
            "ddp.a": Known(1),
            "ddp.b": Known(4),
            "ddp.c": Known(3),
            "ddp.d": Known(3),
            "model.a": Known(2),
            "model.c": Known(3),
        }

    def test_they_come_from_where_they_were_written(self) -> None:
        assert places(self.TEXT, "ddp.a") == ("a: 1", "1")
        assert places(self.TEXT, "ddp.c") == ("c: &three 3", "3")
        assert places(self.TEXT, "ddp.d") == ("c: &three 3", "3")
        assert places(self.TEXT, "model") == ("slow: &slow {a: 2, c: &three 3}", "{a: 2, c: &three 3}")

    def test_an_own_key_replaces_a_merged_one_and_remembers_it(self) -> None:
        found = origin(dedent(self.TEXT), "ddp.b")
        assert (found.span.line, found.earlier and found.earlier.span.line) == (6, 3)

    def test_a_later_merge_key_wins_over_an_earlier_one(self) -> None:
        assert values("ddp: {<<: {a: 1}, <<: {a: 2}, <<: {}}\n") == {"ddp.a": Known(2)}

    def test_a_merge_key_in_quotes_is_a_key(self) -> None:
        assert values("ddp: {'<<': 1}\n") == {"ddp.<<": Known(1)}

    def test_an_alias_may_be_a_key(self) -> None:
        assert values("x: &k a\nddp: {*k : 1}\n")["ddp.a"] == Known(1)

    def test_what_contains_itself_is_unknown(self) -> None:
        assert values("ddp: &x {a: 1, b: *x, c: [*x], <<: *x}\n") == {
            "ddp.a": Known(1),
            "ddp.b": UNKNOWN,
            "ddp.c": NOT_NONE,
        }

    def test_billions_of_laughs_cost_nothing_and_are_unknown(self) -> None:
        for opening, closing, key in ("[", "]", ""), ("{", "}", "k{}: "):
            text = "x0: &x0 ha\n"
            for level in range(1, 2000):
                items = ", ".join(key.format(number) + f"*x{level - 1}" for number in range(9))
                text += f"x{level}: &x{level} {opening}{items}{closing}\n"
            text += "ddp:\n  bomb: *x1999\n  small: *x0\n  <<: *x1999\n"
            found = values(text)
            assert (found["ddp.bomb"], found["ddp.small"]) == (UNKNOWN, Known("ha"))
            assert len(found) < 100_000

    def test_a_long_chain_of_merges_is_unknown(self) -> None:
        chain = [f"x{n}: &x{n} {{<<: *x{n - 1}}}\n" for n in range(1, 500)]
        chain.insert(9, "model: {<<: *x9}\n")
        found = values("x0: &x0 {a: 1}\n" + "".join(chain) + "ddp: {<<: *x499, b: 1}\n")
        assert "ddp.a" not in found
        assert (found["ddp.b"], found["model.a"]) == (Known(1), Known(1))


class TestPlaces:
    @pytest.mark.parametrize(
        ("text", "span", "focus"),
        [
            ("ddp:\n  x: true   # words\n\n", "x: true", "true"),
            ("ddp:\n  x: 'it''s' # words\n", "x: 'it''s'", "'it''s'"),
            ('ddp:\n  "x" : "a # b"\n', '"x" : "a # b"', '"a # b"'),
            ("ddp:\n  x:   # words\n  # more\n  y: 1\n", "x:", ""),
            ("ddp:\n  x:", "x:", ""),
            ("ddp: {x: , y: 1}", "x:", ""),
            ("ddp: {x}", "x", ""),
            ("ddp: {x: a, y: 1}", "x: a", "a"),
            ("ddp.x: 1", "ddp.x: 1", "1"),
            ("ddp:\n  x: plain\n    text # words\n", "x: plain\n    text", "plain\n    text"),
            ("ddp:\n  x: |+  # head\n    a\n\n    b\n\n\n# words\n  # more\n", "x: |+  # head\n    a\n\n    b", None),
            ("ddp:\n  x: [1, # one\n    2] # two\n", "x: [1, # one\n    2]", "[1, # one\n    2]"),
            ("ddp:\n  x:\n  - 1\n  - a: 2 # words\n\n  # more\n  y: 1", "x:\n  - 1\n  - a: 2", "- 1\n  - a: 2"),
            ("ddp:\n  x:\n    a:\n      b: 'c'\n    # words\n  y: 1", "x:\n    a:\n      b: 'c'", "a:\n      b: 'c'"),
            ("ddp:\n  x: &a !!str  b # words\n", "x: &a !!str  b", "b"),
            (
                "ddp:\n  x: !!map &a # words\n    # more\n    b: 1\n",
                "x: !!map &a # words\n    # more\n    b: 1",
                "b: 1",
            ),
            ("ddp:\n  x: !!null\n  y: 1\n", "x: !!null", ""),
            ("ddp: {x: !!str , y: 1}\n", "x: !!str", ""),
            ("ddp:\n  ? x\n  : 1 # words\n", "x\n  : 1", "1"),
            ("# é𝄞\nddp: {é𝄞: '𝄞', x: 1}", "x: 1", "1"),
            ("ddp:\n  y: '\u2028'\n  x: 1", "x: 1", "1"),
        ],
    )
    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_the_span_is_the_pair_and_the_focus_the_value(
        self, text: str, span: str, focus: str | None, newline: str
    ) -> None:
        if focus is None:
            focus = span.removeprefix("x: ")
        expected = span.replace("\n", newline), focus.replace("\n", newline)
        assert places(text.replace("\n", newline), "ddp.x") == expected

    def test_lines_and_columns_count_from_one_in_characters(self) -> None:
        found = origin("\n'é𝄞': {b: 2}\nddp: {'é𝄞': 1, x: 10}\n", "ddp.x")
        assert found.focus is not None
        assert (found.span.line, found.span.column, found.focus.column, found.focus.end_column) == (3, 16, 19, 21)
        assert (found.how, found.function, found.point) == ("assigned", "", found.focus)


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "line", "column", "message"),
        [
            ("ddp:\n  a: [1\nb: 2\n", 3, 2, "flow sequence"),
            ("ddp:\n\ta: 1\n", 2, 1, r"cannot start any token"),
            ("ddp: {a: 1\r\n", 2, 1, "flow mapping"),
            ("ddp: 'é\n", 2, 1, "quoted scalar"),
            ("ddp:\n  a: *gone\n", 2, 6, "undefined alias 'gone'"),
            ("ddp:\n  a: &x 1\n  b: &x 2\n", 3, 6, "duplicate anchor 'x'"),
            ("ddp:\n  a: é\x07\n", 2, 7, "character U+0007 is not allowed"),
            ("ddp: \ud800\n", 1, 6, "character U+D800 is not allowed"),
            ("ddp: {}\n---\nb: ]\n", 3, 4, "expected"),
        ],
    )
    def test_a_syntax_error_is_told_with_its_place(self, text: str, line: int, column: int, message: str) -> None:
        found = unreadable(text)
        assert found[:2] == (line, column)
        assert found[2].startswith("not valid YAML: ")
        assert message in found[2]
        assert "\n" not in found[2]

    @pytest.mark.parametrize(
        "deep", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "x: " + "[" * 500, "ddp: " + "[" * 500 + "]" * 500]
    )
    def test_nesting_without_end_is_refused(self, deep: str) -> None:
        assert unreadable("ddp: {}\n---\n" + deep)[2] == "too deeply nested"

    def test_what_has_no_setting_is_not_looked_at_however_broken_it_is(self) -> None:
        assert read_yaml("chart.yaml", "name: [1\n  - {") == []

    def test_the_deepest_nesting_that_is_read(self) -> None:
        text = "ddp: " + "{a: " * (MAX_DEPTH - 1) + "1" + "}" * (MAX_DEPTH - 1)
        assert len(recipe(text).paths()) == MAX_DEPTH
        assert value("[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2)) != UNKNOWN

    def test_a_key_of_a_thousand_dots_is_no_setting(self) -> None:
        assert values("ddp" + ".a" * 90 + ": 1\nmodel" + ".a" * 120 + ": 1\n") == {"ddp" + ".a" * 90: Known(1)}


FLAGS_OF_A_TEAM = "train_iters: 10\n# use_torch_fsdp2: true\nuse_custom_fsdp: true\n"
"""Flags that a tool of a team's own makes a command line of."""


class TestFilesThatNobodyKnownReads:
    @pytest.mark.parametrize(
        "pair", ["use_custom_fsdp: true", "  --use-megatron-fsdp: true", '- "use_torch_fsdp2": "True"']
    )
    def test_what_turns_fsdp_on_is_told_at_the_pair(self, pair: str) -> None:
        told = overlooked("conf/flags.yaml", f"lr: 1\n{pair}\n")
        assert told is not None
        assert (told.path, told.line, told.why) == ("conf/flags.yaml", 2, "out of sight")
        assert "no program or framework that is known reads this file" in told.message

    @pytest.mark.parametrize(
        "pair", ["use_custom_fsdp: false", "# use_custom_fsdp: true", "note: use_custom_fsdp: true", "fsdp: true"]
    )
    def test_other_files_are_not_told(self, pair: str) -> None:
        assert overlooked("flags.yaml", f"lr: 1\n{pair}\n") is None

    def test_what_a_run_has_its_value_from_is_no_news(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("flags.yaml").write_text("run:\n  ddp:\n    use_megatron_fsdp: true\n", encoding="utf-8")
        Path("recipe.py").write_text(
            "import yaml\nfrom megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
            "def recipe():\n    cfg = llama3_8b_pretrain_config()\n"
            "    for name, value in yaml.safe_load(open('flags.yaml'))['run']['ddp'].items():\n"
            "        setattr(cfg.ddp, name, value)\n    return cfg\n",
            encoding="utf-8",
        )
        main(["--show-unfollowed", "flags.yaml", "recipe.py"])
        assert "could not be followed" not in capsys.readouterr().err
        main(["--show-unfollowed", "--no-dependents", "flags.yaml"])
        assert "use_megatron_fsdp is true here" in capsys.readouterr().err

    def test_it_is_counted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("flags.yaml").write_text(FLAGS_OF_A_TEAM, encoding="utf-8")
        main(["--show-unfollowed", "flags.yaml"])
        printed = capsys.readouterr()
        assert "1 recipe could not be followed" in printed.out
        assert "flags.yaml:3: flags.yaml could not be followed: use_custom_fsdp is true here" in printed.err


def nodes(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, MappingNode):
        for key, below in node.entries:
            yield from nodes(key)
            yield from nodes(below)
    if isinstance(node, SequenceNode):
        for item in node.items:
            yield from nodes(item)


def test_the_nodes_of_a_document_are_pieces_of_the_text() -> None:
    text = "ddp: &d # words\n  a: [x, 'y']   \n  b: {c: *e }\n".replace("*e", "!!str z")
    (root,) = compose_documents("a.yaml", text)
    assert [text[node.start : node.end] for node in nodes(root)] == [
        text.rstrip(),
        "ddp",
        "a: [x, 'y']   \n  b: {c: !!str z }",
        "a",
        "[x, 'y']",
        "x",
        "'y'",
        "b",
        "{c: !!str z }",
        "c",
        "z",
    ]


def test_an_alias_is_a_node_of_its_own() -> None:
    text = "a: &x 1\nb: *x # words\n"
    (root,) = compose_documents("a.yaml", text)
    assert isinstance(root, MappingNode)
    (_, first), (_, second) = root.entries
    assert isinstance(first, ScalarNode)
    assert isinstance(second, AliasNode)
    assert second.target is first
    assert text[second.start : second.end] == "*x"
    assert text[second.pair : second.end] == "b: *x"


KEYS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters=".{"), min_size=1, max_size=8
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="$?{\x85\u2028\u2029"), max_size=12)
    | st.sampled_from(
        ["true", "null", "1e-4", "0x1", "#", " a ", "a: b", "- a", "a\nb\n\n", "'", '"', "é # 𝄞", "<<", "*a"]
    )
)
LISTS = st.recursive(SCALARS, lambda below: st.lists(below, max_size=3), max_leaves=5)
MAPPINGS = st.dictionaries(
    st.sampled_from(sorted(SECTIONS - {"env_vars"})),
    st.dictionaries(KEYS, LISTS | st.dictionaries(KEYS, LISTS, max_size=3), max_size=4),
    min_size=1,
    max_size=3,
)
STYLES = st.fixed_dictionaries(
    {
        "default_flow_style": st.sampled_from([True, False, None]),
        "default_style": st.sampled_from([None, "'", '"', "|", ">"]),
        "allow_unicode": st.booleans(),
        "indent": st.integers(2, 5),
        "width": st.sampled_from([10, 40, 1000]),
        "line_break": st.sampled_from(["\n", "\r\n", "\r"]),
        "explicit_start": st.booleans(),
        "sort_keys": st.booleans(),
    }
)


class OmegaLikeDumper(yaml.SafeDumper):
    """Quotes the texts that OmegaConf would read as floats, as OmegaConf's own dumper does."""


OmegaLikeDumper.add_implicit_resolver("tag:yaml.org,2002:float", yaml_nodes._FLOAT, list("-+0123456789"))


def flattened(mapping: dict[str, Plain], above: str = "") -> dict[str, Plain]:
    """Every path of a mapping; "set" for the mappings themselves. A `_target_` is the class of its section."""
    found: dict[str, Plain] = {}
    for key, below in mapping.items():
        found[above + ("__class__" if key == "_target_" else key)] = below
        if isinstance(below, dict):
            found |= flattened(below, above + key + ".")
    return found


def check_generated(mapping: dict[str, Plain], text: str) -> None:
    (found,) = read_yaml("a.yaml", text)
    settings = found.variants[0].settings
    expected = flattened(mapping)
    assert set(settings) == set(expected)
    for path, plain in expected.items():
        setting = settings.get(path)
        assert setting is not None
        assert setting.origin is not None
        assert setting.origin.focus is not None
        written = Lines(text).cut(setting.origin.focus)
        assert written == written.rstrip() or written.startswith(("'", '"'))
        if isinstance(plain, dict):
            assert setting.value == NOT_NONE
            continue
        assert setting.value == Known(plain)
        assert type(setting.value.value) is type(plain)
        if isinstance(plain, str | int | float | bool | None) and not written.startswith(("|", ">")):
            pair = Lines(text).cut(setting.origin.span)
            tag = re.search(r"!!(null|bool|int|float|str)\s+$", pair.removesuffix(written))
            again = read_yaml("a.yaml", f"ddp:\n x: {tag.group() if tag else ''}{written}")
            assert again[0].setting("ddp.x").value == Known(plain)


def is_dumped_faithfully(text: str, mapping: dict[str, Plain]) -> bool:
    """Tell whether PyYAML reads its own dump back: it breaks some lines so that they say something else, or nothing."""
    try:
        return bool(yaml.safe_load(text) == mapping)
    except yaml.YAMLError:
        return False


@given(mapping=MAPPINGS, style=STYLES)
@example(mapping={"checkpoint": {"0": ":0"}}, style={"default_flow_style": False, "width": 10})
@example(mapping={"checkpoint": {"_target_": {}}}, style={"default_flow_style": True})
def test_what_is_dumped_is_read_again_and_every_value_is_where_the_focus_says(
    mapping: dict[str, Plain], style: dict[str, object]
) -> None:
    text = yaml.dump(mapping, Dumper=OmegaLikeDumper, **style)  # type: ignore[call-overload]
    assume(is_dumped_faithfully(text, mapping))
    check_generated(mapping, text)


@given(st.text(st.sampled_from("ab:-?[]{},&*!|>'\"%#~<. \n\r\t01é")))
def test_no_text_is_too_odd(text: str) -> None:
    text = "ddp:\n " + text
    lines = Lines(text)
    try:
        found = read_yaml("a.yaml", text)
    except Unreadable as error:
        lines.offset(error.line, error.column)
        return
    for one in found:
        for path in one.variants[0].settings:
            origin = one.variants[0].origin(path)
            assert origin is not None
            assert lines.cut(origin.point) in lines.cut(origin.span)


@given(st.text(st.sampled_from("ab:-[]{},&*'\"#~ \n01")))
def test_both_parsers_agree(text: str) -> None:
    seen = []
    for loader in (yaml.SafeLoader, yaml_nodes._LOADER):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(yaml_nodes, "_LOADER", loader)
            try:
                seen.append(repr(compose_documents("a.yaml", "ddp: " + text)))
            except Unreadable:
                seen.append("unreadable")
    assert seen[0] == seen[1]
