// RUN: tile-opt %s -p nest-pipeline --verify-diagnostics --split-input-file | filecheck %s

// A tile that is fetched ahead is filled by one loop, in each step of one that counts from 0 by 1,
// and fits registers.
// CHECK: a loop with fetched tiles counts from 0 by 1
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 4 {
      nest.for %k = 2 to 16 : serial {
        %t = nest.buffer copies 2 : memref<4xf32, 3 : i32>
        nest.for %s : unroll to 4 {
          %a_s = nest.load %A[4*%k + %s] : memref<64xf32, 1 : i32>
          nest.store %a_s, %t[%s] : f32, memref<4xf32, 3 : i32>
        }
        %b = nest.load %t[%i] : memref<4xf32, 3 : i32>
        nest.store %b, %A[%i] : f32, memref<64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// CHECK: a tile with several copies is filled by one loop
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 4 {
      nest.for %k : serial to 16 {
        %t = nest.buffer copies 2 : memref<4xf32, 3 : i32>
        nest.for %s : unroll to 4 {
          %a_s = nest.load %A[4*%k + %s] : memref<64xf32, 1 : i32>
          nest.store %a_s, %t[%s] : f32, memref<4xf32, 3 : i32>
        }
        nest.for %u : unroll to 4 {
          %a_u = nest.load %A[4*%k + %u] : memref<64xf32, 1 : i32>
          nest.store %a_u, %t[%u] : f32, memref<4xf32, 3 : i32>
        }
        %b = nest.load %t[%i] : memref<4xf32, 3 : i32>
        nest.store %b, %A[%i] : f32, memref<64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// CHECK: tiles that are fetched ahead must fit registers: use smaller tiles
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 4 {
      nest.for %k : serial to 16 {
        %t = nest.buffer copies 2 : memref<4xf32, 3 : i32>
        nest.for %s : serial to 4 {
          %a_s = nest.load %A[4*%k + %s] : memref<64xf32, 1 : i32>
          nest.store %a_s, %t[%s] : f32, memref<4xf32, 3 : i32>
        }
        %b = nest.load %t[%i] : memref<4xf32, 3 : i32>
        nest.store %b, %A[%i] : f32, memref<64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
