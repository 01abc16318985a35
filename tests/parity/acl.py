# SPDX-License-Identifier: Apache-2.0
"""The C API through ctypes: just enough to run the operator on views of numpy arrays."""

import ctypes
import os
from dataclasses import dataclass
from typing import List, Optional

import numpy as np

FLOAT, FLOAT16, INT32, INT64, BF16 = 0, 1, 3, 9, 27
ELEMENT = {FLOAT: np.uint32, FLOAT16: np.uint16, BF16: np.uint16, INT32: np.int32, INT64: np.int64}
FORMAT_ND = 2
HUGE_FIRST = 0
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2

_POINTER, _STATUS = ctypes.c_void_p, ctypes.c_int
_SIZE, _LONG = ctypes.c_size_t, ctypes.c_int64
_FUNCTIONS = {
    "libascendcl.so": {
        "aclInit": [ctypes.c_char_p], "aclFinalize": [],
        "aclrtSetDevice": [ctypes.c_int32], "aclrtResetDevice": [ctypes.c_int32],
        "aclrtCreateStream": [_POINTER], "aclrtDestroyStream": [_POINTER],
        "aclrtSynchronizeStream": [_POINTER],
        "aclrtMalloc": [_POINTER, _SIZE, ctypes.c_int], "aclrtFree": [_POINTER],
        "aclrtMemcpy": [_POINTER, _SIZE, _POINTER, _SIZE, ctypes.c_int],
        "aclrtMemset": [_POINTER, _SIZE, ctypes.c_int32, _SIZE],
    },
    "libnnopbase.so": {
        "aclDestroyTensor": [_POINTER],
    },
    "libopapi_nn.so": {
        "aclnnMultilabelMarginLossGetWorkspaceSize":
            [_POINTER, _POINTER, _LONG, _POINTER, _POINTER, _POINTER, _POINTER],
        "aclnnMultilabelMarginLoss": [_POINTER, ctypes.c_uint64, _POINTER, _POINTER],
    },
}


class Error(Exception):
    """A call that did not return 0."""

    def __init__(self, call, status, text):
        super().__init__(f"{call} returned {status}: {text}")
        self.call, self.status, self.text = call, status, text


@dataclass
class View:
    """A tensor: elements of `storage` (raw bits for the float types), as shape and strides say.

    strides None stands for a null pointer, which means contiguous.
    """

    dtype: int
    shape: List[int]
    storage: np.ndarray
    strides: Optional[List[int]] = None
    offset: int = 0

    def indices(self):
        """Where in the storage each element lies, as an array of the view's shape."""
        strides = self.strides
        if strides is None:
            strides = [int(np.prod(self.shape[d + 1:])) for d in range(len(self.shape))]
        index = np.full(self.shape, self.offset, dtype=np.int64)
        for axis, (size, stride) in enumerate(zip(self.shape, strides)):
            steps = np.arange(size, dtype=np.int64) * (stride if size > 1 else 0)
            index += steps.reshape([-1 if d == axis else 1 for d in range(len(self.shape))])
        return index

    def elements(self):
        return self.storage[self.indices()]


def contiguous(dtype, elements):
    elements = np.asarray(elements, dtype=ELEMENT[dtype])
    return View(dtype, list(elements.shape), elements.reshape(-1).copy())


class Session:
    """The initialised library, one device and one stream; use as a context manager."""

    def __init__(self, folder=None):
        folder = folder or os.environ["MLMARGIN_LIBRARY_DIR"]
        self._calls = {}
        for library, functions in _FUNCTIONS.items():
            loaded = ctypes.CDLL(os.path.join(folder, library))
            for name, arguments in functions.items():
                function = getattr(loaded, name)
                function.argtypes, function.restype = arguments, _STATUS
                self._calls[name] = function
            if library == "libascendcl.so":
                self._recent_error = loaded.aclGetRecentErrMsg
                self._recent_error.restype = ctypes.c_char_p
            if library == "libnnopbase.so":
                self._create_tensor = loaded.aclCreateTensor
                self._create_tensor.restype = _POINTER
                self._create_tensor.argtypes = [_POINTER, ctypes.c_uint64, ctypes.c_int, _POINTER,
                                                _LONG, ctypes.c_int, _POINTER, ctypes.c_uint64,
                                                _POINTER]

    def __enter__(self):
        self.call("aclInit", None)
        self.call("aclrtSetDevice", 0)
        self.stream = self._made("aclrtCreateStream")
        return self

    def __exit__(self, *_):
        self.call("aclrtDestroyStream", self.stream)
        self.call("aclrtResetDevice", 0)
        self.call("aclFinalize")

    def call(self, name, *arguments):
        status = self._calls[name](*arguments)
        if status != 0:
            raise Error(name, status, self.recent_error())

    def recent_error(self):
        text = self._recent_error()
        return text.decode("utf-8", "replace") if text else ""

    def _made(self, name, *arguments):
        handle = _POINTER()
        self.call(name, ctypes.byref(handle), *arguments)
        return handle.value

    def malloc(self, num_bytes):
        return self._made("aclrtMalloc", max(num_bytes, 1), HUGE_FIRST)

    def create_tensor(self, view, address):
        """The handle, or None."""
        longs = lambda values: (_LONG * max(len(values), 1))(*values)
        storage_dims = longs([view.storage.size])
        return self._create_tensor(longs(view.shape), len(view.shape), view.dtype,
                                   None if view.strides is None else longs(view.strides),
                                   view.offset, FORMAT_ND, storage_dims, 1, address)

    def multilabel_margin_loss(self, self_view, target, reduction, out, is_target):
        """Both phases and the wait. The storages of out and is_target get what came back."""
        views = (self_view, target, out, is_target)
        addresses, tensors = [], []
        try:
            for view in views:
                addresses.append(self.malloc(view.storage.nbytes))
                num_bytes = view.storage.nbytes
                self.call("aclrtMemcpy", addresses[-1], num_bytes, view.storage.ctypes.data,
                          num_bytes, HOST_TO_DEVICE)
                tensors.append(self.create_tensor(view, addresses[-1]))
                if tensors[-1] is None:
                    raise Error("aclCreateTensor", None, self.recent_error())
            self._run(tensors, reduction)
            for view, address in zip((out, is_target), addresses[2:]):
                self.call("aclrtMemcpy", view.storage.ctypes.data, view.storage.nbytes, address,
                          view.storage.nbytes, DEVICE_TO_HOST)
        finally:
            for tensor in tensors:
                self.call("aclDestroyTensor", tensor)
            for address in addresses:
                self.call("aclrtFree", address)

    def _run(self, tensors, reduction):
        size, executor = ctypes.c_uint64(), _POINTER(1)
        try:
            self.call("aclnnMultilabelMarginLossGetWorkspaceSize", tensors[0], tensors[1],
                      reduction, tensors[2], tensors[3], ctypes.byref(size),
                      ctypes.byref(executor))
        except Error:
            assert executor.value is None, "a failed phase 1 left an executor"
            raise
        workspace = None
        if size.value > 0:
            workspace = self.malloc(size.value)
            # Device memory is not cleared: all bits set is nan in every float type.
            self.call("aclrtMemset", workspace, size.value, 0xFF, size.value)
        try:
            self.call("aclnnMultilabelMarginLoss", workspace, size, executor, self.stream)
            self.call("aclrtSynchronizeStream", self.stream)
        finally:
            if workspace is not None:
                self.call("aclrtFree", workspace)
