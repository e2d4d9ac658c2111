"""Runs idioms on the real upstream code of one version, each in a process of its own. Started by idiom_truth.py."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import os
import runpy
import shlex
import sys
import traceback
from functools import partial
from pathlib import Path
from typing import Any

from real_upstream import RANKS, arguments, import_training, in_a_child, replace_launchers, set_up, write_out

from mfsdp_lint.core.values import NOT_NONE, Known
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.rules.judging import bench, variant_of
from tests.idioms.suite import FOLDER, Idiom, Mark, idioms

_SECONDS = 120
_CONNECTIONS = "CUDA_DEVICE_MAX_CONNECTIONS"  # which the harness unsets, unless it is told


class Recorder:
    """Stands in for the launchers, and keeps every configuration that an idiom launches or returns."""

    def __init__(self, idiom: Idiom, version: str, harness: Any) -> None:
        self.idiom = idiom
        self.version = version
        self.harness = harness
        self.before = dict(os.environ)
        self.marks: dict[str, list[dict[str, Any]]] = {}
        self.launched = 0

    def launch(self, config: Any = None, *_: Any, **named: Any) -> None:
        """Record the configuration, in the place of `pretrain` and `finetune`."""
        self.keep(self._mark().key, named.get("cfg", config))
        self.launched += 1

    def keep(self, key: str, config: Any) -> None:
        """Record one configuration under a mark."""
        if not self.harness.is_container(config):
            raise TypeError(f"{key}: no ConfigContainer but {type(config).__name__}")
        env = {name: value for name, value in os.environ.items() if self.before.get(name) != value}
        sections = {name: getattr(config, name) for name in vars(config) if not name.startswith("_")}
        variant = variant_of({**sections, **forwarded("model", config.model), "env": env})
        settings = {path: self._plain(variant.value(path)) for path in SETTINGS if path in variant.settings}
        verdict = bench(resolve_target(self.version))(variant)
        run = {"settings": settings, "refused": self._refused(config)}
        run["codes"] = {finding.code: finding.severity for finding in verdict.findings}
        run["raises"] = [
            finding.raises for finding in verdict.findings if finding.stage == "startup" and finding.raises
        ]
        self.marks.setdefault(key, []).append(run)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Known):
            text = json.dumps(value.value, default=str).replace(os.getcwd(), "<CWD>")
            return json.loads(text)
        return "<set>" if value == NOT_NONE else "<unknown>"

    def _refused(self, config: Any) -> str | None:
        """Return the real start-up's refusal, from a process of its own.

        Start-up changes the configuration, and a copy of it is not equal.
        """
        refusal: str | None = in_a_child(partial(self._said, config), died="the process died")
        return refusal

    def _said(self, config: Any) -> str | None:
        """Return start-up's error on a number of ranks that the parallel sizes divide; None if it accepts."""
        try:
            ranks = math.lcm(self.harness.min_world(config), RANKS)
        except Exception:
            ranks = RANKS
        environment = {_CONNECTIONS: os.environ.get(_CONNECTIONS)}
        said = self.harness.validate(config, ranks, "runtime", environment, gpu="h100", want_diff=False)
        return None if said["outcome"] == "pass" else f"{said['error_type']}: {said['error']}"[:300]

    def _mark(self) -> Mark:
        """Find the launch mark of the innermost frame in the idiom's own files, else the next one in order."""
        here = os.getcwd()
        frame = sys._getframe(2)
        while frame is not None:
            name = os.path.abspath(frame.f_code.co_filename)
            if name.startswith(here + os.sep):
                path = os.path.relpath(name, here)
                for mark in self.idiom.launches:
                    if mark.path == path and mark.line <= frame.f_lineno <= mark.end_line:
                        return mark
            frame = frame.f_back
        return self.idiom.launches[min(self.launched, len(self.idiom.launches) - 1)]


def forwarded(section: str, holder: Any) -> dict[str, Any]:
    """Return the attributes of inner configurations that a section forwards, as newer releases' model does."""
    inside = [value for value in vars(holder).values() if dataclasses.is_dataclass(value)]
    names = {field.name for value in inside for field in dataclasses.fields(value)} - vars(holder).keys()
    return {f"{section}.{name}": getattr(holder, name) for name in sorted(names) if hasattr(holder, name)}


def run(idiom: Idiom, recorder: Recorder) -> None:
    """Run the idiom's script, then make every recipe that is marked."""
    for assignment in shlex.split(idiom.headers.get("env", "")):
        name, _, value = assignment.partition("=")
        os.environ[name] = value
    recorder.before = dict(os.environ)
    sys.path.insert(0, os.getcwd())
    sys.argv = [idiom.script or "idiom.py", *shlex.split(idiom.headers.get("argv", ""))]
    if idiom.script:
        sys.path.insert(0, os.path.dirname(os.path.abspath(idiom.script)))
        try:
            runpy.run_path(os.path.abspath(idiom.script), run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"exit {end.code}") from None
    for mark in idiom.recipes:
        module = importlib.import_module(mark.path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        recorder.keep(mark.key, eval(mark.expression, {"__builtins__": __builtins__, **vars(module)}))


def child(idiom: Idiom, version: str, harness: Any, folder: Path) -> dict[str, Any]:
    """Run one idiom, in a process that has no other purpose, and return the record."""
    folder.mkdir()
    idiom.lay_out(folder)
    os.chdir(folder)
    for module in [name for name in sys.modules if name.partition(".")[0] in idiom.outside]:
        del sys.modules[module]
    if idiom.outside:
        sys.path.append(str(FOLDER / "outside"))
        for finder in [each for each in sys.meta_path if type(each).__name__ == "StubFinder"]:
            finder.names -= set(idiom.outside)  # type: ignore[attr-defined]
    os.environ["WORLD_SIZE"] = str(RANKS)
    recorder = Recorder(idiom, version, harness)
    replace_launchers(recorder.launch)
    raised = trace = None
    try:
        with harness.quiet():
            run(idiom, recorder)
    except BaseException as error:
        raised = f"{type(error).__name__}: {error}"[:300].replace(str(folder), "<CWD>")
        trace = "".join(traceback.format_exception(error)[-4:])
    return {"marks": recorder.marks, "raised": raised, "trace": trace}


def complaints(idiom: Idiom, version: str, record: dict[str, Any]) -> list[str]:
    """List contradictions between the record and the idiom's comments about this version."""
    expected = [each for each in idiom.decisions if each.holds(version)]
    runs = [run for marked in record["marks"].values() for run in marked]
    codes = {code for run in runs for code in run["codes"]}
    told = []
    if record["raised"] and not any(record["raised"].startswith(each.code) for each in expected):
        told.append(f"raises {record['raised']}\n{record['trace']}")
    for each in expected:
        if each.code.startswith("MFSDP7"):  # about names, which no value tells
            continue
        if each.code not in codes and not (record["raised"] or "").startswith(each.code):
            told.append(f"{each.code} is expected at line {each.line}, and the truth is {sorted(codes)}")
    if not record["raised"]:
        keys = [mark.key for mark in (*idiom.recipes, *idiom.launches)]
        told += [f"{key}: nothing recorded" for key in keys if key not in record["marks"]]
    for run in runs:
        if run["refused"] is None and run["raises"]:
            told.append(f"start-up accepts what the rules refuse: {run['raises']}")
        if run["refused"] is not None and not run["raises"]:
            told.append(f"start-up refuses what the rules accept: {run['refused']}")
    return told


def main() -> int:
    parser = arguments(__doc__, "version", "tree")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    tree = Path(options.tree)
    harness = set_up(options, tree / "bridge", tree / "core")
    import_training("utils.omegaconf_utils")
    bench(resolve_target(options.version))
    found = {}
    asked = [idiom for idiom in idioms() if idiom.name in options.names]
    for number, idiom in enumerate(asked):
        run_it = partial(child, idiom, options.version, harness, Path(options.scratch) / f"idiom{number}")
        record = in_a_child(run_it, {"marks": {}, "raised": "the process died", "trace": ""}, _SECONDS)
        for complaint in complaints(idiom, options.version, record):
            print(f"{options.version} {idiom.name}: {complaint}", file=sys.stderr)
        del record["trace"]
        for run in (run for marked in record["marks"].values() for run in marked):
            del run["raises"]
        found[idiom.name] = record
    write_out(options, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
