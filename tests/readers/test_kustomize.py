"""Kustomizations: the runs of their resources as patches, generators and components change them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.cli import main

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      containers:
        - name: trainer
          command: [torchrun, pretrain_gpt.py]
          args: [--tensor-model-parallel-size, "1", --use-distributed-optimizer, --use-megatron-fsdp]
          env:
            - {name: CUDA_DEVICE_MAX_CONNECTIONS, value: "1"}
            - {name: NCCL_DEBUG, value: INFO}
          volumeMounts:
            - {name: scripts, mountPath: /scripts}
      volumes:
        - name: scripts
          configMap: {name: scripts}
"""
BASE = {"base/kustomization.yaml": "resources: [job.yaml]\n", "base/job.yaml": JOB}
PATCH = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train}\nspec:\n  template:\n    spec:\n"
TRAINER = f"{PATCH}      containers:\n        - name: trainer\n"


def told(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """The runs of an overlay on BASE, and what is told of it."""
    for name, text in {**BASE, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(dedent(text), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["runs", "--no-cache"]) == 0
    return capsys.readouterr().out.splitlines()


OVERLAYS = {
    "a patch in a file": (
        {"patch.yaml": f'{TRAINER}          env: [{{name: CUDA_DEVICE_MAX_CONNECTIONS, value: "8"}}]\n'},
        "patches: [{path: patch.yaml}]",
        "CUDA_DEVICE_MAX_CONNECTIONS=8 NCCL_DEBUG=INFO",
    ),
    "a strategic patch as it was written once": (
        {"patch.yaml": f"{TRAINER}          args: [--use-megatron-fsdp, --ckpt-format, fsdp_dtensor]\n"},
        "patchesStrategicMerge: [patch.yaml]",
        "format fsdp_dtensor",
    ),
    "a variable that is taken out": (
        {"patch.yaml": f"{TRAINER}          env: [{{name: CUDA_DEVICE_MAX_CONNECTIONS, $patch: delete}}]\n"},
        "patches: [{path: patch.yaml}]",
        "→ NCCL_DEBUG=INFO →",
    ),
    "a JSON patch in place": (
        {},
        """\
        patches:
          - target: {kind: Job, name: tr.*}
            patch: |-
              - op: add
                path: /spec/template/spec/containers/0/args/-
                value: --ckpt-format=fsdp_dtensor
              - {op: replace, path: /spec/template/spec/containers/0/env/0/value, value: "4"}
        """,
        "CUDA_DEVICE_MAX_CONNECTIONS=4 NCCL_DEBUG=INFO → FSDP megatron-fsdp, strategy no_shard, format fsdp_dtensor",
    ),
    "a script in a ConfigMap that is generated": (
        {
            "train.txt": "torchrun pretrain_gpt.py --use-torch-fsdp2 --tensor-model-parallel-size 1\n",
            "patch.yaml": f"{TRAINER}          command: [bash, /scripts/train.sh]\n          args: []\n",
        },
        """\
        configMapGenerator: [{name: scripts, files: [train.sh=train.txt]}]
        patches: [{path: patch.yaml}]
        """,
        "FSDP torch-fsdp2",
    ),
    "variables of a ConfigMap": (
        {
            "train.env": "CUDA_DEVICE_MAX_CONNECTIONS=16\n",
            "patch.yaml": f"{TRAINER}          env: null\n          envFrom: [{{configMapRef: {{name: settings}}}}]\n",
        },
        """\
        configMapGenerator: [{name: settings, envs: [train.env], literals: ["NCCL_DEBUG='WARN'"]}]
        patches: [{path: patch.yaml}]
        """,
        "NCCL_DEBUG=WARN CUDA_DEVICE_MAX_CONNECTIONS=16",
    ),
}


@pytest.mark.parametrize("overlay", [pytest.param(each, id=name) for name, each in OVERLAYS.items()])
def test_an_overlay_is_one_run_with_what_it_changes(
    overlay: tuple[dict[str, str], str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files, said, expected = overlay
    own = {f"overlays/fsdp/{name}": text for name, text in files.items()}
    own["overlays/fsdp/kustomization.yaml"] = "resources: [../../base]\n" + dedent(said)
    run, _ = told(own, tmp_path, monkeypatch, capsys)
    assert run.startswith("overlays/fsdp/kustomization.yaml → pretrain_gpt.py → ")
    assert expected in run


def test_a_finding_stands_in_the_patch_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    patch = f"{TRAINER}          args: [--use-megatron-fsdp, --ckpt-format, torch_dist]\n"
    overlay = {
        "over/kustomization.yaml": "resources: [../base]\npatches: [{path: patch.yaml}]\n",
        "over/patch.yaml": patch,
    }
    told(overlay, tmp_path, monkeypatch, capsys)
    main(["--no-cache", "--select", "MFSDP101", "--output-format", "concise"])
    assert capsys.readouterr().out.startswith("over/patch.yaml:9:54: error MFSDP101 ")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("patches: [{path: gone.yaml}]", "gone.yaml is not at hand"),
        ("replacements: [{path: more.yaml}]", "`replacements` is not followed"),
        ("patches: [{target: {labelSelector: a=b}, patch: '{}'}]", "a target with a selector is not followed"),
        ("resources: [../over]", "it is built of itself, or of too many others"),
    ],
)
def test_an_overlay_that_is_not_followed_is_told(
    said: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    resources = "" if said.startswith("resources") else "resources: [../base]\n"
    files = {"over/kustomization.yaml": f"{resources}{said}\n", "over/job.yaml": JOB}
    if not resources:
        files["over/kustomization.yaml"] = "resources: [../over, job.yaml]\n"
    lines = told(files, tmp_path, monkeypatch, capsys)
    assert f"over/kustomization.yaml:1: not followed: this kustomization is not followed: {reason}" in lines


def test_an_overlay_that_grows_without_bounds_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        f"o{number}/kustomization.yaml": f"resources: [{', '.join([f'../o{number + 1}'] * 9)}]\n"
        for number in range(12)
    }
    doubled = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    files |= {"o12/kustomization.yaml": "resources: [job.yaml]\n", "o12/job.yaml": JOB}
    files |= {"heavy/kustomization.yaml": "resources: [job.yaml]\n", "heavy/job.yaml": f"{JOB}a0: &a0 [x]\n{doubled}"}
    lines = told(files, tmp_path, monkeypatch, capsys)
    said = "kustomization.yaml:1: not followed: this kustomization is not followed:"
    assert f"o0/{said} it is built of itself, or of too many others" in lines
    assert f"heavy/{said} heavy/job.yaml is too large" in lines
