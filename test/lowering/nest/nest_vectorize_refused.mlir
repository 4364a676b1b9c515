// RUN: tile-opt %s -p nest-vectorize | filecheck %s

// Steps that hold an op of which there is none on vectors are written out, which says why.
// CHECK:      nest.for %i : unroll to 4 {
// CHECK:        math.ipowi
// CHECK:      } {not_vectorized = "there is no math.ipowi of vectors"}
// CHECK-NEXT: nest.for %j : unroll to 4 {
// CHECK:        arith.cmpi
// CHECK:      } {not_vectorized = "there is no arith.cmpi of vectors"}
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4xi32, 1 : i32>, memref<4xi32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<4xi32, 1 : i32>, %B: memref<4xi32, 1 : i32>):
    nest.for %i : vector to 4 {
      %a = nest.load %A[%i] : memref<4xi32, 1 : i32>
      %b = math.ipowi %a, %a : i32
      nest.store %b, %B[%i] : i32, memref<4xi32, 1 : i32>
    }
    nest.for %j : vector to 4 {
      %c = nest.index %j
      %two = arith.constant 2 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %d = arith.cmpi slt, %c, %two : index
      %e = arith.select %d, %zero, %one : i32
      nest.store %e, %B[%j] : i32, memref<4xi32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
