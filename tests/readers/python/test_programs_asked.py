"""A program that only asks others by their names and options starts no run, and is not followed for one."""

from __future__ import annotations

import pytest

from mfsdp_lint.readers.python_files import may_start_programs

ASKS = {
    "a question by options": "import subprocess\nsubprocess.run(['nvidia-smi', '--query-gpu=index'], timeout=5)\n",
    "an option with a value that is put in": "import subprocess\nsubprocess.check_output(['df', f'--output={what}'])\n",
    "a constant of its": "import subprocess\nsubprocess.run(['ibstat'], stdout=subprocess.PIPE)\n",
    "a docstring": '"""Starts with "python -m train"."""\nmain()\n',
    "help": "parser.add_argument('--fsdp', help='start it with \\'python train.py\\' ')\n",
    "an epilog": "parser.epilog = 'Usage: \\'python train.py\\' '\n",
    "nothing": "import os\nprint(os.getpid())\n",
}
STARTS = {
    "a word that is no option": "import subprocess\nsubprocess.run(['make', 'train'])\n",
    "a word that is not written": "import subprocess\nsubprocess.run(['ssh', host])\n",
    "words that are not written": "import subprocess\nsubprocess.run(words)\n",
    "a script that it is given": "import subprocess\nsubprocess.run(['sbatch'], input=text)\n",
    "a line for a shell": "import subprocess\nsubprocess.run(['nvidia-smi'], shell=True)\n",
    "a file of the project": "import subprocess\nsubprocess.run(['./train', '--fsdp'])\n",
    "a launcher": "import subprocess\nsubprocess.run(['torchrun', '--standalone'])\n",
    "arguments that are not written": "import subprocess\nsubprocess.run(['nvidia-smi'], **options)\n",
    "another name for the module": "import subprocess as sp\nsp.run(words)\n",
    "a function of the module": "from subprocess import run\nrun(words)\n",
    "the function handed on": "import subprocess\nstart(subprocess.run)\n",
    "the module by a text": "__import__('subprocess').run(words)\n",
    "a line for somebody else": "start('python train.py --fsdp')\n",
    "another call": "import os, subprocess\nsubprocess.run(['nvidia-smi'])\nos.system(line)\n",
}


@pytest.mark.parametrize("text", ASKS.values(), ids=ASKS)
def test_programs_that_start_nothing(text: str) -> None:
    assert not may_start_programs(text)


@pytest.mark.parametrize("text", STARTS.values(), ids=STARTS)
def test_programs_that_may_start_a_run(text: str) -> None:
    assert may_start_programs(text)
