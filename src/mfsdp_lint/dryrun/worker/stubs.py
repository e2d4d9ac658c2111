"""Stand-ins for packages that only a machine with GPUs has, so that Megatron-Bridge can be imported without them.

torch and megatron-core are imported for real before: they have to see that these packages are absent, and take their
fallbacks. What is installed is never replaced.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import logging
import sys
import types
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

ROOTS = (
    "transformer_engine",
    "triton",
    "datasets",
    "modelopt",
    "wandb",
    "megatron.energon",
    "nvidia_resiliency_ext",
    "nemo_run",
    "PIL",
)
"""What importing megatron-bridge 0.3.1 asks for and a laptop has not. Not apex or flash_attn: other packages would
believe in them."""

_TENSORBOARD = ("torch.utils.tensorboard", "torch.utils.tensorboard.writer")


def import_upstream() -> tuple[str, ...]:
    """Imports torch and megatron-core, then makes Megatron-Bridge importable; returns what is stood in for."""
    warnings.simplefilter("ignore")
    import megatron.core
    import megatron.core.distributed
    import megatron.core.models.gpt.gpt_layer_specs
    import megatron.core.optimizer  # noqa: F401

    # The tracker of random states says at every layer that a CPU's state changed.
    logging.getLogger("megatron.core.tensor_parallel.random").setLevel(logging.ERROR)
    absent = tuple(root for root in ROOTS if not _installed(root))
    sys.meta_path.append(_Finder(absent))
    if not _installed("tensorboard"):
        for name in _TENSORBOARD:  # torch's own package of that name refuses to be imported without it
            sys.modules[name] = _module(name)
        absent = (*absent, "tensorboard")
    return absent


def _installed(root: str) -> bool:
    try:
        return importlib.util.find_spec(root) is not None
    except (ImportError, ValueError):
        return False


class _Meta(type):
    """Of a stand-in class every attribute is another one, for annotations such as `te.ops.Sequential | None`."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _class(name, cls.__module__)
        setattr(cls, name, value)
        return value

    def __or__(cls, other: object) -> Any:
        return object

    __ror__ = __or__


class _Stub(metaclass=_Meta):
    def __init__(self, *arguments: object, **keywords: object) -> None:
        pass

    def __class_getitem__(cls, item: object) -> Any:
        return cls

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__module__}.{type(self).__name__} is only stood in for")


def _class(name: str, module: str) -> Any:
    return _Meta(name, (_Stub,), {"__module__": module})


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _class(name, self.__name__)
        setattr(self, name, value)
        return value


def _module(name: str) -> types.ModuleType:
    module = _Module(name)
    module.__path__ = []
    module.__version__ = "0.0.0"  # type: ignore[attr-defined]
    return module


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, roots: Iterable[str]) -> None:
        self.roots = tuple(roots)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if any(name == root or name.startswith(root + ".") for root in self.roots):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass
