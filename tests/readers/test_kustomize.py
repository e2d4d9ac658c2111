"""Kustomizations: what containers run under patches, and where that is written."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from mfsdp_lint.cli import main
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.kustomize import kustomized
from mfsdp_lint.readers.shell.script import Text, plain
from tests.readers.test_started_by_others import BAD, CONNECTIONS, FORMAT, GOOD, NAME, RUN, Files, told

JOB = f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: train}}
spec:
  template:
    spec:
      containers:
        - name: main
          env:
            - {{name: NCCL_DEBUG, value: WARN}}
            - {{name: FORMAT, value: fsdp_dtensor}}
          command: [bash, -c, "{RUN} --save /c --ckpt-format $FORMAT"]
"""
CUSTOM = JOB.replace("batch/v1\nkind: Job", "kubeflow.org/v1\nkind: PyTorchJob")
CONTAINERS = "/spec/template/spec/containers"
BASE = {"base/job.yaml": JOB, "base/kustomization.yaml": "resources: [job.yaml]\nnamePrefix: my-\n"}
OF_BASE = "resources: [../base]\n"
HEAD = "apiVersion: batch/v1\nkind: Job\n"
SETS = f"""\
spec:
  template:
    spec:
      containers:
        - name: main
          env:
            - name: {NAME}
              value: "1"
"""


def overlay(text: str, base: Mapping[str, str] = BASE, **files: str) -> Files:
    own = {f"own/{name.replace('_', '.')}": each for name, each in files.items()}
    return {**base, "own/kustomization.yaml": f"{OF_BASE}{text}", **own}


def operations(*lines: str, target: str = "{kind: Job}") -> str:
    return "patches:\n  - target: " + target + "\n    patch: |-\n" + "".join(f"      {each}\n" for each in lines)


KUSTOMIZATIONS: Mapping[str, tuple[Files, list[str]]] = {
    "nothing is changed": (overlay("images: [{name: a, newTag: b}]\n"), []),
    "a resource alone": (
        {"job.yaml": JOB.replace("fsdp_dtensor", "torch_dist"), "kustomization.yaml": "resources: [job.yaml]\n"},
        [f"job.yaml:11 {FORMAT}"],
    ),
    "an operation that adds a variable": (
        overlay(operations(f"- {{op: add, path: {CONTAINERS}/0/env/-, value: {{name: {NAME}, value: '1'}}}}")),
        [f"own/kustomization.yaml:5 {CONNECTIONS}"],
    ),
    "operations in a file": (
        overlay(
            "patches: [{path: ops.yaml, target: {name: my-.*}}]\n",
            ops_yaml=f"- op: replace\n  path: {CONTAINERS}/0/env/1/value\n  value: torch_dist\n",
        ),
        [f"own/ops.yaml:3 {FORMAT}"],
    ),
    "operations in JSON": (
        overlay(
            "patchesJson6902: [{path: ops.json, target: {kind: Job, name: train}}]\n",
            ops_json=f'[{{"op": "replace",\n  "path": "{CONTAINERS}/0/env/1/value",\n  "value": "torch_dist"}}]\n',
        ),
        [f"own/ops.json:3 {FORMAT}"],
    ),
    "an operation that moves what the next one replaces": (
        overlay(
            operations(
                f"- {{op: remove, path: {CONTAINERS}/0/env/0}}",
                f"- {{op: replace, path: {CONTAINERS}/0/env/0/value, value: torch_dist}}",
            )
        ),
        [f"own/kustomization.yaml:6 {FORMAT}"],
    ),
    "another object is meant": (
        overlay(
            operations(f"- {{op: replace, path: {CONTAINERS}/0/env/1/value, value: torch_dist}}", target="{kind: Pod}")
        ),
        [],
    ),
    "a merge by the names of containers and variables": (
        overlay("patches: [{path: env.yaml}]\n", env_yaml=f"{HEAD}metadata: {{name: train}}\n{SETS}"),
        [f"own/env.yaml:11 {CONNECTIONS}"],
    ),
    "a merge with a target": (
        overlay("patches: [{path: env.yaml, target: {kind: Job}}]\n", env_yaml=f"{HEAD}metadata: {{name: x}}\n{SETS}"),
        [f"own/env.yaml:11 {CONNECTIONS}"],
    ),
    "a merge of the older kind, in the kustomization": (
        overlay(
            "patchesStrategicMerge:\n  - |-\n    apiVersion: batch/v1\n    kind: Job\n    metadata: {name: train}\n"
            + "".join(f"    {line}\n" for line in SETS.splitlines())
        ),
        [f"own/kustomization.yaml:14 {CONNECTIONS}"],
    ),
    "a variable that is deleted": (
        overlay(
            "patches: [{path: env.yaml}]\n",
            {**BASE, "base/job.yaml": JOB.replace("NCCL_DEBUG, value: WARN", f"{NAME}, value: '1'")},
            env_yaml=f"{HEAD}metadata: {{name: train}}\n{SETS.partition('            - name: ')[0]}"
            f"            - {{name: {NAME}, $patch: delete}}\n",
        ),
        [],  # a warning about the base
    ),
    "an object that is deleted": (
        overlay("patches:\n  - patch: '{apiVersion: batch/v1, kind: Job, metadata: {name: train}, $patch: delete}'\n"),
        [],
    ),
    "lists of an object that the cluster was taught are replaced": (
        overlay(
            "patches: [{path: env.yaml}]\n",
            {**BASE, "base/job.yaml": CUSTOM},
            env_yaml=f"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: train}}\n{SETS}",
        ),
        [],  # the container has no command any more
    ),
    "a script that becomes a file": (
        {
            "train.sh": f"{RUN} --save /c --ckpt-format $FORMAT\n",
            "job.yaml": JOB.replace("fsdp_dtensor", "torch_dist").partition("          command")[0]
            + "          command: [bash, /w/train.sh]\n          volumeMounts: [{name: s, mountPath: /w}]\n"
            "      volumes: [{name: s, configMap: {name: scripts}}]\n",
            "kustomization.yaml": (
                "resources: [job.yaml]\nconfigMapGenerator: [{name: scripts, files: [train.sh]}]\nnameSuffix: -x\n"
            ),
        },
        [f"job.yaml:11 {FORMAT}"],
    ),
    "variables of a generator, which an overlay changes": (
        overlay(
            f"configMapGenerator:\n  - name: env\n    behavior: merge\n    literals: [A=b, {NAME}=1]\n",
            {
                "base/job.yaml": f"{JOB}          envFrom: [{{configMapRef: {{name: env}}}}]\n",
                "base/run.env": f"{NAME}=8\n",
                "base/kustomization.yaml": "resources: [job.yaml]\nconfigMapGenerator: [{name: env, env: run.env}]\n",
            },
        ),
        [f"own/kustomization.yaml:5 {CONNECTIONS}"],
    ),
    "what is replaced, taken away, and put in front": (
        overlay(
            operations(
                f"- {{op: copy, from: {CONTAINERS}/1/env/1/value, path: {CONTAINERS}/0/env/0/value}}",
            ).replace("patches:\n", "patches:\n  - path: env.yaml\n"),
            env_yaml=(
                f"{HEAD}metadata: {{name: train}}\nspec:\n  template:\n    spec:\n      restartPolicy: null\n"
                "      initContainers: [{name: first, image: a}]\n      containers:\n"
                "        - {name: other, image: b, env: [{name: A, value: b}]}\n"
                "        - name: main\n          env:\n            - {name: FORMAT, value: torch_dist}\n"
                "            - {name: B, value: c}\n          resources: {$patch: replace, limits: {gpu: 1}}\n"
            ),
        ),
        [f"own/env.yaml:13 {FORMAT}"],
    ),
    "a component": (
        {
            **overlay("components: [../part]\n"),
            "part/kustomization.yaml": "kind: Component\n"
            + operations(f"- {{op: replace, path: {CONTAINERS}/0/env/1/value, value: torch_dist}}"),
        },
        [f"part/kustomization.yaml:5 {FORMAT}"],
    ),
    "kustomizations that are each other's base": (
        {"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [../a]\n"},
        [],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), KUSTOMIZATIONS.values(), ids=KUSTOMIZATIONS)
def test_what_a_kustomization_builds(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted


REFUSED = ("kustomizations that are each other's base",)


@pytest.mark.parametrize("name", sorted(KUSTOMIZATIONS.keys() - REFUSED))
def test_the_real_program_builds_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("this machine does not have kubectl")
    monkeypatch.chdir(tmp_path)
    files, _ = KUSTOMIZATIONS[name]
    for path, text in files.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text(text)
    own = "own/kustomization.yaml" if "own/kustomization.yaml" in files else "kustomization.yaml"
    command = ["kubectl", "kustomize", str(Path(own).parent)]
    real = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert _specs(kustomized(own, Sources({}))[0]) == _specs(real)


def _specs(manifest: str | Text) -> list[dict[str, object]]:
    """Return the objects of a manifest but for their names, which kustomize makes longer."""
    text = manifest if isinstance(manifest, str) else plain(manifest)
    objects = (each for each in yaml.safe_load_all(re.sub(r"(\bname: (?:env|scripts))-\S+", r"\1", text)) if each)
    found = [{key: each.get(key) for key in ("kind", "spec", "data")} for each in objects]
    return sorted(found, key=lambda each: str(each["kind"]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("resources: [job.yaml, 'https://x/y?ref=1']\n", "the resource https://x/y?ref=1 is not at hand"),
        ("resources: [job.yaml]\npatches: [{path: none.yaml}]\n", "the patch none.yaml is not at hand"),
        ("resources: [job.yaml]\nreplacements: []\n", "`replacements` of this kustomization is not followed"),
        (
            "resources: [job.yaml]\npatches: [{patch: '[{op: remove, path: /a/b}]', target: {kind: Job}}]\n",
            "this patch is not followed",
        ),
        (
            "resources: [job.yaml]\npatches: [{patch: '[]', target: {labelSelector: a=b}}]\n",
            "this patch is not followed",
        ),
    ],
)
def test_what_is_not_followed_is_told(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    told({"job.yaml": JOB, "kustomization.yaml": text}, tmp_path, capsys)
    main(["runs", "--no-cache", "kustomization.yaml"])
    out = capsys.readouterr().out
    assert f"not followed: {said}" in out
    assert "FSDP megatron-fsdp" in out


@pytest.mark.parametrize(
    ("target", "runs"),
    [
        ("{select: {kind: Job}, fieldPaths: [spec.template.spec.containers.0.args.1]}", False),
        ("{select: {kind: Job}, fieldPaths: [metadata.labels.team]}", True),
        ("{select: {kind: ConfigMap}, fieldPaths: [data.FORMAT]}", True),
    ],
)
def test_a_run_is_not_known_whose_words_are_replaced(
    target: str, runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    replacement = f"- {{source: {{kind: ConfigMap, name: c}}, targets: [{target}]}}\n"
    (tmp_path / "job.yaml").write_text(JOB)
    for text in (f"replacements:\n{replacement}", "replacements: [{path: these.yaml}]\n"):
        (tmp_path / "these.yaml").write_text(replacement)
        (tmp_path / "kustomization.yaml").write_text("resources: [job.yaml]\n" + text)
        main(["runs", "--no-cache", "kustomization.yaml"])
        out = capsys.readouterr().out
        assert "`replacements` of this kustomization is not followed" in out
        assert ("FSDP megatron-fsdp" in out) is runs


def test_a_part_of_a_kustomization_is_not_read_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    job = JOB.replace(f'bash, -c, "{RUN} --save /c --ckpt-format $FORMAT"', f"bash, -c, '{RUN} {BAD}'")
    change = f"- {{op: replace, path: {CONTAINERS}/0/command/2, value: '{RUN} {GOOD}'}}"
    files = {"job.yaml": job, "kustomization.yaml": "resources: [job.yaml]\n" + operations(change)}
    assert told(files, tmp_path, capsys) == []


WRONG_BASE: Files = {
    "base/job.yaml": JOB.replace("NCCL_DEBUG, value: WARN", f"{NAME}, value: '1'"),
    "base/kustomization.yaml": "resources: [job.yaml]\n",
}
TO_EIGHT = f"- {{op: replace, path: {CONTAINERS}/0/env/0/value, value: '8'}}"


def concise(files: Files, folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Lint some files, and return the lines that are printed about FSDP's variable."""
    told(files, folder, capsys)
    main(["--no-cache", "--target-core", "0.16.1", "--output-format", "concise", "--select", CONNECTIONS, *words])
    return capsys.readouterr().out


@pytest.mark.parametrize("given", [".", "base/job.yaml"])
def test_a_base_that_is_right_as_another_kustomization_builds_it_is_a_warning(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    out = concise(overlay(operations(TO_EIGHT), WRONG_BASE), tmp_path, capsys, given)
    assert f"base/job.yaml:10:59: warning {CONNECTIONS}" in out
    assert "it is fine as own/kustomization.yaml uses it" in out


def test_a_base_that_others_leave_as_it_is_is_an_error_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(overlay("namePrefix: my-\n", WRONG_BASE), tmp_path, capsys) == [f"base/job.yaml:10 {CONNECTIONS}"]


@pytest.mark.parametrize(("value", "runs"), [("1", True), ("2", False)])
def test_kustomize_stops_where_another_value_is_tested_for(
    value: str, runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tested = f"- {{op: test, path: {CONTAINERS}/0/env/0/value, value: '{value}'}}"
    concise(overlay(operations(tested, TO_EIGHT), WRONG_BASE), tmp_path, capsys, ".")
    main(["runs", "--no-cache", "own"])
    out = capsys.readouterr().out
    assert ("FSDP megatron-fsdp" in out, "kustomize stops at this patch" in out) == (runs, not runs)


@pytest.mark.parametrize("given", [".", "base", "base/job.yaml"])
def test_a_base_stays_as_it_is_where_another_kustomization_tests_for_its_value(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    tested = f"- {{op: test, path: {CONTAINERS}/0/env/0/value, value: '1'}}"
    files = overlay(operations(tested, TO_EIGHT), WRONG_BASE)
    concise(files, tmp_path, capsys, "--fix", "--unsafe-fixes", given)
    assert Path("base/job.yaml").read_text() == files["base/job.yaml"]
