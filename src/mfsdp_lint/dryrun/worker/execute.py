"""Runs recipe functions of one file, as they are, and says what settings they return. This is the file's own code.

Nothing else of a dry run executes what is linted; whoever starts this has said so.
"""

import importlib
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from . import stubs
from .failure import failure
from .flat import flat
from .pretend import pretend


def main(arguments: Sequence[str]) -> None:
    """Execute recipe functions. `arguments`: a file with the question, and one for the answers.

    The question has `path`, `search_path`, `environment`, `transformer_engine` and `calls`, each a `function` with its
    `arguments`.
    """
    question = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    answers = _answers(question)
    part = Path(f"{arguments[1]}.part")
    part.write_text(json.dumps(answers), encoding="utf-8")
    part.replace(arguments[1])


def _answers(question: Mapping[str, Any]) -> dict[str, Any]:
    calls = question["calls"]
    os.environ |= {**question["environment"], "HF_MODULES_CACHE": os.environ["TMPDIR"]}
    try:
        stubs.import_upstream()
        pretend(question["transformer_engine"])
    except Exception as error:
        traceback.print_exc()
        return {"error": failure(error), "calls": []}
    with _environment() as changed:
        try:
            module = _module(question["path"], question["search_path"])
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            return {"error": None, "calls": [{"error": failure(error), "stage": "importing it"} for _ in calls]}
        of_the_file = changed()
        return {"error": None, "calls": [_call(module, call, of_the_file) for call in calls]}


def _call(module: ModuleType, call: Mapping[str, Any], of_the_file: Mapping[str, str | None]) -> dict[str, Any]:
    with _environment() as changed:
        try:
            settings = flat(_function(module, call["function"])(**call["arguments"]))
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            return {"error": failure(error), "stage": "calling it"}
        settings["known"] |= {f"env.{name}": value for name, value in {**of_the_file, **changed()}.items()}
        return {"error": None, **settings}


def _function(module: ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _module(path: str, search_path: Sequence[str]) -> ModuleType:
    """Import the file as a module, with the name that it has in its package, so that its relative imports work."""
    file = Path(path)
    parts, folder = [file.stem], file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    sys.path[:0] = list(dict.fromkeys([str(folder), str(file.parent), *search_path]))
    if len(parts) > 1:
        return importlib.import_module(".".join(parts if file.stem != "__init__" else parts[:-1]))
    spec = importlib.util.spec_from_file_location(file.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _environment() -> Iterator[Any]:
    """Give a function that returns the changes of the environment since; at the end the environment is as it was."""
    before = dict(os.environ)

    def changed() -> dict[str, str | None]:
        names = {*before, *os.environ}
        return {name: os.environ.get(name) for name in names if os.environ.get(name) != before.get(name)}

    try:
        yield changed
    finally:
        os.environ.clear()
        os.environ.update(before)
