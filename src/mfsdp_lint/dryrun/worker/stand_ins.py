"""Stand-ins for what only a machine with GPUs has: packages, so that Megatron-Bridge can be imported without them, the
recent GPU and Transformer Engine that start-up validation asks for, and the calls of CUDA that training makes.

torch and megatron-core are imported for real before: they have to see that these packages are absent, and take their
fallbacks. What is installed is never replaced. Without the pretended parts, validation would refuse settings for want
of a package, and not say whether they are right.
"""

import abc
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import logging
import os
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

ROOTS = (
    *("transformer_engine", "triton", "datasets", "modelopt", "wandb", "megatron.energon", "nvidia_resiliency_ext"),
    *("nemo_run", "PIL"),
)
"""Packages that importing megatron-bridge 0.3.1 needs and a laptop lacks. Not apex or flash_attn: other packages would
believe in them."""

_CORE = ("core", "core.distributed", "core.models.gpt.gpt_layer_specs", "core.optimizer")


def import_upstream() -> tuple[str, ...]:
    """Import torch and megatron-core, then make Megatron-Bridge importable; return the packages with stand-ins."""
    finder = import_with_stand_ins(*(f"megatron.{name}" for name in _CORE))
    # The tracker of random states says at every layer that a CPU's state changed.
    logging.getLogger("megatron.core.tensor_parallel.random").setLevel(logging.ERROR)
    absent = tuple(root for root in ROOTS if root in finder.roots or not _installed(root))
    finder.roots = absent
    if not _installed("tensorboard"):
        # torch's own package of that name refuses to be imported without it.
        for name in ("torch.utils.tensorboard", "torch.utils.tensorboard.writer"):
            sys.modules[name] = _module(name)
        absent = (*absent, "tensorboard")
    return absent


def import_with_stand_ins(*names: str) -> "_Finder":
    """Import modules; the finder's roots are packages that they cannot do without, as core from 0.18 without triton."""
    warnings.simplefilter("ignore")
    finder = _Finder()
    sys.meta_path.append(finder)
    while True:
        try:
            for name in names:
                importlib.import_module(name)
            return finder
        except ModuleNotFoundError as error:
            missing = next((root for root in ROOTS if _is_in(error.name or "", root)), None)
            if missing is None or missing in finder.roots:
                raise
            importlib.import_module("torch._inductor")  # which would believe in the stand-in
            finder.roots = (*finder.roots, missing)


def _is_in(name: str, root: str) -> bool:
    return name == root or name.startswith(root + ".")


def _installed(root: str) -> bool:
    try:
        return importlib.util.find_spec(root) is not None
    except (ImportError, ValueError):
        return False


class _Meta(abc.ABCMeta):
    """Of a stand-in class every attribute is another one, for annotations such as `te.ops.Sequential | None`; a class
    may be made of it and of an abstract one.
    """

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
        *("permute", "permute_with_probs", "unpermute", "sort_chunks_by_index", "sort_chunks_by_index_with_probs"),
    ),
}
"""Kernels ("fused_…") that validation looks for, by module: without Transformer Engine they are None, or not there."""


def pretend(transformer_engine: str) -> list[str]:
    """Set up the pretended parts and return their names; `transformer_engine` is the version for this release."""
    import torch
    from megatron.core import utils
    from packaging.version import Version

    pretended = []
    if not torch.cuda.is_available():
        device_properties(torch)
        pretended.append("a GPU of compute capability 9.0")
    if getattr(utils, "HAVE_TE", False):
        return pretended
    utils._te_version = Version(transformer_engine)
    with contextlib.suppress(ImportError):  # where nobody stands in for it
        import transformer_engine.pytorch.optimizers as optimizers

        optimizers.FusedAdam = FusedAdam
    for name, kernels in _FUSED.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for kernel in (f"fused_{kernel}" for kernel in kernels):
            if getattr(module, kernel, None) is None:
                setattr(module, kernel, _kernel)
    return [*pretended, f"Transformer Engine {transformer_engine}"]


class FusedAdam:
    """The fused optimizer, whose arguments Megatron-Bridge's validation looks at."""

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


def _kernel(*arguments: Any, **keywords: Any) -> None:
    raise RuntimeError("this kernel is only pretended")


def replace_cuda() -> None:
    """Make the CUDA-only calls of megatron-core and Megatron-Bridge harmless on a torch that has no CUDA.

    To be called after `import torch` and before `import megatron.core`, which copies several of the names. Each piece
    says what it replaces; docs/dry-run.md says what that leaves out. `torch.cuda.is_available()` stays False.
    """
    import torch
    import torch.distributed.device_mesh

    for piece in (quiet_cuda, device_properties, devices, device_mesh, reductions):
        piece(torch)


def _giving(value: Any) -> Callable[..., Any]:
    """Make a new function that takes anything and returns `value`; new, for torch keeps a list of its functions."""
    return lambda *arguments, **keywords: value


class _Event:
    """An event that has happened."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        pass

    record = wait = synchronize = _giving(None)
    query, elapsed_time = _giving(True), _giving(0.0)


class _Stream:
    """A stream on which everything is done already."""

    cuda_stream = stream_id = 0

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        pass

    wait_stream = wait_event = synchronize = _giving(None)
    query = _giving(True)

    def record_event(self, event: Any = None) -> Any:
        return event or _Event()


def quiet_cuda(torch: Any) -> None:
    """Replace calls about streams, the one device, its memory and its random numbers by what holds on a CPU."""
    cuda, stream = torch.cuda, _Stream()
    # Everything is done in its order.
    cuda.Stream, cuda.Event = _Stream, _Event
    cuda.stream = lambda stream=None: contextlib.nullcontext()
    cuda.current_stream, cuda.default_stream, cuda.set_stream = _giving(stream), _giving(stream), _giving(None)
    cuda.synchronize = _giving(None)  # saving compares the result of this
    # There is one device, the first, and none of its memory is in use.
    cuda.current_device, cuda.device_count, cuda.set_device = _giving(0), _giving(1), _giving(None)
    for name in ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved"):
        setattr(cuda, name, _giving(0))
    cuda.memory_stats = _giving({})
    cuda.mem_get_info = _giving((1 << 36, 1 << 36))
    cuda.reset_peak_memory_stats = _giving(None)
    cuda.empty_cache = _giving(None)
    cuda.get_rng_state = cuda.random.get_rng_state = lambda device=None: torch.get_rng_state()
    cuda.set_rng_state = cuda.random.set_rng_state = lambda state, device=None: torch.set_rng_state(state)
    cuda.manual_seed = cuda.random.manual_seed = cuda.manual_seed_all = torch.default_generator.manual_seed
    cuda.default_generators = (torch.default_generator,)
    # Calls that wait for CUDA to start are run at once. Without this the ranks silently start from other weights.
    cuda._lazy_call = lambda call, **keywords: call()
    cuda._lazy_init = _giving(None)


def device_properties(torch: Any) -> None:
    """Replace the properties of the device by those of a recent GPU, for checks that ask for them."""
    properties = types.SimpleNamespace(major=9, minor=0, total_memory=1 << 36, multi_processor_count=132, name="none")
    torch.cuda.get_device_properties = _giving(properties)
    torch.cuda.get_device_capability = _giving((properties.major, properties.minor))
    torch.cuda.get_device_name = _giving(properties.name)


def devices(torch: Any) -> None:
    """Put tensors on the CPU that are asked for on, or moved to, a CUDA device."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._device import _device_constructors

    cuda, to, kind = torch.Tensor.cuda, torch.Tensor.to, torch.Tensor.type

    class OnTheCPU(TorchFunctionMode):  # type: ignore[misc]  # torch is not installed where types are checked
        def __torch_function__(
            self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if function is cuda:
                return args[0]
            if _is_cuda(torch, kwargs.get("device")):
                kwargs = {**kwargs, "device": "cpu"}
            if function is to and len(args) > 1 and _is_cuda(torch, args[1]):
                args = (args[0], "cpu", *args[2:])
            if function is kind and len(args) == 1 and not kwargs:
                # The optimizers tell parameters apart by this name.
                return function(*args).replace("torch.", "torch.cuda.", 1)
            return function(*args, **kwargs)

    # A backward pass inside of another, as recomputation has it, would be a call that the mode handles, so not in it.
    torch.autograd.has_torch_function = _giving(False)
    _device_constructors()  # torch remembers these, and would remember ours
    torch.nn.Module.cuda = lambda self, device=None: self
    mode = OnTheCPU()
    mode.__enter__()
    torch._mfsdp_dry_run_mode = mode  # it is never left


def _is_cuda(torch: Any, device: Any) -> bool:
    if isinstance(device, str):
        return device.startswith("cuda")
    if isinstance(device, torch.device):
        return bool(device.type == "cuda")
    return isinstance(device, int) and not isinstance(device, bool)


def device_mesh(torch: Any) -> None:
    """Make meshes of CPUs in place of meshes of CUDA devices."""
    mesh = torch.distributed.device_mesh
    from_group, initialise = mesh.DeviceMesh.from_group, mesh.init_device_mesh

    def ours_from_group(group: Any, device_type: str, *arguments: Any, **keywords: Any) -> Any:
        return from_group(group, "cpu" if device_type == "cuda" else device_type, *arguments, **keywords)

    def ours_initialise(device_type: str, *arguments: Any, **keywords: Any) -> Any:
        return initialise("cpu" if device_type == "cuda" else device_type, *arguments, **keywords)

    mesh.DeviceMesh.from_group = staticmethod(ours_from_group)
    mesh.init_device_mesh = torch.distributed.init_device_mesh = ours_initialise


class _EndedCollective:
    """A collective that has ended."""

    wait = is_completed = _giving(True)


class _Scaled:
    """The operation "multiply, then sum", which only NCCL has."""

    def __init__(self, factor: Any) -> None:
        self.factor = factor


def reductions(torch: Any) -> None:
    """Replace "multiply, then sum", which gloo lacks: it is done in two steps, at once, and so is the average."""
    distributed = torch.distributed
    add = distributed.ReduceOp.SUM
    all_reduce, reduce_scatter = distributed.all_reduce, distributed.reduce_scatter_tensor

    def factor_of(op: Any, group: Any) -> Any:
        """Return the factor that makes a sum as good as the operation; None where gloo has the operation."""
        if isinstance(op, _Scaled):
            return op.factor
        return 1 / distributed.get_world_size(group) if op == distributed.ReduceOp.AVG else None

    def ours_all_reduce(tensor: Any, op: Any = add, group: Any = None, async_op: bool = False) -> Any:
        factor = factor_of(op, group)
        if factor is None:
            return all_reduce(tensor, op=op, group=group, async_op=async_op)
        all_reduce(tensor.mul_(factor), op=add, group=group)
        return _EndedCollective() if async_op else None

    def ours_reduce_scatter(output: Any, input: Any, op: Any = add, group: Any = None, async_op: bool = False) -> Any:
        factor = factor_of(op, group)
        if factor is None:
            return reduce_scatter(output, input, op=op, group=group, async_op=async_op)
        reduce_scatter(output, input * factor, op=add, group=group)
        return _EndedCollective() if async_op else None

    for module in (distributed, distributed.distributed_c10d):
        module.all_reduce, module.reduce_scatter_tensor = ours_all_reduce, ours_reduce_scatter
    distributed._make_nccl_premul_sum = _Scaled


def single_threaded_groups(torch: Any) -> None:
    """Give a gloo group one thread instead of two.

    Both write the name of their last operation to the same string, without a lock (torch 2.13,
    `ProcessGroupGloo::runLoop`); where that name is long enough to be allocated the process dies of it now and then.
    """
    module = torch.distributed.distributed_c10d
    gloo = module.ProcessGroupGloo

    class SingleThreaded(gloo):  # type: ignore[misc, valid-type]  # torch is not installed where types are checked
        def __init__(self, store: Any, rank: int, size: int, timeout: Any) -> None:
            options = gloo._Options()
            options._threads = 1
            options._timeout = timeout
            # As torch finds it, where it makes the options itself.
            interface = os.environ.get("GLOO_SOCKET_IFNAME")
            device = gloo.create_device(interface=interface) if interface else gloo.create_default_device()
            options._devices = [device]
            super().__init__(store, rank, size, options)

    module.ProcessGroupGloo = SingleThreaded
