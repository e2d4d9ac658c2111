"""Answers what Megatron-Bridge's start-up validation says of settings."""

from collections.abc import Mapping, Sequence
from typing import Any

from . import stand_ins
from .answers import changes, environment, failure, serve
from .build import CannotBuild, build
from .measure import Observer, plain
from .stand_ins import pretend


def main(arguments: Sequence[str]) -> None:
    """Serve validation. `arguments`: the version of Transformer Engine to pretend where there is none."""
    serve(lambda: _prepare(arguments[0]), validate)


def _prepare(transformer_engine: str) -> dict[str, Any]:
    """Import everything; return the packages with stand-ins and the pretended parts, or why nothing can be asked."""
    try:
        stood_in = stand_ins.import_upstream()
        import megatron.bridge.training.config  # noqa: F401

        pretended = pretend(transformer_engine)
    except Exception as error:
        return {"error": failure(error), "stood_in": [], "pretended": []}
    return {"error": None, "stood_in": list(stood_in), "pretended": pretended}


def validate(question: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one question: `settings`, and `world_size` for the number of ranks."""
    import torch
    from megatron.bridge.training.config import runtime_config_update

    settings = question["settings"]
    answer: dict[str, Any] = {"id": question["id"], "stage": "build", "error": None}
    with environment(settings, question["world_size"]):
        try:
            built = build(settings)
            answer |= {"stage": "startup", "no_field": built.no_field, "left_out": built.left_out}
            before = answer["config"] = plain(built.config)
            observer = Observer(built.config, settings, ())
            try:
                runtime_config_update(built.config)
            finally:
                torch.use_deterministic_algorithms(False)  # which validation may switch on for the whole process
            answer["config"] = {}
            answer["changed"] = changes(before, plain(built.config))
            answer["seen"] = observer.report()
        except CannotBuild as error:
            answer["error"] = {"type": "CannotBuild", "text": str(error), "where": []}
        except Exception as error:
            answer["error"] = failure(error)
    return answer
