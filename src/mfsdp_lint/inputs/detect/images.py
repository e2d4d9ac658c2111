"""Containers: which NeMo Framework image Dockerfiles, compose files, Helm values and launch scripts name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mfsdp_lint.inputs.detect.found import Found
from mfsdp_lint.inputs.detect.places import Places
from mfsdp_lint.megatron.versions.containers import CONTAINERS, TORCH_IN_NGC

DOCKERFILES = ("Dockerfile*", "*.Dockerfile", "Containerfile*", "docker-compose*.y*ml", "compose*.y*ml", "values*.y*ml")
SCRIPTS = ("*.sh", "*.sbatch", "*.slurm", "*.sub")
FOLDERS = ("", "docker", "scripts", "launch", "slurm")
MOST = 200
"""Files looked into."""

# `nvcr.io/nvidia/nemo:25.11`, pyxis' `nvcr.io#nvidia/nemo:25.11`, and enroot's `nvidia+nemo+25.11.sqsh`.
_IMAGE = re.compile(r"nvidia[/+](nemo|pytorch)[:+](\d\d\.\d\d(?:\.\d\d)?)(?P<suffix>[\w.-]*)")


def in_images(places: Places) -> Iterator[Found]:
    """Yield the versions in the images that are named, as far as the table knows them."""
    seen = 0
    for path in places.files(*DOCKERFILES, *SCRIPTS, below=FOLDERS):
        seen += 1
        if seen > MOST:
            return
        text = places.text(path)
        if "nvidia" not in text:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("#") and not line.lstrip().startswith("#SBATCH"):
                continue
            for match in _IMAGE.finditer(line):
                if found := _inside(f"{path}:{number}", match):
                    yield found


def _inside(place: str, match: re.Match[str]) -> Found | None:
    image, tag, suffix = match[1], match[2].removesuffix(".00"), match["suffix"].removesuffix(".sqsh")
    if image == "pytorch":
        return Found(place, torch=TORCH_IN_NGC[tag]) if tag in TORCH_IN_NGC and suffix == "-py3" else None
    if suffix.strip("."):  # made for one model, or a release candidate: what is in it is not known
        return None
    known = next((each for each in CONTAINERS if each.tag == tag), None)
    return Found(place, known.bridge, known.core, known.te, known.torch) if known else None
