"""Templates of Jinja: what Jinja makes of them, in playbooks of Ansible and in programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
import pytest

from mfsdp_lint.readers.embedding_formats.jinja_templates import (
    UNDEFINED,
    TemplateNotFollowed,
    filled_template,
    spelled,
)
from mfsdp_lint.readers.embedding_formats.template_values import UNKNOWN_ITEM, Item, Scalar
from tests.readers.test_started_by_others import CONNECTIONS, FORMAT, FSDP, NAME, Files, told

VALUES: dict[str, Any] = {
    "one": 1,
    "x": "x",
    "several": [1, 2, 3],
    "none_of_them": [],
    "job": {"name": "a", "sizes": {"gpus": 8}},
    "yes": True,
    "no": False,
}
TEMPLATES = [
    "{{ one }} {{ x | upper }} {{ job.name }} {{ job['sizes'].gpus }} {{ several | join(',') }} {{ several[1] }}",
    "{% if one > 0 and yes %}\n a\n{% elif no %}\n b\n{% else %}c{% endif %}\n d",
    "  {%- if x == 'x' -%}  a  {%- endif %}\n   {%+ if no %}b{% endif %}\n",
    "{% for each in several %}\n {{ loop.index }}={{ each }}{% if not loop.last %},{% endif %}\n{% endfor %}",
    "{% for key, value in job.items() %}{{ key }} {% endfor %}{% for each in none_of_them %}a{% else %}b{% endfor %}",
    "{% set two = one + 1 %}{{ two }} {% if no %}{% set two = 5 %}{% endif %}{{ two }}",
    "{{ gone }}|{{ gone | default('a') }}|{{ job.gone | d(4) }}|{{ no | default('b', true) }}|{{ gone is defined }}",
    "{% for each in several + none_of_them + ['x'] %}{{ each }} {% endfor %}",
    "{% raw %}{{ one }}{% endraw %} {# {{ one }} #}\n!",
    "{{ 'a' if yes else 'b' }} {{ x in ['x', 'y'] }} {{ one is not none }} {{ x is not defined }} {{ not no }}",
    "{{ yes is sameas true }} {{ one is not sameas true }} {{ one is eq 1 }}",
    "{{ x is ne 'x' }} {{ 4 is divisibleby 2 }}",
    "{{ x ~ '-' ~ one ~ '~' }} {{ yes is boolean }} {{ one is integer }} {{ x is number }} {{ several | max }}",
    "{% for key, value in job | dictsort %}{{ key | capitalize }}{% endfor %} {{ (job | items | list)[0][0] }}",
    "a \\\n  {% if yes %}\n  --b \\\n  {% endif %}\n  --c {{ several | length }} {{ '3' | int }} {{ yes }}",
]


def items(value: Any) -> Item:
    """Return a value as templates are given it."""
    if isinstance(value, dict):
        return {name: items(each) for name, each in value.items()}
    return [items(each) for each in value] if isinstance(value, list) else Scalar(value)


def text(template: str, values: Any, **how: bool) -> str:
    """Fill in a template."""
    given = items(values)
    assert isinstance(given, dict)
    found = ""
    for part in filled_template(template, given, **how):
        if part.item is None:
            found += template[part.start : part.end]
        elif part.item is not UNDEFINED:
            found += spelled(part.item.value) if isinstance(part.item, Scalar) else "?"
    return found


@pytest.mark.parametrize("lstrip", [False, True])
@pytest.mark.parametrize("trim", [False, True])
@pytest.mark.parametrize("template", TEMPLATES)
def test_what_jinja_makes_of_a_template(template: str, trim: bool, lstrip: bool) -> None:
    real = jinja2.Environment(trim_blocks=trim, lstrip_blocks=lstrip, keep_trailing_newline=True, autoescape=False)
    assert text(template, VALUES, trim=trim, lstrip=lstrip) == real.from_string(template).render(**VALUES)


@pytest.mark.parametrize(
    ("template", "kept"),
    [
        ("{{ a }} {{ b }}", "1 {{ b }}"),
        ("{% if a %}x{% endif %}{% if b %}y{% endif %}", "x{% if b %}y{% endif %}"),
        ("{% if not a %}x{% elif b %}{{ a }}{% else %}z{% endif %}", "{% if b %}1{% else %}z{% endif %}"),
        ("{% for each in b %}{{ each }} {{ a }}{% endfor %}", "{% for each in b %}{{ each }} 1{% endfor %}"),
        ("{% if b %}{% set a = 2 %}{% endif %}{{ a }}", "{% if b %}{% endif %}{{ a }}"),
        ("{{ a | somebodys_own }} {{ b | default(2) }}", "{{ a | somebodys_own }} {{ b | default(2) }}"),
    ],
)
def test_what_is_not_known_stays_as_it_is(template: str, kept: str) -> None:
    assert text(template, {"a": 1}, keeps=True) == kept


@pytest.mark.parametrize(
    "template", ["{% if a %}", "{% endif %}", "{% macro f() %}{% endmacro %}", "{% include 'x' %}", "{% else %}"]
)
def test_a_template_of_other_syntax_is_not_followed(template: str) -> None:
    with pytest.raises(TemplateNotFollowed):
        filled_template(template, {})


def test_a_condition_that_is_not_known_leaves_nothing_known() -> None:
    with pytest.raises(TemplateNotFollowed):
        filled_template("{% if a %}x{% endif %}", {"a": UNKNOWN_ITEM})


SCRIPT = (
    f"#!/bin/bash\nexport {NAME}={{{{ connections }}}}\ntorchrun pretrain_gpt.py --num-layers {{{{ layers }}}} \\\n"
    f"{{% if fsdp | bool %}}\n  {FSDP} \\\n{{% endif %}}\n  --save /c --ckpt-format {{{{ format }}}}\n"
)
TASK = "- name: script\n  ansible.builtin.template: {src: train.sh.j2, dest: /opt/train.sh}\n"
PLAY = f"- hosts: trainers\n  tasks:\n{TASK}".replace("\n- name", "\n  - name").replace("\n  ansible", "\n    ansible")
VARIABLES = "fsdp: {}\nlayers: 2\nconnections: {}\nformat: {}\n"
RIGHT = VARIABLES.format("true", 8, "fsdp_dtensor")
PLAYS: dict[str, tuple[Files, list[str]]] = {
    "all is right": ({"site.yml": PLAY, "group_vars/all.yml": RIGHT}, []),
    "a value": (
        {"site.yml": PLAY, "group_vars/all.yml": VARIABLES.format("true", 8, "torch_dist")},
        [f"group_vars/all.yml:4 {FORMAT}"],
    ),
    "the feature is off": (
        {"site.yml": PLAY, "group_vars/all.yml": VARIABLES.format("false", 1, "torch_dist")},
        [],
    ),
    "a group counts more than all": (
        {"site.yml": PLAY, "group_vars/all.yml": RIGHT, "group_vars/trainers.yml": "connections: 1\n"},
        [f"group_vars/trainers.yml:1 {CONNECTIONS}"],
    ),
    "another group does not": (
        {"site.yml": PLAY, "group_vars/all.yml": RIGHT, "group_vars/web.yml": "connections: 1\n"},
        [],
    ),
    "one of several inventories": (
        {
            "site.yml": PLAY,
            "inventories/a/group_vars/all.yml": RIGHT,
            "inventories/b/group_vars/all.yml": VARIABLES.format("true", 8, "torch_dist"),
        },
        [f"inventories/b/group_vars/all.yml:4 {FORMAT}"],
    ),
    "variables of the play": (
        {"site.yml": PLAY.replace("  tasks", "  vars: {format: torch_dist}\n  tasks"), "group_vars/all.yml": RIGHT},
        [f"site.yml:2 {FORMAT}"],
    ),
    "a variable within another": (
        {"site.yml": PLAY, "group_vars/all.yml": f"{RIGHT}kind: torch\n".replace("fsdp_dtensor", '"{{ kind }}_dist"')},
        [f"group_vars/all.yml:4 {FORMAT}"],
    ),
    "a role": (
        {
            "roles/train/tasks/main.yml": TASK,
            "roles/train/templates/train.sh.j2": SCRIPT,
            "roles/train/defaults/main.yml": VARIABLES.format("true", 8, "torch_dist"),
        },
        [f"roles/train/defaults/main.yml:4 {FORMAT}"],
    ),
    "what nobody says": ({"site.yml": PLAY, "group_vars/all.yml": "layers: 2\n"}, []),
}


@pytest.mark.parametrize(("files", "wanted"), PLAYS.values(), ids=PLAYS)
def test_scripts_that_playbooks_make_of_templates(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    template = {} if "site.yml" not in files else {"templates/train.sh.j2": SCRIPT}
    assert told({**template, **files}, tmp_path, capsys) == wanted


PROGRAM = """import subprocess
from pathlib import Path

import yaml
from jinja2 import DictLoader, Environment, FileSystemLoader, Template

HERE = Path(__file__).parent
TEXT = (HERE / "templates/job.sh.j2").read_text()
template = {}
for name, job in yaml.safe_load((HERE / "jobs.yaml").read_text()).items():
    out = HERE / f"{{name}}.sh"
    out.write_text(template.render(job=job, connections={}))
    subprocess.run(["bash", str(out)], check=True)
"""
JOB = SCRIPT.replace("fsdp | bool", "job.fsdp").replace("format }}", "job.format }}").replace("layers }}", "4 }}")
JOBS = "a: {{fsdp: true, format: {}}}\nb: {{fsdp: false, format: torch_dist}}\n"
MADE = {
    "a template alone": "Template(TEXT, trim_blocks=True)",
    "an environment": "Environment(trim_blocks=True).from_string(TEXT)",
    "a folder": "Environment(loader=FileSystemLoader(HERE / 'templates'), trim_blocks=True).get_template('job.sh.j2')",
    "a table": "Environment(loader=DictLoader({'a': TEXT}), trim_blocks=True).get_template('a')",
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_scripts_that_programs_make_of_templates(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"run.py": PROGRAM.format(made, 8), "templates/job.sh.j2": JOB, "jobs.yaml": JOBS.format("torch_dist")}
    assert told(files, tmp_path, capsys) == [f"jobs.yaml:1 {FORMAT}"]
    assert told({**files, "jobs.yaml": JOBS.format("fsdp_dtensor")}, tmp_path, capsys) == []
    (found,) = told({"run.py": PROGRAM.format(made, 1), "jobs.yaml": JOBS.format("fsdp_dtensor")}, tmp_path, capsys)
    assert found.endswith(CONNECTIONS)


def test_values_that_a_program_does_not_know_leave_the_script_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made = "Template(TEXT, trim_blocks=True)"
    program = PROGRAM.format(made, 8).replace("job=job", "job=asked(job)")
    files = {"run.py": program, "templates/job.sh.j2": JOB, "jobs.yaml": JOBS.format("torch_dist")}
    assert told(files, tmp_path, capsys) == []


@pytest.mark.parametrize(
    ("name", "start", "wanted"),
    [
        ("sbatch", "", [f"jobs.yaml:1 {FORMAT}"]),
        ("txt", "", []),
        ("sbatch", 'subprocess.run(["sbatch", str(out)])', [f"jobs.yaml:1 {FORMAT}"]),
    ],
    ids=["somebody submits it", "no script", "it is submitted"],
)
def test_a_script_that_a_program_only_writes_is_for_somebody_to_submit(
    name: str,
    start: str,
    wanted: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    program = PROGRAM.format("Template(TEXT, trim_blocks=True)", 8).replace("}.sh", f"}}.{name}")
    program = program.replace('subprocess.run(["bash", str(out)], check=True)', start or "pass")
    files = {"run.py": program, "templates/job.sh.j2": JOB, "jobs.yaml": JOBS.format("torch_dist")}
    assert told(files, tmp_path, capsys) == wanted
