"""A fake device, whose arrays lie in the CPU's memory but must not be mixed with arrays that lie elsewhere.

Torch takes it for its device "meta", which every build has. It computes what the CPU computes, bit for bit. It refuses
what a GPU would refuse: operations on arrays of two devices, and arrays that are handed to numpy without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DEVICE = torch.device("meta")
_MADE_FROM_DATA = (torch.tensor, torch.as_tensor)


class There(torch.Tensor):
    """An array on the device."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> There:
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), dtype=inner.dtype, device=DEVICE, requires_grad=False
        )
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _carry_out(function, args, kwargs or {})


class _Dispatch(TorchDispatchMode):
    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _carry_out(function, args, kwargs or {})


class _Function(TorchFunctionMode):
    """Splits the making of arrays from data: torch would make and move them in one step that cannot be intercepted."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if function in _MADE_FROM_DATA and kwargs.get("device") is not None:
            device = kwargs.pop("device")
            return function(*args, **kwargs).to(device)
        return function(*args, **kwargs)


def _carry_out(function: Any, args: Any, kwargs: Any) -> Any:
    arrays = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    there = [array for array in arrays if isinstance(array, There)]
    wanted = kwargs.get("device")
    here = [array for array in arrays if not isinstance(array, There) and array.dim() > 0]
    is_copy = function in (torch.ops.aten.copy_.default, torch.ops.aten._to_copy.default)
    if there and here and not is_copy:
        raise RuntimeError(f"{function}: expected all arrays on one device, but found {DEVICE} and cpu")
    if there and function is torch.ops.aten.detach.default:
        return There(there[0].inner)
    plain = {**kwargs, "device": torch.device("cpu")} if wanted is not None else kwargs
    inner = tree_map(lambda leaf: leaf.inner if isinstance(leaf, There) else leaf, (args, plain))
    found = function(*inner[0], **inner[1])
    own = {id(array.inner): array for array in there}
    goes_there = torch.device(wanted) == DEVICE if wanted is not None else bool(there)
    if function is torch.ops.aten.copy_.default:
        return args[0]
    if function is torch.ops.aten._local_scalar_dense.default:
        return found

    def put(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if id(leaf) in own:  # changed in place
            return own[id(leaf)]
        return There(leaf) if goes_there else leaf

    return tree_map(put, found)


@contextmanager
def fake_device() -> Iterator[torch.device]:
    """Give torch the device."""
    # Optimisers keep using the weights of a module that is moved: as on a GPU, these stay the same objects.
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with _Function(), _Dispatch():
            yield DEVICE
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)
