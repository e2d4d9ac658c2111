"""Names that `from … import *` binds: at its place among the other statements of the file, as in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.python.several_files import agrees

OTHER = {"other.py": 'SIZE = "other"\n_SIZE = "other"\n'}
MAIN = """\
from config import ConfigContainer, sized
{}


def recipe() -> ConfigContainer:
    return sized({})
"""


def main(top: str, name: str = "SIZE") -> dict[str, str]:
    return {"main.py": MAIN.format(top, name)}


PROGRAMS = {
    "over an earlier name": {**OTHER, **main('SIZE = "own"\nfrom other import *')},
    "under a later name": {**OTHER, **main('from other import *\nSIZE = "own"')},
    "between two": {**OTHER, **main('SIZE = "own"\nfrom other import *\nSIZE = SIZE + "+own"')},
    "over an imported name": {
        **OTHER,
        "third.py": 'SIZE = "third"\n',
        **main("from third import SIZE\nfrom other import *"),
    },
    "over a function": {
        "other.py": 'def SIZE():\n    return "other"\n',
        **main('def SIZE():\n    return "own"\n\nfrom other import *', "SIZE()"),
    },
    "not a private one": {**OTHER, **main('_SIZE = "own"\nfrom other import *', "_SIZE")},
    "only what is exported": {
        "other.py": '__all__ = ["_SIZE"]\nSIZE = "other"\n_SIZE = "other"\n',
        **main('SIZE = _SIZE = "own"\nfrom other import *', "SIZE + _SIZE"),
    },
    "what another one has from a third": {
        **OTHER,
        "middle.py": "from other import *\n",
        **main('SIZE = "own"\nfrom middle import *'),
    },
    "of settings that others may lie over": {
        **OTHER,
        "settings.py": 'SIZE = "settings"\ntry:\n    from other import *\nexcept ImportError:\n    pass\n',
        **main("import settings", "settings.SIZE"),
    },
    "of the file itself": {
        **OTHER,
        "settings.py": 'SIZE = "settings"\nfrom settings import *\n',
        **main("import settings", "settings.SIZE"),
    },
    "of a file that takes all of this one": {
        "one.py": 'SIZE = "one"\nfrom two import *\n',
        "two.py": 'from one import *\nOTHER = "two"\n',
        **main("import one", "one.SIZE + one.OTHER"),
    },
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_name_has_the_value_that_python_finds(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agrees(files)
