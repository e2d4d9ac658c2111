"""CUDA-only calls of megatron-core and Megatron-Bridge, made harmless on a torch that has no CUDA.

`install` has to run after `import torch` and before `import megatron.core`, which copies several of the names. Each
piece says what it replaces; docs/dry-run.md says what that leaves out. `torch.cuda.is_available()` stays False.
"""

import contextlib
import os
import types
from collections.abc import Callable
from typing import Any

Torch = Any


def install() -> None:
    """Replace everything that the tiers without a GPU need replaced."""
    import torch
    import torch.distributed.device_mesh

    for piece in (quiet_cuda, device_properties, devices, device_mesh, reductions):
        piece(torch)


def _giving(value: Any) -> Callable[..., Any]:
    """Make a function that takes anything and returns `value`; a new one each time, for torch keeps a list of its
    functions.
    """
    return lambda *arguments, **keywords: value


class _Event:
    """An event that has happened."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        pass

    record = wait = synchronize = _giving(None)

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: object) -> float:
        return 0.0


class _Stream:
    """A stream on which everything is done already."""

    cuda_stream = stream_id = 0

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        pass

    wait_stream = wait_event = synchronize = _giving(None)

    def record_event(self, event: Any = None) -> Any:
        return event or _Event()

    def query(self) -> bool:
        return True


def quiet_cuda(torch: Torch) -> None:
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


def device_properties(torch: Torch) -> None:
    """Replace the properties of the device by those of a recent GPU, for checks that ask for them."""
    properties = types.SimpleNamespace(major=9, minor=0, total_memory=1 << 36, multi_processor_count=132, name="none")
    torch.cuda.get_device_properties = _giving(properties)
    torch.cuda.get_device_capability = _giving((properties.major, properties.minor))
    torch.cuda.get_device_name = _giving(properties.name)


def devices(torch: Torch) -> None:
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


def _is_cuda(torch: Torch, device: Any) -> bool:
    if isinstance(device, str):
        return device.startswith("cuda")
    if isinstance(device, torch.device):
        return bool(device.type == "cuda")
    return isinstance(device, int) and not isinstance(device, bool)


def device_mesh(torch: Torch) -> None:
    """Make meshes of CPUs in place of meshes of CUDA devices."""
    mesh = torch.distributed.device_mesh
    from_group, initialise = mesh.DeviceMesh.from_group, mesh.init_device_mesh

    def here(device: str) -> str:
        return "cpu" if device == "cuda" else device

    def ours_from_group(group: Any, device_type: str, *arguments: Any, **keywords: Any) -> Any:
        return from_group(group, here(device_type), *arguments, **keywords)

    def ours_initialise(device_type: str, *arguments: Any, **keywords: Any) -> Any:
        return initialise(here(device_type), *arguments, **keywords)

    mesh.DeviceMesh.from_group = staticmethod(ours_from_group)
    mesh.init_device_mesh = torch.distributed.init_device_mesh = ours_initialise


class _EndedCollective:
    """A collective that has ended."""

    def wait(self, *arguments: Any, **keywords: Any) -> bool:
        return True

    def is_completed(self) -> bool:
        return True


class _Scaled:
    """The operation "multiply, then sum", which only NCCL has."""

    def __init__(self, factor: Any) -> None:
        self.factor = factor


def reductions(torch: Torch) -> None:
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


def single_threaded_groups(torch: Torch) -> None:
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
