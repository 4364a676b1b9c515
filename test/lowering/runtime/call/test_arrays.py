"""Arguments taken as arrays, and messages about others."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pyopencl.array as cla
import pytest

from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call.arrays import DTYPES, as_array
from tiledialect.lowering.runtime.device.devices import choose
from tiledialect.lowering.runtime.device.queues import queue_for

Array = npt.NDArray[Any]


def taken(value: object, declared: str | None = None) -> Array:
    array = as_array("A", value, None if declared is None else np.dtype(declared))
    assert isinstance(array, np.ndarray)
    assert array.flags.c_contiguous and array.dtype in DTYPES
    return array


def whole(dtype: Any = np.float32) -> Array:
    return np.arange(12).reshape(3, 4).astype(dtype)


@pytest.mark.parametrize("dtype", sorted(DTYPES, key=str), ids=str)
def test_a_sound_array_is_taken_as_it_is(dtype: np.dtype[Any]):
    array = whole(dtype)
    assert taken(array) is array or np.shares_memory(taken(array), array)
    assert taken(array).dtype == dtype


@pytest.mark.parametrize(
    "view",
    [whole().T, whole()[:, ::2], whole()[::-1], np.asfortranarray(whole()), whole()[1:, 1:]],
    ids=["transposed", "strided", "backwards", "column-major", "part"],
)
def test_views_are_copied(view: Array):
    assert np.array_equal(taken(view), view)


def test_swapped_bytes():
    array = whole().astype(">f4")
    assert taken(array).dtype == np.float32
    assert np.array_equal(taken(array), whole())


def test_a_subclass():
    assert type(taken(whole().view(np.recarray))) is np.ndarray


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (3, "int32", ()),
        (3_000_000_000, "int64", ()),
        (2**63, "uint64", ()),
        (0.5, "float32", ()),
        (True, "bool", ()),
        ([1, 2, 3], "int32", (3,)),
        ([[0.5], [1]], "float32", (2, 1)),
        ([], "float32", (0,)),
        (range(3), "int32", (3,)),
        (np.float64(1.5), "float64", ()),
        (np.int8(1), "int8", ()),
        (np.zeros((0, 3), "uint8"), "uint8", (0, 3)),
    ],
)
def test_numbers_and_lists(value: object, dtype: str, shape: tuple[int, ...]):
    array = taken(value)
    assert (array.dtype, array.shape) == (np.dtype(dtype), shape)
    assert np.array_equal(array, np.asarray(value))


def test_a_declared_type_decides_what_numbers_become():
    assert taken([1, 2], "float64").dtype == np.float64
    assert taken(200, "uint8").dtype == np.uint8


@pytest.mark.parametrize(("value", "declared"), [(300, "uint8"), (-1, "uint8"), (0.5, "int32")])
def test_a_declared_type_must_hold_the_numbers(value: object, declared: str):
    with pytest.raises(TileError, match=f"A has values that are no {declared}"):
        taken(value, declared)


@pytest.mark.parametrize("value", [[2**63, -1], [[2**63], [1]], 2**64, [0, -(2**64)]])
def test_integers_that_no_type_holds_are_refused(value: object):
    with pytest.raises(TileError, match="A has integers that do not fit one type of 64 bits"):
        taken(value)


def test_reals_may_be_as_large_as_they_like():
    assert taken([2.0**63, -1.0]).dtype == np.float32
    assert taken([2**63, 0.5]).dtype == np.float32


class WithDlpack:
    def __init__(self, array: Array):
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class WithArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return whole(np.int16)


class Broken:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        raise RuntimeError("it is on another computer\nand far away")


class Bfloat16:
    """Another library's array of bfloat16: NumPy's own cannot be exported as that."""

    def __init__(self, array: Any):
        self.bits = array.view(np.uint16)

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.bits.__dlpack__()
        address = ctypes.pythonapi.PyCapsule_GetPointer
        address.restype, address.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        # The type stands after a pointer, the device and the number of axes.
        code = ctypes.c_uint8.from_address(address(capsule, b"dltensor") + 8 + 2 * 4 + 4)
        assert code.value == 1
        code.value = 4
        return capsule

    def __dlpack_device__(self) -> Any:
        return self.bits.__dlpack_device__()


def test_dlpack_of_bfloat16_without_a_copy():
    numbers = np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3)
    result = as_array("A", Bfloat16(numbers))
    assert isinstance(result, np.ndarray) and result.dtype == numbers.dtype
    assert np.shares_memory(result, numbers)
    np.testing.assert_array_equal(result, numbers)


def test_dlpack_without_a_copy():
    array = whole()
    assert np.shares_memory(taken(WithDlpack(array)), array)


def test_array_protocol():
    assert np.array_equal(taken(WithArray()), whole(np.int16))


def test_torch():
    torch = pytest.importorskip("torch")
    array = whole()
    tensor = torch.from_numpy(array)
    assert np.shares_memory(taken(tensor), array)
    assert np.array_equal(taken(tensor.T), array.T)
    with pytest.raises(TileError, match=r"A is a torch.Tensor that cannot be read: .*grad"):
        taken(torch.ones(3, requires_grad=True))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros(3, complex), "A holds complex numbers (complex128)"),
        (np.array([None]), "A holds Python objects (object)"),
        (np.array(["x"]), "A holds text (<U1)"),
        (np.zeros(3, "S2"), "A holds bytes"),
        (np.zeros(3, "M8[s]"), "A holds dates"),
        (np.zeros(3, [("x", "f4")]), "A holds records"),
        (np.zeros(3, np.longdouble), "A holds "),
        ("text", "A is a str, not an array of numbers"),
        (None, "A is a NoneType, not an array of numbers"),
        (object(), "A is a object, not an array of numbers"),
        ([1, "x"], "A holds text, not an array of numbers"),
        ([1, 2j], "A holds complex numbers, not an array of numbers"),
        ([[1, 2], [3]], "A cannot be made an array"),
        ([2**70], "A has integers that do not fit one type of 64 bits"),
        ([1, None], "A holds Python objects, not an array of numbers"),
        (Broken(), "Broken that cannot be read: it is on another computer"),
        (np.ma.masked_array([1, 2], [True, False]), "A has masked elements"),
        (np.broadcast_to(np.float32(1), (2**31, 2**20)), "A cannot be copied: Unable to allocate"),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_what_is_refused(value: object, words: str):
    with pytest.raises(TileError, match=re.escape(words)):
        taken(value)


def test_a_mask_that_hides_nothing():
    assert np.array_equal(taken(np.ma.masked_array([1, 2], [False, False])), [1, 2])


# -- pyopencl arrays -------------------------------------------------------------------------


def on_device(array: Array) -> cla.Array:
    return cla.to_device(queue_for(choose()), array)


def test_a_device_array_stays_as_it_is():
    array = on_device(whole())
    assert as_array("A", array) is array


@pytest.mark.parametrize(
    "part", [np.s_[1:], np.s_[:, 1:3], np.s_[::2, ::-1], np.s_[2:, 3:], np.s_[3:]], ids=str
)
def test_views_on_the_device(part: Any):
    packed: Any = as_array("A", on_device(whole())[part])
    assert packed.offset == 0 and packed.flags.c_contiguous
    assert np.array_equal(packed.get(), whole()[part])


def test_a_view_without_a_queue():
    view = on_device(whole())[1:].with_queue(None)
    with pytest.raises(TileError, match="A is a view of a device array without a queue"):
        as_array("A", view)


def test_device_arrays_of_other_types():
    with pytest.raises(TileError, match="A holds complex numbers"):
        as_array("A", on_device(np.zeros(3, np.complex64)))
