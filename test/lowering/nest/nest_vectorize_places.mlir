// RUN: tile-opt %s -p nest-vectorize | filecheck %s

// A lane may not need what another one writes, nor may lanes be one element. A load that says what
// else it gives is of neighbours, and does not give one element in all lanes. Truth values are in
// memory as other elements are.
// CHECK:      nest.for %i : unroll to 4 {
// CHECK:      } {not_vectorized = "a step uses an element that another one writes"}
// CHECK-NEXT: nest.for %j : unroll to 4 {
// CHECK:      } {not_vectorized = "the steps store different values in one place"}
// CHECK-NEXT: nest.for %k : unroll to 4 {
// CHECK:      } {not_vectorized = "the steps load elements that are no neighbours"}
// CHECK-NEXT: nest.for %k_1 : unroll to 4 {
// CHECK:      } {not_vectorized = "the steps load one element, or else several"}
// CHECK-NEXT: %d = nest.load %T[0] : memref<4xi1, 1 : i32>, vector<4xi1>
// CHECK-NEXT: %e = arith.uitofp %d : vector<4xi1> to vector<4xf32>
// CHECK-NEXT: nest.store %e, %B[0] : vector<4xf32>, memref<16xf32, 1 : i32>
// CHECK:      nest.store %{{.*}}, %T[0] : vector<4xi1>, memref<4xi1, 1 : i32>
"gpu.module"() <{sym_name = "places"}> ({
  "gpu.func"() <{function_type = (memref<16xf32, 1 : i32>, memref<16xf32, 1 : i32>, memref<4xi1, 1 : i32>, index) -> (), kernel}> ({
  ^bb0(%A: memref<16xf32, 1 : i32>, %B: memref<16xf32, 1 : i32>, %T: memref<4xi1, 1 : i32>, %n: index):
    nest.for %i : vector to 4 {
      %a = nest.load %A[%i + 1] : memref<16xf32, 1 : i32>
      nest.store %a, %A[%i] : f32, memref<16xf32, 1 : i32>
    }
    nest.for %j : vector to 4 {
      %b = nest.load %A[%j] : memref<16xf32, 1 : i32>
      nest.store %b, %B[8] : f32, memref<16xf32, 1 : i32>
    }
    nest.for %k : vector to 4 {
      %one = arith.constant 1.0 : f32
      %c = nest.load %A[2*%k] if %n < 8 else %one : memref<16xf32, 1 : i32>
      nest.store %c, %B[%k] : f32, memref<16xf32, 1 : i32>
    }
    nest.for %k : vector to 4 {
      %c = nest.load %A[%k] : memref<16xf32, 1 : i32>
      %o = nest.load %A[8] if %n < 8 else %c : memref<16xf32, 1 : i32>
      nest.store %o, %B[%k] : f32, memref<16xf32, 1 : i32>
    }
    nest.for %l : vector to 4 {
      %d = nest.load %T[%l] : memref<4xi1, 1 : i32>
      %e = arith.uitofp %d : i1 to f32
      nest.store %e, %B[%l] : f32, memref<16xf32, 1 : i32>
    }
    nest.for %m : vector to 4 {
      %true = arith.constant true
      nest.store %true, %T[%m] : i1, memref<4xi1, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "g"} : () -> ()
}) : () -> ()
