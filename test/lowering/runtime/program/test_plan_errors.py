"""Hosts that are refused when they are planned."""

from __future__ import annotations

import pytest
from plans import ACROSS, ALLOC, BYTES, HALF, MEMREF, copy, launch, part, plan

from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.lowering.runtime.program.plan_building import make_plan


@pytest.mark.parametrize(
    ("signature", "body", "words"),
    [
        ("(%A: M) -> (M)", '%x = "test.op"() : () -> index\nfunc.return %A : M', "cannot execute"),
        ("(%A: memref<?xf32>) -> ()", "func.return", "static shape"),
        ("(%A: memref<4xi4>) -> ()", "func.return", "no arrays of i4"),
        ("(%n: index) -> ()", "func.return", "static shape, not index"),
        ("(%A: M) -> (M)", f"{launch('add', '%A', '%A', '%zero', types={'%zero': 'index'})}\n"
         "func.return %A : M", r"@kernels::@add takes \(.*\), not \(.*index\)"),
        ("(%A: M) -> (M)", f"{launch('nothing', '%A')}\nfunc.return %A : M",
         "there is no kernel @kernels::@nothing"),
        ("(%A: M) -> (M)", f"%x = ALLOC\n{launch('add', '%A', '%x', '%x')}\nfunc.return %x : M",
         "@kernels::@add writes a buffer that is given to it twice"),
        (f"(%A: {ACROSS}) -> ({ACROSS})", f"func.return %A : {ACROSS}",
         "the host needs memrefs without gaps at known places"),
        (f"(%A: {BYTES}) -> (M)", f'%x = "memref.view"(%A, %zero) : ({BYTES}, index) -> {MEMREF}\n'
         "func.return %x : M", "views of allocations at known places"),
        ("(%A: M) -> ()", f"%less = arith.constant -1 : index\n"
         f"{launch('add', '%A', '%A', '%A', groups='%less')}\nfunc.return",
         "@kernels::@add is launched with a size below 0"),
        ("(%A: M) -> ()", f"%n = arith.constant 64 : i32\n"
         f"{launch('add', '%A', '%A', '%A', shared='%n')}\nfunc.return",
         "the host has no dynamic workgroup memory"),
    ],
)  # fmt: skip
def test_hosts_that_cannot_be_executed(signature: str, body: str, words: str):
    with pytest.raises(TileError, match=words):
        plan(signature, body.replace(": M", f": {MEMREF}"))


def test_a_copy_onto_itself_is_refused():
    view = f": ({BYTES}, index) -> {MEMREF}"
    with pytest.raises(TileError, match="source and target of the copy overlap"):
        plan(
            "() -> ()",
            f"%m = {ALLOC.replace(MEMREF, BYTES)}",
            "%eight = arith.constant 8 : index",
            f'%x = "memref.view"(%m, %zero) {view}',
            f'%y = "memref.view"(%m, %eight) {view}',
            copy("%x", "%y"),
            "func.return",
            arena=False,
        )


def test_a_part_for_a_kernel_that_takes_whole_buffers():
    view = f": ({BYTES}, index) -> {MEMREF}"
    with pytest.raises(TileError, match=r"@kernels::@add takes a whole buffer, not .* in one"):
        plan(
            "(%A: M) -> ()",
            f"%m = {ALLOC.replace(MEMREF, BYTES)}",
            "%sixteen = arith.constant 16 : index",
            f'%x = "memref.view"(%m, %zero) {view}',
            f'%y = "memref.view"(%m, %sixteen) {view}',
            launch("add", "%A", "%x", "%y"),
            "func.return",
            arena=False,
        )


@pytest.mark.parametrize(
    ("offset", "t", "words"),
    [
        (2, "memref<2xf32, 1 : i32>", "offset and strides differ from the type"),
        (3, HALF.replace("offset: 2", "offset: 3"), "reaches beyond its buffer"),
        (0, HALF.replace("offset: 2", "offset: ?"), "offset and strides differ"),
    ],
)
def test_views_that_are_refused(offset: int, t: str, words: str):
    with pytest.raises(TileError, match=words):
        plan(f"(%A: M) -> ({t})", f"%x = {part('%A', offset, t)}", f"func.return %x : {t}")


def test_there_must_be_a_host_function():
    with pytest.raises(TileError, match="has no host function nowhere"):
        make_plan(parse_mlir("builtin.module {}", "x.mlir"), "nowhere")


LOADED = "%c = memref.load %B[] : memref<i1>"
COUNT = "%n = arith.constant 3 : index"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            [LOADED, COUNT, "scf.if %c {\n}"],
            "reads conditions of loops and branches alone",
        ),
        (["%c = arith.constant true", "scf.if %c {\n}"], "a condition of the host must be read"),
        (
            ["%i = arith.constant 1 : i32", COUNT,
             "%r = scf.for %k = %zero to %n step %n iter_args(%a = %i) -> (i32) {\n"
             "scf.yield %a : i32\n}"],
            "loops of the host carry nothing but memory",
        ),
        (
            [COUNT, "scf.for %k = %zero to %n step %n {\n"
             f"{launch('add', '%A', '%A', '%A', groups='%k')}\n}}"],
            "loops of the host count up, and their index has no use",
        ),
        ([COUNT, "scf.for %k = %zero to %n step %zero {\n}"], "loops of the host count up"),
        (
            ["%i = arith.constant 1 : i32",
             "%r = scf.while (%a = %i) : (i32) -> i32 {\n"
             f"{LOADED}\nscf.condition(%c) %a : i32\n}} do {{\n^bb0(%a: i32):\nscf.yield %a : i32\n}}"],
            "loops of the host carry nothing but memory",
        ),
        (
            [LOADED, "%r = scf.if %c -> (i1) {\nscf.yield %c : i1\n} else {\nscf.yield %c : i1\n}"],
            "reads conditions of loops and branches alone",
        ),
    ],
)  # fmt: skip
def test_loops_that_the_host_does_not_run(body: list[str], words: str):
    with pytest.raises(TileError, match=words):
        plan(f"(%A: {MEMREF}, %B: memref<i1>) -> ()", *body, "func.return")
