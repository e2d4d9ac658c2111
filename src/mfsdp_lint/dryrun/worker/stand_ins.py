"""Stand-ins for what only a machine with GPUs has: packages, so that Megatron-Bridge can be imported without them, and
the recent GPU and Transformer Engine that start-up validation asks for.

torch and megatron-core are imported for real before: they have to see that these packages are absent, and take their
fallbacks. What is installed is never replaced. Without the pretended parts, validation would refuse settings for want
of a package, and not say whether they are right.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import logging
import sys
import types
import warnings
from collections.abc import Sequence
from typing import Any

ROOTS = (
    *("transformer_engine", "triton", "datasets", "modelopt", "wandb", "megatron.energon", "nvidia_resiliency_ext"),
    *("nemo_run", "PIL"),
)
"""Packages that importing megatron-bridge 0.3.1 needs and a laptop lacks. Not apex or flash_attn: other packages would
believe in them."""

_CORE = (
    "megatron.core",
    "megatron.core.distributed",
    "megatron.core.models.gpt.gpt_layer_specs",
    "megatron.core.optimizer",
)

_TENSORBOARD = ("torch.utils.tensorboard", "torch.utils.tensorboard.writer")


def import_upstream() -> tuple[str, ...]:
    """Import torch and megatron-core, then make Megatron-Bridge importable; return the packages with stand-ins."""
    warnings.simplefilter("ignore")
    finder = _Finder()
    sys.meta_path.append(finder)
    _import(_CORE, finder)
    # The tracker of random states says at every layer that a CPU's state changed.
    logging.getLogger("megatron.core.tensor_parallel.random").setLevel(logging.ERROR)
    absent = tuple(root for root in ROOTS if root in finder.roots or not _installed(root))
    finder.roots = absent
    if not _installed("tensorboard"):
        for name in _TENSORBOARD:  # torch's own package of that name refuses to be imported without it
            sys.modules[name] = _module(name)
        absent = (*absent, "tensorboard")
    return absent


def _import(names: Sequence[str], finder: "_Finder") -> None:
    """Import modules, with a stand-in for packages that they have no fallback for: megatron-core from 0.18 on needs
    triton.
    """
    while True:
        try:
            for name in names:
                importlib.import_module(name)
            return
        except ModuleNotFoundError as error:
            missing = next((root for root in ROOTS if _is_in(error.name or "", root)), None)
            if missing is None or missing in finder.roots:
                raise
            importlib.import_module("torch._inductor")  # which would believe in the stand-in
            finder.roots = (*finder.roots, missing)


def _is_in(name: str, root: str) -> bool:
    return name == root or name.startswith(root + ".")


def import_with_stand_ins(name: str) -> tuple[str, ...]:
    """Import a module; return the packages with stand-ins: those that it cannot be imported without, and no others.

    Raises the errors of the import.
    """
    warnings.simplefilter("ignore")
    finder = _Finder()
    sys.meta_path.append(finder)
    _import((name,), finder)
    return finder.roots


def _installed(root: str) -> bool:
    try:
        return importlib.util.find_spec(root) is not None
    except (ImportError, ValueError):
        return False


class _Meta(type):
    """Of a stand-in class every attribute is another one, for annotations such as `te.ops.Sequential | None`."""

    def __getattr__(cls, name: str) -> Any:
        return _added(cls, name, cls.__module__)

    def __or__(cls, other: object) -> Any:
        return object

    __ror__ = __or__


class _Stub(metaclass=_Meta):
    def __init__(self, *arguments: object, **keywords: object) -> None:
        pass

    def __class_getitem__(cls, item: object) -> Any:
        return cls

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        # A decorator that was made with arguments leaves what it decorates as it is.
        if len(arguments) == 1 and callable(arguments[0]) and not keywords:
            return arguments[0]
        return self.__getattr__("__call__")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__module__}.{type(self).__name__} is only stood in for")


def _added(owner: Any, name: str, module: str) -> Any:
    """Add a stand-in class as another attribute. Raises AttributeError for names that Python itself looks for."""
    if name.startswith("__"):
        raise AttributeError(name)
    value = _Meta(name, (_Stub,), {"__module__": module})
    setattr(owner, name, value)
    return value


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        return _added(self, name, self.__name__)


def _module(name: str) -> types.ModuleType:
    module = _Module(name)
    module.__path__ = []
    module.__version__ = "0.0.0"  # type: ignore[attr-defined]  # a module holds any name
    return module


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self) -> None:
        self.roots: tuple[str, ...] = ()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if any(_is_in(name, root) for root in self.roots):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


_FUSED = {
    "megatron.core.models.common.embeddings.rope_utils": ("apply_rotary_pos_emb", "apply_rotary_pos_emb_thd"),
    "megatron.core.transformer.moe.moe_utils": (
        *("permute", "permute_with_probs", "unpermute"),
        *("sort_chunks_by_index", "sort_chunks_by_index_with_probs"),
    ),
}
"""Kernels ("fused_…") that validation looks for, by module: without Transformer Engine they are None, or not there."""


def pretend(transformer_engine: str) -> list[str]:
    """Set up the pretended parts and return their names; `transformer_engine` is the version that the release at hand
    is for.
    """
    import torch

    pretended = []
    if not torch.cuda.is_available():
        from .shim import device_properties

        device_properties(torch)
        pretended.append("a GPU of compute capability 9.0")
    if _pretend_transformer_engine(transformer_engine):
        pretended.append(f"Transformer Engine {transformer_engine}")
    return pretended


def _pretend_transformer_engine(version: str) -> bool:
    import megatron.core.utils as utils
    from packaging.version import Version

    if getattr(utils, "HAVE_TE", False):
        return False
    core: Any = utils
    core._te_version = Version(version)
    _pretend_optimizer()
    for name, kernels in _FUSED.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for kernel in (f"fused_{kernel}" for kernel in kernels):
            if getattr(module, kernel, None) is None:
                setattr(module, kernel, _kernel)
    return True


def _pretend_optimizer() -> None:
    """Define the fused optimizer, whose arguments Megatron-Bridge's validation looks at."""
    try:
        import transformer_engine.pytorch.optimizers as optimizers
    except ImportError:  # nobody stands in for it
        return

    class FusedAdam:
        def __init__(
            self,
            params: Any = (),
            master_weight_dtype: Any = None,
            exp_avg_dtype: Any = None,
            exp_avg_sq_dtype: Any = None,
            use_decoupled_grad: bool = False,
            store_param_remainders: bool = False,
        ) -> None:
            _kernel()

    optimizers.FusedAdam = FusedAdam


def _kernel(*arguments: Any, **keywords: Any) -> None:
    raise RuntimeError("this kernel is only pretended")
