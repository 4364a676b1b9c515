// RUN: tile-opt %s -p gpu-divide-groups --verify-diagnostics --split-input-file | filecheck %s

// CHECK: a kernel that is called does not know its grid
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xindex>) -> (), kernel}> ({
  ^bb0(%A: memref<8xindex>):
    nest.call @own(%A) : memref<8xindex>
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 1, 1, 1>, gpu.known_grid_size = array<i32: 8, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xindex>) -> (), kernel}> ({
  ^bb0(%A: memref<8xindex>):
    %x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    %n = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
    memref.store %n, %A[%x] : memref<8xindex>
    "gpu.return"() : () -> ()
  }) {sym_name = "own", gpu.known_block_size = array<i32: 1, 1, 1>, gpu.known_grid_size = array<i32: 8, 1, 1>} : () -> ()
}) : () -> ()

// -----

// CHECK: local memory of a kernel that is called has one axis, not memref<2x2xf32, 3 : i32>
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = () -> (), kernel}> ({
    nest.call @own() :
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 4, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = () -> (), kernel}> ({
    %tile = memref.alloca() : memref<2x2xf32, 3 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "own", gpu.known_block_size = array<i32: 2, 1, 1>, gpu.known_grid_size = array<i32: 8, 1, 1>} : () -> ()
}) : () -> ()
