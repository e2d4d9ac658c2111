"""Process for one question to a rank, which begins anew: a process that has used a GPU cannot fork."""

import json
import os
from collections.abc import Sequence

from . import rank


def main(arguments: Sequence[str]) -> None:
    """Answer one question. `arguments`: the file with the job, the folder for the answers, the number of
    the question.
    """
    with open(arguments[0], encoding="utf-8") as stream:
        job = json.load(stream)
    mine, number = int(os.environ["RANK"]), int(arguments[2])
    if rank.ready(job["device"], arguments[1], mine):
        rank.be(job["questions"][number], mine, arguments[1], number)
