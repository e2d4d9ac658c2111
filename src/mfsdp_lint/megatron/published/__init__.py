"""Published sizes of models on the Hugging Face hub, by their ids ("meta-llama/Meta-Llama-3-8B").

A JSON file a family. `sizes` are fields of Megatron-Bridge's model provider, with the values that the model's bridge
makes of the published configuration; {"one_of": […]} where it makes one of several; {"releases": {">=0.4": …}} where it
depends on the release of Megatron-Bridge, the first range that has it in; a field that is not certain is left out.
`source` names where they were read: the release of Megatron-Bridge, or the repository and its commit, the file, and the
class or the line. `tokenizer` is the length of the model's tokenizer, where something depends on it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from mfsdp_lint.core.files import PACKAGE, read
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.megatron.versions import parse_range

_FOLDER = os.path.join(PACKAGE, "megatron", "published")


@dataclass(frozen=True, slots=True)
class Published:
    """The sizes of a model, by the provider's field, where they were read, and the length of its tokenizer."""

    sizes: Mapping[str, Any]
    source: str
    tokenizer: int | None = None

    def sizes_in(self, release: str | None) -> dict[str, Any]:
        """Return the sizes of a release; of an unknown one, those that are the same in all of them."""
        found = {}
        for name, size in self.sizes.items():
            by_range = size["releases"] if isinstance(size, dict) and "releases" in size else {"": size}
            for within, value in by_range.items():
                if within == "" or (release is not None and release in parse_range(within)):
                    found[name] = value
                    break
        return found


@cache
def published() -> Mapping[str, Published]:
    """Return all models, by their ids."""
    found = {}
    for name in sorted(os.listdir(_FOLDER)):
        if name.endswith(".json"):
            for model, said in json.loads(read(os.path.join(_FOLDER, name))).items():
                found[model] = Published(said["sizes"], said["source"], said.get("tokenizer"))
    return found


def divisor_of_vocabulary(words: int) -> int:
    """Return the number that the padded vocabulary is a multiple of: the largest power of two up to 128 that divides it
    (Megatron-Bridge 0.2.0 to head, models/conversion/model_bridge.py, `make_vocab_size_divisible_by`).
    """
    return min(words & -words, 128)
