"""Ray: the jobs of a cluster have the environment that the cluster was started in, and not that of who submits them.

`ray start` starts the processes that jobs come from; what a job has beside that is in `--runtime-env-json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mfsdp_lint.core.recipe import Span
from mfsdp_lint.readers.shell.pieces import Text, known
from mfsdp_lint.readers.shell.state import State, Variable


def starts_cluster(words: Sequence[Text]) -> bool:
    """Tell whether a command starts the cluster's first node, where its jobs run."""
    return _says(words, "ray", "start") and any(known(word) == "--head" for word in words)


def submits_job(words: Sequence[Text]) -> bool:
    """Tell whether a command hands a job to a cluster."""
    return _says(words, "ray", "job", "submit")


def late(state: State, environment: Mapping[str, Variable]) -> tuple[tuple[str, Span], ...]:
    """Return the variables that a script has exported since it started the cluster, and that a job does not have."""
    if state.cluster is None:
        return ()
    return tuple(
        (name, each.written.span)
        for name, each in state.variables.items()
        if each.exported and each.written is not None and name not in environment
    )


def _says(words: Sequence[Text], *names: str) -> bool:
    return [known(word) for word in words[: len(names)]] == list(names)
