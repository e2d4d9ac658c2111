"""`sys.path`: where a program's imports look besides."""

from __future__ import annotations

import os

from mfsdp_lint.inputs import disk
from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.eval.path_objects import text_of_path
from mfsdp_lint.readers.python.state.folders import located, spelled
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.objects import Object


@models("sys.path.insert", "sys.path.append", "site.addsitedir")
def _add(machine: Machine, call: Call) -> Object:
    _add_folder(machine, call.arguments[-1] if call.arguments else None, call.frame)
    return None


@models("sys.path.extend")
def _extend(machine: Machine, call: Call) -> Object:
    for folder in (iterate(machine, call.arguments[0], call.frame) if call.arguments else None) or ():
        _add_folder(machine, folder, call.frame)
    return None


def _add_folder(machine: Machine, folder: Object, frame: Frame) -> None:
    """Add a folder of the tree to the search path; any other is out of sight anyway."""
    text = text_of_path(machine.settle(folder))
    if text is None:
        return
    places = [place for place in located(machine, text, frame.module) if disk.is_folder(place)]
    if len(places) == 1:
        machine.finder.add_root(os.path.dirname(frame.module.path), spelled(places[0], frame.module))
