"""Every front-end's data file: what it speaks of is there, and nothing that it is asked to read makes it fall over."""

from __future__ import annotations

import pytest

from mfsdp_lint import checkout
from mfsdp_lint.core.front_ends import FRONT_ENDS
from mfsdp_lint.megatron.front_ends import Profile, ProfileError, profiles, raw_profiles, read_profile
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.readers.yaml.compose import COMPOSE
from mfsdp_lint.rules.load import load_rules
from tests.megatron.front_ends.project import Project

every = pytest.mark.parametrize("profile", profiles(), ids=lambda profile: profile.front_end.name)


@every
def test_a_front_end_runs_the_code_of_another(profile: Profile) -> None:
    assert profile.front_end.runs in FRONT_ENDS
    assert profile.front_end.released_with == FRONT_ENDS[profile.front_end.runs].released_with
    assert profile.compose in COMPOSE


@every
def test_it_names_settings(profile: Profile) -> None:
    known = table()
    for place in profile.places:
        named = [target.setting for line in place.lines for target in line.targets]
        made = [path for each in place.made for path, _ in each.settings]
        for path in (*named, *made):
            assert path.endswith(".*") or path.startswith("env.") or known.entry(path), path


@every
def test_the_rules_that_it_is_spared_are_there(profile: Profile) -> None:
    assert profile.front_end.spared <= {rule.code for rule in load_rules()}


@pytest.mark.parametrize("raw", raw_profiles(), ids=lambda raw: raw["name"])
def test_each_fact_says_where_it_is_from(raw: dict[str, object]) -> None:
    assert raw["source"]
    for place in raw.get("recipes", ()):  # type: ignore[attr-defined]
        assert all(":" in made["evidence"] for made in place.get("made", ()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mention": "("}, "missing"),
        ({"surprise": 1}, "unknown field 'surprise'"),
        ({"recipes": [{"at": "a", "named": "numbers"}]}, "settings are not named by 'numbers'"),
        ({"recipes": [{"at": "a", "made": [{"set": {}, "when": "1 +", "evidence": "a:1"}]}]}, "1 \\+"),
        ({"refuses": [{"when": "1 +", "message": "x", "raises": "y", "evidence": "a:1"}]}, "1 \\+"),
        ({"refuses": [{"when": "model.bf16", "raises": "y", "evidence": "a:1"}]}, "message"),
        ({"known_by": None}, "example: "),
    ],
)
def test_a_data_file_that_is_not_right_says_so(changes: dict[str, object], message: str) -> None:
    right: dict[str, object] = {
        "name": "example",
        "source": "a/b 1234567",
        "released_with": "core",
        "runs": "megatron-lm",
        "mention": "x",
        "known_by": ["a"],
        "recipes": [],
    }
    read_profile(right)
    with pytest.raises(ProfileError, match=message):
        read_profile(right | changes)


ODD = {
    "a list": "- policy\n",
    "a text": "policy: x\ndefaults: y\nmodules: z\ndistributed: a\n",
    "nothing": "policy:\ndefaults:\nmodules:\n  framework:\ndistributed:\ngpt_args:\nactor_rollout_ref:\n",
    "lists for mappings": "policy: [1]\ndefaults: [[1], {a: [b]}]\nmodules: [framework: megatron]\ngpt_args: [1]\n",
    "odd keys": "? [a, b]\n: 1\n1: 2\nnull: 3\ntrue: 4\npolicy: {1: 2, null: 3, [x]: 4}\ngpt_args: {1: 2, null: 3}\n",
    "itself": "policy: &a {megatron_cfg: *a}\ngpt_args: &b {x: *b}\n",
    "merged": "base: &b {use_torch_fsdp2: true}\ngpt_args: {<<: *b, <<: [*b, 1]}\n",
    "tags": "gpt_args: !odd {use_torch_fsdp2: !!int x, save: !!python/object:os.system [1]}\npolicy: !x {a: 1}\n",
    "several documents": "gpt_args: {use_torch_fsdp2: true}\n---\ngpt_args: {use_torch_fsdp2: true}\n",
    "deep references": "policy: {megatron_cfg: {enabled: '" + "${" * 200 + "a" + "}" * 200 + "'}}\n",
    "a section under a leaf": "defaults: base.yaml\npolicy: {megatron_cfg: {enabled: true, optimizer: 1}}\n",
    "dotted": "policy.megatron_cfg.enabled: true\ngpt_args.use_torch_fsdp2: true\n",
    "no pattern": "distributed: {strategy: megatron_fsdp, zero_dp_strategy: [1]}\nfsdp: {zero_dp_strategy: {a: b}}\n",
    "a module that is no mapping": "modules: {pre_trainer: 1, trainer: {framework: megatron, config: 1, model: [2]}}\n",
    "a circle of choices": "defaults: [a: ${b}, b: ${a}, override a: x, _self_, _self_]\ncritic: {megatron: 1}\n",
}


@pytest.mark.parametrize("case", ODD)
def test_odd_files_are_read_without_a_fault(project: Project, case: str) -> None:
    project.write({"run.yaml": ODD[case], "base.yaml": "policy: {megatron_cfg: {optimizer: {lr: 1}}}\n"})
    assert not [line for line in project.told(".") if "MFSDP905" in line]


def test_what_is_compiled_says_the_same() -> None:
    """Keys of JSON are texts: no profile may rely on others."""
    assert raw_profiles() == list(checkout.front_ends().values())
