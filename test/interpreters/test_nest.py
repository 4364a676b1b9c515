"""The reference semantics of nests against results known by hand, and what they refuse."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp

from tiledialect.errors import TileError
from tiledialect.interpreters.host import run_host
from tiledialect.interpreters.nest import Buffer, Launch, run_kernel
from tiledialect.tools.tile_opt import TileOptMain

Array = npt.NDArray[Any]
FOUR = Launch((1, 1, 1), (4, 1, 1))
GRID = Launch((2, 1, 1), (4, 1, 1))


def parse(text: str) -> ModuleOp:
    module = TileOptMain([]).parse_chunk(io.BytesIO(text.encode()), "mlir")
    assert module is not None
    module.verify()
    return module


def run(body: str, launch: Launch, size: int = 8, *, written: bool = True) -> list[float]:
    """Content of %A, at first 0, 1, 2, …, after a kernel with this body."""
    t = f"memref<{size}xf32, 1 : i32>"
    module = parse(
        f'"gpu.module"() <{{sym_name = "m"}}> ({{\n"gpu.func"() <{{function_type = ({t}) -> (), kernel}}> ({{\n^bb0(%A: {t}):\n'
        f'{body.replace("ARRAY", t)}\n"gpu.return"() : () -> ()\n}}) {{sym_name = "f"}} : () -> ()'
        "\n}) : () -> ()"
    )
    (function,) = (op for op in module.walk() if isinstance(op, gpu.FuncOp))
    buffer = Buffer(np.arange(size, dtype=np.float32), np.full(size, written))
    run_kernel(function, launch, [buffer])
    return buffer.data.tolist()


def test_work_items_run_op_by_op():
    """All load before one stores: what a barrier would see to."""
    shifted = run(
        """
        nest.for %i : local.x to 4 {
          %a = nest.load %A[(%i + 1) mod 4] : ARRAY
          nest.store %a, %A[%i] : f32, ARRAY
        }""",
        FOUR,
    )
    assert shifted == [1, 2, 3, 0, 4, 5, 6, 7]


def test_groups_and_items_of_an_axis_are_digits():
    result = run(
        """
        %c = arith.constant 10.0 : f32
        nest.for %g : group.x to 2 {
          nest.for %i : local.x to 2 {
            nest.for %j : local.x to 2 {
              %a = nest.load %A[4*%g + 2*%i + %j] : ARRAY
              %b = arith.mulf %a, %c : f32
              nest.store %b, %A[%g + 2*%i + 4*%j] : f32, ARRAY
            }
          }
        }""",
        GRID,
    )
    assert result == [0, 40, 20, 60, 10, 50, 30, 70]


def test_loops_may_differ_between_work_items():
    """Item i adds up i, i + 1, …, 3 in registers of its own."""
    result = run(
        """
        nest.for %i : local.x to 4 {
          %sum = nest.buffer : memref<1xf32, 5 : i32>
          %zero = arith.constant 0.0 : f32
          nest.store %zero, %sum[0] : f32, memref<1xf32, 5 : i32>
          nest.for %k = %i to 4 : serial {
            %a = nest.load %A[%k] : ARRAY
            %s = nest.load %sum[0] : memref<1xf32, 5 : i32>
            %t = arith.addf %a, %s : f32
            nest.store %t, %sum[0] : f32, memref<1xf32, 5 : i32>
          }
          %s = nest.load %sum[0] : memref<1xf32, 5 : i32>
          nest.store %s, %A[%i + 4] : f32, ARRAY
        }""",
        FOUR,
    )
    assert result[4:] == [6, 6, 5, 3]


def test_a_group_has_local_memory_to_itself():
    result = run(
        """
        nest.for %g : group.x to 2 {
          nest.for %i : local.x to 4 {
            %tile = nest.buffer : memref<4xf32, 3 : i32>
            %a = nest.load %A[4*%g + %i] : ARRAY
            nest.store %a, %tile[%i] : f32, memref<4xf32, 3 : i32>
            %b = nest.load %tile[3 - %i] : memref<4xf32, 3 : i32>
            nest.store %b, %A[4*%g + %i] : f32, ARRAY
          }
        }""",
        GRID,
    )
    assert result == [3, 2, 1, 0, 7, 6, 5, 4]


def test_conditions_vectors_and_defaults():
    result = run(
        """
        nest.for %i : local.x to 4 {
          %one = arith.constant 1.0 : f32
          %ones = vector.broadcast %one : f32 to vector<4xf32>
          %v = nest.load %A[4*%i] if %i < 2 else %ones : ARRAY, vector<4xf32>
          %w = arith.addf %v, %ones : vector<4xf32>
          nest.if %i == 1 or %i == 3 {
            nest.store %w, %A[2*%i - 2] : vector<4xf32>, ARRAY
          } else {
            nest.store %one, %A[0] if 7 <= %i : f32, ARRAY
          }
        }""",
        FOUR,
        size=8,
    )
    assert result == [5, 6, 7, 8, 2, 2, 2, 2]


REFUSED = {
    "outside": (
        """
        nest.for %i : local.x to 4 {
          %a = nest.load %A[%i + 5] if %i < 3 : ARRAY
          %b = nest.load %A[%i + 5] : ARRAY
        }""",
        "nest.load of %A: element [8] is outside",
    ),
    "vector outside": (
        """
        nest.for %i : local.x to 4 {
          %b = nest.load %A[2*%i] : ARRAY, vector<4xf32>
        }""",
        "nest.load of %A: element [6] is outside",
    ),
    "negative": (
        """
        nest.for %i : local.x to 4 {
          %c = arith.constant 0.0 : f32
          nest.store %c, %A[%i - 1] : f32, ARRAY
        }""",
        "nest.store of %A: element [-1] is outside",
    ),
    "race": (
        """
        nest.for %i : local.x to 4 {
          %a = nest.load %A[%i] : ARRAY
          nest.store %a, %A[4 + (%i floordiv 2)] : f32, ARRAY
        }""",
        "nest.store of %A: two work-items write different values to element [4]",
    ),
    "never written": (
        """
        nest.for %i : local.x to 4 {
          %t = nest.buffer : memref<4xf32, 3 : i32>
          %a = nest.load %A[%i] : ARRAY
          nest.store %a, %t[%i] if %i < 2 : f32, memref<4xf32, 3 : i32>
          %b = nest.load %t[%i] : memref<4xf32, 3 : i32>
        }""",
        "nest.load of %t: element [2] was never written",
    ),
    "other size": (
        """
        nest.for %i : local.x to 3 {
        }""",
        "the local.x loops have 3 steps, but 4 are launched",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str):
    body, message = REFUSED[what]
    with pytest.raises(TileError) as caught:
        run(body, FOUR)
    assert caught.value.message == message


def test_writing_the_same_value_twice_is_no_race():
    body = """
        nest.for %i : local.x to 4 {
          %c = arith.constant 9.0 : f32
          nest.store %c, %A[%i floordiv 2] : f32, ARRAY
        }"""
    assert run(body, FOUR)[:3] == [9, 9, 2]


def test_a_host_function_must_write_its_results():
    t = "memref<4xf32, 1 : i32>"
    module = parse(
        f"""func.func @f(%A: {t}) -> {t} {{
          %R = "gpu.alloc"() <{{operandSegmentSizes = array<i32: 0, 0, 0>}}> : () -> {t}
          func.return %R : {t}
        }}"""
    )
    with pytest.raises(TileError, match="element 0 of R is never written"):
        run_host(module, None, [np.zeros(4, np.float32)])


def test_sub_groups_exchange_values():
    body = """
        nest.for %i : local.x to 4 {
          %a = nest.load %A[%i] : ARRAY
          %b = nest.shuffle %a xor 1 in 2 : f32
          nest.store %b, %A[%i] : f32, ARRAY
        }"""
    assert run(body, FOUR, 4) == [1, 0, 3, 2]


def test_lanes_are_compared_and_chosen():
    body = """
        %a = nest.load %A[0] : ARRAY, vector<4xf32>
        %b = nest.load %A[4] : ARRAY, vector<4xf32>
        %less = arith.cmpf olt, %a, %b : vector<4xf32>
        %c = arith.select %less, %a, %b : vector<4xi1>, vector<4xf32>
        nest.store %c, %A[4] : vector<4xf32>, ARRAY"""
    assert run(body, Launch((1, 1, 1), (1, 1, 1))) == [0, 1, 2, 3, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("condition", "size", "launch", "message"),
    [
        ("%i < 3", 4, FOUR, "some of 4 work-items do not execute it"),
        ("%i < 4", 4, Launch((1, 1, 1), (2, 2, 1)), "a row of work-items has parts of 4"),
    ],
)
def test_sub_groups_are_whole(condition: str, size: int, launch: Launch, message: str):
    items = launch.block[0]
    body = f"""
        nest.for %i : local.x to {items} {{
          nest.if {condition} {{
            %a = nest.load %A[%i] : ARRAY
            %b = nest.shuffle %a xor 1 in {size} : f32
            nest.store %b, %A[%i] : f32, ARRAY
          }}
        }}"""
    with pytest.raises(TileError, match=message):
        run(body, launch)
