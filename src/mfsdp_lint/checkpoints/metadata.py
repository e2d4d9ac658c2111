"""`.metadata` of torch.distributed.checkpoint: the names of all tensors, and the files and places that they are in.

The form is that of torch 2.13.0, torch/distributed/checkpoint/metadata.py and filesystem.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from mfsdp_lint.checkpoints import pickled
from mfsdp_lint.checkpoints.found import Format
from mfsdp_lint.core.records import dataclass

_MEGATRON_FSDP = re.compile(r"model\.module\.|optimizer\.(state\.(module\.)+|param_to_group_meta\.)")
"""Megatron-FSDP wraps the model, and names what is in it by the wrapper (core 0.14.0 to head)."""

_TORCH_FSDP2 = re.compile(r"model\.(?!module\.)|optimizer\.(param_groups\.|state\.\d+\.)")

_OPTIMIZER = re.compile(r"(chained_\d+\.)?optimizer\.")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The names, and how far each data file has to reach, in bytes, by its name.

    One that is not `whole` was not read to its end: there are more names, and nothing is known of the files.
    """

    names: tuple[str, ...]
    reaches: Mapping[str, int]
    whole: bool = True

    @property
    def has_optimizer(self) -> bool:
        """Whether any of it is the optimizer's."""
        return has_optimizer(self.names)

    @property
    def format(self) -> Format:
        """Who wrote it, where metadata.json does not say."""
        megatron = any(map(_MEGATRON_FSDP.match, self.names))
        torch = any(map(_TORCH_FSDP2.match, self.names))
        if megatron == torch:
            return "dcp"  # nobody's names, or those of both
        return "fsdp_dtensor" if megatron else "torch_dcp"


def has_optimizer(names: Iterable[str]) -> bool:
    """Whether any of these tensors is the optimizer's."""
    return any(map(_OPTIMIZER.match, names))


def metadata(data: bytes, most: int = pickled.MOST_STEPS) -> Metadata:
    """What the file says, as far as it says that in so many steps. Raises pickled.Damaged."""
    try:
        table = dict(_named(pickled.read(data, most)))
    except pickled.TooLong as error:
        return Metadata(error.texts, {}, whole=False)
    if not {"state_dict_metadata", "storage_data"} <= table.keys():
        raise pickled.Damaged("it is not written by torch.distributed.checkpoint")
    names = tuple(name for name, _ in _named(table["state_dict_metadata"]))
    reaches: dict[str, int] = {}
    for _, where in pickled.entries(table["storage_data"]):
        place = dict(_named(where))
        file, offset, length = (place.get(name) for name in ("relative_path", "offset", "length"))
        if type(file) is str and type(offset) is int and type(length) is int:
            reaches[file] = max(reaches.get(file, 0), offset + length)
    return Metadata(names, reaches)


def _named(value: object) -> Iterator[tuple[str, object]]:
    return ((name, each) for name, each in pickled.entries(value) if isinstance(name, str))
