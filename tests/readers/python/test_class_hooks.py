"""Classes whose definition runs code of other files: hooks of their bases, their metaclass, their attributes."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.program_files import ProgramFiles
from tests.readers.python.relevance import put
from tests.readers.python.several_files import agrees

NOTED = """\
JOBS = {}

class Job:

    def __init_subclass__(cls):
        JOBS[cls.__name__] = cls
"""

DAILY = """\
from core import Job

class Daily(Job):
    tp = 3
"""


def asking(value: str) -> str:
    """Return a program that defines a class, and asks for a value then."""
    return f"from config import sized\nfrom core import JOBS\n{DAILY}\ndef recipe():\n    return sized({value})\n"


PROGRAMS = {
    "it enters itself into a table": {
        "core.py": """\
JOBS = {}

class Job:

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        JOBS[cls.__name__.lower()] = cls
""",
        "main.py": asking("JOBS['daily'].tp"),
    },
    "keywords of the class are the hook's": {
        "core.py": """\
JOBS = {}

class Job:

    def __init_subclass__(cls, *, abstract=False, key=None, **kw):
        if not abstract:
            JOBS[key or cls.__name__] = cls
""",
        "main.py": """\
from config import sized
from core import Job, JOBS

class Base(Job, abstract=True):
    tp = 1

class Daily(Base, key='d'):
    tp = 3

def recipe():
    return sized((sorted(JOBS), JOBS['d'].tp))
""",
    },
    "a metaclass notes it": {
        "core.py": """\
JOBS = {}

class Meta(type):

    def __init__(cls, name, bases, ns):
        super().__init__(name, bases, ns)
        JOBS[name] = cls

class Job(metaclass=Meta):
    tp = 1
""",
        "main.py": asking("JOBS['Daily'].tp"),
    },
    "a metaclass makes it": {
        "core.py": """\
JOBS = {}

class Meta(type):

    def __new__(mcls, name, bases, ns):
        cls = super().__new__(mcls, name, bases, ns)
        JOBS[name.lower()] = cls
        return cls

class Job(metaclass=Meta):
    tp = 1
""",
        "main.py": asking("JOBS['daily']().tp"),
    },
    "its base is an attribute of a module": {
        "core.py": """\
JOBS = []

class Job:

    def __init_subclass__(cls):
        JOBS.append(cls)
""",
        "main.py": """\
from config import sized
import core

class Daily(core.Job):
    tp = 3

def recipe():
    return sized(core.JOBS[0].tp)
""",
    },
    "the class is in a third file": {
        "core.py": NOTED,
        "jobs.py": DAILY,
        "main.py": """\
from config import sized
import jobs
from core import JOBS

def recipe():
    return sized(JOBS['Daily'].tp)
""",
    },
    "a table that is asked before is empty": {
        "core.py": NOTED,
        "jobs.py": DAILY,
        "main.py": """\
from config import sized
from core import JOBS
NAMES = list(JOBS)
import jobs

def recipe():
    return sized((NAMES, list(JOBS)))
""",
    },
    "the table is an attribute of the base": {
        "core.py": """\
class Job:
    registry = {}

    def __init_subclass__(cls):
        Job.registry[cls.__name__] = cls
""",
        "main.py": """\
from config import sized
from core import Job

class Daily(Job):
    tp = 3

def recipe():
    return sized(Job.registry['Daily'].tp)
""",
    },
    "its base has a base of another file": {
        "core.py": NOTED,
        "mid.py": """\
from core import Job

class Sharded(Job):
    tp = 2
""",
        "main.py": """\
from config import sized
from mid import Sharded
from core import JOBS

class Daily(Sharded):
    pp = 3

def recipe():
    return sized((list(JOBS), JOBS['Daily'].tp))
""",
    },
    "its attribute notes it": {
        "core.py": """\
FIELDS = []

class F:

    def __init__(self, v):
        self.v = v

    def __set_name__(self, owner, name):
        FIELDS.append((name, self.v))
""",
        "main.py": """\
from config import sized
from core import F, FIELDS

class Daily:
    tp = F(3)

def recipe():
    return sized(FIELDS)
""",
    },
    "its metaclass comes from one of another file": {
        "core.py": """\
JOBS = {}

class Noting(type):

    def __init__(cls, name, bases, body, **kw):
        super().__init__(name, bases, body)
        JOBS[name] = cls
""",
        "jobs.py": """\
from core import Noting

class JobMeta(Noting):
    pass

class Job(metaclass=JobMeta):
    pass
""",
        "main.py": """\
from config import sized
from core import JOBS
from jobs import Job

class Daily(Job):
    tp = 3

def recipe():
    return sized(JOBS['Daily'].tp)
""",
    },
    "it is defined under a condition": {
        "core.py": NOTED,
        "main.py": """\
from config import sized
from core import Job, JOBS
if True:

    class Daily(Job):
        tp = 3

def recipe():
    return sized(JOBS['Daily'].tp)
""",
    },
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_what_a_definition_runs_is_there_for_others(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agrees(files)


def test_a_name_that_ends_like_a_metaclass_makes_no_class_run_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {
        "meta.py": "class ModelMeta:\n    size: int = 1\n\n\nclass LargeMeta(ModelMeta):\n    size = 2\n",
        "main.py": "from meta import LargeMeta\n\n\nclass Own(LargeMeta):\n    pass\n",
        "noting.py": "class Noting(type):\n    pass\n",
        "noted.py": "from noting import Noting\n\n\nclass Own(metaclass=Noting):\n    pass\n",
    }
    put(texts, tmp_path)
    programs = ProgramFiles(ModuleFinder(Sources()))
    assert [path for path in texts if programs.runs_hooks(path)] == ["noted.py"]
