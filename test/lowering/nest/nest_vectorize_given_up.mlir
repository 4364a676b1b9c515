// RUN: tile-opt %s -p nest-vectorize,nest-share-memory --split-input-file | filecheck %s

// What was begun before a step turned out to have no vectors is not a use of what it read.
// CHECK:      %t = nest.buffer : memref<4xi32, 3 : i32>
// CHECK:      nest.for %j : unroll to 4 {
// CHECK-NEXT:   %c = nest.load %t[%j] : memref<4xi32, 3 : i32>
// CHECK-NEXT:   %d = math.ipowi %c, %c : i32
// CHECK:      } {not_vectorized = "there is no math.ipowi of vectors"}
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4xi32, 1 : i32>, memref<4xi32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<4xi32, 1 : i32>, %B: memref<4xi32, 1 : i32>):
    %t = nest.buffer : memref<4xi32, 3 : i32>
    nest.for %i : serial to 4 {
      %a = nest.load %A[%i] : memref<4xi32, 1 : i32>
      nest.store %a, %t[%i] : i32, memref<4xi32, 3 : i32>
    }
    nest.for %j : vector to 4 {
      %c = nest.load %t[%j] : memref<4xi32, 3 : i32>
      %d = math.ipowi %c, %c : i32
      nest.store %d, %B[%j] : i32, memref<4xi32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// OpenCL C has no function for powers of integers.
// CHECK:      } {not_vectorized = "there is no math.ipowi of vectors"}
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4xi32, 1 : i32>, memref<4xi32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<4xi32, 1 : i32>, %B: memref<4xi32, 1 : i32>):
    nest.for %j : vector to 4 {
      %a = nest.load %A[%j] : memref<4xi32, 1 : i32>
      %b = math.ipowi %a, %a : i32
      nest.store %b, %B[%j] : i32, memref<4xi32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
