"""Charts of Helm, and what scripts make of files on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.go_functions import GAP
from mfsdp_lint.readers.embedding_formats.helm import Chart
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.script import plain
from tests.readers.test_started_by_others import BAD, CONNECTIONS, FORMAT, FSDP, GOOD, NAME, RUN, Files, told

VALUES = """\
name: "{{ .Release.Name }}-x"
number: 1
text: x y
on: true
off: false
nothing: null
empty: []
list: [1, two]
map: {b: "2", a: {c: d}}
script: |
  set -e
  run --a 1 \\
    --b
"""
HELPERS = """\
{{- define "t.name" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- printf "%s-%s" "r" $name | trunc 9 | trimSuffix "-" }}
{{- end }}
{{- define "t.args" }}
{{- range $i, $a := .args }}
- --arg{{ $i }}={{ $a }}
{{- end }}
{{- end }}
"""

RENDERED: Mapping[str, tuple[str, str]] = {
    "values": ("{{ .Values.number }} {{.Values.text}} {{ .Values.on }} [{{ .Values.nothing }}]", "1 x y true []"),
    "blanks around an action": ("a\n  {{- /* no */ -}}\n  b {{- .Values.number -}} c", "ab1c"),
    "a condition": ("{{ if .Values.off }}a{{ else if eq .Values.text `x y` }}b{{ else }}c{{ end }}", "b"),
    "what is true": ("{{ if and .Values.on (not .Values.empty) (or .Values.nope .Values.list) }}a{{ end }}", "a"),
    "with": ("{{ with .Values.map }}{{ .b }}{{ $.Chart.Name }}{{ end }}{{ with .Values.nope }}a{{ end }}", "2chart"),
    "range": (
        "{{ range .Values.list }}<{{ . }}>{{ end }}{{ range $k, $v := .Values.map.a }}{{ $k }}={{ $v }}{{ end }}",
        "<1><two>c=d",
    ),
    "range over nothing": (
        "{{ range .Values.empty }}a{{ else }}none{{ end }}{{ range until 3 }}{{ . }}{{ end }}",
        "none012",
    ),
    "a variable": ("{{ $x := 1 }}{{ if .Values.on }}{{ $x = 2 }}{{ end }}{{ $x }}", "2"),
    "quotes": (
        '{{ .Values.number | quote }} {{ squote .Values.text }} {{ `say "a"` | quote }}',
        '"1" \'x y\' "say \\"a\\""',
    ),
    "defaults": (
        '{{ default 8 .Values.nope }} {{ .Values.number | default 8 }} {{ coalesce .Values.nope "z" }}',
        "8 1 z",
    ),
    "a template": ('{{ include "t.name" . }} {{ template "t.name" . }}', "r-chart r-chart"),
    "a template with arguments": (
        'a:{{ include "t.args" (dict "args" .Values.list) | nindent 2 }}',
        "a:\n  \n  - --arg0=1\n  - --arg1=two",
    ),
    "a text that is a template": ('{{ tpl "{{ .Values.number }}" . }}', "1"),
    "YAML": ("m:\n  {{- toYaml .Values.map | nindent 2 }}", "m:\n  a:\n    c: d\n  b: '2'"),
    "a list in YAML": ("{{ toYaml .Values.list | indent 2 }}", "  - 1\n  - two"),
    "lines": ("s: |\n{{ .Values.script | trim | indent 2 }}", "s: |\n  set -e\n  run --a 1 \\\n    --b"),
    "texts": (
        '{{ upper "a" }} {{ replace "-" "_" "a-b" }} {{ list 1 2 | join "," }} {{ printf "%d%%%v" 3 true }}',
        "A a_b 1,2 3%true",
    ),
    "numbers": (
        '{{ add 1 2 3 }} {{ mul 2 .Values.number }} {{ int "4" }} {{ len .Values.list }} {{ gt 2 1 }}',
        "6 2 4 2 true",
    ),
    "entries": (
        '{{ index .Values.list 1 }} {{ get .Values.map "b" }} {{ hasKey .Values "zz" }} {{ (index .Values.list 0) }}',
        "two 2 false 1",
    ),
    "a choice": (
        '{{ ternary "a" "b" .Values.off }} {{ kindIs "string" .Values.text }} {{ empty .Values.empty }}',
        "b true true",
    ),
    "a word that is not known": ("a-{{ .Release.Name }} {{ .Values.name }}", f"a-{HOLE} {{{{ .Release.Name }}}}-x"),
    "a function that is not followed": ('{{ genCA "a" 1 }}', HOLE),
    "lines that are not known": ("{{ if .Capabilities.x }}\n  a: b\n{{ end }}", f"\n  {GAP}"),
    "a value that must be given": ('{{ required "no" .Values.nope }}', HOLE),
}


@pytest.mark.parametrize(("template", "gives"), RENDERED.values(), ids=RENDERED)
def test_templates_give_what_helm_gives(template: str, gives: str) -> None:
    """What is known of each was recorded from Go's text/template with Sprig 3 and Helm's functions."""
    files = {"c/Chart.yaml": "name: chart\n", "c/values.yaml": VALUES}
    chart = Chart("c", Sources(files))
    chart.define("c/templates/_h.tpl", HELPERS)
    found = chart.rendered("c/templates/a.yaml", template)
    assert found is not None
    assert plain(found) == gives


@pytest.mark.parametrize(
    "template",
    [
        '{{ define "more" }}{{ include "more" . }}{{ include "more" . }}{{ end }}{{ include "more" . }}',
        "{{ range 10000 }}{{ range 10000 }}a{{ end }}{{ end }}",
        "{{ range until 1000000000 }}a{{ end }}{{ nindent 1000000000 1 }}",
        "{{ $x := `ab` }}{{ range 100 }}{{ $x = print $x $x }}{{ end }}{{ $x }}",
        "{{ $x := list 1 }}{{ range 100 }}{{ $x = list $x $x }}{{ end }}{{ toYaml $x }}",
        '{{ .Files.Get "../secret" }}',
    ],
)
def test_what_a_template_may_not_do_is_not_known(template: str) -> None:
    files = {"c/Chart.yaml": "name: chart\n", "secret": "a" * 4000}
    found = Chart("c", Sources(files)).rendered("c/templates/a.yaml", template)
    assert found is not None
    assert len(plain(found)) < 4000
    assert {HOLE, GAP} & set(plain(found))


JOB = f"""\
apiVersion: batch/v1
kind: Job
metadata:
  name: {{{{ .Release.Name }}}}
spec:
  template:
    spec:
      containers:
        - name: train
          env:
            {{{{- range $name, $value := .Values.env }}}}
            - name: {{{{ $name }}}}
              value: {{{{ $value | quote }}}}
            {{{{- end }}}}
          command: [bash, -c]
          args:
            - |
              {RUN} \\
                {{{{- range .Values.args }}}}
                {{{{ . }}}} \\
                {{{{- end }}}}
                --save /c --ckpt-format {{{{ .Values.format }}}}
"""
CHART = {
    "chart/Chart.yaml": "name: chart\n",
    "chart/templates/job.yaml": JOB,
    "chart/values.yaml": "env: {}\nargs: [--bf16]\nformat: fsdp_dtensor\n",
}

CHARTS: Mapping[str, tuple[Files, list[str]]] = {
    "all is right": ({}, []),
    "a value": ({"chart/values.yaml": "format: torch_dist\n"}, [f"chart/values.yaml:1 {FORMAT}"]),
    "an entry of a mapping": (
        {"chart/values.yaml": f'env:\n  {NAME}: "1"\nformat: fsdp_dtensor\n'},
        [f"chart/values.yaml:2 {CONNECTIONS}"],
    ),
    "a flag that is an entry of a mapping": (
        {
            "chart/templates/job.yaml": JOB.replace(
                "{{- range .Values.args }}", "{{- range $flag, $on := .Values.args }}{{ if $on }}"
            )
            .replace("{{ . }}", "--{{ $flag }}")
            .replace("{{- end }}\n                --save", "{{- end }}{{ end }}\n                --save"),
            "chart/values.yaml": "args:\n  bf16: true\n  fsdp-manual-registration: true\n  use-nccl-ub: false\n"
            "format: fsdp_dtensor\n",
        },
        ["chart/values.yaml:3 MFSDP503"],
    ),
    "a value of a script that installs it": (
        {"deploy.sh": "FORMAT=torch_dist\nhelm upgrade --install x ./chart --set format=$FORMAT\n"},
        [f"deploy.sh:1 {FORMAT}"],
    ),
    "a file of values": (
        {"deploy.sh": "helm install x chart -f big.yaml\n", "big.yaml": f'env: {{{NAME}: "1"}}\n'},
        [f"big.yaml:1 {CONNECTIONS}"],
    ),
    "each file of values that a name may mean": (
        {
            "deploy.sh": 'helm install "x-$1" chart -f "env/prod-$1.yaml"\n',
            "env/prod-a.yaml": f'env: {{{NAME}: "1"}}\n',
            "env/prod-b.yaml": "env: {}\n",
            "env/test.yaml": "format: torch_dist\n",
        },
        [f"env/prod-a.yaml:1 {CONNECTIONS}"],
    ),
    "one by the beginning of its name": (
        {"deploy.sh": "helm install x chart -f values-$SIZE.yaml\n", "values-8b.yaml": "format: torch_dist\n"},
        [f"values-8b.yaml:1 {FORMAT}"],
    ),
    "a name of which nothing is known": (
        {"deploy.sh": "helm install x chart -f $VALUES\n", "values-8b.yaml": "format: torch_dist\n"},
        [],
    ),
    "a value that nobody knows": ({"deploy.sh": "helm install x chart --set format=$(pick)\n"}, []),
    "a script of the chart": (
        {
            "chart/templates/job.yaml": "apiVersion: v1\nkind: ConfigMap\ndata:\n  a.sh: |\n"
            '    {{- .Files.Get "files/a.sh" | nindent 4 }}\n',
            "chart/files/a.sh": f"#!/bin/bash\n{RUN} {BAD}\n",
        },
        [f"chart/files/a.sh:2 {FORMAT}"],
    ),
}

WHOLE = {
    "whole/Chart.yaml": "name: whole\n",
    "whole/values.yaml": "chart:\n  format: torch_dist\n",
    **{f"whole/charts/{name}": text for name, text in CHART.items()},
}
NAMED = "name: whole\ndependencies:\n  - name: chart\n    alias: job\n    condition: job.on\n"
PARTS: Mapping[str, tuple[Files, list[str]]] = {
    "the values that the whole chart has for a part": ({}, [f"whole/values.yaml:2 {FORMAT}"]),
    "its own values where the whole chart has none": ({"whole/values.yaml": "chart: {}\n"}, []),
    "values for all": (
        {
            "whole/values.yaml": "global: {format: torch_dist}\n",
            "whole/charts/chart/templates/job.yaml": JOB.replace(".Values.format", ".Values.global.format"),
        },
        [f"whole/values.yaml:1 {FORMAT}"],
    ),
    "another name": (
        {"whole/Chart.yaml": NAMED, "whole/values.yaml": "job:\n  format: torch_dist\n"},
        [f"whole/values.yaml:2 {FORMAT}"],
    ),
    "a part that is not installed": (
        {"whole/Chart.yaml": NAMED, "whole/values.yaml": "job:\n  on: false\n  format: torch_dist\n"},
        [],
    ),
    "a value of a script that installs the whole": (
        {
            "whole/values.yaml": "chart: {}\n",
            "deploy.sh": "FORMAT=torch_dist\nhelm install x ./whole --set chart.format=$FORMAT\n",
        },
        [f"deploy.sh:1 {FORMAT}"],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), PARTS.values(), ids=PARTS)
def test_charts_within_charts(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told({**WHOLE, **files}, tmp_path, capsys) == wanted


@pytest.mark.parametrize(("files", "wanted"), CHARTS.values(), ids=CHARTS)
def test_charts(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told({**CHART, **files}, tmp_path, capsys) == wanted


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (
            {"deploy.sh": "helm install x . -f big.yaml\n", "big.yaml": f'env: {{{NAME}: "1"}}\n'},
            [f"big.yaml:1 {CONNECTIONS}"],
        ),
        (
            {
                "templates/args.tpl": '{{ define "format" }}torch_dist{{ end }}',
                "templates/job.yaml": JOB.replace("{{ .Values.format }}", '{{ include "format" . }}'),
            },
            [f"templates/args.tpl:1 {FORMAT}"],
        ),
    ],
    ids=["a file of values", "a template that others include"],
)
def test_a_chart_may_lie_at_the_top(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        told({**{path.removeprefix("chart/"): text for path, text in CHART.items()}, **files}, tmp_path, capsys)
        == wanted
    )


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (".Values.args", ".Capabilities.args", "this launch depends on `{{- range .Capabilities.args }}`"),
        ("{{- end }}\n          command", "{{- end\n          command", "the syntax of this template is not followed"),
        ("containers:", '{{- include "gone" . | nindent 6 }}', "what `{{- include"),
    ],
)
def test_what_of_a_chart_is_not_followed_is_told(
    before: str,
    after: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told({**CHART, "chart/templates/job.yaml": JOB.replace(before, after)}, tmp_path, capsys) == []
    main(["runs", "."])
    assert reason in capsys.readouterr().out


def test_what_of_an_installed_chart_is_not_followed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    job = JOB.replace(".Values.args", ".Capabilities.args")
    files = {**CHART, "chart/templates/job.yaml": job, "deploy.sh": "helm install x ./chart --set format=torch\n"}
    assert told(files, tmp_path, capsys) == []
    main(["runs", "deploy.sh"])
    assert "this launch depends on `{{- range .Capabilities.args }}`" in capsys.readouterr().out


def _pod(command: str, *more: str) -> str:
    return dedent(
        f"""\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {{name: train}}
        spec:
          template:
            spec:
              containers:
                - command: [bash, -c]
                  args: ["{command}"]
        """
    ) + "".join(more)


CLUSTERS: Mapping[str, tuple[Files, list[str]]] = {
    "a variable that is set in a deployment": (
        {
            "job.yaml": _pod(f"{RUN} {GOOD}"),
            "deploy.sh": f"kubectl apply -f job.yaml\nkubectl set env deployment/train {NAME}=1\n",
        },
        [f"deploy.sh:2 {CONNECTIONS}"],
    ),
    "in another one": (
        {
            "job.yaml": _pod(f"{RUN} {GOOD}"),
            "deploy.sh": f"kubectl apply -f job.yaml\nkubectl set env deployment/serve {NAME}=1\n",
        },
        [],
    ),
    "variables that are filled in": (
        {
            "job.tmpl": _pod(f"{RUN} --save /c --ckpt-format $FORMAT"),
            "deploy.sh": "export FORMAT=torch_dist\nenvsubst < job.tmpl | kubectl apply -f -\n",
        },
        [f"deploy.sh:1 {FORMAT}"],
    ),
    "a manifest in a script": (
        {"deploy.sh": f"F=torch_dist\nkubectl apply -f - <<EOF\n{_pod(f'{RUN} --save /c --ckpt-format $F')}EOF\n"},
        [f"deploy.sh:1 {FORMAT}"],
    ),
    "a script that a container has from a ConfigMap": (
        {
            "job.yaml": dedent(
                f"""\
                apiVersion: v1
                kind: ConfigMap
                metadata: {{name: scripts}}
                data:
                  train.sh: |
                    {RUN} --save /c --ckpt-format ${{FORMAT:-torch_dist}}
                ---
                apiVersion: v1
                kind: Pod
                spec:
                  containers:
                    - command: [bash, /scripts/train.sh]
                      env: [{{name: FORMAT, value: fsdp_dtensor}}]
                      volumeMounts: [{{name: s, mountPath: /scripts}}]
                  volumes: [{{name: s, configMap: {{name: scripts}}}}]
                """
            )
        },
        [],
    ),
    "a parameter of Argo": (
        {
            "flow.yaml": dedent(
                f"""\
                apiVersion: argoproj.io/v1alpha1
                kind: Workflow
                spec:
                  arguments:
                    parameters: [{{name: dir, value: /c}}]
                  templates:
                    - name: all
                      steps:
                        - - template: train
                            arguments:
                              parameters:
                                - name: format
                                  value: torch_dist
                    - name: train
                      inputs:
                        parameters: [{{name: format, value: fsdp_dtensor}}]
                      container:
                        command: [bash, -c]
                        args:
                          - |
                            {RUN} --save {{{{workflow.parameters.dir}}}} --ckpt-format {{{{inputs.parameters.format}}}}
                """
            )
        },
        [f"flow.yaml:13 {FORMAT}"],
    ),
    "a sweep": (
        {
            "sweep.yaml": dedent(
                f"""\
                program: pretrain_gpt.py
                method: grid
                command: ['${{env}}', {NAME}=8, torchrun, '${{program}}', {", ".join(FSDP.split())}, '${{args}}']
                parameters:
                  save: {{value: /c}}
                  lr: {{distribution: uniform, min: 0, max: 1}}
                  ckpt-format:
                    values: [fsdp_dtensor,
                             torch_dist]
                """
            )
        },
        [f"sweep.yaml:9 {FORMAT}"],
    ),
    "a job of GitLab that extends another": (
        {
            ".gitlab-ci.yml": dedent(
                f"""\
                .train:
                  variables:
                    FORMAT: torch_dist
                  script: [torchrun pretrain_gpt.py {FSDP} --save /c --ckpt-format $FORMAT]
                right:
                  extends: .train
                  variables: {{FORMAT: fsdp_dtensor}}
                each:
                  extends: [.train]
                  parallel:
                    matrix:
                      - FORMAT: [fsdp_dtensor,
                                 torch]
                """
            )
        },
        [f".gitlab-ci.yml:13 {FORMAT}"],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), CLUSTERS.values(), ids=CLUSTERS)
def test_what_is_started_on_a_cluster(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted
