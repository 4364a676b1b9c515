// RUN: tile-opt %s -p nest-halve-vectors | filecheck %s

// Where not all of several tests hold, some may.
// CHECK:       sym_name = "several"
// CHECK:       nest.for %i : serial to 2 {
// CHECK-NEXT:    nest.if %i < 1 {
// CHECK:           nest.load %A[4*%i + %v{{.*}}] : memref
// CHECK:           nest.load %A[4*%i + %v{{.*}} + 8] : memref
// CHECK:         } else {
// CHECK:           nest.load %A[4*%i + %v{{.*}}] if %i < 1 : memref
// CHECK:           nest.load %A[4*%i + %v{{.*}} + 8] : memref
"gpu.module"() <{sym_name = "several"}> ({
  "gpu.func"() <{function_type = (memref<16xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<16xf32, 1 : i32>, %B: memref<8xf32, 1 : i32>):
    nest.for %i : serial to 2 {
      nest.for %v : vector to 4 {
        %a = nest.load %A[4*%i + %v] if 4*%i + %v < 4 : memref<16xf32, 1 : i32>
        %b = nest.load %A[4*%i + %v + 8] if 4*%i + %v < 8 : memref<16xf32, 1 : i32>
        %sum = arith.addf %a, %b : f32
        nest.store %sum, %B[4*%i + %v] : f32, memref<8xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
