"""Many runs in few launches: each run is asked for once, and all that need as many ranks share a launch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.dryrun.device import CPU, Device
from mfsdp_lint.dryrun.outcome import Outcome, PlainSettings
from mfsdp_lint.dryrun.proxy import base_of
from mfsdp_lint.dryrun.ranks import By, RunRequest

Key = tuple[int, str]
"""A run: the ranks it takes, and its name."""

_MOST_IN_A_LAUNCH = 100


@dataclass(slots=True)
class Batch:
    """Runs that are wanted, and after `run` what came of them.

    `by` does them, on `device`; `most` is how many ranks there can be, None for any number.
    """

    by: By
    device: Device = CPU
    most: int | None = None
    stood_in: tuple[str, ...] = ()
    _wanted: dict[tuple[int, str], RunRequest] = field(default_factory=dict)
    _keys: dict[str, Key] = field(default_factory=dict)
    _outcomes: dict[Key, Outcome] = field(default_factory=dict)

    def want(
        self,
        settings: PlainSettings,
        ranks: int,
        *,
        save: bool = False,
        load: Key | None = None,
        is_base: bool = False,
        watched: Sequence[str] = (),
    ) -> Key:
        """Ask for a run, with a save, or with a load of another run's save. The same run has the same key.

        The loaded checkpoint may be the base of its adapters. The run reports whether the `watched` settings were
        read.
        """
        same = json.dumps([sorted(settings.items()), ranks, save, load, is_base, sorted(watched)], default=str)
        if same not in self._keys:
            name = f"run-{len(self._keys) + 1}"
            key = self._keys[same] = (ranks, name)
            self._wanted[key] = RunRequest(
                name,
                settings,
                base_of(self.device),
                name if save else None,
                load[1] if load else None,
                is_base,
                tuple(watched),
            )
        return self._keys[same]

    def __len__(self) -> int:
        return len(self._wanted)

    def run(self, tell: Callable[[str], None]) -> None:
        """Run everything that is wanted. Raises UsageError where no directory can be made."""
        for ranks in sorted({key[0] for key in self._wanted}):
            for chunk in _in_chunks([question for key, question in self._wanted.items() if key[0] == ranks]):
                outcomes, stood_in = self.by(chunk, ranks, tell)
                self._outcomes |= {(ranks, name): outcome for name, outcome in outcomes.items()}
                self.stood_in = self.stood_in or stood_in
        self._wanted.clear()

    def outcome(self, key: Key) -> Outcome:
        """Return the outcome of a run."""
        return self._outcomes[key]


def _in_chunks(questions: list[RunRequest]) -> list[list[RunRequest]]:
    """Split questions into chunks of limited size; a load stays with the save that it needs, whatever else was asked
    for between them.
    """
    together: dict[str, list[RunRequest]] = {}
    for question in questions:
        together.setdefault(question.load or question.name, []).append(question)
    chunks: list[list[RunRequest]] = [[]]
    for group in together.values():
        if len(chunks[-1]) + len(group) > _MOST_IN_A_LAUNCH:
            chunks.append([])
        chunks[-1] += group
    return [chunk for chunk in chunks if chunk]
