"""Images that the repository builds: a container that is started elsewhere has what their Dockerfile sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.test_started_by_others import CONNECTIONS, GOOD, NAME, RUN, Files, told

DOCKERFILE = f"FROM base\nARG N=1\nENV A=b \\\n    {NAME}=1\n"
IMAGE = "reg.lab:5000/team/trainer"
BUILD = {"Dockerfile": DOCKERFILE, "Makefile": f"image:\n\tdocker build -t {IMAGE}:v1 .\n"}
WRONG = [f"Dockerfile:4 {CONNECTIONS}"]


def pod(image: str = f"{IMAGE}:v1", more: str = "") -> Files:
    command = f"command: [sh, -c, '{RUN} {GOOD}']"
    return {"k/job.yaml": f"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {command}\n    image: {image}\n{more}"}


IMAGES: dict[str, tuple[Files, list[str]]] = {
    "a Makefile": ({**BUILD, **pod()}, WRONG),
    "another tag": ({**BUILD, **pod(f"{IMAGE}@sha256:ab")}, WRONG),
    "variables of a Makefile": (
        {
            **pod(),
            "images/train.Dockerfile": DOCKERFILE,
            "Makefile": "REG ?= reg.lab:5000\nNAME := ${REG}/team/trainer\nTAG = $(shell git rev-parse HEAD)\n"
            "image:\n\tdocker buildx build --push \\\n\t  --tag $(NAME):$(TAG) -f images/train.Dockerfile .\n",
        },
        [f"images/train.Dockerfile:4 {CONNECTIONS}"],
    ),
    "a script in a folder": (
        {
            **pod(),
            "docker/Dockerfile": DOCKERFILE,
            "docker/build.sh": f'IMAGE={IMAGE}\npodman build "$(dirname $0)" -t $IMAGE:${{TAG:-v1}}\n',
        },
        [f"docker/Dockerfile:4 {CONNECTIONS}"],
    ),
    "a step of a pipeline": (
        {
            **pod(),
            "images/Dockerfile": DOCKERFILE,
            ".github/workflows/image.yml": "on: push\nenv:\n  REPO: " + IMAGE + "\njobs:\n  b:\n    steps:\n"
            "    - uses: docker/build-push-action@v6\n      with:\n        context: images\n"
            "        file: images/Dockerfile\n        tags: |\n          x/y:z\n          ${{ env.REPO }}:latest\n",
        },
        [f"images/Dockerfile:4 {CONNECTIONS}"],
    ),
    "a step of a pipeline that names no folder": (
        {
            **pod(),
            "Dockerfile": DOCKERFILE,
            ".github/workflows/image.yml": "on: push\njobs:\n  b:\n    steps:\n"
            f"    - uses: docker/build-push-action@v6\n      with: {{push: true, tags: '{IMAGE}:v1'}}\n",
        },
        WRONG,
    ),
    "a step of a pipeline whose tags another one makes": (
        {
            **pod(),
            "images/Dockerfile": DOCKERFILE,
            ".github/workflows/image.yml": "on: push\njobs:\n  b:\n    steps:\n"
            f"    - id: other\n      uses: docker/metadata-action@v5\n      with: {{images: x/y}}\n"
            f"    - id: meta\n      uses: docker/metadata-action@v5\n      with: {{images: '{IMAGE}'}}\n"
            "    - uses: docker/build-push-action@v6\n      with:\n        context: '{{defaultContext}}:images'\n"
            "        tags: ${{ steps.meta.outputs.tags }}\n",
        },
        [f"images/Dockerfile:4 {CONNECTIONS}"],
    ),
    "kaniko": (
        {
            **pod(),
            "docker/Dockerfile": DOCKERFILE,
            ".gitlab-ci.yml": "image:\n  script:\n  - /kaniko/executor --context $CI_PROJECT_DIR\n"
            f"    --dockerfile $CI_PROJECT_DIR/docker/Dockerfile --destination {IMAGE}:$CI_COMMIT_TAG\n",
        },
        [f"docker/Dockerfile:4 {CONNECTIONS}"],
    ),
    "a service of Compose": (
        {**pod(), "Dockerfile": DOCKERFILE, "compose.yaml": f"services:\n  t:\n    build: .\n    image: {IMAGE}:v1\n"},
        WRONG,
    ),
    "an artifact of Skaffold": (
        {
            **pod(),
            "app/Dockerfile": DOCKERFILE,
            "skaffold.yaml": f"build:\n  artifacts:\n  - image: {IMAGE}\n    context: app\n    docker: {{target: x}}\n",
        },
        [],  # there is no such target
    ),
    "a service that is not built by its own file": (
        {**BUILD, "k/compose.yaml": f"services:\n  t:\n    image: {IMAGE}:v1\n    command: {RUN} {GOOD}\n"},
        WRONG,
    ),
    "a kustomization": ({**BUILD, **pod(), "k/kustomization.yaml": "resources: [job.yaml]\n"}, WRONG),
    "an argument that the build gives": (
        {
            **pod(),
            "Dockerfile": f"FROM base\nARG N=1\nENV {NAME}=$N\n",
            "build.sh": f"docker build --build-arg N=$1 -t {IMAGE} .\n",
        },
        [],
    ),
    "the container's own variable counts more": (
        {**BUILD, **pod(more=f"    env: [{{name: {NAME}, value: '8'}}]\n")},
        [],
    ),
    "another image": ({**BUILD, **pod("reg.lab:5000/other/trainer:v1")}, []),
    "two images of one name, by their tags": (
        {
            **pod(f"{IMAGE}:good"),
            "Dockerfile": DOCKERFILE,
            "good/Dockerfile": "FROM base\n",
            "build.sh": f"docker build -t {IMAGE}:bad .\ndocker build -t {IMAGE}:good good\n",
        },
        [],
    ),
    "two images of one name, of which nobody knows which it is": (
        {
            **pod(f"{IMAGE}:x"),
            "Dockerfile": DOCKERFILE,
            "good/Dockerfile": "FROM base\n",
            "build.sh": f"docker build -t {IMAGE}:bad .\ndocker build -t {IMAGE}:good good\n",
        },
        [],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), IMAGES.values(), ids=IMAGES)
def test_a_container_has_the_variables_of_the_image_that_the_repository_builds(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    assert told(files, tmp_path, capsys) == wanted
