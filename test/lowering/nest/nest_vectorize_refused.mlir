// RUN: tile-opt %s -p nest-vectorize | filecheck %s

// Steps that hold an op of which there is none on vectors are written out, which says why.
// CHECK:      nest.for %i : unroll to 4 {
// CHECK:        arith.extui
// CHECK:      } {not_vectorized = "there is no arith.extui of vectors"}
// CHECK-NEXT: nest.for %j : unroll to 4 {
// CHECK:        arith.cmpi
// CHECK:      } {not_vectorized = "there is no arith.cmpi of vectors"}
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4xi16, 1 : i32>, memref<4xi32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<4xi16, 1 : i32>, %B: memref<4xi32, 1 : i32>):
    nest.for %i : vector to 4 {
      %a = nest.load %A[%i] : memref<4xi16, 1 : i32>
      %b = arith.extui %a : i16 to i32
      nest.store %b, %B[%i] : i32, memref<4xi32, 1 : i32>
    }
    nest.for %j : vector to 4 {
      %c = nest.load %B[%j] : memref<4xi32, 1 : i32>
      %zero = arith.constant 0 : i32
      %d = arith.cmpi slt, %c, %zero : i32
      %e = arith.select %d, %zero, %c : i32
      nest.store %e, %B[%j] : i32, memref<4xi32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
