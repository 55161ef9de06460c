"""Where a function of tensors runs, and in which precision: arrays go there, and come back."""

from typing import Any

import numpy as np

from gradcheck_ref.adapters.calls import framework
from gradcheck_ref.arguments import Array, described

# Dtypes that NumPy has, too.
IN_NUMPY = (
    "torch.float16",
    "torch.float32",
    "torch.float64",
    "torch.complex64",
    "torch.complex128",
)

CPU = "leave device out to run on the CPU, where a Triton kernel needs TRITON_INTERPRET=1"


class Place:
    """The device and the dtype of the tensors that a function gets.

    Parameters
    ----------
    device : str, int or torch.device
        Where tensors are made, in torch's words.
    dtype : torch.dtype or str, optional
        The dtype of floating tensors; complex ones get its complex twin. By default that of the
        arrays.

    Raises
    ------
    TypeError, ValueError
        If torch has no such device or floating dtype, or cannot make a tensor there.
    """

    def __init__(self, device: Any = "cpu", dtype: Any = None) -> None:
        self._torch = framework("torch")
        self.device, self.dtype = self._device(device), self._floating(dtype)
        try:
            self._torch.empty(0, device=self.device, dtype=self.dtype)
        except Exception as error:  # of many types: there is no such driver, or no such card
            why = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
            kind = "" if self.dtype is None else f" of {self.dtype}"
            raise ValueError(
                f"device is {str(self.device)!r}, but torch cannot make a tensor{kind} there: "
                f"{why}; {CPU}"
            ) from error

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the choice to another process, which imports torch itself."""
        dtype = None if self.dtype is None else str(self.dtype)
        return Place, (str(self.device), dtype)

    def _device(self, device: Any) -> Any:
        if isinstance(device, bool) or not isinstance(device, str | int | self._torch.device):
            raise TypeError(f"device must be a torch device or its name, not {described(device)}")
        try:
            device = self._torch.device(device)
        except RuntimeError as error:
            said = f"device must be one of torch's, such as 'cpu' or 'cuda:0', not {device!r}"
            raise ValueError(said) from error
        if device.type == "meta":
            raise ValueError("device is 'meta', which holds no numbers: " + CPU)
        return device

    def _floating(self, dtype: Any) -> Any:
        if isinstance(dtype, str):
            dtype = getattr(self._torch, dtype.removeprefix("torch."), dtype)
        if dtype is None or (isinstance(dtype, self._torch.dtype) and dtype.is_floating_point):
            return dtype
        kind = str(dtype) if isinstance(dtype, self._torch.dtype) else described(dtype)
        raise TypeError(
            f"dtype must be a floating dtype of torch, such as torch.bfloat16, not {kind}"
        )

    def tensor(self, array: Array) -> Any:
        """Return an array as a tensor here; it shares memory if nothing has to change."""
        if array.dtype.kind == "V":  # bfloat16 of ml_dtypes, whose bits are those of torch's
            tensor = self._torch.from_numpy(array.view(np.int16)).view(self._torch.bfloat16)
        else:
            tensor = self._torch.from_numpy(array)
        is_there = self.dtype is None and self.device.type == "cpu"
        return tensor if is_there else self.moved(tensor)

    def moved(self, tensor: Any) -> Any:
        """Return a tensor here; a floating or complex one has the dtype, too."""
        dtype = self.dtype
        if dtype is not None and tensor.is_complex():
            dtype = dtype.to_complex()
        elif not tensor.is_floating_point():
            dtype = None
        return tensor.to(self.device, dtype)


def module_of(fn: Any) -> Any:
    """Return the module that fn is, or is a method of; None if there is none."""
    owner = getattr(fn, "__self__", fn)
    return owner if isinstance(owner, framework("torch").nn.Module) else None


def home(fn: Any) -> Any:
    """Return the device of the parameters and buffers of a module; None if it has no one device."""
    module = module_of(fn)
    held = () if module is None else (*module.parameters(), *module.buffers())
    devices = {one.device for one in held}
    return devices.pop() if len(devices) == 1 else None


def array_of(tensor: Any) -> Array:
    """Return a tensor as an array with its own memory; bfloat16 and shorter become float32.

    The complex twin of float16, which NumPy lacks, becomes complex64.
    """
    # Subtle: conjugates, negatives and zeros may be memory with a flag; a clone has no flags.
    own = tensor.detach().cpu().clone()
    if str(own.dtype) not in IN_NUMPY:
        if own.is_floating_point():
            own = own.float()
        elif own.is_complex():
            own = own.cfloat()
    try:
        return np.asarray(own.numpy())
    except TypeError as error:
        raise TypeError(
            f"NumPy has no array of {tensor.dtype} in the layout {tensor.layout}: "
            "return it from fn with .to_dense() or .float()"
        ) from error
