"""What the ranks' answers come to."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.dryrun.outcome import DONE, Failure, together


def answer(stage: str, kind: str = "", text: str = "") -> dict[str, Any]:
    return {"stage": stage, "error": {"type": kind, "text": text, "where": []} if kind else None}


def test_all_ranks_have_to_run_through() -> None:
    assert together([answer(DONE), answer(DONE)]).passed
    assert not together([answer(DONE), None]).passed


def test_the_rank_that_failed_first_tells_why() -> None:
    gone = answer("first-step", "RuntimeError", "Read error [127.0.0.1]: Connection reset by peer")
    outcome = together([gone, answer("first-step", "AttributeError", "no such thing")])
    assert outcome.failure == Failure("AttributeError", "no such thing", (), 1)


def test_a_rank_that_was_stopped_explains_nothing_another_does() -> None:
    stopped = answer("wrap", "Ended", "stopped, for another rank had failed")
    assert together([stopped, answer("wrap", "ValueError", "bad")]).failure == Failure("ValueError", "bad", (), 1)


def test_errors_of_the_machine_say_nothing_of_the_settings() -> None:
    assert Failure("RuntimeError", "Torch not compiled with CUDA enabled").of_the_machine
    assert Failure("OSError", "[Errno 28] No space left on device").of_the_machine
    assert not Failure("AssertionError", "Megatron FSDP only supports fsdp_dtensor checkpoint format").of_the_machine


def test_what_is_missing_here_is_told_in_words() -> None:
    outcome = together([answer("load", "FileNotFoundError", "Checkpoint path /models/base does not exist")])
    assert not outcome.conclusive
    assert outcome.told == (
        "a file or folder that it takes does not exist here: "
        "FileNotFoundError: Checkpoint path /models/base does not exist"
    )
    assert together([answer("wrap", "Ended", "stopped after 60 s")]).told == "stopped after 60 s"


def test_an_error_that_says_something_of_the_settings_stands_alone() -> None:
    assert together([answer("wrap", "ValueError", "bad")]).told == "ValueError: bad"
