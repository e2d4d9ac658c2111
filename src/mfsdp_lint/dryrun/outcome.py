"""Outcome of one run: its last stage, its failure, and its measurements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mfsdp_lint.core.records import dataclass, field

PlainSettings = Mapping[str, Any]
"""PlainSettings as JSON has them: dotted paths and plain values."""

DONE = "done"

OURS = ("start", "import", "build", "ended")
"""Stages in which only the dry run itself can fail."""

_OF_THE_MACHINE = {
    "there is not enough memory here": (
        *("CUDA out of memory", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "MemoryError"),
        *("can't allocate memory", "Cannot allocate memory", "std::bad_alloc"),
    ),
    "this machine has no GPU that it could use": (
        *("not compiled with CUDA", "from the 'CUDA' backend", "Found no NVIDIA driver", "Duplicate GPU detected"),
        *("CUDA_HOME environment variable is not set", "CUDA error: initialization error"),
        *("CUDA error: no kernel image is available", "CUDA driver version is insufficient"),
        *("CUDA-capable device(s) is/are busy or unavailable", "Device compute capability"),
        *("No CUDA GPUs are available", "Cannot access accelerator device when none is available"),
    ),
    "a package is missing here, or has another version": (
        *("No module named", "is not installed", "Please install", "please update TE version"),
        *("is only stood in for", "is only pretended", "cannot open shared object file", "ImportError"),
        "'_MeshEnv' object has no attribute",  # a torch newer than megatron-core 0.16.0rc0 knows
    ),
    "the disk is full": ("No space left on device", "Disk quota exceeded"),
    "it takes a network": ("uses no network, and",),
    "a file or folder that it takes does not exist here": ("does not exist", "FileNotFoundError"),
}
"""Words of errors by what is missing on this machine."""

ENDED = "Ended"
"""The type of a failure that is no error of the run: the run was ended, or never made."""

_OF_THE_MACHINE_TYPES = (
    *("ModuleNotFoundError", "ImportError", "NameError", "MemoryError", "OutOfMemoryError", ENDED),
    *("OSError", "PermissionError", "FileNotFoundError", "BlockingIOError", "TimeoutError", "EOFError"),
    *("BrokenPipeError", "ConnectionError", "ConnectionResetError", "ConnectionRefusedError", "ConnectionAbortedError"),
    *("DistStoreError", "DistNetworkError", "DistBackendError"),
)

_FOLLOW_UPS = (
    *("Connection reset by peer", "Connection closed by peer", "Timed out waiting", "another rank had failed"),
    *("remote process exited", "NCCL communicator was aborted"),
)
"""Words of the other ranks once one has failed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception. `where` are the places it came through, the last one last; `rank` is who raised it."""

    type: str
    text: str
    where: tuple[str, ...] = ()
    rank: int = 0

    @property
    def message(self) -> str:
        """`AssertionError: Megatron FSDP only supports fsdp_dtensor checkpoint format`."""
        if self.type == ENDED:
            return self.text
        return f"{self.type}: {self.text}" if self.text else self.type

    @property
    def missing(self) -> str:
        """The lack of this machine that caused it, in words; "" where none is known."""
        found = (what for what, words in _OF_THE_MACHINE.items() if any(each in self.message for each in words))
        return next(found, "")

    @property
    def of_the_machine(self) -> bool:
        """Tell whether a missing GPU, package, memory or disk may be the cause, so that it says nothing of settings."""
        return self.type in _OF_THE_MACHINE_TYPES or bool(self.missing)

    @property
    def follows(self) -> bool:
        """Tell whether the failure only says that another rank has failed."""
        return any(words in self.text for words in _FOLLOW_UPS)


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of one rank: loss and norm of the gradients by step, bytes by kind, the sum of its stepped weights.

    `saved` and `loaded` are digests of weights and optimizer, after a save and after a load. `peak` are the most bytes
    of a GPU that were in use at once; 0 without one.
    """

    losses: tuple[float, ...] = ()
    norms: tuple[float | None, ...] = ()
    bytes: Mapping[str, int] = field(default_factory=dict)
    sum: float = 0.0
    saved: Mapping[str, str] = field(default_factory=dict)
    loaded: Mapping[str, str] = field(default_factory=dict)
    peak: int = 0


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Outcome of one run. `stage` is the one that failed, DONE if none did.

    `no_field` are settings that this version's classes have no field for, `left_out` those whose value cannot be given
    to them. `substituted` names the parts of the model that were replaced. `changed` are the settings that start-up
    validation changed; where it refused, `config` are all settings that it was given, as far as these are plain
    values. `seen` are the observations of a run that passed (worker/measure.py). `seconds` leaves out the imports.
    """

    stage: str
    failure: Failure | None = None
    ranks: tuple[Measured, ...] = ()
    wrapped_as: str = ""
    substituted: tuple[str, ...] = ()
    no_field: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    changed: Mapping[str, Any] = field(default_factory=dict)
    config: PlainSettings = field(default_factory=dict)
    seen: PlainSettings = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Tell whether the run passed every stage."""
        return self.failure is None and self.stage == DONE

    @property
    def told(self) -> str:
        """The error, with what is missing here if that is its cause; or that there was none."""
        if self.failure is None:
            return "it ran through"
        missing = "" if self.conclusive else self.failure.missing
        return f"{missing}: {self.failure.message}" if missing else self.failure.message

    @property
    def conclusive(self) -> bool:
        """Tell whether the outcome says something about the settings."""
        failure = self.failure
        return failure is None or not (self.stage in OURS or failure.of_the_machine or failure.follows)

    @property
    def not_given(self) -> frozenset[str]:
        """The settings that were left out."""
        return frozenset((*self.no_field, *self.left_out))

    @property
    def bytes_per_rank(self) -> int:
        """The bytes that the fullest rank holds."""
        return max((sum(rank.bytes.values()) for rank in self.ranks), default=0)


def failure_from(document: Mapping[str, Any] | None, rank: int = 0) -> Failure | None:
    """Read a failure as a worker reports it."""
    return None if document is None else Failure(document["type"], document["text"], tuple(document["where"]), rank)


def together(answers: list[Mapping[str, Any] | None]) -> RunOutcome:
    """Return a run's outcome from the answers of its ranks (None: no answer). The first to fail gives the reason."""
    missing = Failure(ENDED, "a rank gave no answer")
    failures = [
        (answer["stage"] if answer else "ended", failure)
        for rank, answer in enumerate(answers)
        if (failure := failure_from(answer["error"], rank) if answer else missing)
    ]
    # Who only says that the others are gone, or had to be stopped, comes last.
    failures.sort(key=lambda each: (each[1].follows, each[1].type == ENDED))
    given = [answer for answer in answers if answer]
    first: Mapping[str, Any] = given[0] if given else {}
    stage, failure = failures[0] if failures else (DONE, None)
    return RunOutcome(
        stage=stage,
        failure=failure,
        ranks=tuple(
            Measured(
                tuple(answer.get("losses", ())),
                tuple(answer.get("norms", ())),
                **{name: answer[name] for name in ("bytes", "sum", "saved", "loaded", "peak") if name in answer},
            )
            for answer in given
        ),
        wrapped_as=first.get("wrapped_as", ""),
        substituted=tuple(first.get("substituted", ())),
        no_field=tuple(first.get("no_field", ())),
        left_out=tuple(first.get("left_out", ())),
        seen=first.get("seen", {}),
        seconds=max((answer.get("seconds", 0.0) for answer in given), default=0.0),
    )
