"""What the ranks do to an optimizer, with the real torch."""

from __future__ import annotations

import json
import subprocess

import pytest

from mfsdp_lint.dryrun.containment import WORKER
from tests.dryrun.real.running import PYTHON

pytestmark = pytest.mark.xdist_group("dry-run")

FILL = """
import json, sys, types
sys.path.insert(0, sys.argv[1])
import start
start.load_package()
from mfsdp_dry_run import measure
import torch

class Fused(torch.optim.Optimizer):  # keeps the step in its groups, as Transformer Engine's FusedAdam
    pass

parameter = torch.nn.Parameter(torch.ones(2))
found = []
for inner in (torch.optim.AdamW([parameter]), Fused([parameter], {})):
    measure.fill_moments(types.SimpleNamespace(optimizer=inner))
    found.append([sorted(state) for state in inner.state.values()])
print(json.dumps(found))
"""


def test_only_torch_s_own_adam_gets_the_moments_that_it_lacks() -> None:
    done = subprocess.run([PYTHON, "-c", FILL, str(WORKER)], capture_output=True, check=True)
    assert json.loads(done.stdout) == [[["exp_avg", "exp_avg_sq", "step"]], []]
